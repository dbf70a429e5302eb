"""Evaluations of a policy while it is trained, in environments of their own: nothing that is learnt depends on them.

Every evaluation runs the same episodes, so that two differ by their policies alone, and one that was cut short is done
again from the checkpoint, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np

from cuprl import envs
from cuprl.core.task import Step, VectorEnv
from cuprl.errors import RunStopped, UserError
from cuprl.policies.evaluate import measures, run_episodes
from cuprl.runs.columns import holds_plain_sums, one_column_each
from cuprl.runs.evaluations import ACTIONS, cost_column
from cuprl.runs.folder import Run
from cuprl.training.display import Display
from cuprl.training.hooks import View
from cuprl.training.training import Training

KEPT = {  # of what `measures` gives, as evaluations.csv calls it
    "return_mean": "return",
    "return_std": "return_std",
    "length_mean": "length",
    "violation_rate": "violation_rate",
    "cost_mean": "cost",
    "cost_std": "cost_std",
    "cost_undiscounted_mean": "cost_undiscounted",
}


class Interrupted(Exception):  # noqa: N818
    """The run is to stop: an evaluation is left in its middle."""


class Evaluator:
    """Evaluates a training's policy where it is due, records it, and tells of it."""

    def __init__(self, training: Training, run: Run, display: Display):
        self.training, self.run, self.display = training, run, display
        self.seed = eval_seed(training.config.seed)
        self.env: VectorEnv | None = None  # while it evaluates

    def is_due(self) -> bool:
        """Tell whether the policy as it is now is to be evaluated, and has not been."""
        config, iteration = self.training.config, self.training.learner.iteration
        if not config.eval_every or not iteration:
            return False
        turns = {extension["iteration"] for extension in config.extensions or ()}  # ends of what was planned before
        wanted = self.training.done or iteration % config.eval_every == 0 or iteration in turns
        return wanted and iteration not in self.run.evaluations.recorded()

    def look(self, stopped: Sized) -> bool:
        """Evaluate if that is due, unless `stopped` is or gets filled; returns whether there is a new row."""
        if stopped or not self.is_due():
            return False
        try:
            row = self.evaluate(stopped)
        except Interrupted:
            return False
        except (UserError, RunStopped) as error:
            iteration = self.training.learner.iteration
            self.display.note(f"the policy of iteration {iteration} could not be evaluated ({error}); training goes on.")
            return False
        self.run.evaluations.append(row)
        self.display.evaluated(self.sentence(row))
        return True

    def evaluate(self, stopped: Sized = ()) -> dict[str, float]:
        """Run the episodes of the mode and of sampled actions; returns the row."""
        config, learner = self.training.config, self.training.learner
        policy = View(self.training, self.run).policy()
        plain = holds_plain_sums(self.run.config["settings"])
        row: dict[str, Any] = {
            "iteration": learner.iteration,
            "steps": learner.iteration * learner.config.batch_size,
            "episodes": config.eval_episodes,
        }
        self.env = envs.build(self.training.task, config.eval_episodes, config.threads, config.limits)
        try:
            for actions in ACTIONS:
                stoppable = Stoppable(self.env, stopped)
                found = measures(run_episodes(stoppable, policy, actions == "mode", self.seed), learner.spec, plain)
                row |= {f"{actions}/{name}": found[key] for key, name in KEPT.items()}
        finally:
            envs.close(self.env)
            self.env = None
        return one_column_each(row, learner.names)

    def hurry(self) -> None:
        """Wait no longer than seconds for an environment that hangs."""
        if self.env is not None:
            envs.hurry(self.env)

    def sentence(self, row: dict[str, float]) -> str:
        """Say what an evaluation came to, and whether it is the best so far."""
        said = []
        for actions in ACTIONS:
            costs = [self._cost(row, name, actions) for name in self.training.learner.names]
            said.append(", ".join([f"{actions} return {row[f'{actions}/return']:.1f}", *costs]))
        best = "; the best so far" if self.run.best() == row["iteration"] else ""
        return f"evaluation, iteration {row['iteration']}: {'; '.join(said)}{best}"

    def _cost(self, row: dict[str, float], constraint: str, actions: str) -> str:
        config, names = self.run.config, self.training.learner.names
        of = f" {constraint}" if len(names) > 1 else ""
        return f"cost{of} {row[cost_column(config, constraint, actions)]:.2f} / {config['limits'][constraint]:g}"


class Stoppable:
    """An environment that goes no further once `stopped` is filled."""

    def __init__(self, env: VectorEnv, stopped: Sized):
        self.env, self.stopped = env, stopped
        self.spec, self.num_envs = env.spec, env.num_envs

    def reset(self, seed: int) -> np.ndarray:
        return self.env.reset(seed)

    def step(self, action: np.ndarray) -> Step:
        if self.stopped:
            raise Interrupted
        return self.env.step(action)


def eval_seed(seed: int) -> int:
    """Derive the seed of the evaluations' episodes from the run's: none is the training's, nor one of `cup eval`."""
    return int(np.random.SeedSequence([seed, 2]).generate_state(1)[0])
