"""Episodes of a saved policy, its normaliser frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cuprl import envs, runs
from cuprl.episodes import Episodes, Running, split_episodes
from cuprl.errors import UserError
from cuprl.learn.normaliser import Normaliser
from cuprl.learn.policy import Policy

PATIENCE = 1000  # horizons after which an episode that does not end is given up


class SavedPolicy:
    """A policy out of a run: `predict` maps raw observations to actions, in plain NumPy."""

    def __init__(
        self, policy: Policy, params: Any, normaliser: Normaliser, run: runs.Run, task: envs.Task | None = None
    ):
        self.policy, self.params, self.normaliser, self.run, self.task = policy, params, normaliser, run, task
        self._rng = np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        """Of the noise of sampled actions."""
        self._rng = np.random.default_rng(seed)

    def predict(self, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
        """obs [obs] or [N, obs] -> the action(s): the mode, or a sample of the policy."""
        obs = self.normaliser.apply(np.asarray(obs, np.float64))
        noise = None if deterministic else self.policy.host_noise(self._rng, obs.shape[:-1])
        return self.policy.act(self.params, obs, noise, np)


def load(run: str | Path | runs.Run, task: envs.Task | None = None) -> SavedPolicy:
    """The policy of a run, from its newest intact checkpoint; a run on a task of one's own needs that task again."""
    from cuprl.training import Training

    run = run if isinstance(run, runs.Run) else runs.Run(run)
    arrays, _ = run.latest()
    training = Training({**run.config, "threads": 1}, task)
    training.restore(arrays)
    return SavedPolicy(training.policy, training.numpy_policy(), training.normaliser, run, task)


def evaluate(
    run: str | Path | runs.Run | SavedPolicy, episodes: int = 20, deterministic: bool = True, seed: int = 10_000
) -> dict[str, Any]:
    """Whole episodes, one in each of `episodes` environments, so that short ones do not count more than long ones."""
    if episodes < 1:
        raise UserError(f"episodes is {episodes}; it must be at least 1.")
    saved = run if isinstance(run, SavedPolicy) else load(run)
    config = saved.run.config
    env = envs.make(saved.task or config["task"], episodes, seed, limits=config["limits"])
    spec = env.spec
    finished = run_episodes(env, saved, deterministic, seed)
    names = [c.name for c in spec.constraints]

    def per_constraint(values: np.ndarray) -> Any:
        return float(values[0]) if len(names) == 1 else dict(zip(names, map(float, values)))

    over = (finished.discounted > spec.limits).any(axis=1)
    return {
        "task": config["task"],
        "algo": config["algo"],
        "run": str(saved.run.path),
        "deterministic": deterministic,
        "episodes": episodes,
        "return_mean": float(finished.total[:, 0].mean()),
        "return_std": float(finished.total[:, 0].std()),
        "cost_mean": per_constraint(finished.discounted.mean(axis=0)),
        "cost_std": per_constraint(finished.discounted.std(axis=0)),
        "cost_undiscounted_mean": per_constraint(finished.total[:, 1:].mean(axis=0)),
        "cost_limit": per_constraint(np.array([c.limit for c in spec.constraints])),
        "violation_rate": float(over.mean()),
        "length_mean": float(finished.length.mean()),
    }


def run_episodes(env: envs.VectorEnv, saved: SavedPolicy, deterministic: bool, seed: int) -> Episodes:
    """The first episode of each environment; what an environment does after it is not counted."""
    obs = env.reset(seed)
    saved.seed(seed)
    signals: list[np.ndarray] = []
    ends: list[np.ndarray] = []
    alive = np.ones(env.num_envs, bool)
    while alive.any():
        if len(ends) > PATIENCE * env.spec.horizon:
            raise UserError(f"an episode of {env.spec.name} did not end in {len(ends)} steps; let it be truncated.")
        step = env.step(saved.predict(obs, deterministic))
        obs = step.obs
        signal = np.column_stack((step.reward, step.cost))  # [N, 1 + m]
        done = step.terminated | step.truncated
        signals.append(np.where(alive[:, None], signal, 0.0))
        ends.append(done & alive)
        alive &= ~done
    discount = np.array([c.discount for c in env.spec.constraints])
    start = Running.start(env.num_envs, len(discount))
    return split_episodes(start, np.stack(signals), np.stack(ends), discount)[0]
