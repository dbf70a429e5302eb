"""`cup theory`: what the paper's theorems give on random problems, and the exact return-cost front of small ones."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_command, optimum
from cuprl.cli.arguments import numbers, one_of, whole
from cuprl.errors import UserError, unknown

if TYPE_CHECKING:
    from cuprl.theory.study import Row

EXAMPLES = """examples:
  cup theory --instances 1e4 --lambdas 0.95
  cup theory --counterexample proposition-1
  cup theory front gridworld
  cup theory optimum --algos cup --seeds 2
"""
HEADINGS = {"paper": "As the paper prints them", "classical": "Known before", "corrected": "In their place"}
DEFAULTS: dict[str, dict[str, Any]] = {  # of each part's flags
    "study": {"instances": 2000, "seed": 0, "lambdas": [0.0, 0.5, 0.95, 1.0], "counterexample": None},
    "front": {"points": 9},
    "optimum": optimum.DEFAULTS,
}
LEGEND = """holds: share of the problems. worst: largest violation over the larger side.
gap: |bound - truth| / |truth|, median of the problems where it holds."""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Add the `theory` command."""
    parser = add_command(subparsers, "theory", epilog=EXAMPLES)
    parser.add_argument(
        "what",
        metavar="PART",
        nargs="?",
        type=one_of("part of theory", PARTS),
        default="study",
        help="study: every statement on random problems; front: the best return under each cost limit; "
        "optimum: train, and compare with the exact optimum [study]",
    )
    parser.add_argument("generator", metavar="PROBLEM", nargs="?", help="for front: the problem, e.g. gridworld")
    parser.add_argument("--instances", type=whole(), metavar="N", help="random problems for each lambda [2000]")
    parser.add_argument("--seed", type=whole(), metavar="K", help="seed of the random problems [0]")
    parser.add_argument("--lambdas", type=numbers("0,0.5,0.95,1"), metavar="X,..", help="values of lambda [0,0.5,0.95,1]")
    parser.add_argument("--counterexample", metavar="STATEMENT", help="print a smallest problem on which it fails")
    parser.add_argument("--points", type=whole(2), metavar="N", help="for front: number of limits [9]")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    optimum.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the part asked for."""
    if args.counterexample is not None and (args.json or args.instances is not None):
        raise UserError("--counterexample prints one small problem, in words; leave --instances and --json away.")
    fill_in(args)
    return PARTS[args.what](args)


def fill_in(args: argparse.Namespace) -> None:
    """Give the flags that are not there their defaults; one of another part would do nothing, and is refused."""
    for part, defaults in DEFAULTS.items():
        for name, default in defaults.items():
            if getattr(args, name) is None:
                setattr(args, name, default)
            elif part != args.what:
                raise UserError(f"--{name} goes with `cup theory {part}`, not with {args.what}; leave it away.")


def _study(args: argparse.Namespace) -> int:
    if args.generator is not None:
        raise UserError(f"study takes no problem, not {args.generator!r}; try cup theory front {args.generator}.")
    if args.counterexample is not None:
        return _counterexample(args.counterexample, args.lambdas, args.seed)
    rows = _run_with_progress(args.instances, args.seed, args.lambdas)
    if args.json:
        print(json.dumps([_row_as_json(row) for row in rows], indent=2))
    else:
        _print_rows(rows, args.seed)
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
    from cuprl.cli.terminal import Styled, show
    from cuprl.experiments.report.formats import Table

    lines: list[list[str]] = []
    labels: list[str] = []
    for before, row in zip([None, *rows], rows):
        new = before is None or row.statement != before.statement
        if lines and new:
            lines.append([""] * 5)
        if before is None or row.source != before.source:
            lines.append([Styled(HEADINGS[row.source], "bold"), "", "", "", ""])
        if new:
            labels = [row.statement, row.says]  # what it says goes beside its second lambda
        label = labels.pop(0) if labels else ""
        cells = (f"  {label}", f"{row.lam:g}", _percent(row), _short(row.worst), _short(row.tightness))
        lines.append([Styled(cell, "" if row.held == row.instances else "red") for cell in cells])
    title = f"{rows[0].instances:,} random problems, seed {seed}"
    failing = next((row.statement for row in rows if row.held < row.instances), None)
    hint = f"\nSee one fail: cup theory --counterexample {failing}" if failing else ""
    show([Table(["statement", "lambda", "holds", "worst", "gap"], lines, title, LEGEND + hint)])


def _percent(row: Row) -> str:
    """Write a share, never rounded up to 100%: a bound that fails once is false."""
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
    from cuprl.cli.terminal import show
    from cuprl.experiments.report.formats import Table
    from cuprl.theory.generators import GENERATORS
    from cuprl.theory.optimum import front_limits, pareto_front

    if args.generator is None:
        raise UserError(f"front needs a problem: cup theory front NAME, with NAME one of {', '.join(GENERATORS)}.")
    if args.generator not in GENERATORS:
        raise unknown("problem", args.generator, GENERATORS)
    cmdp = GENERATORS[args.generator]()
    rows = [
        {"limit": limit, "return": best.value, "cost": float(best.costs[0]), "multiplier": float(best.multipliers[0])}
        for limit, best in pareto_front(cmdp, front_limits(cmdp, args.points).tolist())
        if best is not None
    ]
    if args.json:
        named = {"problem": cmdp.name, "cost": cmdp.cost_names[0], "limit": float(cmdp.limits[0]), "front": rows}
        print(json.dumps(named, indent=2))
    else:
        title = f"{cmdp.name}: best return under each limit on its cost ({cmdp.cost_names[0]})"
        show([Table(list(rows[0]), [[f"{number:.5g}" for number in row.values()] for row in rows], title)])
    return 0


PARTS: dict[str, Callable[[argparse.Namespace], int]] = {"study": _study, "front": _front, "optimum": optimum.run}
