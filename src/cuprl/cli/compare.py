"""Commands that set runs beside one another: `cup plot`, `cup table`, `cup figure`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_command
from cuprl.cli.arguments import add_part_flags, numbers, one_of, part_of
from cuprl.errors import UserError

if TYPE_CHECKING:
    from cuprl.experiments.report.formats import Table
    from cuprl.experiments.report.groups import Group

PARTS = ("runs", "time-to-safe", "over-tasks", "improvement")
FIGURES = ("curves", "nu", "alpha", "limit", "plane", "promise", "waits")


def add(subparsers: Any) -> None:
    """Add `cup plot`, `cup table` and `cup figure`."""
    plot = add_command(subparsers, "plot")
    plot.add_argument("paths", metavar="RUN", nargs="+", help="run folders; seeds of the same settings become one line")
    plot.add_argument("--out", metavar="FILE", help="picture, .png, .svg or .pdf [curve.png in the first run]")
    plot.set_defaults(run=run_plot)

    table = add_command(subparsers, "table")
    table.add_argument(
        "names",
        metavar="NAME|RUN",
        nargs="+",
        help="an experiment (`cup bench` lists them), a name given to `cup results import`, or run folders",
    )
    table.add_argument("--stats", action="store_true", help="intervals, violations, time, comparisons over tasks")
    table.add_argument("--against", metavar="A", help="with --stats: the algorithm others are compared with [cup]")
    add_levels(table, "--stats")
    table.add_argument(
        "--part",
        type=one_of("part", PARTS),
        metavar="P",
        help=f"with --stats: one kind of them, {', '.join(PARTS)} [all]",
    )
    table.add_argument("--by-seed", action="store_true", help="each run in a line of its own")
    table.add_argument("--columns", metavar="C,C", help="these columns, by their names between commas [all]")
    table.add_argument("--wide", metavar="C,C", help="algorithms side by side, a line for each of these columns")
    table.add_argument("--bare", action="store_true", help="without titles and notes")
    table.add_argument(
        "--format",
        metavar="F",
        type=one_of("format", ("md", "csv", "latex")),
        help="md, csv or latex [by the name of --out, else md]",
    )
    table.add_argument("--out", metavar="FILE", help="write it here")
    figure = add_command(subparsers, "figure")
    figure.add_argument("kind", type=one_of("figure", FIGURES), metavar="KIND", help=", ".join(FIGURES))
    figure.add_argument("name", metavar="NAME", help="an experiment, or a name given to `cup results import`")
    figure.add_argument("--out", metavar="FILE", help="picture, .png, .svg or .pdf [NAME-KIND.png]")
    add_levels(figure, "waits")
    for parser, run in ((table, run_table), (figure, run_figure)):
        add_part_flags(parser)
        parser.add_argument("--results", default="results", metavar="DIR", help="where the results are [results]")
        parser.set_defaults(run=run)


def add_levels(parser: argparse.ArgumentParser, beside: str) -> None:
    """Add the levels of return that a time to safe is of; they go with `beside` only."""
    parser.add_argument(
        "--levels",
        type=numbers("1000,2000"),
        metavar="R,R",
        help=f"with {beside}: returns for the time to safe [50%%, 80%% and 100%% of the paper's CUP, on its tasks]",
    )


def run_plot(args: argparse.Namespace) -> int:
    """Draw the learning curves of run folders."""
    from cuprl.experiments.report.plot import plot_runs

    print(plot_runs(args.paths, args.out))
    return 0


def run_table(args: argparse.Namespace) -> int:
    """Print a table, or write it into a file."""
    import sys

    from cuprl.cli.terminal import by_task, show
    from cuprl.experiments.report import formats
    from cuprl.runs.files import write_with_folders

    format = formats.choose(args.format, args.out)
    refuse_what_does_not_go(args, format)
    if args.out and Path(args.out).is_dir():
        raise UserError(f"--out {args.out} is a folder; give a file in it.")
    rows, tables = made_of(groups_of(args.names, args), args)
    if format == "md" and not args.out and sys.stdout.isatty():
        show([part for whole in tables for part in (by_task(whole) if whole.header[0] == "task" else [whole])])
        return 0
    text = formats.to_csv(rows) if format == "csv" else getattr(formats, f"to_{format.replace('md', 'markdown')}")(tables)
    if args.out:
        write_with_folders(Path(args.out), (text + "\n").encode())
        print(args.out)
    else:
        print(text)
    return 0


def refuse_what_does_not_go(args: argparse.Namespace, format: str) -> None:
    """Refuse flags that would do nothing beside the others."""
    for flag in ("against", "levels", "part"):
        if getattr(args, flag) and not args.stats:
            raise UserError(f"--{flag} goes with --stats; add it.")
    if args.by_seed and args.stats:
        raise UserError("--by-seed lists single runs, and --stats is of several; leave one of them away.")
    if args.wide and args.columns:
        raise UserError("--wide already chooses columns; leave --columns away.")
    for flag in ("part", "columns", "wide", "bare"):
        if getattr(args, flag) and format == "csv":
            raise UserError(f"--{flag} is of a table to read, and a CSV has all there is; give --format md or latex.")


def made_of(groups: list[Group], args: argparse.Namespace) -> tuple[list[dict[str, Any]], list[Table]]:
    """Make the records of groups, and the tables as they are asked for."""
    from cuprl.experiments.report import selection, stats_records, stats_table, table

    if args.stats:
        rows = stats_records.records(groups, args.against, args.levels)
        tables = stats_table.tables(rows)
    else:
        groups = selection.by_seed(groups) if args.by_seed else groups
        rows, tables = table.records(groups), [table.report(groups)]
    tables = selection.part_called(tables, args.part) if args.part else tables
    if not tables and not args.part:
        raise UserError("these runs have no constraint to give statistics of; leave --stats away.")
    if not tables:
        raise UserError(f"these runs have no {args.part}; `cup table NAME --stats` shows what there is.")
    tables = selection.with_columns(tables, args.columns.split(",")) if args.columns else tables
    tables = selection.wide(tables, args.wide.split(",")) if args.wide else tables
    return rows, selection.bare(tables) if args.bare else tables


def run_figure(args: argparse.Namespace) -> int:
    """Draw a picture of an experiment."""
    from cuprl.experiments.report.figures import KINDS

    if args.levels and args.kind != "waits":
        raise UserError("--levels goes with the figure waits; leave it away.")
    name = Path(args.name).name.removesuffix(".toml")
    out = Path(args.out or f"{name}-{args.kind}.png")
    extra = {"levels": args.levels} if args.levels else {}
    KINDS[args.kind]([g for g in groups_of([args.name], args) if g.results], out, **extra)
    print(out)
    return 0


def groups_of(names: list[str], args: argparse.Namespace) -> list[Group]:
    """Find what is asked for, and say what had to be left out."""
    import sys

    from cuprl.experiments.report.lookup import find_groups

    groups, left = find_groups(names, Path(args.results), part_of(args))
    if left:
        print(f"cup: {left}", file=sys.stderr)
    return groups
