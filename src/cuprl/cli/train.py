"""`cup train` and `cup resume`."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from cuprl.cli import add_command, add_trust_flags, trust_of
from cuprl.cli.arguments import one_of, seeds, whole
from cuprl.cli.check import add_gym_flags, task_named
from cuprl.cli.config import add_config_flags, add_settings, filled_in
from cuprl.cli.evaluations import add_eval_flags, eval_settings, print_evaluations, tell_best
from cuprl.errors import UserError

ANNEALS = ("continue", "restart", "off")  # of runs.history, which is not imported for a command's help


def add(subparsers: Any) -> None:
    """Add `cup train` and `cup resume`."""
    usage = "cup train TASK|--config FILE [options] [settings of the algorithm]"
    train = add_command(subparsers, "train", usage=usage, completed_by=add_settings)
    train.add_argument("task", metavar="TASK", nargs="?", help="a task (`cup tasks` lists them), or gym:ID")
    train.add_argument("--algo", metavar="A", help="an algorithm (`cup algos` lists them) [cup]")
    train.add_argument("--seed", type=whole(), metavar="K", help="seed of everything random [0]")
    train.add_argument(
        "--seeds", type=seeds, metavar="A..B", help="several seeds at once, as 0..9 or 0,3,7, over the machine's cores"
    )
    train.add_argument("--workers", type=whole(1), metavar="N", help="with --seeds: processes, one thread each [all cores]")
    train.add_argument(
        "--steps", type=whole(), default=2_500_000, metavar="S", help="environment steps, as 2.5e6 or 2_500_000 [2.5e6]"
    )
    train.add_argument(
        "--out",
        metavar="DIR",
        help="folder of the run [runs/TASK/ALGO/seedK-TIME]; with --seeds: the folder above TASK/ALGO/seedK [runs]",
    )
    train.add_argument(
        "--threads", type=whole(), default=1, metavar="N", help="threads of the physics; never changes a result [1]"
    )
    train.add_argument("--limit", action="append", metavar="X", help="cost limit, or NAME=X for one of several")
    train.add_argument(
        "--checkpoint-every", type=whole(), default=10, metavar="N", help="iterations between checkpoints [10]"
    )
    add_eval_flags(train)
    train.add_argument(
        "--from",
        dest="start_from",
        metavar="RUN",
        help="begin with the network and normaliser of a run, .npz file or zoo:NAME; with --seeds {seed} in it is the seed",
    )
    train.add_argument("--from-checkpoint", metavar="C", help="of that run: last, best, or an iteration [last]")
    train.add_argument("--from-critics", action="store_true", help="begin with that run's critics too")
    train.add_argument("--tensorboard", action="store_true", help="also write TensorBoard events into the run's folder")
    train.add_argument("--wandb", action="store_true", help="also log to Weights & Biases; offline with WANDB_MODE=offline")
    train.add_argument(
        "--evaluate",
        action="store_true",
        help="end with an evaluation of 20 episodes, of each seed: of the best policy where training was evaluated",
    )
    train.add_argument("--plot", action="store_true", help="end with a picture of the learning curve")
    add_config_flags(train)
    add_gym_flags(train)
    train.set_defaults(run=run_train)

    resume = add_command(subparsers, "resume")
    resume.add_argument("path", metavar="RUN", help="the run's folder")
    resume.add_argument(
        "--steps", type=whole(), metavar="S", help="train further, to so many steps in all [as the run is planned]"
    )
    resume.add_argument(
        "--anneal",
        type=one_of("anneal", ANNEALS),
        metavar="A",
        help="with --steps, what the learning rates do: continue, as if so many steps had been planned; restart, from their "
        "first value to 0; off, stay at their first value [continue]",
    )
    resume.add_argument("--threads", type=whole(), metavar="N", help="threads of the physics [as before]")
    add_trust_flags(resume)
    resume.set_defaults(run=run_resume)


def run_train(args: argparse.Namespace) -> int:
    """Train a run, or one for each of several seeds."""
    with filled_in(args):
        return train_as_said(args)


def train_as_said(args: argparse.Namespace) -> int:
    """Train with nothing left to fill in."""
    from cuprl import algorithms
    from cuprl.core.parse import as_whole, parse_numbers
    from cuprl.training.train import train

    _, config = algorithms.load(args.algo)
    given = {f.name: getattr(args, f.name) for f in dataclasses.fields(config) if getattr(args, f.name) is not None}
    args.task, args.steps = task_named(args), as_whole(args.steps, "steps")
    if args.seeds is not None:
        from cuprl.cli.seeds import run_seeds

        return run_seeds(args, given)
    if args.workers is not None:
        raise UserError(f"--workers {args.workers} goes with --seeds; add them, as --seeds 0..9, or leave it away.")
    run = train(
        args.task,
        args.algo,
        seed=args.seed or 0,
        steps=args.steps,
        out=args.out,
        threads=args.threads,
        limits=parse_numbers(args.limit, "--limit"),
        checkpoint_every=args.checkpoint_every,
        **eval_settings(args),
        start_from=args.start_from,
        start_checkpoint=args.from_checkpoint,
        start_critics=args.from_critics,
        tensorboard=args.tensorboard,
        wandb=args.wandb,
        display=True,
        **given,
    )
    print(f"done: {run.path}")
    tell_best(run)
    if args.evaluate:
        print_evaluations({"": run})
    if args.plot:
        from cuprl.experiments.report.plot import plot_runs

        print(f"learning curve: {plot_runs([run.path])}")
    return 0


def run_resume(args: argparse.Namespace) -> int:
    """Continue a run to its end."""
    from cuprl.training.train import resume

    run = resume(args.path, steps=args.steps, anneal=args.anneal, threads=args.threads, display=True, trust=trust_of(args))
    print(f"done: {run.path}")
    tell_best(run)
    return 0
