"""`cup results`: what is stored of finished runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cuprl.cli import add_command, add_trust_flags, tell_changed, trust_of
from cuprl.cli.arguments import whole
from cuprl.errors import UserError

IMPORTED = "imported"  # the folder of runs that belong to no experiment


def add(subparsers: Any) -> None:
    """Add `cup results` and its actions."""
    where: dict[str, Any] = {"default": "results", "metavar": "DIR", "help": "where the results are [results]"}

    results = add_command(subparsers, "results")
    actions = results.add_subparsers(dest="action", metavar="import|export|list", required=True)
    take = add_command(actions, "import", "store finished runs")
    take.add_argument("runs", metavar="RUN", nargs="+", help="run folders")
    take.add_argument(
        "--experiment",
        default=IMPORTED,
        metavar="NAME",
        help=f"the experiment they are of, or a name for `cup table NAME` [{IMPORTED}]",
    )
    take.add_argument(
        "--evaluate",
        type=whole(0),
        metavar="E",
        help="episodes of the last policy's mode to run and store with each [as the experiment says, else 0]",
    )
    take.add_argument("--results", **where)
    add_trust_flags(take)
    take.set_defaults(run=run_import)
    export = add_command(actions, "export", "write the metrics of every iteration as CSV, for other tools")
    export.add_argument("experiment", metavar="EXPERIMENT", nargs="?", help="its name or TOML file [all]")
    export.add_argument("--out", required=True, metavar="FILE.csv|DIR", help="one long file, or a folder with a file a run")
    export.add_argument("--results", **where)
    export.set_defaults(run=run_export)
    show = add_command(actions, "list", "list what is stored, and what of it is stale")
    show.add_argument("--results", **where)
    show.set_defaults(run=run_list)


def run_import(args: argparse.Namespace) -> int:
    """Store finished runs under an experiment's name."""
    import re

    from cuprl.experiments.grid.own import NAME
    from cuprl.experiments.store.evaluation import as_stored, with_evaluation
    from cuprl.experiments.store.of_run import from_run
    from cuprl.experiments.store.results import config_hash, store
    from cuprl.experiments.store.stale import entry, wanted_in
    from cuprl.runs.folder import Run
    from cuprl.runs.provenance import changed_sources

    if args.experiment.endswith(".toml"):
        raise UserError(f"--experiment is {args.experiment!r}, a file; give a name. `cup table FILE` finds its runs.")
    if not re.fullmatch(NAME, args.experiment):
        raise UserError(f"--experiment is {args.experiment!r}; give a name of letters, digits, dots and dashes.")
    runs = [Run(path) for path in args.runs]
    results = [from_run(run, trust_of(args)) for run in runs]  # all are read before any is stored
    for run in runs:
        tell_changed(changed_sources(run.config), run.path, "what is stored was made by another source")
    wanted, folder = wanted_in(args.experiment), Path(args.results) / args.experiment
    for i, (run, result) in enumerate(zip(runs, results)):
        cell = wanted.get(config_hash(result.config))
        episodes = (cell.evaluate if cell else 0) if args.evaluate is None else args.evaluate
        evaluated = with_evaluation(result, run, episodes, trust_of(args))
        results[i] = as_stored(evaluated, folder) if args.evaluate is None else evaluated
    for path in sorted({store(result, folder) for result in results}):
        stale = entry(path, wanted or None).stale
        print(f"{path} (stale: {stale})" if stale else path)
    return 0


def run_export(args: argparse.Namespace) -> int:
    """Write stored metrics as CSV."""
    import sys

    from cuprl.experiments.store.as_csv import write
    from cuprl.experiments.store.stale import sentence

    found = entries_of(args.results, args.experiment)
    for entry in found:
        if entry.damage:
            raise UserError(entry.damage)
    stale, fresh = [entry for entry in found if entry.stale], [entry for entry in found if not entry.stale]
    if not fresh:
        raise UserError(f"nothing to write: {sentence(stale)}.")
    write(fresh, Path(args.out))
    if stale:
        print(f"cup: {sentence(stale)}; `cup results list` shows them all.", file=sys.stderr)
    print(args.out)
    return 0


def run_list(args: argparse.Namespace) -> int:
    """List what is stored; 1 if any file is damaged."""
    from cuprl.cli.terminal import Styled, show
    from cuprl.core.text import printable
    from cuprl.experiments.report.formats import Table

    found = entries_of(args.results, None)
    rows: list[list[str]] = []
    for entry in found:
        if entry.result:
            config, value = entry.result.config, entry.result.metrics["rollout/ep_rew_mean"][-1]
            rows.append(
                [
                    entry.experiment,
                    config["task"],
                    f"{config['algo']} {entry.variant}".strip(),
                    str(config["seed"]),
                    f"{config['steps']:,}",
                    f"{value:.1f}",
                    f"{entry.path.stat().st_size / 1000:.0f}",
                    Styled(f"stale: {entry.stale}", "red") if entry.stale else "fresh",
                ]
            )
    show([Table(["experiment", "task", "algorithm", "seed", "steps", "return", "kB", "state"], rows)])
    damaged = [entry.damage for entry in found if entry.damage]
    print(*map(printable, damaged), sep="\n", end="\n" * bool(damaged))
    return 1 if damaged else 0


def entries_of(results: str, experiment: str | None) -> list[Any]:
    """Find what is stored; nothing is an error."""
    from cuprl.experiments.store.stale import entries
    from cuprl.experiments.store.stored import absent

    found = entries(Path(results), experiment)
    if not found:
        what = f"result of {experiment}" if experiment else "result"
        raise UserError(
            f"no {what} is stored in {results}{absent(Path(results))}; run `cup bench NAME`, or `cup results import RUN`."
        )
    return found
