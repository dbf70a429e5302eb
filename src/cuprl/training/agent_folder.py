"""The folder of an agent that somebody drives: a run's, of which each iteration keeps the fullest batch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from cuprl.core.spec import Spec
from cuprl.core.spec_json import spec_from_json
from cuprl.errors import UserError
from cuprl.runs import files, progress, provenance
from cuprl.runs.checkpoint import Arrays
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run


def write_agent(
    before: Run | None,
    folder: str | Path | None,
    config: RunConfig,
    iteration: int,
    unsaved: Sequence[dict[str, float]],
    arrays: Arrays,
) -> Run:
    """Write a checkpoint and the rows of metrics since the last one, and give the run.

    before: where the agent was saved last, and is again unless another folder is named; None: nowhere yet. In a new folder
    its earlier rows are copied.
    """
    run = before
    if run is None or (folder is not None and Path(folder).resolve() != run.path.resolve()):
        run = Run.create(folder, config)
        if before is not None and before.metrics.is_file():
            files.write_atomically(run.metrics, files.read(before.metrics, progress.LARGEST))
    with run.locked():
        run.forget_after(iteration - len(unsaved))
        for row in unsaved:
            run.append(row)
        run.save(iteration, arrays)
    return run


def read_agent(folder: str | Path) -> tuple[Run, RunConfig, Spec, Arrays]:
    """Read what `write_agent` wrote, from the newest intact checkpoint; a folder of any other run is refused."""
    run = Run(folder)
    config = RunConfig.from_json(run.config)
    if not config.agent:
        raise UserError(f"{run.path} was not saved by an Agent; use `cup resume`, or cuprl.load for its policy.")
    provenance.refuse_altered(run.path, run.config)
    arrays, refused = run.latest()
    for sentence in refused:
        warnings.warn(f"{sentence} Falling back to the one before it.", stacklevel=3)  # where Agent.load is called
    if config.spec is None:
        raise UserError(f"{run.path / 'config.json'} has no spec; restore it.")
    return run, config, spec_from_json(config.spec), arrays


def tell_changes(run: Run) -> None:
    """Warn where an agent is not what it was when it was made; its own modules are imported by now."""
    if changed := provenance.changes(run.config):
        warnings.warn(changed, stacklevel=3)  # where Agent.load is called
