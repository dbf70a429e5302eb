"""A tabular constrained Markov decision process (Section 2 of the paper), checked when it is built.

    symbol      field         shape
    P(s'|s,a)   transition    [S, A, S]
    r(s'|s,a)   reward        [S, A, S]     given as that, or as r(s, a) of shape [S, A]
    c_i         costs         [m, S, A, S]  given as that, or as [m, S, A], or for one cost as [S, A]
    b_i         limits        [m]           a limit on the discounted cost; infinity means no limit
    rho_0       initial       [S]
    gamma       gamma         number in [0, 1)

The return of a policy is J(pi) = E[sum_t gamma^t r_{t+1}], its cost J^c_i(pi) the same sum of c_i.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cuprl.errors import UserError

Array = NDArray[np.float64]

PROBABILITY_TOLERANCE = 1e-9  # how far from 1 a distribution may sum before it is refused


@dataclass(frozen=True, eq=False)
class CMDP:
    """Transitions, reward, costs, limits, initial distribution and discount of a small, fully known problem."""

    transition: Array
    reward: Array
    costs: Array
    limits: Array
    initial: Array
    gamma: float
    name: str = "cmdp"
    state_names: tuple[str, ...] = field(default=())
    action_names: tuple[str, ...] = field(default=())
    cost_names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        transition = _numbers("transition", self.transition)
        if transition.ndim != 3 or transition.shape[0] != transition.shape[2] or 0 in transition.shape:
            raise UserError(
                f"transition has shape {list(transition.shape)}; accepted is [S, A, S], the probability of each "
                "next state for each state and action. Reorder its axes so."
            )
        _check_distribution("transition", transition, "transition[{}, {}]")
        states, actions, _ = transition.shape
        initial = _numbers("initial", self.initial)
        _check_shape("initial", initial, [(states,)])
        _check_distribution("initial", initial, "initial")
        costs = _numbers("costs", self.costs)
        costs = costs[None] if costs.shape == (states, actions) else costs
        limits = np.atleast_1d(_numbers("limits", self.limits, infinity_allowed=True))
        gamma = _check_discount(self.gamma)
        _check_shape("limits", limits, [(len(costs),)])

        for name, value in {
            "transition": transition,
            "reward": _per_transition("reward", _numbers("reward", self.reward), (states, actions, states)),
            "costs": _per_transition("costs", costs, (len(costs), states, actions, states)),
            "limits": limits,
            "initial": initial,
        }.items():
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "gamma", gamma)
        for name, kind, count in (
            ("state_names", "state", states),
            ("action_names", "action", actions),
            ("cost_names", "cost", len(costs)),
        ):
            object.__setattr__(self, name, _labels(name, getattr(self, name), kind, count))

    @property
    def n_states(self) -> int:
        """Count the states, S."""
        return self.transition.shape[0]

    @property
    def n_actions(self) -> int:
        """Count the actions, A."""
        return self.transition.shape[1]

    @property
    def n_costs(self) -> int:
        """Count the costs, m."""
        return self.costs.shape[0]

    @property
    def mean_reward(self) -> Array:
        """Give r(s, a) = E_{s'}[r(s'|s, a)], shape [S, A]."""
        return np.einsum("sap,sap->sa", self.transition, self.reward)

    @property
    def mean_costs(self) -> Array:
        """Give c_i(s, a), shape [m, S, A]."""
        return np.einsum("sap,msap->msa", self.transition, self.costs)

    def with_limits(self, limits: ArrayLike) -> CMDP:
        """Give the same problem under other limits."""
        return replace(self, limits=np.asarray(limits, dtype=float))


def check_policy(cmdp: CMDP, policy: ArrayLike) -> Array:
    """Take a policy pi(a|s) as an array [S, A]; what is wrong with it is said in a UserError."""
    checked = _numbers("policy", policy)
    _check_shape("policy", checked, [(cmdp.n_states, cmdp.n_actions)])
    _check_distribution("policy", checked, "policy[{}]")
    return checked


def _numbers(name: str, value: ArrayLike, infinity_allowed: bool = False) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise UserError(f"{name} is not an array of numbers ({error}); give nested lists or a NumPy array.") from None
    bad = np.isnan(array) if infinity_allowed else ~np.isfinite(array)
    if bad.any():
        where = np.argwhere(bad)[0].tolist()
        raise UserError(
            f"{name}{where} is {array[tuple(where)]}; accepted is a "
            f"{'number or infinity' if infinity_allowed else 'finite number'}. Replace it."
        )
    return array


def _check_shape(name: str, array: Array, accepted: list[tuple[int, ...]]) -> None:
    if array.shape not in accepted:
        shapes = " or ".join(str(list(shape)) for shape in accepted)
        raise UserError(f"{name} has shape {list(array.shape)}; accepted is {shapes}. Give one entry for each.")


def _check_distribution(name: str, array: Array, row_format: str) -> None:
    if (array < 0).any():
        where = np.argwhere(array < 0)[0].tolist()
        raise UserError(
            f"{name}{where} is the negative probability {array[tuple(where)]:g}; accepted is 0 to 1. Correct it."
        )
    total = array.sum(axis=-1)
    off = np.abs(total - 1) > PROBABILITY_TOLERANCE
    if off.any():
        where = np.argwhere(off)[0].tolist()
        row = row_format.format(*where)
        raise UserError(
            f"{row} sums to {float(total[tuple(where)]):.10g}; a distribution must sum to 1. "
            "Divide the row by its sum, or add the missing probability."
        )


def _check_discount(gamma: float) -> float:
    value = float(_numbers("gamma", gamma).reshape(-1)[0])
    if not 0 <= value < 1:
        raise UserError(f"gamma is {value:g}; accepted is 0 <= gamma < 1. Try 0.99 for a long horizon.")
    return value


def _per_transition(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    _check_shape(name, array, [shape[:-1], shape])
    return np.broadcast_to(array[..., None], shape).copy() if array.shape == shape[:-1] else array


def _labels(name: str, labels: tuple[str, ...], kind: str, count: int) -> tuple[str, ...]:
    if not labels:
        return tuple(f"{kind} {i}" for i in range(count))
    if len(labels) != count:
        raise UserError(f"{name} holds {len(labels)} names for {count} {kind}s; give one name for each, or none.")
    return tuple(labels)
