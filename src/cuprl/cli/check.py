"""`cup check`: is this Gymnasium environment fit to be trained on? And the flags that make a task of one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_command
from cuprl.cli.arguments import whole

if TYPE_CHECKING:
    from cuprl.envs.gymnasium.task import GymnasiumTask


def add_gym_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that make a task of a Gymnasium environment."""
    group = parser.add_argument_group("a Gymnasium environment, gym:ID")
    group.add_argument("--cost", action="append", metavar="C", help="info:KEY or MODULE:FUNCTION, or NAME=… [info:cost]")
    group.add_argument("--import", action="append", dest="imports", metavar="M", help="a module that registers the id")
    group.add_argument(
        "--cost-discount", action="append", metavar="X", help="discount of the costs; 1: the plain sum [0.99]"
    )
    group.add_argument("--horizon", metavar="N", help="steps after which an episode is cut [the environment's own]")
    group.add_argument("--backend", metavar="B", help="sync: one process; async: over worker processes [sync]")
    group.add_argument("--env-timeout", metavar="S", help="seconds a step or reset may take, 0: any [async: 60, sync: any]")


def task_named(args: argparse.Namespace) -> str:
    """Give the task's full name, the flags taken in."""
    from cuprl.envs import find
    from cuprl.envs.gymnasium.name import PREFIX

    name = with_flags(args)
    return find(name).name if name.startswith(PREFIX) else name


def with_flags(args: argparse.Namespace) -> str:
    """Make each flag a word of the task's name."""
    from cuprl.core.parse import parse_numbers
    from cuprl.envs.gymnasium.name import PREFIX, join_name
    from cuprl.errors import UserError

    flags = {
        "cost": args.cost,
        "import": args.imports,
        "discount": args.cost_discount,
        "horizon": args.horizon,
        "backend": args.backend,
        "timeout": args.env_timeout,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    if not args.task.startswith(PREFIX):
        if given:
            flag = next(iter(given)).replace("discount", "cost-discount").replace("timeout", "env-timeout")
            raise UserError(f"--{flag} goes with a Gymnasium environment, {PREFIX}ID, not with {args.task!r}.")
        return args.task
    for flag, numbers in (("--limit", args.limit), ("--cost-discount", args.cost_discount)):
        parse_numbers(numbers, flag)  # refused where given twice; over a word of the name itself a flag counts
    words = {**given, "limit": args.limit or []}
    each = [(name, value) for name, values in words.items() for value in ([values] if isinstance(values, str) else values)]
    return join_name(args.task, each)


def task_to_check(args: argparse.Namespace) -> tuple[GymnasiumTask, bool]:
    """Give the task, and whether it has limits: all but one sentence can be said without."""
    from cuprl.envs import find
    from cuprl.envs.gymnasium.name import PREFIX, parse_name
    from cuprl.envs.gymnasium.task import from_gymnasium
    from cuprl.errors import UserError

    name = with_flags(args)
    if not name.startswith(PREFIX):
        known = find(name).name
        raise UserError(f"{known} is a task of cuprl itself; `cup check` looks at Gymnasium environments, gym:ID.")
    arguments = parse_name(name)
    limited = "limits" in arguments
    if not limited:
        arguments["limits"] = dict.fromkeys(arguments.get("costs", ("cost",)), 0.0)
    return from_gymnasium(**arguments), limited


def add(subparsers: Any) -> None:
    """Add `cup check`."""
    check = add_command(subparsers, "check")
    check.add_argument("task", metavar="gym:ID", help="the environment")
    check.add_argument("--limit", action="append", metavar="X", help="cost limit, or NAME=X for one of several")
    check.add_argument("--steps", type=whole(1), default=3000, metavar="N", help="random steps to take [3000]")
    check.add_argument("--seed", type=whole(0), default=0, metavar="K", help="seed of the episodes and actions [0]")
    add_gym_flags(check)
    check.set_defaults(run=run_check)


def run_check(args: argparse.Namespace) -> int:
    """Look at an environment; 1 if something is wrong with it."""
    from cuprl.cli.terminal import Styled, show
    from cuprl.core.text import printable
    from cuprl.envs.gymnasium.check import check
    from cuprl.experiments.report.formats import Table

    task, limited = task_to_check(args)
    style = {"fine": "green", "note": "yellow", "wrong": "bold red"}
    findings = check(task, args.steps, args.seed, limited)
    show([Table(["", ""], [[Styled(found.kind, style[found.kind]), found.sentence] for found in findings])])
    wrong = sum(finding.kind == "wrong" for finding in findings)
    print(f"{printable(args.task)}: {'nothing is wrong' if not wrong else f'{wrong} wrong'}.")
    return 1 if wrong else 0
