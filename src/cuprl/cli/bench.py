"""`cup bench` and `cup table`: experiments as commands."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuprl.experiments.grid import Cell


def add(subparsers: Any) -> None:
    bench = subparsers.add_parser("bench", help="run an experiment: many trainings over this machine's cores")
    bench.add_argument("name", metavar="NAME", nargs="?", help="the experiment; without it they are listed")
    bench.add_argument("--workers", default="2", metavar="N", help="processes, one thread each [2]")
    bench.add_argument("--only", metavar="WHAT", help="a part of the grid, as task=hopper-speed,algo=cup,seed=0")
    bench.add_argument("--dry-run", action="store_true", help="only list the runs")
    bench.add_argument("--root", default="runs/bench", metavar="DIR", help="where the runs go [runs/bench]")
    bench.set_defaults(run=run_bench)

    table = subparsers.add_parser("table", help="the results of an experiment as a Markdown table")
    table.add_argument("name", metavar="NAME", help="the experiment")
    table.add_argument("--only", metavar="WHAT", help="a part of the grid")
    table.add_argument("--root", default="runs/bench", metavar="DIR", help="where the runs are [runs/bench]")
    table.set_defaults(run=run_table)


def run_bench(args: argparse.Namespace) -> int:
    from cuprl.errors import UserError
    from cuprl.experiments.grid import EXPERIMENTS, expand, find
    from cuprl.learn.settings import parse_value

    if args.name is None:
        for experiment in EXPERIMENTS.values():
            print(f"{experiment.name:<12} {experiment.summary}")
        return 0
    cells = expand(find(args.name), args.only)
    workers = parse_value(int, args.workers, "--workers")
    if workers < 1:
        raise UserError(f"--workers is {workers}; it must be at least 1.")
    root = Path(args.root) / args.name
    if args.dry_run:
        for cell in cells:
            print(f"{100 * cell.fraction(root):3.0f}%  cup {' '.join(cell.command(root))}")
        return 0
    return run_grid(cells, root, workers)


def run_grid(cells: list[Cell], root: Path, workers: int) -> int:
    """Run the cells with a live board, then print their table; 1 if any run failed."""
    import signal

    from cuprl.experiments.board import board_for
    from cuprl.experiments.local import run_cells
    from cuprl.experiments.table import markdown

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt("stopped; each run left a checkpoint: the same command goes on from there")

    signal.signal(signal.SIGTERM, stop)
    with board_for() as board:
        failed = run_cells(cells, root, workers, board)
    print(markdown(cells, root))
    for cell, lines in failed.items():
        print(f"failed: {cell.task} {cell.algo} seed {cell.seed}\n{lines}")
    return 1 if failed else 0


def run_table(args: argparse.Namespace) -> int:
    from cuprl.errors import UserError
    from cuprl.experiments.grid import expand, find
    from cuprl.experiments.table import markdown, rows

    cells, root = expand(find(args.name), args.only), Path(args.root) / args.name
    if not rows(cells, root):
        raise UserError(f"no run of {args.name} is finished under {root}; run `cup bench {args.name}` first.")
    print(markdown(cells, root))
    return 0
