"""Commands that look: `cup eval`, `cup tasks`, `cup algos`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from cuprl.cli import add_checkpoint_flag, add_command, add_trust_flags, tell_changed, trust_of
from cuprl.cli.arguments import whole


def add(subparsers: Any) -> None:
    """Add `cup eval`, `cup tasks` and `cup algos`."""
    evaluate = add_command(subparsers, "eval")
    evaluate.add_argument("path", metavar="RUN", help="the run's folder, a policy's file, or zoo:NAME")
    evaluate.add_argument("--episodes", type=whole(1), default=20, metavar="N", help="episodes [20]")
    evaluate.add_argument("--seed", type=whole(0), default=10_000, metavar="K", help="seed of the environments [10_000]")
    evaluate.add_argument(
        "--sampled", "--stochastic", action="store_true", help="sample actions as in training, not the mode"
    )
    evaluate.add_argument("--json", action="store_true", help="print one JSON object")
    add_checkpoint_flag(evaluate)
    add_trust_flags(evaluate)
    evaluate.set_defaults(run=run_eval)

    tasks = add_command(subparsers, "tasks")
    tasks.set_defaults(run=run_tasks)

    algos = add_command(subparsers, "algos")
    algos.add_argument("name", metavar="ALGO", nargs="?", help="show this one's settings")
    algos.set_defaults(run=run_algos)


def run_eval(args: argparse.Namespace) -> int:
    """Evaluate a policy and print what it did."""
    from cuprl.policies.evaluate import evaluate

    result = evaluate(
        args.path,
        args.episodes,
        deterministic=not args.sampled,
        seed=args.seed,
        checkpoint=args.checkpoint,
        trust=trust_of(args),
    )
    tell_changed(result["changed"], args.path, "these numbers are of another task")
    if args.json:
        print(json.dumps(result))
    else:
        print_evaluation([result])
    return 0


def print_evaluation(results: list[dict[str, Any]], names: Sequence[str] = ()) -> None:
    """Print evaluations of one task as a table, a line for each and each of its constraints; names: of each, if several."""
    from cuprl.cli.terminal import Styled, show
    from cuprl.experiments.report.formats import Table

    first, rows = results[0], []
    same = len({result["iteration"] for result in results}) == 1
    of = f"iteration {first['iteration']}, " if same else ""
    title = f"{first['task']}, {first['algo']}, {of}{first['episodes']} episodes (sum: of the cost, not discounted)"
    for result, name in zip(results, names or [""] * len(results)):
        many = isinstance(result["cost_mean"], dict)
        for constraint in result["cost_mean"] if many else [""]:
            mean, std, plain, limit, over = (
                result[f"cost_{key}"][constraint] if many else result[f"cost_{key}"]
                for key in ("mean", "std", "undiscounted_mean", "limit", "violation_rate")
            )
            actions = "mode" if result["deterministic"] else "sampled"
            which = "" if same else f"iteration {result['iteration']}"
            rows.append(
                [
                    " ".join(part for part in (name, which, actions, f"({constraint})" if many else "") if part),
                    f"{result['return_mean']:.1f} ± {result['return_std']:.1f}",
                    Styled(f"{mean:.2f} ± {std:.2f}", "green" if mean <= limit else "red"),
                    f"{limit:g}",
                    f"{plain:.1f}",
                    f"{100 * over:.0f}%",
                    f"{result['length_mean']:.0f}",
                ]
            )
    show([Table(["actions", "return", "cost", "limit", "sum", "over limit", "length"], rows, title)])


def run_tasks(args: argparse.Namespace) -> int:
    """List the tasks, a line for each constraint."""
    from cuprl.cli.terminal import show
    from cuprl.envs import TASKS, spec_of
    from cuprl.envs.tabular import PREFIX, tabular_task
    from cuprl.experiments.report.formats import Table
    from cuprl.theory import GENERATORS

    rows = []
    for task in [*TASKS.values(), *(tabular_task(PREFIX + name) for name in GENERATORS)]:
        spec = spec_of(task)
        rows += [
            [task.name, str(spec.obs_dim), str(spec.action), c.name, f"{c.limit:g}", f"{c.discount:g}", str(spec.horizon)]
            for c in spec.constraints
        ]
    show([Table(["task", "obs", "action", "constraint", "limit", "discount", "horizon"], rows)])
    return 0


def run_algos(args: argparse.Namespace) -> int:
    """List the algorithms, or one's settings."""
    from cuprl.algorithms import ALGORITHMS, load
    from cuprl.cli.terminal import show
    from cuprl.experiments.report.formats import Table

    if args.name is None:
        show([Table(["algorithm", "what it is"], [[name, entry.summary] for name, entry in ALGORITHMS.items()])])
        return 0
    from cuprl.learn.fields import as_words

    _, config = load(args.name)
    rows = [
        [field.name, as_words(getattr(config, field.name)), field.metadata.get("help", "")]
        for field in dataclasses.fields(config)
    ]
    show([Table(["setting", "value", "meaning"], rows)])
    return 0
