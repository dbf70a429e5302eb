"""`cuprl.report`: a run or an experiment as one HTML file."""

from __future__ import annotations

from pathlib import Path

from cuprl.errors import UserError, unknown
from cuprl.experiments.grid.shipped import EXPERIMENTS
from cuprl.experiments.grid.shipped import find as find_experiment
from cuprl.experiments.report.lookup import find_groups
from cuprl.pages.experiment_data import experiment_page
from cuprl.pages.html import page
from cuprl.pages.reading import read_run, read_video
from cuprl.pages.run_data import run_page
from cuprl.runs.files import write_with_folders
from cuprl.runs.folder import Run

SUFFIXES = (".html", ".htm")


def report(
    run: str | Path | Run, out: str | Path | None = None, *, results: str | Path = "results", only: str | None = None
) -> Path:
    """Write a page about a run, or about an experiment and its results; returns the page's path.

    Args:
        run: a run, its folder, the name of an experiment or its TOML file.
        out: the page [report.html in the run's folder, or EXPERIMENT-report.html].
        results: where an experiment's results are.
        only: a part of an experiment's grid, as "task=hopper-speed,algo=cup".
    """
    if not isinstance(run, Run) and is_experiment(run):
        path = as_page(out or f"{Path(run).stem}-report.html")
        text = of_experiment(str(run), Path(results), only)
    else:
        run = run if isinstance(run, Run) else Run(run)
        if only is not None:
            raise UserError(f"--only and --seeds choose a part of an experiment, and {run.path} is a run; leave them away.")
        path = as_page(out or run.path / "report.html")
        text = of_run(run)
    write_with_folders(path, text.encode())
    return path


def as_page(out: str | Path) -> Path:
    """Take where a page is written; what is no page's name is refused before anything is read for it."""
    path = Path(out)
    if path.is_dir():
        raise UserError(f"--out {path} is a folder; give a file in it, as {path / 'report.html'}.")
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"--out {path} is no name of a page; let it end in {SUFFIXES[0]}.")
    return path


def is_experiment(name: str | Path) -> bool:
    """Tell whether a word names an experiment; a run's folder of the same name goes before."""
    if (Path(name) / "config.json").exists():
        return False
    if str(name) in EXPERIMENTS or str(name).endswith(".toml"):
        return True
    if not Path(name).exists():
        raise unknown("run or experiment", str(name), ["a run's folder", "an experiment's TOML file", *EXPERIMENTS])
    return False


def of_run(run: Run) -> str:
    """Make the page of a run; one without an iteration yet is refused."""
    seen = read_run(run)
    if not seen.rows:
        raise UserError(f"{run.path} has no iteration to report yet; wait for its first, or see it come with `cup watch`.")
    return page(run_page(seen), read_video(run.path))


def of_experiment(name: str, results: Path, only: str | None) -> str:
    """Make the page of an experiment from its stored results; only: a part of its grid."""
    experiment = find_experiment(name)
    groups, left_out = find_groups([name], results, only)
    return page(experiment_page(experiment.name, groups, experiment.summary, left_out))
