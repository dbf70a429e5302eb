"""`certify`: what fresh episodes of a policy allow to be said of its costs, and how surely."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cuprl.core.episodes import Episodes, Running, split_episodes
from cuprl.core.spec import Constraint, Spec
from cuprl.core.task import Task, VectorEnv
from cuprl.core.user_modules import Trust
from cuprl.core.values import as_number, whole
from cuprl.envs import with_step_bounds
from cuprl.errors import UserError, unknown
from cuprl.policies import bounds
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.certificate import UNDECIDED, Certificate, Statement
from cuprl.policies.evaluate import environment_of, first_episodes, noise_seed
from cuprl.policies.load import loaded
from cuprl.runs.folder import Run
from cuprl.runs.provenance import changed_sources, versions

MODES = ("mode", "sampled")
SEED = 1_000_000  # environment i begins with seed + i: none of them is a training's or an evaluation's
AT_ONCE = 100  # environments
ROUNDING = 1e-9  # of a step's bound: what sums may be over it


def certify(
    run: str | Path | Run | SavedPolicy,
    episodes: int = 1000,
    confidence: float = 0.95,
    mode: str = "mode",
    seed: int = SEED,
    cost_bound: dict[str, float] | float | None = None,
    threads: int | None = None,
    task: Task | None = None,
    *,
    checkpoint: str | int | None = None,
    trust: Trust = False,
    tell: Callable[[int], None] = lambda done: None,
) -> Certificate:
    """Bound the expected costs of a policy from fresh episodes. The certificate is returned, and not written anywhere.

    Args:
        run: a run or its folder, an exported file, "zoo:NAME", or a policy that `load` gave.
        episodes: how many are run.
        confidence: of all that is said of the costs together.
        mode: "mode", the actions that `predict` gives, or "sampled", as in training.
        seed: of the episodes; the default's are none of a training or an evaluation.
        cost_bound: what no step can cost more than (nor less than 0), by constraint or as one number, where the task does
            not say so itself.
        threads: of the physics; they change no result [all cores].
        task: as for `evaluate`.
        checkpoint: as for `evaluate`.
        trust: as for `evaluate`.
        tell: called with the number of episodes done.
    """
    episodes, seed = whole(episodes, "episodes"), whole(seed, "seed", least=0)
    confidence = as_number(confidence, "confidence")
    if not 0.0 < confidence < 1.0:
        raise UserError(f"confidence is {confidence}; give a number above 0 and below 1, as 0.95.")
    if mode not in MODES:
        raise unknown("mode", str(mode), MODES)
    saved = loaded(run, checkpoint, trust)
    threads = (os.cpu_count() or 1) if threads is None else threads
    rounds = math.ceil(episodes / AT_ONCE)
    with environment_of(saved, math.ceil(episodes / rounds), seed, task, trust, threads) as env:
        spec = env.spec
        constraints = with_step_bounds(spec.constraints, cost_bound)
        if not constraints:
            raise UserError(f"{spec.name} has no constraint to certify; give its policy a task that has one.")
        finished = fresh_episodes(env, saved, mode == "mode", episodes, seed, constraints, tell)
    share = (1.0 - confidence) / len(constraints)  # Bonferroni: of all statements of a kind none is wrong, with `confidence`
    returned = bounds.mean_bounds(finished.total[:, 0], (1.0 - confidence) / 2.0)
    return Certificate(
        task=spec.name,
        **{name: saved.info[name] for name in ("algo", "seed", "iteration")},
        mode=mode,
        episodes=episodes,
        episode_seed=seed,
        confidence=confidence,
        return_mean=float(finished.total[:, 0].mean()),
        return_low=finite(returned.lower),
        return_high=finite(returned.upper),
        changed=tuple(changed_sources(saved.info)),
        versions=versions(),
        policy=saved.fingerprint,
        constraints=tuple(state(c, finished.discounted[:, i], share, spec.horizon) for i, c in enumerate(constraints)),
    )


def fresh_episodes(
    env: VectorEnv,
    saved: SavedPolicy,
    deterministic: bool,
    episodes: int,
    seed: int,
    constraints: tuple[Constraint, ...],
    tell: Callable[[int], None],
) -> Episodes:
    """Run whole episodes, the first of each environment in every round, so that short ones count no more than long ones.

    They come in the order of their seeds: that of their ends goes with what they cost, and `betting_upper` would be wrong.
    """
    saved.seed(noise_seed(seed))
    discount = np.array([c.discount for c in constraints])
    finished = Episodes.none(len(constraints))
    while (done := len(finished.length)) < episodes:
        count = min(env.num_envs, episodes - done)  # of the last round perhaps not all
        signals, ends = (x[:, :count] for x in first_episodes(env, saved, deterministic, env.reset(seed + done)))
        refuse_wrong(signals, env.spec, constraints)
        ended, _ = split_episodes(Running.start(count, len(constraints)), signals, ends, discount)
        by_end = np.argsort(ends.argmax(axis=0), kind="stable")
        finished += Episodes(*(x[np.argsort(by_end)] for x in ended))
        tell(len(finished.length))
    if any(c.step_bound is not None for c in constraints) and finished.length.max() > env.spec.horizon:
        said = f"an episode of {env.spec.name} took {finished.length.max()} steps, its horizon is {env.spec.horizon}"
        raise UserError(f"{said}: a bound on a step's cost is then none on an episode's; leave it away.")
    return finished


def refuse_wrong(signals: np.ndarray, spec: Spec, constraints: tuple[Constraint, ...]) -> None:
    """Refuse rewards and costs [T, N, 1 + m] that are no numbers, and costs outside of their bounds, which then are none."""
    if not np.isfinite(signals).all():
        raise UserError(f"a reward or cost of {spec.name} is NaN or infinite; mend the task.")
    for constraint, costs in zip(constraints, np.moveaxis(signals[..., 1:], -1, 0)):
        if (bound := constraint.step_bound) is None:
            continue
        wrong = costs[~(np.abs(costs - bound / 2.0) <= bound * (0.5 + ROUNDING))]
        if wrong.size:
            said = f"a step of {spec.name} cost {wrong[0]:g} in {constraint.name}, outside of its bound, 0 to {bound:g}"
            raise UserError(f"{said}; correct step_bound or --cost-bound, or leave it away.")


def state(constraint: Constraint, costs: np.ndarray, alpha: float, horizon: int) -> Statement:
    """Say what the episodes' costs [E] tell of one constraint; each bound is wrong with a chance of at most alpha."""
    largest = constraint.largest_sum(horizon)
    mean, over = float(costs.mean()), int((costs > constraint.limit).sum())
    lower, upper, method = found = bounds.mean_bounds(costs if largest is None else costs.clip(0.0, largest), alpha, largest)
    over_low, over_high = bounds.share_interval(over, len(costs), 1.0 - alpha)
    statement = Statement(
        constraint.name,
        float(constraint.limit),
        float(constraint.discount),
        mean,
        finite(lower),
        finite(upper),
        1.0 - alpha,
        method,
        largest,
        over,
        over_low,
        over_high,
        bounds.worst(costs),
        None,
    )
    if statement.verdict != UNDECIDED:
        return statement
    return replace(statement, to_decide=bounds.episodes_to_decide(mean, found, constraint.limit, len(costs)))


def finite(bound: float) -> float | None:
    """Turn an infinite bound into None, as JSON has it."""
    return bound if math.isfinite(bound) else None
