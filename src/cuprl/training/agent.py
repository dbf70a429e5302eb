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
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from cuprl import envs
from cuprl.core.encoder import Encoder
from cuprl.core.episodes import Running
from cuprl.core.observations import LARGEST, fault
from cuprl.core.spec import Spec
from cuprl.core.spec_json import spec_from_json
from cuprl.core.task import Task
from cuprl.core.user_modules import Trust, named_by
from cuprl.errors import UserError, unknown
from cuprl.policies.of_run import RunPolicy
from cuprl.runs import files, progress, provenance
from cuprl.runs.checkpoint import Arrays, misfit, under
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
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
        task: Task | None = None
        if not isinstance(spec, Spec):
            if not isinstance(spec, str) and not hasattr(spec, "vector_env"):
                raise UserError(f"spec is {spec!r}; give a cuprl.Spec, a task, or the name of one.")
            task = envs.find(spec)
            spec = spec_of(task)
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
        raw = self._observation(obs, "obs")
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
        raw = self._observation(next_obs, "next_obs")
        signal = np.concatenate((self._numbers(reward, "reward")[:, None], self._costs(cost)), axis=1)  # [N, 1 + m]
        ends = self._numbers(terminated, "terminated"), self._numbers(truncated, "truncated")
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
            self.learner.running = Running.start(self.num_envs, len(self.learner.names))

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
        return RunPolicy(self.learner.arrays(), self.config.to_json(), self._run, self.learner.config.encoder)

    # --- what is given to it ------------------------------------------------------------------------------------

    def _numbers(self, value: Any, name: str, *columns: int) -> np.ndarray:
        """Check and give [N, *columns]; an axis of length 1 may be left out, as that of the robots where there is one."""
        shape = (self.num_envs, *columns)
        plain = [n for n in shape if n != 1]
        wanted = "a number" if not plain else f"numbers of the shape {plain}"
        try:
            array = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            raise UserError(f"{name} is {value!r}; give {wanted}.") from None
        if [n for n in array.shape if n != 1] != plain:
            raise UserError(f"{name} has the shape {list(array.shape)}; give {wanted}.")
        if not np.isfinite(array).all():
            raise UserError(f"{name} has NaN or infinite values: nothing was recorded; give finite ones.")
        return array.reshape(shape)

    def _observation(self, obs: Any, name: str) -> np.ndarray:
        array = self._numbers(obs, name, self.spec.obs_dim)
        if wrong := fault(array, name):
            raise UserError(f"{wrong}: nothing was recorded; give numbers of at most {LARGEST:g} in size.")
        return array

    def _costs(self, cost: Any) -> np.ndarray:
        """Check and give [N, m]."""
        names = self.learner.names
        if not isinstance(cost, dict):
            return self._numbers(cost, "cost", len(names))
        for name in cost:
            if name not in names:
                raise unknown("cost", name, names)
        for name in names:
            if name not in cost:
                raise UserError(f"cost {name!r} is missing; give all of {', '.join(names)}.")
        return np.stack([self._numbers(cost[name], f"cost {name!r}") for name in names], axis=1)

    # --- folders ------------------------------------------------------------------------------------------------

    def _buffers(self) -> dict[str, np.ndarray]:
        return {"raw_obs": self.batch.raw_obs, **vars(self.batch.rollout)}

    def save(self, folder: str | Path | None = None) -> Run:
        """Write it into a new folder, or again into its own: a run's folder, for `cup plot`, `cup export`, `cuprl.load`, …

        A batch in the middle is saved too; only an action whose outcome is not yet observed is forgotten.
        """
        run, before = self._run, self._run
        if run is None or (folder is not None and Path(folder).resolve() != run.path.resolve()):
            try:
                run = Run.create(folder, self.config)
            except UserError:
                raise UserError(f"{folder} is not empty, and not this agent's; give another folder.") from None
            if before is not None and before.metrics.is_file():
                files.write_atomically(run.metrics, files.read(before.metrics, progress.LARGEST))
        with run.locked():
            run.forget_after(self.learner.iteration - len(self._unsaved))
            for row in self._unsaved:
                run.append(row)
            batch = {name: array[: self._t] for name, array in self._buffers().items()}
            newest = run.save(self.learner.iteration, self.learner.arrays() | under("batch", batch))
            for path in run.checkpoints():  # one an iteration: the fullest
                if path != newest and path.name.startswith(newest.name[:8]):
                    path.unlink()
        self._run, self._unsaved = run, []
        return run

    @staticmethod
    def load(folder: str | Path, *, encoder: Encoder | None = None, trust: Trust = False) -> Agent:
        """Read an agent as it was saved, to go on as if it had never been put away; `cut` where the robots were reset.

        encoder: its encoder, where that was given in Python and no module holds it.
        trust: the module of an algorithm or encoder of one's own, whose code then runs, or True.
        """
        run = Run(folder)
        config = RunConfig.from_json(run.config)
        if not config.agent:
            raise UserError(f"{run.path} was not saved by an Agent; use `cup resume`, or cuprl.load for its policy.")
        provenance.refuse_altered(run.path, run.config)
        arrays, refused = run.latest()
        for sentence in refused:
            warnings.warn(f"{sentence} Falling back to the one before it.", stacklevel=2)
        if config.spec is None:
            raise UserError(f"{run.path / 'config.json'} has no spec; restore it.")
        with named_by(run.path, trust):
            settings = {**config.settings, "encoder": encoder} if encoder else config.settings
            agent = Agent(spec_from_json(config.spec), config.algo, seed=config.seed, steps=config.steps, **settings)
        agent.learner.restore(arrays)
        agent._run = run
        agent._begin(agent._put_back(arrays))
        return agent

    def _put_back(self, arrays: Arrays) -> int:
        """Take up the batch in the middle of which it was saved, and give its steps."""
        try:
            observed = len(arrays["batch/raw_obs"])
            for name, buffer in self._buffers().items():
                steps = arrays[f"batch/{name}"]
                if steps.shape != buffer[:observed].shape or not np.isfinite(steps).all():
                    raise ValueError(f"batch/{name} is no batch of the shape {list(buffer.shape)}")
                buffer[:observed] = steps
        except (KeyError, TypeError, ValueError) as error:
            raise misfit(error) from None
        return observed


def spec_of(task: Task) -> Spec:
    """Ask a task's environment what it is, and close it."""
    env = envs.build(task, 1, 1)
    envs.close(env)
    return env.spec
