"""Episodes of a saved policy, its normaliser frozen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cuprl import envs
from cuprl.core.episodes import Episodes, Running, split_episodes
from cuprl.core.spec import Spec
from cuprl.core.spec_json import action_from_json
from cuprl.core.task import Step, Steppable, Task, VectorEnv
from cuprl.core.user_modules import Trust, named_by
from cuprl.core.values import whole
from cuprl.errors import UserError
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.load import loaded
from cuprl.runs.columns import holds_plain_sums
from cuprl.runs.folder import Run
from cuprl.runs.provenance import changed_sources

PATIENCE = 1000  # horizons after which an episode that does not end is given up


def evaluate(
    run: str | Path | Run | SavedPolicy,
    episodes: int = 20,
    deterministic: bool = True,
    seed: int = 10_000,
    task: Task | None = None,
    *,
    checkpoint: str | int | None = None,
    trust: Trust = False,
) -> dict[str, Any]:
    """Measure what a policy does in whole episodes: return, costs, limits, how many are over, length.

    One episode in each of `episodes` environments, so that short ones do not count more than long ones.

    Args:
        run: a run or its folder, an exported file, "zoo:NAME", or a policy that `load` gave.
        episodes: how many.
        deterministic: the mode of the policy; False samples actions as in training.
        seed: of the environments, the first of them; each has the next.
        task: the task itself, for a policy of one that was made in Python.
        checkpoint: "last", "best" or an iteration of the run, as for `load`; "iteration" says which it was.
        trust: the modules named in the folder or file whose code may run, or True for all.

    Returns:
        Means and deviations as plain numbers; of several constraints a dict by name. "changed" names the modules that are
            not what they were when the policy was trained: the numbers are then of another task.
    """
    episodes, seed = whole(episodes, "episodes", most=envs.MOST_AT_ONCE), whole(seed, "seed", least=0)
    saved = loaded(run, checkpoint, trust)
    info = saved.info
    with environment_of(saved, episodes, seed, task, trust) as env:
        spec = env.spec
        finished = run_episodes(env, saved, deterministic, seed)
    names = [c.name for c in spec.constraints]

    def plain(value: Any) -> Any:
        if np.ndim(value) == 0:
            return float(value)
        return float(value[0]) if len(names) == 1 else dict(zip(names, map(float, value)))

    return {
        **{name: info[name] for name in ("task", "algo", "iteration")},
        "run": str(saved.source),
        "deterministic": deterministic,
        "episodes": episodes,
        **{name: plain(value) for name, value in measures(finished, spec).items()},
        "changed": changed_sources(info),
    }


def measures(finished: Episodes, spec: Spec, plain: bool = False) -> dict[str, Any]:
    """Say what episodes came to: numbers, and of the costs arrays [m]; plain: the limits are for the plain sums."""
    limits = np.array([c.limit for c in spec.constraints], np.float64)  # `spec.limits` are rounded, some to less
    over = (finished.total[:, 1:] if plain else finished.discounted) > limits  # [E, m]
    return {
        "return_mean": finished.total[:, 0].mean(),
        "return_std": finished.total[:, 0].std(),
        "cost_mean": finished.discounted.mean(axis=0),
        "cost_std": finished.discounted.std(axis=0),
        "cost_undiscounted_mean": finished.total[:, 1:].mean(axis=0),
        "cost_limit": limits,
        "cost_violation_rate": over.mean(axis=0),
        "violation_rate": over.any(axis=1).mean(),
        "length_mean": finished.length.mean(),
    }


@contextmanager
def environment_of(
    saved: SavedPolicy, num_envs: int, seed: int, task: Task | None = None, trust: Trust = False, threads: int = 1
) -> Iterator[VectorEnv]:
    """Make environments for while inside: of the task given, the policy's own or the one it names, with its limits."""
    info = saved.info
    with named_by(saved.source or "the policy", trust or saved.trust):
        env = envs.make(task or saved.task or info["task"], num_envs, seed, threads, info["limits"])
    try:
        refuse_other_sizes(env.spec, info)
        env.spec = as_trained(env.spec, info)
        yield env
    finally:
        envs.close(env)


def as_trained(spec: Spec, info: dict[str, Any]) -> Spec:
    """Give the spec whose costs are summed up as the policy was to keep them: plainly, if it was trained so."""
    if not holds_plain_sums(info):
        return spec
    return replace(spec, constraints=tuple(replace(c, discount=1.0) for c in spec.constraints))


def refuse_other_sizes(spec: Spec, info: dict[str, Any], mend: str = "give the task it was trained on") -> None:
    """Refuse a task that the policy was not made for, unless it is of the same sizes; mend: what to do about it."""
    sides = ((spec.obs_dim, spec.action), (info["spec"]["obs_dim"], action_from_json(info["spec"]["action"])))
    found, wanted = ((obs_dim, type(action), str(action)) for obs_dim, action in sides)  # bounds may differ
    if found != wanted:
        task, policy = (f"obs {obs_dim}, action {action}" for obs_dim, action in sides)
        raise UserError(f"the sizes of {spec.name} ({task}) are not the policy's ({policy}); {mend}.")


def noise_seed(seed: int) -> int:
    """Derive the seed of sampled actions from that of the episodes: their noise must not be the stream of an environment."""
    return int(np.random.SeedSequence((seed, 1)).generate_state(1)[0])


def acted(env: Steppable, saved: SavedPolicy, deterministic: bool, seed: int) -> Iterator[Step]:
    """Give the steps of a policy after a reset with this seed: all that look at what it does look at these."""
    obs = env.reset(seed)
    saved.seed(noise_seed(seed))
    yield from acted_on(env, saved, deterministic, obs)


def acted_on(env: Steppable, saved: SavedPolicy, deterministic: bool, obs: np.ndarray) -> Iterator[Step]:
    """Give the steps of a policy from obs [N, obs] on."""
    most = PATIENCE * env.spec.horizon
    for _ in range(most):
        step = env.step(saved.predict(obs, deterministic))
        yield step
        obs = step.obs
    raise UserError(f"an episode of {env.spec.name} did not end in {most} steps; let it be truncated.")


def run_episodes(env: Steppable, saved: SavedPolicy, deterministic: bool, seed: int) -> Episodes:
    """Run the first episode of each environment, in the order of their ends."""
    obs = env.reset(seed)
    saved.seed(noise_seed(seed))
    discount = np.array([c.discount for c in env.spec.constraints])
    start = Running.start(env.num_envs, len(discount))
    return split_episodes(start, *first_episodes(env, saved, deterministic, obs), discount)[0]


def first_episodes(
    env: Steppable, saved: SavedPolicy, deterministic: bool, obs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Act on obs [N, obs] until every environment has ended an episode; what one does after it counts as 0.

    Returns rewards and costs [T, N, 1 + m], and where the episodes ended [T, N].
    """
    signals: list[np.ndarray] = []
    ends: list[np.ndarray] = []
    alive = np.ones(env.num_envs, bool)
    for step in acted_on(env, saved, deterministic, obs):
        done = step.terminated | step.truncated
        signal = np.column_stack((step.reward, step.cost))  # [N, 1 + m]
        signals.append(np.where(alive[:, None], signal, 0.0))
        ends.append(done & alive)
        alive &= ~done
        if not alive.any():
            break
    return np.stack(signals), np.stack(ends)
