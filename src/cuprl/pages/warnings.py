"""What of a run its user should know, in words. Pure: a run as it was read, to sentences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cuprl.pages.reading import Seen
from cuprl.runs.folder import iterations

PATIENCE = 10  # iterations that a multiplier may sit at its bound
OFTEN = 0.05  # share of iterations over the limit, and of the limit by which predictions may be wrong
NARROW = 0.05  # share of its actions' range, or of its greatest entropy, at which a policy hardly explores


def of_run(seen: Seen) -> list[str]:
    """List the warnings of a run as sentences, what is broken first."""
    found = [*seen.faults, *lost_rows(seen), *late_checkpoint(seen)]
    if seen.rows:
        for name in seen.limits:
            found += [*over_limit(seen, name), *at_bound(seen, name), *broken_promises(seen, name)]
        found += narrow_policy(seen)
    found += no_best(seen)
    return found


def after_first_tenth(seen: Seen) -> np.ndarray:
    """Tell which rows lie after the first tenth of the run as it is planned [rows]."""
    return seen.rows["iteration"] > seen.planned // 10


# --- the folder -------------------------------------------------------------------------------------------------------


def lost_rows(seen: Seen) -> list[str]:
    """Warn of rows of metrics that are lost."""
    if not seen.lost:
        return []
    return [f"progress.csv lacks {iterations(seen.lost)}: these rows are lost, and the curves are drawn across the gap."]


def late_checkpoint(seen: Seen) -> list[str]:
    """Warn of a last checkpoint that is further behind than a run that goes on may be."""
    done = int(seen.rows["iteration"][-1]) if seen.rows else 0
    behind, usual = done - seen.checkpoint, seen.config.get("checkpoint_every", 10)
    if behind <= 0 or (seen.training and behind <= usual):
        return []
    if not seen.checkpoint:
        return [f"there is no checkpoint of these {done} iterations: no policy can be loaded yet."]
    return [f"the last checkpoint is {counted(behind)} behind: it is of iteration {seen.checkpoint}, the last row {done}."]


# --- the constraints --------------------------------------------------------------------------------------------------


def over_limit(seen: Seen, name: str) -> list[str]:
    """Warn of a cost that is over its limit, now or often."""
    limit, cost = seen.limits[name], seen.cost(name)
    known = after_first_tenth(seen) & ~np.isnan(cost)
    share = float((cost > limit)[known].mean()) if known.any() else 0.0
    found = []
    if cost[-1] > limit:
        found.append(f"cost {name!r} is over its limit now: {cost[-1]:.4g}, limit {limit:g}.")
    if share > OFTEN:
        found.append(f"cost {name!r} was over its limit in {share:.0%} of the iterations after the first tenth.")
    return found


def at_bound(seen: Seen, name: str) -> list[str]:
    """Warn of a multiplier that sat at its bound for long."""
    nu = seen.metric("train/multiplier", name)
    if nu is None:
        return []
    at = nu >= seen.bound * (1 - 1e-6)  # it is a float32
    stretches = [s for s in stretches_of(at, seen.rows["iteration"]) if len(s) >= PATIENCE]
    if not stretches:
        return []
    where = ", ".join(f"{s[0]} to {s[-1]}" for s in stretches)
    of = f" of {name}" if len(seen.limits) > 1 else ""
    return [
        f"nu{of} sat at its bound {seen.bound:g} for {counted(sum(map(len, stretches)))} ({where}): the constraint was "
        "pressed no harder; raise --multiplier-max, or check the limit."
    ]


def broken_promises(seen: Seen, name: str) -> list[str]:
    """Warn where a cost comes out higher than the update before it predicted, and not by chance alone."""
    pair = promises(seen, name)
    if pair is None:
        return []
    predicted, found = pair
    error = (found - predicted)[1:][after_first_tenth(seen)[1:]]
    error = error[~np.isnan(error)]
    if len(error) < PATIENCE or error.mean() <= OFTEN * seen.limits[name]:
        return []
    return [
        f"cost {name!r} came out {error.mean():.3g} higher than its update had predicted, on average after the first "
        f"tenth (limit {seen.limits[name]:g})."
    ]


def promises(seen: Seen, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Give what the update before each row predicted of its cost, and what was found [rows]; the first row has no update."""
    predicted, found = (seen.metric(key, name) for key in ("train/predicted_cost", "train/cost_return"))
    if predicted is None or found is None:
        return None
    follows = np.diff(seen.rows["iteration"]) == 1  # over a gap of lost rows nothing was predicted
    return np.concatenate([[np.nan], np.where(follows, predicted[:-1], np.nan)]), found


# --- the policy -------------------------------------------------------------------------------------------------------


def no_best(seen: Seen) -> list[str]:
    """Warn where a run was evaluated and no evaluation was within every limit."""
    count = len(seen.evaluations.get("mode/return", ()))
    if not count or seen.best is not None:
        return []
    return [f"none of the {count} evaluations was within every limit: no checkpoint is the best."]


def narrow_policy(seen: Seen) -> list[str]:
    """Warn of a policy that hardly tries other actions any more."""
    entropy, least = seen.rows.get("train/entropy"), least_entropy(seen.config.get("spec", {}).get("action", {}))
    if entropy is None or least is None or not (below := entropy < least).any() or not below[-1]:
        return []
    since = stretches_of(below, seen.rows["iteration"])[-1][0]
    return [f"the entropy fell below {least:.3g} in iteration {since}: the policy hardly tries other actions any more."]


def least_entropy(action: dict[str, Any]) -> float | None:
    """Give the entropy of a policy that hardly explores.

    Of a Gaussian whose deviation is NARROW of half the range of its actions (of 1 where they have none), and NARROW of
    the greatest entropy where actions are discrete.
    """
    if action.get("kind") == "Box":
        halves = [
            1.0 if low is None or high is None or high <= low else (high - low) / 2
            for low, high in zip(action["low"], action["high"])
        ]
        return sum(math.log(NARROW * half) + 0.5 * math.log(2 * math.pi * math.e) for half in halves)
    sizes = action.get("sizes", [action["n"]] if "n" in action else [])
    return NARROW * sum(map(math.log, sizes)) if sizes else None


# --- words ------------------------------------------------------------------------------------------------------------


def stretches_of(flags: np.ndarray, numbers: np.ndarray) -> list[range]:
    """Find the iterations that are flagged, in stretches: rows that follow each other, whatever is lost between them."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [range(int(numbers[a]), int(numbers[b - 1]) + 1) for a, b in zip(edges[::2], edges[1::2])]


def counted(number: int) -> str:
    """Write a number of iterations."""
    return f"{number} iteration{'s' if number > 1 else ''}"
