"""`cup train` and `cup resume`."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from cuprl.cli import Parser, add_trust_flags, trust_of
from cuprl.cli.check import add_gym_flags, task_named


class TrainParser(Parser):
    """Adds the settings of the algorithm named on the command line, so that help and errors know them."""

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        peek = Parser(prog=self.prog, add_help=False)
        peek.add_argument("--algo", default="cup")
        add_settings(self, peek.parse_known_args(args)[0].algo)
        return super().parse_known_args(args, namespace)


def add_settings(parser: argparse.ArgumentParser, algo: str) -> None:
    from cuprl import algorithms

    _, config = algorithms.load(algo)
    group = parser.add_argument_group(f"settings of {algo}")
    for field in dataclasses.fields(config):
        default = getattr(config, field.name)
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
        flag = "--" + field.name.replace("_", "-")
        group.add_argument(flag, metavar="X", help=f"{field.metadata['help']} [{shown}]".replace("%", "%%"))


def add(subparsers: Any) -> None:
    usage = "cup train TASK [options] [settings of the algorithm]"
    train = subparsers.add_parser("train", help="train a policy on a task", usage=usage)
    train.__class__ = TrainParser
    train.add_argument("task", metavar="TASK", help="a task (`cup tasks` lists them), or gym:ID")
    train.add_argument("--algo", default="cup", metavar="A", help="an algorithm (`cup algos` lists them) [cup]")
    train.add_argument("--seed", default="0", metavar="K", help="seed of everything random [0]")
    train.add_argument("--seeds", metavar="A..B", help="several seeds at once, as 0..9 or 0,3,7, over the machine's cores")
    train.add_argument("--workers", metavar="N", help="with --seeds: processes, one thread each [all cores]")
    train.add_argument("--steps", default="2.5e6", metavar="S", help="environment steps, as 2.5e6 or 2_500_000 [2.5e6]")
    train.add_argument("--out", metavar="DIR", help="folder of the run [runs/TASK/ALGO/seedK-TIME]")
    train.add_argument("--threads", default="1", metavar="N", help="threads of the physics; never changes a result [1]")
    train.add_argument("--limit", action="append", metavar="X", help="cost limit, or NAME=X for one of several")
    train.add_argument("--checkpoint-every", default="10", metavar="N", help="iterations between checkpoints [10]")
    train.add_argument("--tensorboard", action="store_true", help="also write TensorBoard events into the run's folder")
    train.add_argument("--evaluate", action="store_true", help="end with an evaluation of 20 episodes")
    train.add_argument("--plot", action="store_true", help="end with a picture of the learning curve")
    add_gym_flags(train)
    train.set_defaults(run=run_train)

    resume = subparsers.add_parser("resume", help="continue a stopped run, bit for bit")
    resume.add_argument("path", metavar="RUN", help="the run's folder")
    resume.add_argument("--threads", metavar="N", help="threads of the physics [as before]")
    add_trust_flags(resume)
    resume.set_defaults(run=run_resume)


def run_train(args: argparse.Namespace) -> int:
    from cuprl import algorithms
    from cuprl.core.parse import parse_numbers, parse_value
    from cuprl.training.loop import train

    args.algo = algorithms.full_name(args.algo)
    _, config = algorithms.load(args.algo)
    given = {f.name: getattr(args, f.name) for f in dataclasses.fields(config) if getattr(args, f.name) is not None}
    numbers = {
        name: parse_value(int, getattr(args, name), f"--{name.replace('_', '-')}")
        for name in ("seed", "steps", "threads", "checkpoint_every")
    }
    args.task = task_named(args)
    if args.seeds is not None:
        return run_seeds(args, numbers["steps"], given)
    run = train(
        args.task, args.algo, out=args.out, limits=parse_numbers(args.limit, "--limit"), tensorboard=args.tensorboard,
        **numbers, **given,
    )  # fmt: skip
    print(f"done: {run.path}")
    if args.evaluate:
        from cuprl.cli.inspect import print_evaluation
        from cuprl.policies.evaluate import evaluate

        print_evaluation([evaluate(run, deterministic=flag) for flag in (True, False)])
    if args.plot:
        from cuprl.experiments.report.plot import plot_runs

        print(f"learning curve: {plot_runs([run.path])}")
    return 0


def run_seeds(args: argparse.Namespace, steps: int, settings: dict[str, str]) -> int:
    """One run a seed, over worker processes, with one live table."""
    from pathlib import Path

    from cuprl.cli.bench import make_engine, run_grid
    from cuprl.core.parse import parse_value
    from cuprl.errors import UserError
    from cuprl.experiments.grid.cells import Block, Experiment, expand, parse_seeds

    workers = None if args.workers is None else parse_value(int, args.workers, "--workers")
    for name in ("evaluate", "plot"):
        if getattr(args, name):
            raise UserError(f"--{name} goes with one seed; after --seeds use `cup eval` and `cup plot`.")
    flags = ["--threads", args.threads, "--checkpoint-every", args.checkpoint_every]
    flags += ["--tensorboard"] if args.tensorboard else []
    seeds = tuple(dict.fromkeys(parse_seeds(args.seeds)))
    block = Block((args.task,), (args.algo,), seeds, steps, tuple(settings.items()), tuple(args.limit or ()))
    grid = Experiment(f"--seeds {args.seeds}", "", (block,))
    cells = [dataclasses.replace(cell, flags=tuple(flags)) for cell in expand(grid)]
    return run_grid(cells, Path(args.out or "runs"), make_engine("local", None, workers, len(cells)))


def run_resume(args: argparse.Namespace) -> int:
    from cuprl.core.parse import parse_value
    from cuprl.training.loop import resume

    threads = None if args.threads is None else parse_value(int, args.threads, "--threads")
    print(f"done: {resume(args.path, threads=threads, trust=trust_of(args)).path}")
    return 0
