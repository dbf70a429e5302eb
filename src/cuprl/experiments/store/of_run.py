"""From a run folder to a result: only a finished run makes one, with all of its metrics."""

from __future__ import annotations

import numpy as np

from cuprl.algorithms import as_now
from cuprl.core.user_modules import NotTrusted, Trust, named_by
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import resolve
from cuprl.experiments.store.results import Result
from cuprl.runs.checkpoint import iteration_of
from cuprl.runs.config import RunConfig, identity_of
from cuprl.runs.config_checks import planned_iterations
from cuprl.runs.folder import Run, iterations
from cuprl.runs.provenance import refuse_altered


def from_run(run: Run, trust: Trust = False) -> Result:
    """Make a result of a finished run; an unfinished or damaged one is refused."""
    refuse_altered(run.path, run.config)
    config, metrics = as_now(run.config), all_metrics(run)
    try:
        with named_by(run.path, trust):
            # A setting that came after the run has its default: what the run did.
            config = {**config, **resolve(RunConfig.from_json(config))}
    except NotTrusted:
        raise
    except UserError:
        pass  # a task of one's own, or a setting that is gone: as it was written
    versions = {name: version for name, version in config["versions"].items() if name != "platform"}
    return Result(identity_of(config), metrics, versions, config.get("machine"), config.get("git"))


def all_metrics(run: Run) -> dict[str, np.ndarray]:
    """Read the metrics of a finished run, [iterations] each; one that is unfinished, or lacks any, is refused."""
    metrics = run.measured()
    wanted = planned_iterations(run.config)
    found = metrics.get("iteration", np.zeros(0))
    if len(found) < wanted and wanted in map(iteration_of, run.checkpoints()):
        raise UserError(f"{run.path} is finished, but {what_is_lost(run)}.")
    if len(found) < wanted:
        raise UserError(f"{run.path} has {len(found)} of {wanted} iterations; finish it with `cup resume {run.path}`.")
    if not np.array_equal(found, np.arange(1, wanted + 1)):
        raise UserError(f"{run.path / 'progress.csv'} is damaged: its iterations are not 1 to {wanted}; train it again.")
    return metrics


def what_is_lost(run: Run) -> str:
    """Say which rows a finished run lacks, and whether resuming it brings them back."""
    lost, back = run.lost(), iteration_of(run.to_resume_from()[0])
    if back < lost[0][0]:
        return f"progress.csv lacks {iterations(lost)}; `cup resume {run.path}` goes back to iteration {back} to redo them"
    return f"the metrics of {iterations(lost)} are lost, with no checkpoint from before; train it again"
