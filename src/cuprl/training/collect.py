"""Collecting: the policy acts, the physics steps. All on the host, in preallocated arrays, all environments at once.

Acting is plain NumPy: for a handful of rows a two-layer network is cheaper there than a call into a compiled program.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cuprl.core.actions import Box
from cuprl.core.normaliser import Normaliser
from cuprl.core.observations import fault
from cuprl.core.spec import Spec
from cuprl.core.task import VectorEnv
from cuprl.learn.policy import Policy
from cuprl.learn.types import Rollout
from cuprl.runs.checkpoint import Arrays, misfit, under


class Collected(NamedTuple):
    """A rollout and what else there is to say of it: all that a learner is handed."""

    rollout: Rollout
    raw_obs: np.ndarray  # [T, N, obs] its observations before they were normalised
    begun: float = 0.0  # when, by `time.perf_counter`
    fault: str = ""  # what is wrong with an observation, before the normaliser clipped it; "": nothing

    @staticmethod
    def empty(spec: Spec, steps: int, num_envs: int) -> Collected:
        """Make arrays for T steps of N environments, to be filled row by row."""
        obs_shape = (steps, num_envs, spec.obs_dim)
        rollout = Rollout(
            obs=np.empty(obs_shape, np.float32),
            action=np.empty((steps, num_envs, *spec.action.shape), np.float32 if isinstance(spec.action, Box) else np.int32),
            signal=np.empty((steps, num_envs, 1 + len(spec.constraints)), np.float32),
            next_obs=np.empty(obs_shape, np.float32),
            terminated=np.empty((steps, num_envs), np.float32),
            truncated=np.empty((steps, num_envs), np.float32),
        )
        return Collected(rollout, np.empty(obs_shape, np.float64))

    def first(self, steps: int) -> Arrays:
        """Name the arrays of the first so many steps, [steps, N, ...] each, as a checkpoint keeps them."""
        arrays = {"raw_obs": self.raw_obs, **vars(self.rollout)}
        return under("batch", {name: array[:steps] for name, array in arrays.items()})

    def put_back(self, arrays: Arrays) -> int:
        """Fill in the steps that `first` gave, and count them; what does not fit is refused."""
        try:
            steps = len(arrays["batch/raw_obs"])
            for name, buffer in self.first(steps).items():
                if arrays[name].shape != buffer.shape or not np.isfinite(arrays[name]).all():
                    raise ValueError(f"{name} is no batch of the shape {list(buffer.shape)}")
                buffer[:] = arrays[name]
        except (KeyError, TypeError, ValueError) as error:
            raise misfit(error) from None
        return steps


class Collector:
    """Steps one vector environment, carrying unfinished episodes over from one rollout to the next."""

    def __init__(self, env: VectorEnv, steps: int, seed: int):
        """Start the environment's episodes with this seed; steps: T, the length of a rollout."""
        self.env = env
        self.buffers = Collected.empty(env.spec, steps, env.num_envs)  # overwritten by each `collect`
        self.obs = env.reset(seed)  # the observation to act on next [N, obs]

    def collect(self, policy: Policy, params: Any, normaliser: Normaliser, deviation: np.ndarray, begun: float) -> Collected:
        """Step T times, with actions that deviate from the mode by noise [T, N, ...]; begun: when the iteration began.

        Its arrays are the collector's own, valid until the next call. An observation that cannot be used ends it at once, so
        that nobody acts on it.
        """
        r, raw_obs, raw = self.buffers.rollout, self.buffers.raw_obs, self.obs
        late = self.env.late_scores() if hasattr(self.env, "late_scores") else None
        step = late.step if late else self.env.step
        actions, outcomes, ends = [], [], []
        for t in range(len(r.obs)):
            if wrong := fault(raw):
                return self.buffers._replace(begun=begun, fault=wrong)
            raw_obs[t] = raw
            action = policy.act(params, normaliser.apply(raw, out=r.obs[t]), deviation[t], np)
            next_raw, *outcome, raw = step(policy.command(action, np))
            actions.append(action)
            outcomes.append(outcome)
            if next_raw is not raw:
                ends.append((t, next_raw))
        self.obs = raw
        # What acting does not wait for is done for all steps at once: right after physics, which leaves little in the
        # processor's caches, every call takes several times as long.
        r.action[:] = actions
        *scores, r.terminated[:], r.truncated[:] = zip(*outcomes)
        r.signal[..., 0], r.signal[..., 1:] = late.scores() if late else scores
        # The true successor is the next observation; only where an episode ended is it another one.
        r.next_obs[:-1], r.next_obs[-1] = r.obs[1:], normaliser.apply(raw)
        for t, next_raw in ends:
            normaliser.apply(next_raw, out=r.next_obs[t])
        wrong = next(filter(None, map(fault, (raw, *(next_raw for _, next_raw in ends)))), "")
        return self.buffers._replace(begun=begun, fault=wrong)
