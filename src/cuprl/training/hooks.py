"""What a program does between two iterations of its own training: `cuprl.train(…, on_iteration=function)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from cuprl.core.spec import Spec
from cuprl.errors import UserError
from cuprl.policies.of_run import RunPolicy
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.training.training import Training


class View:
    """Shows a training between two iterations. Nothing done with it changes the run: it is to look at."""

    __slots__ = ("_run", "_training")

    def __init__(self, training: Training, run: Run):
        self._training, self._run = training, run

    @property
    def run(self) -> Run:
        """Give the run's folder; its progress.csv has the row of this iteration."""
        return self._run

    @property
    def config(self) -> RunConfig:
        """Give what the run is made with, nothing left open."""
        return self._training.config

    @property
    def spec(self) -> Spec:
        """Give what is controlled, with its constraints and their limits."""
        return self._training.learner.spec

    @property
    def iteration(self) -> int:
        """Count the iterations that are done."""
        return self._training.learner.iteration

    @property
    def iterations(self) -> int:
        """Count the iterations that it will be in all."""
        return self._training.learner.iterations

    def policy(self) -> RunPolicy:
        """Give the policy as it is now, to `predict` with, to evaluate or to export; it stays so when training goes on."""
        learner = self._training.learner
        config = {**self._run.config, **self.config.to_json()}
        policy = RunPolicy(learner.arrays(), config, self._run, learner.config.encoder)
        policy.task = self._training.task
        return policy

    def __repr__(self) -> str:
        return f"<training of {self.config.task} by {self.config.algo}, iteration {self.iteration} of {self.iterations}>"


Hook = Callable[[dict[str, float], View], Any]  # a row of progress.csv, and the view; False stops the run


def check_hook(hook: Any) -> None:
    """Refuse, before anything is made, what cannot be called with a row and a view."""
    wanted = "give a function of two arguments, the row of metrics and a view of the training"
    if not callable(hook):
        raise UserError(f"on_iteration is {hook!r}; {wanted}.")
    try:
        inspect.signature(hook).bind({}, None)
    except TypeError as error:
        raise UserError(f"on_iteration cannot be called ({error}); {wanted}.") from None
    except ValueError:  # one in C does not tell
        pass


def wants_stop(answer: Any) -> bool:
    """Tell whether what a hook returned is False, Python's or NumPy's; None and all else let the run go on."""
    return isinstance(answer, bool | np.bool_) and not answer
