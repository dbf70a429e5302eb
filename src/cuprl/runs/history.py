"""What a run was before it was what it is: given more steps, or begun from a trained policy. And its learning rates.

    extensions  [{"iteration": 500, "steps": 2500000, "anneal": "continue"}]    where it had got to, what was planned
    start       {"sha256": …, "critics": false, "task": …, "algo": …, "seed": …, "iteration": …}    what it began from

Its numbers depend on both: they are part of its identity in config.json, and of a stored result's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cuprl.core.values import is_of
from cuprl.errors import UserError

ANNEALS = {  # what happens to the learning rates of a run that is given more steps
    "continue": "go on as the run's own schedule has it for the new number of steps",
    "restart": "begin anew at their first value and fall to 0 over the steps that are added",
    "off": "stay at their first value",
}
EXTENSION: dict[str, type] = {"iteration": int, "steps": int, "anneal": str}
START: dict[str, type] = {"sha256": str, "critics": bool, "task": str, "algo": str, "seed": int, "iteration": int}


class Stage(NamedTuple):
    """A part of a run with one schedule: from an iteration on, planned to end at another."""

    first: int
    last: int
    anneal: str


class Schedule(NamedTuple):
    """The learning rates of a run, as multiples of their first values."""

    falls: bool  # the setting `anneal`: they fall to 0 over the run
    stages: tuple[Stage, ...]

    @staticmethod
    def of(iterations: int, batch_size: int, falls: bool, extensions: list[dict[str, Any]] | None) -> Schedule:
        """Lay out the stages of a run of so many iterations."""
        added = extensions or []
        ends = [*(one["steps"] // batch_size for one in added), iterations]
        begins = [(0, "continue"), *((one["iteration"], one["anneal"]) for one in added)]
        return Schedule(falls, tuple(Stage(first, last, anneal) for (first, anneal), last in zip(begins, ends)))

    def scale(self, iteration: int) -> float:
        """Give the multiple for the update after so many iterations."""
        first, last, anneal = [stage for stage in self.stages if stage.first <= iteration][-1]
        if anneal == "restart":
            return 1.0 - (iteration - first) / (last - first)
        return 1.0 - iteration / last if anneal == "continue" and self.falls else 1.0


def told(config: dict[str, Any]) -> dict[str, str]:
    """Say in a few words what sets a configuration apart from that of a run trained at once and from nothing."""
    words = {}
    if added := config.get("extensions"):
        words["extended"] = ", ".join(
            f"{one['anneal']} at iteration {one['iteration']} of {one['steps']} steps" for one in added
        )
    if start := config.get("start"):
        critics = " with critics" if start["critics"] else ""
        words["start"] = (
            f"{start['algo']} seed {start['seed']} iteration {start['iteration']} {start['sha256'][:8]}{critics}"
        )
    return words


# --- what a file may say ----------------------------------------------------------------------------------------------


def check_history(config: dict[str, Any]) -> None:
    """Refuse, as a clause, extensions or a start that no run has; config: one with steps and a batch size."""
    reached, planned, size = 0, 0, config["settings"]["batch_size"]
    for one in config.get("extensions", ()):
        if not has(one, EXTENSION) or one["anneal"] not in ANNEALS:
            raise UserError(f"has an extension that is none, {str(one)[:60]}")
        if not (reached <= one["iteration"] <= one["steps"] // size and planned < one["steps"] // size):
            raise UserError(f"has an extension out of its order, {str(one)[:60]}")
        reached, planned = one["iteration"], one["steps"] // size
    if planned >= config["steps"] // size:
        raise UserError(f"has an extension that adds no steps to {planned * size}")
    if "start" in config and not has(config["start"], START):
        raise UserError(f"has a start that is none, {str(config['start'])[:60]}")


def has(value: Any, kinds: dict[str, type]) -> bool:
    """Tell whether a value is a dict of just these kinds."""
    return isinstance(value, dict) and value.keys() == kinds.keys() and all(is_of(value[k], kinds[k]) for k in kinds)
