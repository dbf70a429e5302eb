"""Collecting: the policy acts, the physics steps. All on the host, in preallocated arrays, all environments at once.

Acting is plain NumPy: for a handful of rows a two-layer network is cheaper there than a call into a compiled program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cuprl.envs.protocol import Box, Spec, VectorEnv
from cuprl.learn.normaliser import Normaliser
from cuprl.learn.policy import Policy
from cuprl.learn.types import Rollout


def empty_rollout(spec: Spec, steps: int, num_envs: int) -> tuple[Rollout, np.ndarray]:
    """Arrays for a rollout of T steps, to be filled row by row; and for its raw observations [T, N, obs]."""
    obs_shape = (steps, num_envs, spec.obs_dim)
    rollout = Rollout(
        obs=np.empty(obs_shape, np.float32),
        action=np.empty((steps, num_envs, *spec.action.shape), np.float32 if isinstance(spec.action, Box) else np.int32),
        signal=np.empty((steps, num_envs, 1 + len(spec.constraints)), np.float32),
        next_obs=np.empty(obs_shape, np.float32),
        terminated=np.empty((steps, num_envs), np.float32),
        truncated=np.empty((steps, num_envs), np.float32),
    )
    return rollout, np.empty(obs_shape, np.float64)


class Collector:
    """Steps one vector environment, carrying unfinished episodes over from one rollout to the next."""

    def __init__(self, env: VectorEnv, steps: int):
        """steps: T, the length of a rollout."""
        self.env = env
        self.rollout, self._raw_obs = empty_rollout(env.spec, steps, env.num_envs)  # overwritten by each `collect`
        self.finite = True  # whether all observations were, before the normaliser clipped them
        self.obs: np.ndarray = np.zeros((env.num_envs, env.spec.obs_dim))  # the observation to act on next

    def reset(self, seed: int) -> None:
        self.obs = self.env.reset(seed)

    def collect(
        self, policy: Policy, params: Any, normaliser: Normaliser, noise: np.ndarray
    ) -> tuple[Rollout, np.ndarray]:
        """A rollout of T steps with actions from standard noise [T, N, ...]; and the raw observations [T, N, obs].

        Both are the collector's own buffers, valid until the next call.
        """
        r = self.rollout
        self.finite = True
        raw = self.obs
        obs = normaliser.apply(raw)
        for t in range(len(r.obs)):
            self._raw_obs[t], r.obs[t] = raw, obs
            action = policy.act(params, obs, noise[t], np)
            next_raw, r.signal[t, :, 0], r.signal[t, :, 1:], terminated, truncated, raw = self.env.step(action)
            obs = normaliser.apply(raw)
            r.action[t], r.terminated[t], r.truncated[t] = action, terminated, truncated
            # The true successor is normalised like any observation; only where an episode ended is it another one.
            if next_raw is raw:
                r.next_obs[t] = obs
            else:
                r.next_obs[t] = normaliser.apply(next_raw)
                self.finite &= bool(np.isfinite(next_raw).all())
        self.obs = raw
        self.finite &= bool(np.isfinite(self._raw_obs).all() and np.isfinite(raw).all())
        return r, self._raw_obs
