"""Commands on stored results: `cup results`, `cup table`, `cup figure`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_command, add_trust_flags, trust_of
from cuprl.cli.arguments import one_of
from cuprl.errors import UserError

if TYPE_CHECKING:
    from cuprl.experiments.report.groups import Group

IMPORTED = "imported"  # the folder of runs that belong to no experiment
FIGURES = ("curves", "nu", "alpha", "limit", "plane", "promise")


def add(subparsers: Any) -> None:
    where: dict[str, Any] = {"default": "results", "metavar": "DIR", "help": "where the results are [results]"}

    results = add_command(subparsers, "results")
    actions = results.add_subparsers(dest="action", metavar="import|export|list", required=True)
    take = actions.add_parser("import", help="store finished runs")
    take.add_argument("runs", metavar="RUN", nargs="+", help="run folders")
    take.add_argument("--experiment", default=IMPORTED, metavar="NAME", help=f"the experiment they are of [{IMPORTED}]")
    take.add_argument("--results", **where)
    add_trust_flags(take)
    take.set_defaults(run=run_import)
    export = actions.add_parser("export", help="metrics of every iteration as CSV, for other tools")
    export.add_argument("experiment", metavar="EXPERIMENT", nargs="?", help="its name or TOML file [all]")
    export.add_argument("--out", required=True, metavar="FILE.csv|DIR", help="one long file, or a folder with a file a run")
    export.add_argument("--results", **where)
    export.set_defaults(run=run_export)
    show = actions.add_parser("list", help="what is stored, and what of it is stale")
    show.add_argument("--results", **where)
    show.set_defaults(run=run_list)

    table = add_command(subparsers, "table")
    table.add_argument("name", metavar="NAME", help="the experiment (`cup bench` lists them)")
    table.add_argument("--stats", action="store_true", help="intervals, violations, time, comparisons over tasks")
    table.add_argument("--against", metavar="A", help="with --stats: the algorithm others are compared with [cup]")
    table.add_argument("--format", metavar="F", help="md, csv or latex [by the name of --out, else md]")
    table.add_argument("--out", metavar="FILE", help="write it here")
    figure = add_command(subparsers, "figure")
    figure.add_argument("kind", type=one_of("figure", FIGURES), metavar="KIND", help=", ".join(FIGURES))
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

    from cuprl.experiments.grid.cells import expand
    from cuprl.experiments.grid.shipped import find
    from cuprl.experiments.report.groups import group
    from cuprl.experiments.store.results import stored
    from cuprl.experiments.store.stale import left_out, sentence

    experiment, root = find(args.name), Path(args.results)
    cells, whole = expand(experiment, args.only), expand(experiment)
    fresh = stored(whole, root)
    left = left_out(whole, fresh, root, experiment.name)
    found = {cell: fresh[cell] for cell in cells if cell in fresh}
    if not found:
        part = f" --only {args.only}" if args.only else ""
        why = f" ({sentence(left)})" if left else ""
        raise UserError(f"no result of {args.name}{part} is stored in {root}{why}; run `cup bench {args.name}`.")
    if left:
        print(f"cup: {sentence(left)}; run `cup bench {args.name}` again, or remove the files.", file=sys.stderr)
    return group(cells, found)


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
        labels = list(dict.fromkeys(g.label for g in groups if g.results))
        against = args.against or ("cup" if "cup" in labels else labels[0])
        rows = stats_table.records(groups, against)
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
    """List what is stored; 1 if any file is damaged."""
    from cuprl.cli.terminal import Styled, show
    from cuprl.core.text import printable
    from cuprl.experiments.report.formats import Table

    found = entries_of(args.results, None)
    rows: list[list[str]] = []
    for entry in found:
        if entry.result:
            config, value = entry.result.config, entry.result.metrics["rollout/ep_rew_mean"][-1]
            rows.append([
                entry.experiment, config["task"], f"{config['algo']} {entry.variant}".strip(), str(config["seed"]),
                f"{config['steps']:,}", f"{value:.1f}", f"{entry.path.stat().st_size / 1000:.0f}",
                Styled(f"stale: {entry.stale}", "red") if entry.stale else "fresh",
            ])  # fmt: skip
    show([Table(["experiment", "task", "algorithm", "seed", "steps", "return", "kB", "state"], rows)])
    damaged = [entry.damage for entry in found if entry.damage]
    print(*map(printable, damaged), sep="\n", end="\n" * bool(damaged))
    return 1 if damaged else 0


def entries_of(results: str, experiment: str | None) -> list[Any]:
    from cuprl.experiments.store.stale import entries

    found = entries(Path(results), experiment)
    if not found:
        what = f"result of {experiment}" if experiment else "result"
        raise UserError(f"no {what} is stored in {results}; run `cup bench NAME`, or `cup results import RUN ...`.")
    return found
