"""Pairs of policies on problems so small that everything about them is worked out by hand."""

import numpy as np

from cuprl.theory import CMDP, STATEMENTS, Pair

LAMBDAS = (0.0, 0.5, 0.95, 1.0)
TRUE = [name for name, statement in STATEMENTS.items() if statement.source != "paper"]
TRUE += ["objective-identity", "lambda-return"]


def one_state(pi, ref, lam, gamma=0.5):
    """A bandit: action 0 pays (and costs) 1, action 1 nothing."""
    cmdp = CMDP([[[1], [1]]], [[1, 0]], [[1, 0]], [np.inf], [1], gamma)
    return Pair.of(cmdp, [pi], [ref], lam)


def trap(lam):
    """pi' stays in state 0 for ever; pi falls into state 1 with chance 0.1 and there loses (and costs) 1 each step.

    With gamma = 0.9: V_pi' = 0, d_pi' = (1, 0), A = 0 in state 0, epsilon = 1, D_TV = 0.1 in state 0, and
    J(pi) = -(1/0.1 - 1/(1 - 0.9 * 0.9)) = -90/19.
    """
    stay, fall = [1, 0], [0, 1]
    reward = np.array([[0, 0], [0, -1]])
    cmdp = CMDP([[stay, fall], [fall, fall]], reward, -reward, [np.inf], [1, 0], 0.9)
    return Pair.of(cmdp, [[0.9, 0.1], [0, 1]], [[1, 0], [1, 0]], lam)


def turncoat(lam):
    """Action 0 pays 1 and leads to state 0, action 1 leads to state 1; pi stays where it is, pi' always leaves."""
    cmdp = CMDP([[[1, 0], [0, 1]]] * 2, [[1, 0], [1, 0]], [[0, 0], [0, 0]], [np.inf], [1, 0], 0.5)
    return Pair.of(cmdp, [[1, 0], [0, 1]], [[0, 1], [1, 0]], lam)


def late_difference(lam):
    """Both policies go to state 1 at once; pi stays there, pi' comes back."""
    cmdp = CMDP([[[0, 1], [0, 1]], [[0, 1], [1, 0]]], [[0, 0], [0, 0]], [[0, 0], [0, 0]], [np.inf], [1, 0], 0.5)
    return Pair.of(cmdp, [[1, 0], [1, 0]], [[1, 0], [0, 1]], lam)
