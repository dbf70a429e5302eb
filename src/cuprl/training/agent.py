"""A loop that the user drives: for hardware, or a simulator that owns the clock.

    while not agent.done:
        action = agent.act(obs)
        next_obs, reward, terminated, truncated, info = robot.step(action)
        agent.observe(next_obs, reward, info["cost"], terminated, truncated)
        obs = robot.reset() if terminated or truncated else next_obs
        if agent.ready:
            print(agent.update()["rollout/ep_cost_mean"])

It is the same learner as in `train`: fed the same steps, it learns the same to the last bit.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np

from cuprl import envs
from cuprl.core.encoder import Encoder
from cuprl.core.spec import Spec
from cuprl.core.task import Task
from cuprl.core.user_modules import Trust, named_by
from cuprl.errors import UserError
from cuprl.learn.settings import refuse_at_odds
from cuprl.policies.of_run import RunPolicy
from cuprl.runs import provenance
from cuprl.runs.config import Plan, RunConfig
from cuprl.runs.folder import Run
from cuprl.training import given
from cuprl.training.agent_folder import read_agent, tell_changes, write_agent
from cuprl.training.collect import Collected
from cuprl.training.learner import Learner


class Agent:
    """Acts, is told what came of it, and learns whenever `batch_size` steps have been observed.

    Args:
        spec: what is controlled, or a task that has it, or the name of one.
        algo: the name of an algorithm, or "python:MODULE" for one of your own.
        limits: other limits than the spec's own: a number where there is one constraint, else a dict by name.
        seed: of everything random.
        steps: of the whole training, all robots together.
        num_envs: robots that are stepped together.
        settings: those of the algorithm (`cup algos` lists them).
    """

    def __init__(
        self,
        spec: Spec | Task | str,
        algo: str = "cup",
        *,
        limits: dict[str, float] | float | None = None,
        seed: int = 0,
        steps: float = 2.5e6,
        num_envs: int = 1,
        **settings: Any,
    ):
        spec, task = given.spec_and_task(spec)
        spec = dataclasses.replace(spec, constraints=envs.with_limits(spec.constraints, limits))
        asked = RunConfig(
            task=spec.name,
            algo=algo,
            seed=seed,
            steps=steps,  # type: ignore[arg-type]  # 2.5e6 is taken too
            settings={"num_envs": num_envs, **settings},
            agent=True,
        )
        plan = asked.on(spec).plan(task)
        refuse_at_odds(plan.settings)
        self._make(plan, spec)

    def _make(self, plan: Plan, spec: Spec) -> None:
        """Make the learner and an empty batch."""
        self.config, self.spec, self.num_envs = plan.config, spec, plan.settings.num_envs
        self.learner = Learner(plan, spec)
        self.batch = Collected.empty(spec, plan.settings.batch_size // self.num_envs, self.num_envs)
        self._run: Run | None = None  # where it was saved last
        self._unsaved: list[dict[str, float]] = []  # rows of metrics since then
        self._begin()

    def __repr__(self) -> str:
        learner, observed = self.learner, self._t * self.num_envs
        done = f"iteration {learner.iteration} of {learner.iterations}, {observed} of {self.config.settings['batch_size']}"
        return f"<Agent on {self.spec.name} by {self.config.algo}: {done} steps of the next>"

    def _begin(self, observed: int = 0) -> None:
        """Begin a batch, or go on with one of which some steps are known."""
        self._t, self._acted = observed, False
        self._deviation, self._params = self.learner.deviation(), self.learner.numpy_policy()
        self.batch = self.batch._replace(begun=time.perf_counter())

    @property
    def ready(self) -> bool:
        """Tell whether the batch is full: time to `update`."""
        return self._t == len(self.batch.raw_obs)

    @property
    def done(self) -> bool:
        """Tell whether it has learnt from all its steps."""
        return self.learner.done

    # --- the loop -----------------------------------------------------------------------------------------------

    def act(self, obs: Any) -> Any:
        """Draw the action(s) to try now from the policy, for obs [obs] of one robot, or [N, obs].

        Only a squashed policy keeps real actions within the actuators' bounds; what is learnt from is the action returned.
        """
        if self.done:
            raise UserError(
                f"the agent has learnt from all its {self.config.steps:,} steps; act with agent.policy().predict(obs), "
                "or make an agent with more steps."
            )
        if self.ready:
            raise UserError("the batch is full; call agent.update() before acting on.")
        if self._acted:
            raise UserError("the last action's outcome is not known; call agent.observe() before acting again.")
        raw = given.observation(obs, "obs", self.num_envs, self.spec.obs_dim)
        t, r = self._t, self.batch.rollout
        self.batch.raw_obs[t], r.obs[t] = raw, self.learner.normaliser.apply(raw)
        policy = self.learner.policy
        r.action[t] = drawn = policy.act(self._params, r.obs[t], self._deviation[t], np)
        self._acted = True
        action = policy.command(drawn, np)
        return action[0] if self.num_envs == 1 and np.ndim(obs) < 2 else action

    def observe(self, next_obs: Any, reward: Any, cost: Any, terminated: Any, truncated: Any) -> None:
        """Record what came of the last action.

        next_obs: the true successor, also where the episode ended (what comes after a reset goes to `act`);
        cost: a number, a list in the order of the constraints or a dict by name; of N robots [N], [N, m] or a dict of [N];
        terminated: the task ended, there is no future; truncated: the episode was only cut off, by a clock or a hand.
        """
        if not self._acted:
            raise UserError("there is no action to observe the outcome of; call agent.act() first.")
        n = self.num_envs
        raw = given.observation(next_obs, "next_obs", n, self.spec.obs_dim)
        signal = given.signals(reward, cost, n, self.learner.names)  # [N, 1 + m]
        ends = given.flags(terminated, "terminated", n), given.flags(truncated, "truncated", n)
        r, t = self.batch.rollout, self._t
        r.next_obs[t], r.signal[t] = self.learner.normaliser.apply(raw), signal
        r.terminated[t], r.truncated[t] = ends
        self._t, self._acted = t + 1, False

    def cut(self) -> None:
        """End the running episodes here, cut off by hand: the robots are reset before the next `act`.

        As after `load`, unless the robots stand where they stood; an action whose outcome is not observed is forgotten.
        """
        self._acted = False
        if self._t:
            r = self.batch.rollout
            r.truncated[self._t - 1] = 1.0 - r.terminated[self._t - 1]
        else:
            self.learner.cut()

    def update(self) -> dict[str, float]:
        """Learn from the batch; returns the row of metrics, with the columns of progress.csv."""
        if not self.ready:
            size = self.num_envs * len(self.batch.raw_obs)
            raise UserError(f"update() needs a full batch: {self._t * self.num_envs} of {size} steps are observed.")
        row = self.learner.learn_from(self.batch)
        self._unsaved.append(row)
        self._begin()
        return row

    def policy(self) -> RunPolicy:
        """Give the policy as it is now, to `predict` with; it does not change when the agent learns on."""
        config = self.config.to_json()
        made = self._run.config if self._run else {"sources": provenance.sources(config)}
        return RunPolicy(self.learner.arrays(), {**made, **config}, self._run, self.learner.config.encoder)

    # --- folders ------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path | None = None) -> Run:
        """Write it into a new folder, or again into its own: a run's folder, for `cup plot`, `cup export`, `cuprl.load`, …

        A batch in the middle is saved too; only an action whose outcome is not yet observed is forgotten.
        """
        arrays = self.learner.arrays() | self.batch.first(self._t)
        self._run = write_agent(self._run, folder, self.config, self.learner.iteration, self._unsaved, arrays)
        self._unsaved = []
        return self._run

    @staticmethod
    def load(folder: str | Path, *, encoder: Encoder | None = None, trust: Trust = False) -> Agent:
        """Read an agent as it was saved, to go on as if it had never been put away; `cut` where the robots were reset.

        encoder: its encoder, where that was given in Python and no module holds it.
        trust: the module of an algorithm or encoder of one's own, whose code then runs, or True.
        """
        run, config, spec, arrays = read_agent(folder)
        with named_by(run.path, trust):
            settings = {**config.settings, "encoder": encoder} if encoder else config.settings
            agent = object.__new__(Agent)
            agent._make(dataclasses.replace(config, settings=settings).plan(), spec)
        tell_changes(run)
        agent.learner.restore(arrays)
        agent._run = run
        agent._begin(agent.batch.put_back(arrays))
        return agent
