"""`cup bench`: experiments as commands."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_command
from cuprl.cli.arguments import add_part_flags, one_of, part_of, whole
from cuprl.cli.evaluations import add_eval_flags, eval_settings

if TYPE_CHECKING:
    from cuprl.experiments.engines.engine import Engine
    from cuprl.experiments.grid.cells import Cell


def add(subparsers: Any) -> None:
    """Add `cup bench`."""
    bench = add_command(subparsers, "bench")
    bench.add_argument("names", metavar="NAME", nargs="*", help="experiments, or TOML files; without any they are listed")
    bench.add_argument(
        "--workers", type=whole(1), metavar="N", help="runs at once, one thread each [as many as cores and memory hold]"
    )
    bench.add_argument(
        "--engine",
        type=one_of("engine", ("local", "ray")),
        default="local",
        metavar="E",
        help="local: processes here; ray: a Ray cluster [local]",
    )
    bench.add_argument("--address", metavar="A", help="the Ray cluster: HOST:PORT, ray://HOST:PORT or auto [auto]")
    add_part_flags(bench)
    bench.add_argument("--dry-run", action="store_true", help="only list the runs")
    bench.add_argument("--root", default="runs/bench", metavar="DIR", help="where the run folders go [runs/bench]")
    bench.add_argument("--results", default="results", metavar="DIR", help="where finished runs are stored [results]")
    add_eval_flags(bench)
    bench.set_defaults(run=run_bench)


def run_bench(args: argparse.Namespace) -> int:
    """Run experiments, or list them; 1 if any run failed."""
    from cuprl.cli.terminal import show
    from cuprl.errors import UserError
    from cuprl.experiments.grid.cells import words_of
    from cuprl.experiments.grid.expand import expand
    from cuprl.experiments.grid.shipped import EXPERIMENTS, find
    from cuprl.experiments.report.formats import Table

    if not args.names:
        show([Table(["experiment", "what it is"], [[one.name, one.summary] for one in EXPERIMENTS.values()])])
        return 0
    if args.address and args.engine == "local":
        raise UserError("--address is that of a Ray cluster; give --engine ray with it.")
    flags = words_of(eval_settings(args))
    grids: dict[str, list[Cell]] = {}
    for name in args.names:
        experiment = find(name)
        if experiment.name in grids:
            raise UserError(f"two experiments are called {experiment.name}; give each a name of its own.")
        grids[experiment.name] = [dataclasses.replace(cell, flags=flags) for cell in expand(experiment, part_of(args))]
    root, results = Path(args.root), Path(args.results)
    if args.dry_run:
        for name, cells in grids.items():
            list_runs(cells, root / name, results)
        return 0
    failed = 0
    with closing(make_engine(args.engine, args.address, args.workers, max(map(len, grids.values())))) as engine:
        for name, given in zip(grids, args.names):
            failed |= run_grid(grids[name], root / name, engine, results / name)
            where = [given] if args.results == "results" else [given, "--results", args.results]
            table, figures = (shlex.join(["cup", *words, *where]) for words in (["table"], ["figure", "curves"]))
            print(f"\ntable: {table}    figures: {figures}")
    return failed


def list_runs(cells: list[Cell], root: Path, results: Path) -> None:
    """Print the command of each run and how much of it is done."""
    from cuprl.core.text import printable
    from cuprl.errors import UserError
    from cuprl.experiments.store.stored import stored

    known = stored(cells, results)
    fractions: dict[Cell, float] = {}
    for cell in cells:
        try:
            fractions[cell] = 1.0 if cell in known else cell.fraction(root)
            print(f"{100 * fractions[cell]:3.0f}%  {printable(shlex.join(['cup', *cell.command(root)]))}")
        except UserError as error:
            print(f" -    {printable(error)}")
    finished = sum(fraction >= 1.0 for fraction in fractions.values())
    steps = sum(cell.steps * (1.0 - fraction) for cell, fraction in fractions.items())
    broken = f", {len(cells) - len(fractions)} cannot be used" if len(fractions) < len(cells) else ""
    print(f"{len(cells)} runs, {finished} finished{broken}; {steps / 1e6:,.4g} million steps to do")


def make_engine(kind: str, address: str | None, workers: int | None, runs: int) -> Engine:
    """Start what runs the cells, on this machine or on a Ray cluster."""
    from cuprl.experiments.engines.local import LocalEngine, workers_for

    if kind == "ray":
        from cuprl.experiments.engines.ray import RayEngine

        address = address or "auto"
        print(f"joining the Ray cluster at {address} …", flush=True)
        return RayEngine(address, workers)
    count, notes = workers_for(workers, runs)
    for note in notes:
        print(f"note: {note}")
    return LocalEngine(count)


def run_grid(cells: list[Cell], root: Path, engine: Engine, results: Path | None = None) -> int:
    """Run the cells with a live board, then print their table; 1 if any run failed. Without `results` none are kept."""
    from cuprl.experiments.engines.board import board_for
    from cuprl.experiments.engines.engine import Grid

    with tempfile.TemporaryDirectory() as scratch:
        results = results or Path(scratch, "results")
        with stoppable(), board_for() as board:
            failed = Grid(cells, root, results, board).run(engine)
        print_summary(cells, results.parent)
    for cell, lines in failed.items():
        print(f"\nfailed: {cell}; the same command tries it again:\n{lines}", end="")
    return 1 if failed else 0


def print_summary(cells: list[Cell], results: Path) -> None:
    """Print the table of a grid: laid out in a terminal, in Markdown elsewhere."""
    from cuprl.cli.terminal import by_task, show
    from cuprl.experiments.report.table import summary, summary_table

    if sys.stdout.isatty():
        show(by_task(summary_table(cells, results)))
    else:
        print(summary(cells, results))


@contextmanager
def stoppable(said: str = "stopped; the same command goes on from the checkpoints there are") -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the grid, while inside, with a word on how to go on."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt(said)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
