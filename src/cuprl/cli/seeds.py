"""`cup train --seeds 0..9`: one run a seed, over worker processes."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.errors import UserError

if TYPE_CHECKING:
    from cuprl.experiments.grid.cells import Cell


def run_seeds(args: argparse.Namespace, settings: dict[str, Any]) -> int:
    """Train a run for each seed with one live table, say where they are, evaluate and draw them; 1 if any failed."""
    from cuprl.cli.bench import make_engine, run_grid
    from cuprl.cli.evaluations import print_evaluations, tell_best
    from cuprl.runs.folder import Run

    cells, root = cells_of(args, settings), Path(args.out or "runs")
    failed = run_grid(cells, root, make_engine("local", None, args.workers, len(cells)))
    done = [cell for cell in cells if is_done(cell, root)]
    for cell in done:
        print(f"done: {cell.path(root)}")
        tell_best(Run(cell.path(root)))
    if args.evaluate and done:
        # What the task and algorithm name was named on this command line.
        print_evaluations({f"seed {cell.seed}": Run(cell.path(root)) for cell in done}, trust=done[0].modules())
    if args.plot and done:
        from cuprl.experiments.report.plot import plot_runs

        paths = [cell.path(root) for cell in done]
        print(f"learning curve: {plot_runs(paths, paths[0].parent / 'curve.png')}")
    return failed


def cells_of(args: argparse.Namespace, settings: dict[str, Any]) -> list[Cell]:
    """Make a grid of the seeds; the flags that change no result are handed on to each run."""
    from cuprl.cli.evaluations import eval_settings
    from cuprl.experiments.grid.cells import Block, Experiment, words_of
    from cuprl.experiments.grid.expand import expand
    from cuprl.learn.fields import as_words
    from cuprl.policies.start import origin_of

    if args.seed is not None:
        raise UserError(f"--seed {args.seed} and --seeds are both given; give one of them.")
    words = tuple((name, as_words(value)) for name, value in settings.items())
    origin = origin_of(args.start_from, args.from_checkpoint, args.from_critics)
    block = Block(
        (args.task,), (args.algo,), tuple(args.seeds), args.steps, words, tuple(args.limit or ()), start_from=origin
    )
    flags: tuple[str, ...] = ("--threads", str(args.threads), "--checkpoint-every", str(args.checkpoint_every))
    flags += tuple(f"--{name}" for name in ("tensorboard", "wandb") if getattr(args, name))
    flags += words_of(eval_settings(args))
    return [dataclasses.replace(cell, flags=flags) for cell in expand(Experiment("--seeds", "", (block,)))]


def is_done(cell: Cell, root: Path) -> bool:
    """Tell whether a run is there to its end; one that cannot be used has been reported as failed."""
    try:
        return cell.fraction(root) >= 1.0
    except UserError:
        return False
