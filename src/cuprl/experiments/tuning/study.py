"""What a search keeps: Optuna's study in one SQLite file, which a later search goes on with."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.extras import need
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.tuning.score import Score
from cuprl.experiments.tuning.space import Axis

FILE = "study.db"
NAME = "cup tune"
STARTUP = 8  # trials drawn at random before the sampler begins to learn from them
PATIENCE = 5  # finished trials before any is pruned
WARMUP = 1 / 3  # of a trial: none is pruned before


@dataclass(frozen=True)
class Asked:
    """What is searched, and with what every trial is trained; a study is of one such question."""

    task: str
    algo: str
    seed: int
    steps: int  # of a trial
    settings: tuple[tuple[str, str], ...]  # fixed ones, as words
    limits: tuple[str, ...]  # as given to --limit
    axes: tuple[Axis, ...]

    def to_json(self) -> dict[str, Any]:
        """Write it down, as the study keeps it."""
        fixed = {**asdict(self), "axes": [str(axis) for axis in self.axes]}
        return json.loads(json.dumps(fixed))

    def cell(self, number: int, changes: dict[str, str]) -> Cell:
        """Give the run of a trial."""
        settings = (*self.settings, *changes.items())
        return Cell(self.task, self.algo, self.seed, self.steps, settings, self.limits, variant=f"trial{number:04d}")


def require_optuna() -> Any:
    """Import the package, or say how to get it."""
    optuna = need("optuna", "a search needs Optuna", "tune")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


def kept_steps(folder: Path) -> int | None:
    """Tell how long the trials of a folder's study are, where it has one."""
    if not (folder / FILE).is_file():
        return None
    asked = load(folder).user_attrs.get("asked", {})
    return asked.get("steps") if isinstance(asked, dict) else None


def load(folder: Path, make: bool = False) -> Any:
    """Open the study of a folder; make: also where there is none yet."""
    optuna = require_optuna()
    url = f"sqlite:///{(folder / FILE).resolve()}"
    try:
        if make:
            return optuna.create_study(storage=url, study_name=NAME, direction="maximize", load_if_exists=True)
        return optuna.load_study(storage=url, study_name=NAME)
    except Exception as error:  # whatever SQLite, SQLAlchemy and Optuna say of a file that is none of theirs
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"{folder / FILE} is not the file of a search ({said}); give another --out, or restore it."
        ) from None


def open_study(folder: Path, asked: Asked, iterations: int, prune: bool) -> Any:
    """Open the study that answers a question, new or as far as it has come; one of another question is refused."""
    optuna = require_optuna()
    study = load(folder, make=True)
    known = study.user_attrs.get("asked")
    if known is None:
        study.set_user_attr("asked", asked.to_json())
    elif different := [name for name, value in asked.to_json().items() if known.get(name) != value]:
        name = different[0]
        raise UserError(f"{folder} holds a search with {name} {known.get(name)}; give the same, or another --out.")
    if prune:
        study.pruner = optuna.pruners.MedianPruner(n_startup_trials=PATIENCE, n_warmup_steps=int(iterations * WARMUP))
    else:
        study.pruner = optuna.pruners.NopPruner()
    return study


def ask(study: Any, asked: Asked, defaults: dict[str, Any]) -> Any:
    """Begin a trial, the first with the algorithm's defaults; the next depend on those before them and the seed alone."""
    optuna = require_optuna()
    number = len(study.trials)
    if not number:
        inside = {axis.name: axis.holds(defaults[axis.name]) for axis in asked.axes}
        study.enqueue_trial({name: value for name, value in inside.items() if value is not None})
    seed = int(np.random.SeedSequence([asked.seed, number]).generate_state(1)[0])  # as if it had never been stopped
    study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP, constant_liar=True)
    return study.ask()


def unfinished(study: Any) -> list[Any]:
    """Take up the trials that a search left when it was stopped."""
    optuna = require_optuna()
    running = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,))
    return [optuna.trial.Trial(study, frozen._trial_id) for frozen in running]


def tell(study: Any, trial: Any, score: Score | None, steps: int, state: str) -> None:
    """End a trial: complete, pruned or fail; a run whose score is not known has failed."""
    optuna = require_optuna()
    trial.set_user_attr("steps", steps)
    if score is not None:
        trial.set_user_attr("score", asdict(score))
        trial.set_constraint("over", score.over)
    named = optuna.trial.TrialState[state.upper() if score is not None else "FAIL"]
    study.tell(trial, score.value if score is not None and state == "complete" else None, named)


@dataclass(frozen=True)
class Outcome:
    """A finished trial."""

    number: int
    cell: Cell
    score: Score
    steps: int
    complete: bool


def outcomes(study: Any, asked: Asked) -> list[Outcome]:
    """List the trials with a score, best first; of pruned ones that of when they were."""
    optuna = require_optuna()
    found = []
    for frozen in study.get_trials(deepcopy=False):
        if "score" in frozen.user_attrs and frozen.state.is_finished():
            saved = frozen.user_attrs["score"]
            score = Score(**{**saved, "costs": tuple(saved["costs"])})
            changes = {axis.name: axis.word(frozen.params[axis.name]) for axis in asked.axes}
            complete = frozen.state == optuna.trial.TrialState.COMPLETE
            cell = asked.cell(frozen.number, changes)
            found.append(Outcome(frozen.number, cell, score, frozen.user_attrs["steps"], complete))
    return sorted(found, key=lambda one: (one.score.rank, one.complete), reverse=True)
