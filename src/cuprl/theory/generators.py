"""Small CMDPs with a story, and random ones. Each default limit binds: the best policy would break it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cuprl.errors import UserError
from cuprl.theory.cmdp import CMDP
from cuprl.theory.exact import evaluate
from cuprl.theory.optimum import best_policy

GRID = (  # S start, G goal, H hazard
    ".....",
    "..H..",
    "S.H.G",
    "..H..",
    ".....",
)
MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


def random_cmdp(
    states: int = 6,
    actions: int = 3,
    costs: int = 1,
    sparsity: float = 0.0,
    gamma: float = 0.9,
    tightness: float = 0.5,
    seed: int = 0,
) -> CMDP:
    """Draw rewards and costs uniform in [0, 1]; `sparsity`: the share of next states a state and action cannot reach.

    The limits are the costs of mixing the best policy without limits with the cheapest one, `tightness` of the latter:
    they can always be met together.
    """
    for name, value, least in (("states", states, 1), ("actions", actions, 1), ("costs", costs, 1)):
        if value < least:
            raise UserError(f"{name} is {value}; accepted is {least} or more.")
    for name, share in (("sparsity", sparsity), ("tightness", tightness)):
        if not 0 <= share <= 1:
            raise UserError(f"{name} is {share:g}; accepted is 0 to 1.")
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=(states, actions, states))
    weights *= rng.random(weights.shape) >= sparsity
    always = rng.integers(states, size=(states, actions))  # one next state is kept, so that every row can sum to 1
    np.put_along_axis(weights, always[..., None], rng.exponential(size=(states, actions, 1)) + 1e-3, axis=-1)
    free = CMDP(
        transition=weights / weights.sum(axis=-1, keepdims=True),
        reward=rng.random((states, actions)),
        costs=rng.random((costs, states, actions)),
        limits=np.full(costs, np.inf),
        initial=np.full(states, 1 / states),
        gamma=gamma,
        name=f"random-{states}x{actions}-seed{seed}",
    )
    return free.with_limits(_costs_between(free, tightness))


def _costs_between(cmdp: CMDP, tightness: float) -> np.ndarray:
    best, _ = best_policy(cmdp, cmdp.mean_reward)
    cheapest, _ = best_policy(cmdp, -cmdp.mean_costs.sum(axis=0))
    return (1 - tightness) * evaluate(cmdp, best)[1] + tightness * evaluate(cmdp, cheapest)[1]


def gridworld(gamma: float = 0.95, slip: float = 0.1, limit: float = 0.3) -> CMDP:
    """Make a grid with a goal: the short way leads through hazards, the safe one around them.

    A move goes astray with probability `slip`, then in any of the four directions. Entering the goal pays 1 and ends
    the task; each entry into a hazard costs 1.
    """
    cells = [(row, column) for row in range(len(GRID)) for column in range(len(GRID[0]))]
    index = {cell: i for i, cell in enumerate(cells)}
    marked = {mark: [GRID[row][column] == mark for row, column in cells] for mark in "SGH"}
    goal, hazard = np.array(marked["G"]), np.array(marked["H"])
    reached = np.zeros((len(cells), len(MOVES), len(cells)))
    for (row, column), i in index.items():
        for a, (down, right) in enumerate(MOVES.values()):
            reached[i, a, index.get((row + down, column + right), i)] = 1  # into a wall: stay
    transition = (1 - slip) * reached + slip * reached.mean(axis=1, keepdims=True)
    transition[goal] = np.eye(len(cells))[goal][:, None]  # the goal is left no more
    enters = ~goal[:, None, None] & np.ones(transition.shape, dtype=bool)  # [S, A, S']
    return CMDP(
        transition=transition,
        reward=enters * goal.astype(float),
        costs=(enters * hazard.astype(float))[None],
        limits=np.array([limit]),
        initial=np.array(marked["S"], dtype=float),
        gamma=gamma,
        name="gridworld",
        state_names=tuple(f"({row}, {column})" for row, column in cells),
        action_names=tuple(MOVES),
        cost_names=("hazard",),
    )


def chain(length: int = 6, gamma: float = 0.95, limit: float = 5.0) -> CMDP:
    """Make a chain to walk or run to the end of, for a reward of 1 and a new start; running is faster and wears the legs."""
    pace = np.array([0.5, 0.95])  # chance of one step ahead
    transition = np.zeros((length, 2, length))
    for s in range(length):
        transition[s, :, s] += 1 - pace
        transition[s, :, (s + 1) % length] += pace
    reward = np.zeros((length, 2, length))
    reward[-1, :, 0] = 1
    return CMDP(
        transition=transition,
        reward=reward,
        costs=np.tile([0.0, 1.0], (1, length, 1)),
        limits=np.array([limit]),
        initial=np.eye(length)[0],
        gamma=gamma,
        name="chain",
        state_names=tuple(f"place {s}" for s in range(length)),
        action_names=("walk", "run"),
        cost_names=("wear",),
    )


def queue(room: int = 10, arrival: float = 0.4, gamma: float = 0.95, limit: float = 15.0) -> CMDP:
    """Serve customers slowly and cheaply or fast and dearly; the cost of a step is the number of those waiting.

    In a step the customer at the head is served with the chosen chance and pays 1, then one arrives with chance
    `arrival` unless the room is full.
    """
    speed, energy = np.array([0.2, 0.45, 0.8]), np.array([0.0, 0.05, 0.3])
    waiting = np.arange(room + 1)
    transition = np.zeros((room + 1, 3, room + 1))
    for n in range(room + 1):
        for served, chance in ((1, speed * (n > 0)), (0, 1 - speed * (n > 0))):
            left = n - served
            transition[n, :, left] += chance * (1 - arrival * (left < room))
            transition[n, :, min(left + 1, room)] += chance * arrival * (left < room)
    return CMDP(
        transition=transition,
        reward=speed * (waiting > 0)[:, None] - energy,
        costs=np.repeat(waiting[:, None], 3, axis=1).astype(float)[None],
        limits=np.array([limit]),
        initial=np.eye(room + 1)[0],
        gamma=gamma,
        name="queue",
        state_names=tuple(f"{n} waiting" for n in waiting),
        action_names=("slow", "medium", "fast"),
        cost_names=("waiting",),
    )


def inventory(shelf: int = 8, gamma: float = 0.95, limit: float = 1.5) -> CMDP:
    """Order stock against random demand; profit asks for little stock, the limit for few customers sent away."""
    demand = np.array([0.1, 0.2, 0.3, 0.25, 0.15])  # chance of 0, 1, ... customers in a step
    price, purchase, storage = 2.0, 1.4, 0.25
    orders = np.arange(5)
    wanted = np.arange(len(demand))
    stock = np.minimum(np.arange(shelf + 1)[:, None] + orders, shelf)  # [S, A] after the delivery
    ordered = stock - np.arange(shelf + 1)[:, None]
    sold = np.minimum(stock[..., None], wanted)  # [S, A, D]
    transition = np.zeros((shelf + 1, len(orders), shelf + 1))
    for d, chance in enumerate(demand):
        np.add.at(transition, (*np.indices(stock.shape), stock - sold[..., d]), chance)
    return CMDP(
        transition=transition,
        reward=price * sold @ demand - purchase * ordered - storage * (stock[..., None] - sold) @ demand,
        costs=((wanted - sold) @ demand)[None],
        limits=np.array([limit]),
        initial=np.eye(shelf + 1)[shelf // 2],
        gamma=gamma,
        name="inventory",
        state_names=tuple(f"stock {s}" for s in range(shelf + 1)),
        action_names=tuple(f"order {a}" for a in orders),
        cost_names=("unmet demand",),
    )


GENERATORS: dict[str, Callable[..., CMDP]] = {
    "random": random_cmdp,
    "gridworld": gridworld,
    "chain": chain,
    "queue": queue,
    "inventory": inventory,
}
