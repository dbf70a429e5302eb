"""Commands that look: `cup eval`, `cup plot`, `cup tasks`, `cup algos`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from cuprl.cli import add_trust_flags, trust_of


def add(subparsers: Any) -> None:
    evaluate = subparsers.add_parser("eval", help="evaluate the policy of a run")
    evaluate.add_argument("path", metavar="RUN", help="the run's folder, or a policy's file")
    evaluate.add_argument("--episodes", default="20", metavar="N", help="episodes [20]")
    evaluate.add_argument("--seed", default="10_000", metavar="K", help="seed of the environments [10_000]")
    evaluate.add_argument("--stochastic", action="store_true", help="sample actions as in training, not the mode")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object")
    add_trust_flags(evaluate)
    evaluate.set_defaults(run=run_eval)

    plot = subparsers.add_parser("plot", help="draw the learning curves of runs")
    plot.add_argument("paths", metavar="RUN", nargs="+", help="run folders")
    plot.add_argument("--out", metavar="FILE", help="picture, .png or .svg [curve.png in the first run]")
    plot.set_defaults(run=run_plot)

    tasks = subparsers.add_parser("tasks", help="list the tasks")
    tasks.set_defaults(run=run_tasks)

    algos = subparsers.add_parser("algos", help="list the algorithms, or the settings of one")
    algos.add_argument("name", metavar="ALGO", nargs="?", help="show this one's settings")
    algos.set_defaults(run=run_algos)


def run_eval(args: argparse.Namespace) -> int:
    from cuprl.core.parse import parse_value
    from cuprl.core.text import printable
    from cuprl.errors import UserError
    from cuprl.policies.evaluate import evaluate

    episodes, seed = (parse_value(int, getattr(args, name), f"--{name}") for name in ("episodes", "seed"))
    if seed < 0:
        raise UserError(f"--seed is {seed}; give 0 or more.")
    result = evaluate(args.path, episodes, deterministic=not args.stochastic, seed=seed, trust=trust_of(args))
    if result["changed"]:
        said = f"{', '.join(result['changed'])} changed since {args.path} was trained: these numbers are of another task."
        print(f"note: {printable(said)}", file=sys.stderr)
    if args.json:
        print(json.dumps(result))
    else:
        print_evaluation([result])
    return 0


def print_evaluation(results: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    from cuprl.core.text import printable

    first = results[0]
    title = f"{first['task']}, {first['algo']}, {first['episodes']} episodes (sum: of the cost, not discounted)"
    table = Table(title=escape(printable(title)), title_justify="left", box=None)
    for name in ("actions", "return", "cost", "limit", "sum", "over limit", "length"):
        table.add_column(name, justify="left" if name == "actions" else "right", no_wrap=True)
    for result in results:
        many = isinstance(result["cost_mean"], dict)
        for name in result["cost_mean"] if many else [""]:
            mean, std, plain, limit, over = (
                result[f"cost_{key}"][name] if many else result[f"cost_{key}"]
                for key in ("mean", "std", "undiscounted_mean", "limit", "violation_rate")
            )
            table.add_row(
                Text(("mode" if result["deterministic"] else "sampled") + (f" ({printable(name)})" if many else "")),
                f"{result['return_mean']:.1f} ± {result['return_std']:.1f}",
                f"[{'green' if mean <= limit else 'red'}]{mean:.2f} ± {std:.2f}[/]",
                f"{limit:g}",
                f"{plain:.1f}",
                f"{100 * over:.0f}%",
                f"{result['length_mean']:.0f}",
            )
    Console().print(table)


def run_plot(args: argparse.Namespace) -> int:
    from cuprl.experiments.report.plot import plot_runs

    print(plot_runs(args.paths, args.out))
    return 0


def run_tasks(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    from cuprl.envs import TASKS, make
    from cuprl.envs.tabular import PREFIX, tabular_task
    from cuprl.theory import GENERATORS

    table = Table(box=None)
    for name in ("task", "obs", "action", "constraint", "limit", "discount", "horizon"):
        table.add_column(name, justify="left" if name in ("task", "constraint") else "right", no_wrap=name == "task")
    for task in [*TASKS.values(), *(tabular_task(PREFIX + name) for name in GENERATORS)]:
        spec = make(task).spec
        for constraint in spec.constraints:
            table.add_row(
                task.name, str(spec.obs_dim), str(spec.action), constraint.name, f"{constraint.limit:g}",
                f"{constraint.discount:g}", str(spec.horizon),
            )  # fmt: skip
    Console().print(table)
    return 0


def run_algos(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    from cuprl.algorithms import ALGORITHMS, load

    table = Table(box=None)
    if args.name is None:
        table.add_column("algorithm")
        table.add_column("what it is")
        for name, entry in ALGORITHMS.items():
            table.add_row(name, entry.summary)
    else:
        import dataclasses

        _, config = load(args.name)
        for column in ("setting", "value", "meaning"):
            table.add_column(column)
        for field in dataclasses.fields(config):
            table.add_row(field.name, str(getattr(config, field.name)), field.metadata["help"])
    Console().print(table)
    return 0
