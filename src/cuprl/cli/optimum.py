"""`cup theory optimum`: every algorithm on every small problem, beside the exact optimum."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from cuprl.errors import UserError, unknown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for optimum")
    group.add_argument("--problems", metavar="P,..", help="problems to train on [all]")
    group.add_argument("--algos", metavar="A,..", help="algorithms [all but CUP's variants]")
    group.add_argument("--seeds", default="5", metavar="N", help="seeds 0 .. N-1 [5]")
    group.add_argument("--steps", default="500_000", metavar="S", help="environment steps a run [500_000]")
    group.add_argument("--workers", default="2", metavar="N", help="processes [2]")
    group.add_argument("--out", metavar="FILE", help="picture of the return-cost planes, .png or .svg")


def chosen(kind: str, words: str | None, accepted: list[str], default: list[str]) -> list[str]:
    names = words.split(",") if words else default
    for name in names:
        if name not in accepted:
            raise unknown(kind, name, accepted)
    return names


def run(args: argparse.Namespace) -> int:
    from cuprl.algorithms import ALGORITHMS
    from cuprl.core.parse import parse_value
    from cuprl.experiments.report.optimum import plot_planes, run_all
    from cuprl.theory import GENERATORS

    problems = chosen("problem", args.problems, list(GENERATORS), list(GENERATORS))
    plain = [name for name, entry in ALGORITHMS.items() if not entry.preset]
    algos = chosen("algorithm", args.algos, list(ALGORITHMS), plain)
    seeds, steps, workers = (parse_value(int, getattr(args, name), f"--{name}") for name in ("seeds", "steps", "workers"))
    for name, value in (("seeds", seeds), ("workers", workers)):
        if value < 1:
            raise UserError(f"--{name} is {value}; it must be at least 1.")
    results = run_all(problems, algos, range(seeds), steps, workers, tell)
    if args.json:
        print(json.dumps([{**asdict(r), "share": r.share, "excess": r.excess} for r in results]))
    else:
        print_results(results)
    if args.out:
        print(plot_planes(results, args.out))
    return 0


def tell(done: int, total: int, reached: Any) -> None:
    import sys

    line = f"{done}/{total} {reached.problem} {reached.algo} seed {reached.seed}: {reached.share:.3f} of the optimum"
    print(line, file=sys.stderr, flush=True)


def print_results(results: list[Any]) -> None:
    """Means over seeds; red where the mean excess is above 2% of the limit."""
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in ("problem", "algorithm", "return / optimum", "(worst seed)", "cost / limit", "(worst seed)"):
        table.add_column(name, justify="left" if name in ("problem", "algorithm") else "right")
    for problem, algo in dict.fromkeys((r.problem, r.algo) for r in results):
        cell = [r for r in results if (r.problem, r.algo) == (problem, algo)]
        share, cost = np.array([r.share for r in cell]), 1.0 + np.array([r.excess for r in cell])
        table.add_row(
            problem, algo, f"{share.mean():.3f}", f"{share.min():.3f}", f"{cost.mean():.3f}", f"{cost.max():.3f}",
            style="red" if cost.mean() > 1.02 else "",
        )  # fmt: skip
    Console(highlight=False).print(table)
