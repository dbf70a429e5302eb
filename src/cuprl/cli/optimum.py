"""`cup theory optimum`: every algorithm on every small problem, beside the exact optimum."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cuprl.cli.arguments import whole
from cuprl.errors import UserError, unknown

DEFAULTS = {"problems": None, "algos": None, "seeds": 5, "steps": 500_000, "workers": 2, "out": None}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `cup theory optimum`."""
    group = parser.add_argument_group("for optimum")
    group.add_argument("--problems", metavar="P,..", help="problems to train on [all]")
    group.add_argument("--algos", metavar="A,..", help="algorithms [`cup` and all without a preset]")
    group.add_argument("--seeds", type=whole(1), metavar="N", help="seeds 0 .. N-1 [5]")
    group.add_argument("--steps", type=whole(), metavar="S", help="environment steps a run [500_000]")
    group.add_argument("--workers", type=whole(1), metavar="N", help="processes [2]")
    group.add_argument("--out", metavar="FILE", help="picture of the return-cost planes, .png or .svg")


def chosen(kind: str, words: str | None, accepted: list[str], default: list[str]) -> list[str]:
    """Split names between commas, each of those accepted; the default where there are none."""
    names = words.split(",") if words else default
    for name in names:
        if name not in accepted:
            raise unknown(kind, name, accepted)
    return names


def run(args: argparse.Namespace) -> int:
    """Train on every problem with every algorithm, and print what they reached."""
    from cuprl.algorithms import ALGORITHMS
    from cuprl.experiments.report.drawing import check_picture
    from cuprl.experiments.report.optimum import plot_planes, run_all
    from cuprl.theory import GENERATORS

    if args.generator is not None:
        raise UserError(f"optimum takes no problem as {args.generator!r}; give --problems {args.generator}.")
    problems = chosen("problem", args.problems, list(GENERATORS), list(GENERATORS))
    usual = ["cup", *(name for name, entry in ALGORITHMS.items() if not entry.preset)]
    algos = chosen("algorithm", args.algos, list(ALGORITHMS), usual)
    if args.out:
        check_picture(Path(args.out))
    results = run_all(problems, algos, range(args.seeds), args.steps, args.workers, tell)
    if args.json:
        print(json.dumps([{**asdict(r), "share": r.share, "excess": r.excess} for r in results]))
    else:
        print_results(results)
    if args.out:
        print(plot_planes(results, args.out))
    return 0


def tell(done: int, total: int, reached: Any) -> None:
    """Print a line for a run that has ended."""
    import sys

    line = f"{done}/{total} {reached.problem} {reached.algo} seed {reached.seed}: {reached.share:.3f} of the optimum"
    print(line, file=sys.stderr, flush=True)


def print_results(results: list[Any]) -> None:
    """Print means over seeds; red where the mean excess is above 2% of the limit.

    The last three say how true what was promised of the cost is: by how much it changed for a unit promised, and, as shares
    of the limit, the mean and the root mean square of the true cost less the predicted one.
    """
    import numpy as np

    from cuprl.cli.terminal import Styled, show
    from cuprl.experiments.report.formats import Table

    rows: list[list[str]] = []
    for problem, algo in dict.fromkeys((r.problem, r.algo) for r in results):
        cell = [r for r in results if (r.problem, r.algo) == (problem, algo)]
        share, cost = np.array([r.share for r in cell]), 1.0 + np.array([r.excess for r in cell])
        style = "red" if cost.mean() > 1.02 else ""
        numbers = (share.mean(), share.min(), cost.mean(), cost.max())
        said = [r.promises for r in cell if r.promises]
        truth = [np.mean([getattr(p, name) for p in said]) for name in ("kept", "bias", "error")] if said else [None] * 3
        cells = (problem, algo, *("-" if number is None else f"{number:.3f}" for number in (*numbers, *truth)))
        rows.append([Styled(text, style) for text in cells])
    reached = ["return / optimum", "(worst seed)", "cost / limit", "(worst seed)"]
    show([Table(["problem", "algorithm", *reached, "promises kept", "bias", "error"], rows)])
