"""Is a Gymnasium environment fit to be trained on? Random actions, and what is seen in plain sentences."""

from __future__ import annotations

import copy
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces

from cuprl.envs.gymnasium.lane import Lane, advance, costs_of, restart
from cuprl.envs.gymnasium.parts import GymnasiumParts
from cuprl.errors import UserError

SLOW = 5e-3  # seconds a step above which a million steps take hours
REPEATED = 200  # steps taken twice from one seed


class Finding(NamedTuple):
    kind: Literal["fine", "note", "wrong"]
    sentence: str


@dataclass
class Trial:
    """What random actions showed."""

    episodes: list[np.ndarray] = field(default_factory=list)  # [T, m] the costs of each ended episode
    costs: list[list[float]] = field(default_factory=list)  # of every step; NaN where there was none
    unended: int = 0  # episodes that only the horizon cut
    seconds: float = 0.0  # spent in the environment's steps
    wrong: dict[str, str] = field(default_factory=dict)  # the first time each kind of thing was wrong


def check(task: GymnasiumParts, steps: int = 3000, seed: int = 0, limited: bool = True) -> list[Finding]:
    """Takes `steps` random steps over as many episodes as they make. Not limited: nothing is said of the limits."""
    try:
        lane = Lane(task)
    except UserError as error:
        return [Finding("wrong", str(error))]
    with closing(lane):
        return findings_of(lane, steps, seed, limited)


def findings_of(lane: Lane, steps: int, seed: int, limited: bool) -> list[Finding]:
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


def wander(lane: Lane, steps: int, seed: int) -> Trial:
    trial, env, task = Trial(), lane.env, lane.task
    obs: Any = None
    try:
        for t in range(steps):
            if obs is None:
                obs, costs = restart(env, seed + t, task.name), list[list[float]]()
                look_at(obs, env.observation_space, "reset", trial)
                lane.flat(obs)
            action, before = env.action_space.sample(), copy.deepcopy(obs)  # many write the next one over it
            clock = time.perf_counter()
            next_obs, reward, terminated, truncated, info = advance(env, action, task.name)
            trial.seconds += time.perf_counter() - clock
            look_at(next_obs, env.observation_space, "step", trial)
            lane.flat(next_obs)
            if not np.isfinite(reward):
                trial.wrong.setdefault("reward", f"the reward is {reward} after {t + 1} steps; let it be finite.")
            try:
                costs.append(costs_of(task, before, action, next_obs, info))
            except UserError as error:
                trial.wrong.setdefault("cost", str(error))
                costs.append([np.nan] * len(task.costs))
            trial.costs.append(costs[-1])
            obs = next_obs
            cut = len(costs) >= lane.horizon
            if terminated or truncated or cut:
                trial.unended += not (terminated or truncated)
                trial.episodes.append(np.array(costs))
                obs = None
    except UserError as error:
        trial.wrong["step"] = str(error)
    return trial


def look_at(obs: Any, space: Any, source: str, trial: Trial) -> None:
    if "observation" in trial.wrong or space.contains(obs):
        return
    trial.wrong["observation"] = f"{source} gives an observation outside its space: {difference(obs, space)}."


def difference(obs: Any, space: Any) -> str:
    if isinstance(space, spaces.Dict) and isinstance(obs, dict):
        if obs.keys() != space.spaces.keys():
            return f"it has the keys {', '.join(obs)}, the space {', '.join(space.spaces)}; let them agree"
        return next(f"{key!r}, {difference(obs[key], part)}" for key, part in space.items() if not part.contains(obs[key]))
    if isinstance(space, spaces.Box):
        array = np.asarray(obs)
        if array.shape != space.shape:
            return f"its shape is {array.shape}, the space's {space.shape}; let them agree"
        outside = ~((array >= space.low) & (array <= space.high))  # also where it is NaN
        if outside.any():
            i = tuple(int(index) for index in np.argwhere(outside)[0])
            bounds = f"{space.low[i]:g} to {space.high[i]:g}"
            return f"entry {', '.join(map(str, i))} is {array[i]:g}, the space has {bounds}; widen the space or mend it"
        return f"it is {type(obs).__name__} of {array.dtype}, the space holds arrays of {space.dtype}; convert it"
    return f"{obs!r} is not in {space}; let them agree"


def about_actions(lane: Lane) -> list[Finding]:
    space = lane.env.action_space
    if not isinstance(space, spaces.Box):
        return []
    low, high = space.low[np.isfinite(space.low)], space.high[np.isfinite(space.high)]
    if (low > -0.2).any() or (high < 0.2).any() or (np.abs(np.concatenate((low, high))) > 10.0).any():
        return [
            Finding(
                "note",
                (
                    f"the actions lie in {space}, but a new policy acts around 0 with a deviation of 0.6 and is clipped to "
                    "the bounds; gymnasium.wrappers.RescaleAction(env, -1, 1) brings them to its scale."
                ),
            )
        ]
    return []


def about_signals(trial: Trial) -> list[Finding]:
    fine = {"observation": "every observation is in its space.", "reward": "every reward is a finite number."}
    return [
        Finding("wrong", trial.wrong[kind]) if kind in trial.wrong else Finding("fine", sentence)
        for kind, sentence in fine.items()
    ]


def about_seeds(lane: Lane, seed: int, costs: bool) -> list[Finding]:
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
    each = trial.seconds / len(trial.costs)
    million = f"{each * 1e6 / 60:.1f} minutes" if each * 1e6 < 7200 else f"{each * 1e6 / 3600:.1f} hours"
    sentence = f"a step takes {each * 1e6:.0f} microseconds: a million steps, {million} in the environment alone"
    if each > SLOW:
        return [Finding("note", f"{sentence}. That is slow (above {SLOW * 1e3:g} ms); --backend async uses all cores.")]
    return [Finding("fine", f"{sentence}.")]
