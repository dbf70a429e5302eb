"""`cup theory`: what the paper's theorems give on random problems, and the exact return-cost front of small ones."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cuprl.cli import optimum
from cuprl.errors import UserError, unknown

if TYPE_CHECKING:
    from rich.table import Table

    from cuprl.theory.study import Row

EXAMPLES = """examples:
  cup theory                                    every statement on 2,000 random problems
  cup theory --instances 10000 --lambdas 0.95   more problems, one lambda
  cup theory --counterexample proposition-1     a smallest problem on which it fails
  cup theory front gridworld                    best return under each cost limit
  cup theory optimum --algos cup --seeds 2      train, and compare with the exact optimum
"""
HEADINGS = {"paper": "As the paper prints them", "classical": "Known before", "corrected": "In their place"}
LEGEND = """holds: share of the problems. worst: largest violation over the larger side.
gap: |bound - truth| / |truth|, median of the problems where it holds."""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Add the `theory` command."""
    parser = subparsers.add_parser(
        "theory",
        help="check the paper's theorems on random problems; exact optima of small ones",
        description="Check the paper's theorems exactly on random tabular problems.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="?", default="study", help="study (default), front or optimum")
    parser.add_argument("generator", nargs="?", help="for front: the problem, e.g. gridworld")
    parser.add_argument("--instances", default="2000", help="random problems for each lambda (default 2000)")
    parser.add_argument("--seed", default="0", help="seed of the random problems (default 0)")
    parser.add_argument("--lambdas", default="0,0.5,0.95,1", help="values of lambda (default 0,0.5,0.95,1)")
    parser.add_argument("--counterexample", metavar="STATEMENT", help="print a smallest problem on which it fails")
    parser.add_argument("--points", default="9", help="for front: number of limits (default 9)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    optimum.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the chosen part."""
    if args.what not in PARTS:
        raise unknown("part of theory", args.what, PARTS)
    return PARTS[args.what](args)


def _study(args: argparse.Namespace) -> int:
    if args.generator is not None:
        raise UserError(f"study takes no problem, not {args.generator!r}; try cup theory front {args.generator}.")
    seed, lambdas = _whole("seed", args.seed), _numbers("lambdas", args.lambdas)
    if args.counterexample is not None:
        return _counterexample(args.counterexample, lambdas, seed)
    rows = _run_with_progress(_whole("instances", args.instances), seed, lambdas)
    if args.json:
        print(json.dumps([_row_as_json(row) for row in rows], indent=2))
    else:
        _print_rows(rows, seed)
    return 0


def _run_with_progress(instances: int, seed: int, lambdas: list[float]) -> list[Row]:
    from rich.console import Console
    from rich.progress import Progress

    from cuprl.theory.study import run_study

    console = Console(stderr=True)  # so that a table or JSON sent to a file stays clean
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"{instances:,} problems", total=None)
        return run_study(
            instances, seed, lambdas, on_progress=lambda done, total: progress.update(task, completed=done, total=total)
        )


def _print_rows(rows: list[Row], seed: int) -> None:
    from rich.console import Console

    table = _table("lambda", "holds", "worst", "gap", label="statement")
    labels: list[str] = []
    for i, row in enumerate(rows):
        before, after = rows[i - 1] if i else None, rows[i + 1] if i + 1 < len(rows) else None
        if before is None or row.source != before.source:
            table.add_row(f"[bold]{HEADINGS[row.source]}")
        if before is None or row.statement != before.statement:
            labels = [row.statement, f"[dim]{row.says}"]  # what it says goes beside its second lambda
        label = labels.pop(0) if labels else ""
        cells = (f"  {label}", f"{row.lam:g}", _percent(row), _short(row.worst), _short(row.tightness))
        ends = after is None or after.statement != row.statement
        table.add_row(*cells, style="" if row.held == row.instances else "red", end_section=ends)
    console = Console(highlight=False)
    console.print(f"{rows[0].instances:,} random problems, seed {seed}", table, f"[dim]{LEGEND}", sep="\n")
    failing = next((row.statement for row in rows if row.held < row.instances), None)
    if failing:
        console.print(f"[dim]See one fail: cup theory --counterexample {failing}")


def _table(*numbers: str, label: str | None = None) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if label is not None:
        table.add_column(label, no_wrap=True)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _percent(row: Row) -> str:
    """Never rounded up to 100%: a bound that fails once is false."""
    return "100%" if row.held == row.instances else f"{row.held * 10_000 // row.instances / 100:.2f}%"


def _short(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "0" if value < 1e-9 else f"{value:.2g}"


def _row_as_json(row: Row) -> dict[str, Any]:
    fields = {**asdict(row), "share": row.share}
    fields["lambda"] = fields.pop("lam")
    return {name: None if value != value else value for name, value in fields.items()}  # JSON has no NaN


def _counterexample(name: str, lambdas: list[float], seed: int) -> int:
    from cuprl.theory.counterexample import describe, find_counterexample

    example = find_counterexample(name, lambdas, seed)
    if example is None:
        tried = ", ".join(f"{lam:g}" for lam in lambdas)
        print(f"no counterexample to {name} was found among small problems, at lambda {tried}")
    else:
        print(describe(example))
    return 0


def _front(args: argparse.Namespace) -> int:
    from cuprl.theory.generators import GENERATORS
    from cuprl.theory.optimum import front_limits, pareto_front

    if args.generator is None:
        raise UserError(f"front needs a problem: cup theory front NAME, with NAME one of {', '.join(GENERATORS)}.")
    if args.generator not in GENERATORS:
        raise unknown("problem", args.generator, GENERATORS)
    points = _whole("points", args.points)
    if points < 2:
        raise UserError(f"points is {points}; accepted is 2 or more.")
    cmdp = GENERATORS[args.generator]()
    rows = [
        {"limit": limit, "return": best.value, "cost": float(best.costs[0]), "multiplier": float(best.multipliers[0])}
        for limit, best in pareto_front(cmdp, front_limits(cmdp, points).tolist())
        if best is not None
    ]
    if args.json:
        named = {"problem": cmdp.name, "cost": cmdp.cost_names[0], "limit": float(cmdp.limits[0]), "front": rows}
        print(json.dumps(named, indent=2))
    else:
        _print_front(f"{cmdp.name}: best return under each limit on its cost ({cmdp.cost_names[0]})", rows)
    return 0


def _print_front(title: str, rows: list[dict[str, float]]) -> None:
    from rich.console import Console

    table = _table(*rows[0])
    for row in rows:
        table.add_row(*(f"{number:.5g}" for number in row.values()))
    Console(highlight=False).print(title, table, sep="\n")


def _whole(name: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value.is_integer():
        raise UserError(f"{name} is {text!r}; accepted is a whole number such as 2000 or 1e4.")
    return int(value)


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"{name} is {text!r}; accepted are numbers between commas, as in 0,0.5,0.95,1.") from None


PARTS: dict[str, Callable[[argparse.Namespace], int]] = {"study": _study, "front": _front, "optimum": optimum.run}
