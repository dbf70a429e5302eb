"""Evaluations while a run is trained: their flags, and what is said of the best at its end."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cuprl.cli.arguments import whole
from cuprl.errors import UserError

if TYPE_CHECKING:
    from cuprl.core.user_modules import Trust
    from cuprl.runs.folder import Run


USUAL_EVERY = 100  # iterations: with ten episodes of 1000 steps, and batches of 5000, 4% of the steps


def add_eval_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of evaluations while a run is trained."""
    parser.add_argument(
        "--eval-every",
        type=whole(0),
        nargs="?",
        const=USUAL_EVERY,
        metavar="N",
        help=f"evaluate every N iterations ({USUAL_EVERY} where no N is given) and at the end, and keep the best policy's "
        "checkpoint; never changes a result [never]",
    )
    parser.add_argument(
        "--eval-episodes",
        type=whole(1),
        metavar="E",
        help="with --eval-every: episodes of the mode, and as many of sampled actions [10]",
    )


def eval_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Give what those flags say, and refuse episodes of evaluations that are never made."""
    if args.eval_episodes and not args.eval_every:
        raise UserError(f"--eval-episodes {args.eval_episodes} goes with --eval-every; add it, or leave this away.")
    return {name: value for name in ("eval_every", "eval_episodes") if (value := getattr(args, name)) is not None}


def print_evaluations(runs: dict[str, Run], trust: Trust = False) -> None:
    """Print what mode and sampled actions of each run do in 20 episodes; the runs are of one task, by their names."""
    from cuprl.cli.inspect import print_evaluation
    from cuprl.policies.evaluate import evaluate

    both = [(name, run, worth_showing(run), mode) for name, run in runs.items() for mode in (True, False)]
    results = [evaluate(run, deterministic=mode, checkpoint=which, trust=trust) for _, run, which, mode in both]
    print_evaluation(results, [name for name, *_ in both])


def worth_showing(run: Run) -> str:
    """Choose the checkpoint that `cup train --evaluate` shows: the best of the evaluations in training if it is there."""
    from cuprl.runs.checkpoint import iteration_of

    kept = {iteration_of(path) for path in run.checkpoints()}
    return "best" if run.best() in kept else "last"


def tell_best(run: Run) -> None:
    """Say which checkpoint is the best, where a run was evaluated."""
    if not (count := len(run.evaluations.recorded())):
        return
    made = f"{count} evaluation{'s' * (count > 1)}"
    if (iteration := run.best()) is None:
        print(f"best of {made}: none was within every limit")
    else:
        print(f"best of {made}: that of iteration {iteration}; --checkpoint best takes it, as in `cup eval`")
