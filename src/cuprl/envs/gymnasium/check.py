"""Is a Gymnasium environment fit to be trained on? What random actions showed, judged in plain sentences."""

from __future__ import annotations

import copy
from contextlib import closing
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces

from cuprl.envs.gymnasium.lane import Lane, advance, costs_of, restart
from cuprl.envs.gymnasium.parts import GymnasiumParts
from cuprl.envs.gymnasium.wander import Trial, wander
from cuprl.errors import UserError

SLOW = 5e-3  # seconds a step above which a million steps take hours
REPEATED = 200  # steps taken twice from one seed


class Finding(NamedTuple):
    """One thing that was seen: fine, worth a note, or wrong."""

    kind: Literal["fine", "note", "wrong"]
    sentence: str


def check(task: GymnasiumParts, steps: int = 3000, seed: int = 0, limited: bool = True) -> list[Finding]:
    """Take `steps` random steps over as many episodes as they make, and judge. Not limited: nothing is said of limits."""
    try:
        lane = Lane(task)
    except UserError as error:
        return [Finding("wrong", str(error))]
    with closing(lane):
        return findings_of(lane, steps, seed, limited)


def findings_of(lane: Lane, steps: int, seed: int, limited: bool) -> list[Finding]:
    """Judge a lane by a trial of random steps; where a step failed, only that is said."""
    lane.env.action_space.seed(seed)
    trial = wander(lane, steps, seed)
    if "step" in trial.wrong:  # without whole steps nothing more can be said
        return [Finding("wrong", sentence) for sentence in trial.wrong.values()]
    return [
        *about_actions(lane),
        *about_signals(trial),
        *about_seeds(lane, seed, costs="cost" not in trial.wrong),
        *about_ends(lane, trial, steps),
        *about_costs(lane.task, trial, limited),
        *about_speed(trial),
    ]


def about_actions(lane: Lane) -> list[Finding]:
    """Note where real actions are far from the scale that a new policy acts on."""
    space = lane.env.action_space
    if not isinstance(space, spaces.Box):
        return []
    low, high = space.low[np.isfinite(space.low)], space.high[np.isfinite(space.high)]
    if (low > -0.2).any() or (high < 0.2).any() or (np.abs(np.concatenate((low, high))) > 10.0).any():
        bounded = len(low) == len(high) == space.low.size
        rescaled = "gymnasium.wrappers.RescaleAction(env, -1, 1) brings them to its scale"
        acts = "a new policy acts around 0 with a deviation of 0.6 and is clipped to the bounds"
        fix = rescaled if bounded else "give each finite bounds"
        return [Finding("note", f"the actions lie in {space}, but {acts}; {fix}.")]
    return []


def about_signals(trial: Trial) -> list[Finding]:
    """Judge observations and rewards."""
    fine = {"observation": "every observation is in its space.", "reward": "every reward is a finite number."}
    return [
        Finding("wrong", trial.wrong[kind]) if kind in trial.wrong else Finding("fine", sentence)
        for kind, sentence in fine.items()
    ]


def about_seeds(lane: Lane, seed: int, costs: bool) -> list[Finding]:
    """Judge whether an episode repeats exactly from its seed and actions; costs: whether they are compared too."""
    actions = [lane.env.action_space.sample() for _ in range(REPEATED)]

    def episode() -> list[Any]:
        obs, ended = restart(lane.env, seed, lane.task.name), False
        seen: list[Any] = [lane.flat(obs)]
        for action in actions:
            if not ended:
                before = copy.deepcopy(obs)
                next_obs, reward, *end, info = advance(lane.env, action, lane.task.name)
                seen += [lane.flat(next_obs), reward, end]
                seen += costs_of(lane.task, before, action, next_obs, info) if costs else []
                obs, ended = next_obs, any(end)
        return seen

    first, second = episode(), episode()
    if len(first) == len(second) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second)):
        return [Finding("fine", "the same seed and actions give the same episode: runs repeat and resume exactly.")]
    where = "the first observation differs" if not np.array_equal(first[0], second[0]) else "later steps differ"
    return [
        Finding(
            "wrong",
            (
                f"two episodes with the same seed and actions are not the same ({where}); draw all chance from "
                "self.np_random, which super().reset(seed=seed) seeds."
            ),
        )
    ]


def about_ends(lane: Lane, trial: Trial, steps: int) -> list[Finding]:
    """Judge whether and how episodes end."""
    ended = len(trial.episodes)
    if not ended:
        return [Finding("note", f"no episode ended in {steps} steps; give more --steps to see one end.")]
    lengths = f"{ended} episodes of {np.mean([len(costs) for costs in trial.episodes]):.0f} steps on average"
    limited = lane.task.horizon is not None or getattr(getattr(lane.env, "spec", None), "max_episode_steps", None)
    if trial.unended == ended and not limited:
        return [
            Finding(
                "wrong",
                (
                    f"no episode ended within {lane.horizon} steps: it neither terminates nor truncates. It would be cut "
                    "there; say where with --horizon N, or register it with max_episode_steps."
                ),
            )
        ]
    return [Finding("fine", f"episodes end: {lengths}, {trial.unended} of them by the limit of {lane.horizon}.")]


def about_costs(task: GymnasiumParts, trial: Trial, limited: bool) -> list[Finding]:
    """Judge whether each cost varies, and whether its limit asks for something."""
    if "cost" in trial.wrong:
        return [Finding("wrong", trial.wrong["cost"])]
    findings = []
    for i, constraint in enumerate(task.constraints):
        name, values = constraint.name, np.array(trial.costs)[:, i]
        low, high = values.min(), values.max()
        if low == high:
            findings.append(
                Finding("note", f"cost {name!r} is always {low:g} under random actions: nothing to learn from yet.")
            )
        elif low < 0.0:
            findings.append(Finding("note", f"cost {name!r} is as low as {low:g}: a negative cost pays for others."))
        else:
            findings.append(Finding("fine", f"cost {name!r} is finite and varies from {low:g} to {high:g}."))
        if not trial.episodes or not limited:
            continue
        sums = [constraint.discount ** np.arange(len(costs)) @ costs[:, i] for costs in trial.episodes]
        kind = "plain" if constraint.discount == 1.0 else "discounted"
        beside = f"mean {kind} episode cost {name!r} of random actions {np.mean(sums):.2f}, limit {constraint.limit:g}"
        over = np.mean(sums) > constraint.limit
        findings.append(
            Finding(
                "fine" if over else "note",
                beside + (": the limit asks for something." if over else ": random actions keep it; it may never bind."),
            )
        )
    return findings


def about_speed(trial: Trial) -> list[Finding]:
    """Say how long a million steps take in the environment alone."""
    each = trial.seconds / len(trial.costs)
    million = f"{each * 1e6 / 60:.1f} minutes" if each * 1e6 < 7200 else f"{each * 1e6 / 3600:.1f} hours"
    sentence = f"a step takes {each * 1e6:.0f} microseconds: a million steps, {million} in the environment alone"
    if each > SLOW:
        return [Finding("note", f"{sentence}. That is slow (above {SLOW * 1e3:g} ms); --backend async uses all cores.")]
    return [Finding("fine", f"{sentence}.")]
