"""A run in memory: a learner and the environment it learns in."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from cuprl import envs
from cuprl.core.spec import Spec
from cuprl.core.spec_json import spec_from_json
from cuprl.core.task import Task, bare
from cuprl.errors import UserError
from cuprl.policies.start import Start
from cuprl.runs.checkpoint import Arrays, misfit, under, within
from cuprl.runs.config import RunConfig
from cuprl.training.collect import Collector
from cuprl.training.learner import Learner


class Training:
    """A run in memory, between two iterations."""

    def __init__(self, config: RunConfig, task: Task | None = None):
        """Make and start the environments; task: the task itself where its name alone does not find it."""
        if config.agent:
            raise UserError("this run was driven by hand: continue it with cuprl.Agent.load(folder), not by resuming it.")
        given, self.task = task is not None, envs.find(task or config.task)
        task = self.task
        if given and config.spec is not None and bare(task.name) != bare(config.task):
            raise UserError(f"the run is of {config.task}, and the task given is {task.name}; give that of the run.")
        plan = config.plan(task)
        num_envs = plan.settings.num_envs
        env = envs.build(task, num_envs, config.threads, plan.config.limits)
        with envs.closed_on_error(env):
            if config.spec is not None:
                refuse_other_task(spec_from_json(config.spec), env.spec)
            self.config = plan.config.on(env.spec)  # with nothing left open
            self.learner = Learner(plan, env.spec)
            self.collector = Collector(env, plan.settings.batch_size // num_envs, env_seed(config.seed))

    def begin_from(self, start: Start) -> None:
        """Begin with a trained policy; one that does not fit is refused."""
        start.refuse_misfit(self.learner.config, self.learner.spec)
        try:
            self.learner.begin_from(start.arrays, start.facts["critics"])
        except (KeyError, TypeError, ValueError) as error:  # an algorithm of one's own may have a network of its own
            raise UserError(f"{start.source} does not fit {self.config.algo} ({error}); leave --from away.") from None

    @property
    def done(self) -> bool:
        """Tell whether it has learnt from all its steps."""
        return self.learner.done

    def iterate(self) -> dict[str, float]:
        """Collect a rollout and learn from it; returns the row of metrics."""
        begun, learner = time.perf_counter(), self.learner
        acting = learner.policy, learner.numpy_policy(), learner.normaliser, learner.deviation()
        return learner.learn_from(self.collector.collect(*acting, begun))

    def close(self) -> None:
        """End what the environment holds."""
        envs.close(self.collector.env)

    def hurry(self) -> None:
        """Wait no longer than seconds for an environment that hangs: the run is to stop."""
        envs.hurry(self.collector.env)

    def arrays(self) -> Arrays:
        """Give all that is needed to continue, as plain arrays."""
        return self.learner.arrays() | under("env", self.collector.env.get_state())

    def restore(self, arrays: Arrays) -> None:
        """Put back what `arrays` gave."""
        self.learner.restore(arrays)
        try:
            self.collector.obs = self.collector.env.set_state(within("env", arrays))
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:  # the environment may be anyone's
            raise misfit(error) from None


def refuse_other_task(was: Spec, now: Spec) -> None:
    """Refuse to go on in a task that is not what it was: its rows would stand under those of another problem."""
    sides: list[tuple[str, Any, Any]] = [
        (part, getattr(was, part), getattr(now, part)) for part in ("obs_dim", "horizon", "action")
    ]
    sides += [("constraints", [c.name for c in was.constraints], [c.name for c in now.constraints])]
    pairs = [
        (a, b) for a, b in zip(was.constraints, now.constraints) if not math.isclose(a.discount, b.discount, rel_tol=1e-12)
    ]
    sides += [(f"discount of {a.name}", a.discount, b.discount) for a, b in pairs]  # an old name rounds it
    if was.step_seconds is not None:  # an old run does not tell
        sides += [("step_seconds", was.step_seconds, now.step_seconds)]
    for part, before, found in sides:
        if before != found:
            changed = f"{now.name} is not what it was when the run began: its {part} was {before!r} and is {found!r}"
            raise UserError(f"{changed}; give the task as it was, or begin a new run from this one's policy (--from).")


def env_seed(seed: int) -> int:
    """Derive the environments' seed from the run's. Runs with neighbouring seeds share none."""
    return int(np.random.SeedSequence([seed, 1]).generate_state(1)[0])
