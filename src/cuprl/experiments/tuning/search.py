"""The search itself: trials are runs in processes of their own, watched by their progress.csv, and pruned where they lag."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuprl import algorithms
from cuprl.errors import UserError
from cuprl.experiments.engines.engine import Engine, Job
from cuprl.experiments.engines.local import log_of
from cuprl.experiments.grid.cells import task_called
from cuprl.experiments.tuning import study as studies
from cuprl.experiments.tuning.score import score_of
from cuprl.experiments.tuning.study import Asked, Outcome
from cuprl.runs import files
from cuprl.runs.folder import Run

LOOKS = 50  # how often a trial is looked at, at most, from its first to its last iteration
MOST_FAILURES = 3  # in a row: then it is no matter of chance
NO_EPISODE = "no episode ended in its steps, so that it has no return; give --steps more of them."
SECONDS = 0.3  # between two looks at the processes


class Search:
    """Runs trials until their steps are used up."""

    def __init__(self, asked: Asked, folder: Path, engine: Engine, say: Callable[[str], None], prune: bool = True):
        self.asked, self.folder, self.engine, self.say = asked, folder, engine, say
        plan = asked.cell(0, {}).config().plan(task_called(asked.task))
        self.defaults, self.iterations = vars(plan.settings), plan.iterations
        self.limits: Any = plan.config.limits
        folder.mkdir(parents=True, exist_ok=True)
        self.study = studies.open_study(folder, asked, self.iterations, prune)
        self.active: dict[Job, Any] = {}  # the trial of each
        self.failures = 0
        self.why = ""  # of the latest failure

    def run(self, budget: int, trials: int | None = None) -> list[Outcome]:
        """Run trials of no more than so many steps in all, those of an earlier search counted; the best comes first."""
        with files.locked(self.folder):
            left = studies.unfinished(self.study)
            try:
                while True:
                    while len(self.active) < self.engine.room() and (left or self.may_begin(budget, trials)):
                        self.start(left.pop(0) if left else studies.ask(self.study, self.asked, self.defaults))
                    if not self.active:
                        break
                    time.sleep(SECONDS)
                    for job, trial in list(self.active.items()):
                        self.look(job, trial)
            finally:  # stopped: each run leaves a checkpoint, and its trial is taken up again
                for job in self.active:
                    job.stop()
                for job in self.active:
                    job.wait()
        found = self.outcomes()
        if self.why and not found:
            raise UserError(f"every trial failed, the last: {self.why}")
        return found

    def outcomes(self) -> list[Outcome]:
        """List what is finished, best first."""
        return studies.outcomes(self.study, self.asked)

    def used(self) -> int:
        """Count the steps of all trials so far; one under way counts whole."""
        steps = (t.user_attrs.get("steps", self.asked.steps) for t in self.study.get_trials(deepcopy=False))
        return sum(steps)

    def may_begin(self, budget: int, trials: int | None) -> bool:
        """Tell whether there is room for one more trial."""
        return self.used() + self.asked.steps <= budget and (trials is None or len(self.study.trials) < trials)

    def start(self, trial: Any) -> None:
        """Start the run of a trial, or go on with it."""
        changes = {axis.name: axis.suggest(trial) for axis in self.asked.axes}
        job = self.engine.start(self.asked.cell(trial.number, changes), self.folder)
        self.active[job] = trial
        shown = "  ".join(f"{name} {value}" for name, value in changes.items())
        self.say(f"trial {trial.number}: {shown}")

    def look(self, job: Job, trial: Any) -> None:
        """Report how a run is doing, and end its trial where it has ended or lags behind."""
        status = job.status()  # before its rows are read: then none is missed
        progress = progress_of(job, self.folder)
        rows = len(progress["iteration"]) if progress else 0
        every = max(1, self.iterations // LOOKS)
        reported = max(self.study._storage.get_trial(trial._trial_id).intermediate_values, default=0)
        for k in range(reported + every, min(rows, self.iterations - 1) + 1, every):
            score = score_of(progress, job.cell.resolved(), k) if progress else None
            if score is None:
                continue
            trial.report(score.rank, k)
            if status is None and trial.should_prune():
                job.stop()
                job.wait()
                return self.end(job, trial, "pruned", k)
        if status is not None:
            self.end(job, trial, "complete" if status == 0 else "fail", rows)

    def end(self, job: Job, trial: Any, state: str, rows: int) -> None:
        """Tell the study what came of a trial."""
        del self.active[job]
        progress = progress_of(job, self.folder)
        score = score_of(progress, job.cell.resolved(), rows) if progress and state != "fail" else None
        steps = int(progress["steps"][-1]) if progress else 0
        studies.tell(self.study, trial, score, steps, state)
        if score is None:
            return self.fail(job, trial, NO_EPISODE if state == "complete" else "")
        self.failures = 0
        within = "within the limits" if score.over <= 0 else f"{score.over:.0%} over a limit"
        ended = "" if state == "complete" else f", pruned after iteration {rows} of {self.iterations}"
        self.say(f"trial {trial.number}: return {score.value:.1f} {within}{ended}")

    def fail(self, job: Job, trial: Any, why: str) -> None:
        """Say why a trial failed, by its last line where nothing else is known; several in a row end the search."""
        lines = log_of(job.cell.path(self.folder)).read_text(errors="replace").strip().splitlines()
        self.why = why or (lines[-1] if lines else "it said nothing")
        self.failures += 1
        self.say(f"trial {trial.number} failed: {self.why}")
        if self.failures >= MOST_FAILURES:
            raise UserError(f"{self.failures} trials failed one after the other, the last: {self.why}")


def progress_of(job: Job, folder: Path) -> dict[str, Any] | None:
    """Read the rows of a run, where there are any yet."""
    try:
        return Run(job.cell.path(folder)).measured()
    except (UserError, OSError):
        return None


def steps_of_a_trial(budget: int, algo: str, settings: dict[str, Any]) -> int:
    """Choose how long trials are where nothing is said: a twentieth of all steps, of at least ten batches."""
    size = algorithms.load(algo, settings)[1].batch_size
    steps = min(max(budget // 20, 10 * size), budget)
    return max(steps // size, 1) * size
