"""The exact laboratory: small CMDPs on which every quantity of the paper, and the best safe policy, is known.

    from cuprl.theory import GENERATORS, solve
    best = solve(GENERATORS["gridworld"]())     # value, costs, policy, multipliers, occupancy, duality gap

Needs NumPy and SciPy only. `cup theory` prints what the paper's theorems give on random problems; docs/theory.md
explains it.
"""

from cuprl.theory.cmdp import CMDP
from cuprl.theory.counterexample import describe, find_counterexample
from cuprl.theory.exact import evaluate
from cuprl.theory.generators import GENERATORS
from cuprl.theory.optimum import InfeasibleError, Optimum, front_limits, pareto_front, solve
from cuprl.theory.pair import Pair
from cuprl.theory.registry import STATEMENTS
from cuprl.theory.study import run_study

__all__ = [
    "CMDP",
    "GENERATORS",
    "STATEMENTS",
    "InfeasibleError",
    "Optimum",
    "Pair",
    "describe",
    "evaluate",
    "find_counterexample",
    "front_limits",
    "pareto_front",
    "run_study",
    "solve",
]
