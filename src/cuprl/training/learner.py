"""What learns, between two batches: the state, the normaliser, the episodes so far, and how they are continued exactly.

A Learner is given rollouts and knows nothing of where they come from: `Training` collects them from an environment,
`Agent` is driven by whoever owns the clock.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cuprl import backend  # noqa: F401  (backend sets JAX up before anything imports it)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax.flatten_util import ravel_pytree  # isort: skip

from cuprl.core.episodes import Episodes, Running, split_episodes
from cuprl.core.normaliser import Moments, Normaliser
from cuprl.core.observations import LARGEST
from cuprl.core.spec import Spec
from cuprl.errors import RunStopped, UserError
from cuprl.learn.cost_return import EpisodeCosts
from cuprl.learn.encoding import with_encoder
from cuprl.learn.estimate import estimate
from cuprl.learn.policy import policy_for
from cuprl.learn.types import Algorithm, Batch, Metrics, Rollout, State
from cuprl.runs.checkpoint import Arrays, from_arrays, misfit, to_arrays, under, within
from cuprl.runs.columns import one_column_each
from cuprl.runs.config import Plan
from cuprl.runs.history import Schedule
from cuprl.training.collect import Collected
from cuprl.training.row import rollout_metrics, time_metrics

WINDOW = 100  # episodes in the reported means, as in the paper's table
# What must be finite to go on, also in a checkpoint: where the price of a cost is NaN nothing would be projected any more.
LEARNT = ("critics", "policy", "multiplier", "belief")
USED = ("normaliser/", "policy/", "critic", "signals/", "state/multiplier/", "state/belief/")
NOISE = 0x6E6F6973  # folded into the key for the actions' noise, apart from the keys of the update


@partial(jax.jit, static_argnames=("policy", "shape"))
def draw_noise(key: jax.Array, policy: Any, shape: tuple[int, int]) -> jax.Array:
    """Draw what standard noise a policy needs for [T, N] actions."""
    return policy.noise(jax.random.fold_in(key, NOISE), shape)


@partial(jax.jit, static_argnames=("module", "config", "spec"))
def estimate_and_update(
    state: State,
    rollout: Rollout,
    costs: EpisodeCosts,
    size: np.ndarray,  # [1 + m]
    limits: np.ndarray,  # [m]
    lr_scale: Any,
    module: Algorithm,
    config: Any,
    spec: Spec,
) -> tuple[State, Metrics, dict[str, jax.Array]]:
    """Learn from a rollout, in the one compiled call of an iteration; gives metrics and whether each part is finite too."""
    batch: Batch = estimate(state.critics, rollout, costs, size, limits, lr_scale, config, spec)
    state, metrics = module.update(state, batch, config, spec)
    finite = {part: jnp.isfinite(ravel_pytree(getattr(state, part))[0]).all() for part in LEARNT}
    return state, {**metrics, "train/cost_return": batch.cost_return}, finite


def usual_step(signals: Moments | None, m: int) -> np.ndarray:
    """Give the size of the reward and of each cost over all steps so far [1 + m]; 1 where no critic counts in it."""
    return np.ones(1 + m, np.float32) if signals is None else signals.size.astype(np.float32)


class Learner:
    """Learns from one rollout after another."""

    def __init__(self, plan: Plan, spec: Spec):
        self.module, self.iterations, self.spec = plan.module, plan.iterations, spec
        self.config = settings = with_encoder(plan.settings, spec.obs_dim)
        self.schedule = Schedule.of(plan.iterations, settings.batch_size, settings.anneal, plan.config.extensions)
        self.names = [c.name for c in spec.constraints]
        self.discount = np.array([c.discount for c in spec.constraints])  # [m]
        self.policy = policy_for(spec, self.config)
        self.state = self.module.init(jax.random.PRNGKey(plan.config.seed), self.config, spec)
        self.normaliser = (Normaliser.identity if self.config.normalise else Normaliser.off)(spec.obs_dim)
        self.signals = Moments.none(1 + len(self.names)) if self.config.critic_unit == "step" else None
        self.running = Running.start(self.config.num_envs, len(self.names))
        self.episodes = Episodes.none(len(self.names))
        self.iteration = 0
        self.at_bound = 0  # iterations in a row with a multiplier at its bound

    @property
    def done(self) -> bool:
        """Tell whether it has learnt from all its rollouts."""
        return self.iteration >= self.iterations

    def deviation(self) -> np.ndarray:
        """Draw the noise of the next rollout's actions [T, N, ...]; the same however often it is asked for."""
        shape = (self.config.batch_size // self.config.num_envs, self.config.num_envs)
        noise = np.asarray(draw_noise(self.state.key, self.policy, shape))
        return self.policy.deviation(self.numpy_policy(), noise, np)

    def learn_from(self, collected: Collected) -> dict[str, float]:
        """Learn from what was collected, one iteration; returns its row of metrics. Where it stops, it is left as it was."""
        self._refuse_unusable(collected)
        rollout, window = collected.rollout, self.config.cost_window
        done = (rollout.terminated > 0) | (rollout.truncated > 0)
        ended, running = split_episodes(self.running, rollout.signal, done, self.discount)
        episodes = (self.episodes + ended).last(max(WINDOW, window))
        counted, first_step = episodes.last(window) if window else ended, self.running.length
        costs = EpisodeCosts.of(counted, running, first_step, self.spec, self.config)
        signals = self.signals and self.signals.with_batch(np.asarray(rollout.signal, np.float64))
        lr_scale, size = self.schedule.scale(self.iteration), usual_step(signals, len(self.names))
        handed_over = time.perf_counter()
        state, metrics, finite = jax.block_until_ready(
            estimate_and_update(
                self.state, rollout, costs, size, self.spec.limits, lr_scale, self.module, self.config, self.spec
            )
        )
        self._refuse_not_finite({f"learnt {part}": finite[part] for part in LEARNT})
        self.state, self.signals, self.running, self.episodes = state, signals, running, episodes
        self.normaliser = self.normaliser.update(collected.raw_obs)
        self.iteration += 1
        maximum = getattr(self.config, "multiplier_max", np.inf)
        self.at_bound = self.at_bound + 1 if np.any(self.state.multiplier.value >= maximum) else 0
        row = {
            "iteration": self.iteration,
            "steps": self.iteration * self.config.batch_size,
            **rollout_metrics(self.episodes.last(WINDOW), len(ended.length), self.spec),
            **metrics,
            "train/iterations_at_bound": self.at_bound,
            **time_metrics(self.config.batch_size, collected.begun, handed_over, time.perf_counter()),
        }
        return one_column_each(row, self.names)

    def cut(self) -> None:
        """End the running episodes, cut off between two batches: they count among those that ended before."""
        begun = self.running.length > 0  # [N]
        self.episodes += Episodes(*(x[begun] for x in self.running))
        self.running = Running.start(self.config.num_envs, len(self.names))

    def numpy_policy(self) -> Any:
        """Copy the policy's parameters to the host, to act with."""
        return jax.tree.map(np.asarray, self.state.policy)

    def _refuse_unusable(self, collected: Collected) -> None:
        """Stop the run where a number that came from the environment cannot be learnt from."""
        if collected.fault:
            wrong = f"NaN or infinite or greater than {LARGEST:g}"
            raise RunStopped(f"an observation became {wrong} in iteration {self.iteration + 1}: {collected.fault}")
        signals = ("reward", *(f"cost {name!r}" for name in self.names))
        signal = collected.rollout.signal
        self._refuse_not_finite({name: np.isfinite(signal[..., i]).all() for i, name in enumerate(signals)})

    def _refuse_not_finite(self, quantities: dict[str, Any]) -> None:
        """Stop the run at the first that is not; quantities: whether each is finite."""
        for name, finite in quantities.items():
            if not finite:
                raise RunStopped(f"the {name} became NaN or infinite in iteration {self.iteration + 1}")

    # --- from a trained policy ----------------------------------------------------------------------------------

    def begin_from(self, arrays: Arrays, critics: bool) -> None:
        """Begin with the network and normaliser of another learner's `arrays`, and with its critics if they are asked for.

        KeyError or ValueError where they do not fit. Optimisers, multipliers and what is believed of J^C begin anew.
        """
        parts = {"policy": self.state.policy} | ({"critics": self.state.critics} if critics else {})
        signals = {"signals": self.signals} if critics else {}  # the unit that those critics count in
        found = from_arrays({"state": parts, "normaliser": self.normaliser.seen, **signals}, arrays)
        self.state, self.signals = replace(self.state, **found["state"]), found.get("signals", self.signals)
        if seen := found["normaliser"]:  # none where it is off
            self.normaliser = Normaliser.of(seen)

    # --- checkpoints --------------------------------------------------------------------------------------------

    def _template(self) -> dict[str, Any]:
        return {"state": self.state, "normaliser": self.normaliser.seen, "signals": self.signals, "running": self.running}

    def arrays(self) -> Arrays:
        """Give all that is needed to continue, as plain arrays: the names are in runs/checkpoint.py."""
        return {
            **to_arrays(self._template()),
            **under("episodes", self.episodes._asdict()),
            "counters": np.array([self.iteration, self.at_bound], np.int64),
        }

    def restore(self, arrays: Arrays) -> None:
        """Continue from these: after it the learner is the one whose `arrays` they were, to the last bit."""
        try:
            learner = from_arrays(self._template(), arrays)
            ended = Episodes(**within("episodes", arrays))
            self.episodes = Episodes.none(len(self.names)) + ended  # which fails for other shapes
            self.iteration, self.at_bound = map(int, arrays["counters"])
            if not 0 <= self.iteration <= self.iterations or len(set(map(len, self.episodes))) > 1:
                raise ValueError(f"it is of iteration {self.iteration}, with {len(self.episodes.length)} episodes")
        except (KeyError, TypeError, ValueError) as error:
            raise misfit(error) from None
        broken = [name for name, array in arrays.items() if name.startswith(USED) and not np.isfinite(array).all()]
        if broken:
            raise UserError(f"the checkpoint's {broken[0]} is NaN or infinite: no run goes on from it; train it again.")
        self.state, self.signals, self.running = learner["state"], learner["signals"], learner["running"]
        if seen := learner["normaliser"]:  # none where it is off
            self.normaliser = Normaliser.of(seen)
