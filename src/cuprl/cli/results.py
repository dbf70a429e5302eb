"""Commands on stored results: `cup results`, `cup table`, `cup figure`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_trust_flags, trust_of
from cuprl.errors import UserError, unknown

if TYPE_CHECKING:
    from cuprl.experiments.report.groups import Group

IMPORTED = "imported"  # the folder of runs that belong to no experiment
FIGURES = ("curves", "nu", "alpha", "limit", "plane", "promise")


def add(subparsers: Any) -> None:
    where = {"default": "results", "metavar": "DIR", "help": "where the results are [results]"}

    results = subparsers.add_parser("results", help="take runs into the results store, list them, write them out")
    actions = results.add_subparsers(dest="action", metavar="import|export|list", required=True)
    take = actions.add_parser("import", help="store finished runs")
    take.add_argument("runs", metavar="RUN", nargs="+", help="run folders")
    take.add_argument("--experiment", default=IMPORTED, metavar="NAME", help=f"the experiment they are of [{IMPORTED}]")
    take.add_argument("--results", **where)
    add_trust_flags(take)
    take.set_defaults(run=run_import, parser=take)
    export = actions.add_parser("export", help="metrics of every iteration as CSV, for other tools")
    export.add_argument("experiment", metavar="EXPERIMENT", nargs="?", help="its name or TOML file [all]")
    export.add_argument("--out", required=True, metavar="FILE.csv|DIR", help="one long file, or a folder with a file a run")
    export.add_argument("--results", **where)
    export.set_defaults(run=run_export, parser=export)
    show = actions.add_parser("list", help="what is stored, and what of it is stale")
    show.add_argument("--results", **where)
    show.set_defaults(run=run_list, parser=show)

    table = subparsers.add_parser("table", help="the results of an experiment as a table")
    table.add_argument("name", metavar="NAME", help="the experiment (`cup bench` lists them)")
    table.add_argument("--stats", action="store_true", help="intervals, violations, time, comparisons over tasks")
    table.add_argument("--against", metavar="A", help="with --stats: the algorithm others are compared with [cup]")
    table.add_argument("--format", metavar="F", help="md, csv or latex [by the name of --out, else md]")
    table.add_argument("--out", metavar="FILE", help="write it here")
    figure = subparsers.add_parser("figure", help="draw the results of an experiment")
    figure.add_argument("kind", metavar="KIND", help=", ".join(FIGURES))
    figure.add_argument("name", metavar="NAME", help="the experiment (`cup bench` lists them)")
    figure.add_argument("--out", metavar="FILE", help="picture, .png, .svg or .pdf [NAME-KIND.png]")
    for parser, run in ((table, run_table), (figure, run_figure)):
        parser.add_argument("--only", metavar="WHAT", help="a part of the grid, as task=hopper-speed,algo=cup")
        parser.add_argument("--results", **where)
        parser.set_defaults(run=run)


# --- cup table, cup figure --------------------------------------------------------------------------------------------


def groups_of(args: argparse.Namespace) -> list[Group]:
    """The groups of an experiment that are asked for; what is stale or damaged is left out and said."""
    import sys

    from cuprl.experiments.report.groups import find_groups

    groups, left = find_groups(args.name, Path(args.results), args.only)
    if left:
        print(f"cup: {left}; run `cup bench {args.name}` again, or remove the files.", file=sys.stderr)
    return groups


def run_table(args: argparse.Namespace) -> int:
    import sys

    from cuprl.cli.terminal import show
    from cuprl.experiments.report import formats, stats_table, table
    from cuprl.runs.files import write_atomically

    format = formats.choose(args.format, args.out)
    if args.against and not args.stats:
        raise UserError("--against goes with --stats; add it.")
    if args.out and Path(args.out).is_dir():
        raise UserError(f"--out {args.out} is a folder; give a file in it.")
    groups = groups_of(args)
    if args.stats:
        rows = stats_table.records(groups, args.against)
        tables = stats_table.tables(rows)
    else:
        rows, tables = table.records(groups), [table.report(groups)]
    if format == "md" and not args.out and sys.stdout.isatty():
        show(tables)
        return 0
    text = formats.to_csv(rows) if format == "csv" else getattr(formats, f"to_{format.replace('md', 'markdown')}")(tables)
    if args.out:
        Path(args.out).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(Path(args.out), (text + "\n").encode())
        print(args.out)
    else:
        print(text)
    return 0


def run_figure(args: argparse.Namespace) -> int:
    from cuprl.experiments.report.figures import KINDS

    if args.kind not in KINDS:
        raise unknown("figure", args.kind, KINDS)
    out = Path(args.out or f"{Path(args.name).stem}-{args.kind}.png")
    KINDS[args.kind]([g for g in groups_of(args) if g.results], out)
    print(out)
    return 0


# --- cup results ------------------------------------------------------------------------------------------------------


def run_import(args: argparse.Namespace) -> int:
    import re
    import sys

    from cuprl.core.text import printable
    from cuprl.experiments.grid.own import NAME
    from cuprl.experiments.store.results import from_run, store
    from cuprl.experiments.store.stale import entries
    from cuprl.runs.folder import Run
    from cuprl.runs.provenance import changed_sources

    if not re.fullmatch(NAME, args.experiment):
        raise UserError(f"--experiment is {args.experiment!r}; give a name of letters, digits, dots and dashes.")
    runs = [Run(path) for path in args.runs]
    results = [from_run(run, trust_of(args)) for run in runs]  # all are read before any is stored
    for run in runs:
        if changed := changed_sources(run.config):
            said = f"{', '.join(changed)} changed since {run.path} was trained: what is stored was made by another source."
            print(f"note: {printable(said)}", file=sys.stderr)
    folder = Path(args.results) / args.experiment
    stored = {store(result, folder) for result in results}
    stale = {entry.path: entry.stale for entry in entries(Path(args.results), args.experiment)}
    for path in sorted(stored):
        print(f"{path} (stale: {stale[path]})" if stale[path] else path)
    return 0


def run_export(args: argparse.Namespace) -> int:
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
    """1 if any file is damaged."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from cuprl.core.text import printable

    found = entries_of(args.results, None)
    table = RichTable(box=None)
    for name in ("experiment", "task", "algorithm", "seed", "steps", "return", "kB", "state"):
        justify = "right" if name in ("seed", "steps", "return", "kB") else "left"
        table.add_column(name, justify=justify, no_wrap=name == "task")  # type: ignore[arg-type]
    for entry in found:
        if entry.result:
            config, value = entry.result.config, entry.result.metrics["rollout/ep_rew_mean"][-1]
            names = (entry.experiment, config["task"], f"{config['algo']} {entry.variant}".strip())
            table.add_row(
                *(Text(printable(name)) for name in names), str(config["seed"]),
                f"{config['steps']:,}", f"{value:.1f}", f"{entry.path.stat().st_size / 1000:.0f}",
                Text(f"stale: {printable(entry.stale)}", "red") if entry.stale else "fresh",
            )  # fmt: skip
    damaged = [Text(printable(entry.damage)) for entry in found if entry.damage]
    Console(highlight=False).print(table, *damaged, sep="\n")
    return 1 if damaged else 0


def entries_of(results: str, experiment: str | None) -> list[Any]:
    from cuprl.experiments.store.stale import entries

    found = entries(Path(results), experiment)
    if not found:
        what = f"result of {experiment}" if experiment else "result"
        raise UserError(f"no {what} is stored in {results}; run `cup bench NAME`, or `cup results import RUN ...`.")
    return found
