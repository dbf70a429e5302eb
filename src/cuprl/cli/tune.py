"""`cup tune`: the settings with the best return within the limits, by trials."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_command
from cuprl.cli.arguments import whole
from cuprl.cli.check import add_gym_flags, task_named
from cuprl.cli.config import add_config_flags, add_settings, filled_in
from cuprl.errors import UserError

if TYPE_CHECKING:
    from cuprl.experiments.tuning.study import Asked, Outcome

SHOWN = 10  # lines of the table


def add(subparsers: Any) -> None:
    """Add `cup tune`."""
    usage = "cup tune TASK --budget STEPS [options] [settings that all trials have]"
    tune = add_command(subparsers, "tune", usage=usage, completed_by=add_settings)
    tune.add_argument("task", metavar="TASK", nargs="?", help="a task (`cup tasks` lists them), or gym:ID")
    tune.add_argument("--algo", metavar="A", help="an algorithm (`cup algos` lists them) [cup]")
    tune.add_argument("--budget", type=whole(1), required=True, metavar="S", help="environment steps of all trials together")
    tune.add_argument("--steps", type=whole(1), metavar="S", help="environment steps of a trial [a twentieth of the budget]")
    tune.add_argument("--trials", type=whole(1), metavar="N", help="at most so many trials [as many as the budget holds]")
    tune.add_argument(
        "--search",
        action="append",
        default=[],
        metavar="X",
        help="a setting to search: NAME=LOW..HIGH, NAME=A,B,C or NAME alone, repeatable [those that matter most]",
    )
    tune.add_argument("--seed", type=whole(0), metavar="K", help="seed of the search, and of every trial [0]")
    tune.add_argument("--limit", action="append", metavar="X", help="cost limit, or NAME=X for one of several")
    tune.add_argument("--no-prune", action="store_true", help="train every trial to its end")
    tune.add_argument("--workers", type=whole(1), metavar="N", help="trials at once, one thread each [1]", default=1)
    tune.add_argument("--out", metavar="DIR", help="the study and its runs [runs/tune/TASK-ALGO]; one there goes on")
    add_config_flags(tune)
    add_gym_flags(tune)
    tune.set_defaults(run=run_tune)


def run_tune(args: argparse.Namespace) -> int:
    """Search, then print the trials and the command of the best; 1 where none was within the limits."""
    with filled_in(args):
        return search_as_said(args)


def search_as_said(args: argparse.Namespace) -> int:
    """Search with nothing left to fill in."""
    from cuprl.cli.bench import make_engine, stoppable
    from cuprl.core.text import printable
    from cuprl.experiments.grid.cells import file_name
    from cuprl.experiments.tuning.search import Search
    from cuprl.experiments.tuning.study import require_optuna

    require_optuna()
    args.task = task_named(args)
    folder = Path(args.out) if args.out else Path("runs", "tune", f"{file_name(args.task)}-{file_name(args.algo)}")
    asked = asked_for(args, folder)
    engine = make_engine("local", None, args.workers, args.workers)
    search = Search(asked, folder, engine, lambda line: print(printable(line), flush=True), not args.no_prune)
    print(f"search {folder}: trials of {asked.steps:,} steps, {args.budget:,} in all")
    print(printable(f"searching {', '.join(map(str, asked.axes))}"), flush=True)
    with stoppable("stopped; each trial left a checkpoint: the same command goes on from there"):
        found = search.run(args.budget, args.trials)
    return print_outcomes(found, asked, folder, search.limits)


def asked_for(args: argparse.Namespace, folder: Path) -> Asked:
    """Put together what is searched; what is wrong with it is said before anything is made."""
    from cuprl import algorithms
    from cuprl.core.parse import as_whole
    from cuprl.experiments.grid.cells import task_called
    from cuprl.experiments.tuning.search import steps_of_a_trial
    from cuprl.experiments.tuning.space import space_of
    from cuprl.experiments.tuning.study import Asked, kept_steps
    from cuprl.learn.fields import as_words

    _, config = algorithms.load(args.algo)
    fixed = {f.name: value for f in dataclasses.fields(config) if (value := getattr(args, f.name)) is not None}
    if args.file:  # beside a search, a flag for the same setting is refused, but a file's value gives way
        of_file = {name for name in searched(args) if fixed.get(name) == args.file.settings.get(name)}
        fixed = {name: value for name, value in fixed.items() if name not in of_file}
    axes = space_of(args.algo, args.search, fixed, getattr(task_called(args.task), "settings", None))
    steps = args.steps or kept_steps(folder) or steps_of_a_trial(args.budget, args.algo, fixed)
    steps = as_whole(steps, "steps")
    if steps > args.budget:
        raise UserError(f"--budget is {args.budget:,}, less than the {steps:,} steps of one trial; give more.")
    words = tuple((name, as_words(value)) for name, value in fixed.items())
    asked = Asked(args.task, args.algo, args.seed or 0, steps, words, tuple(args.limit or ()), tuple(axes))
    asked.cell(0, {}).resolved()
    return asked


def searched(args: argparse.Namespace) -> list[str]:
    """Name the settings of --search."""
    return [word.partition("=")[0].removeprefix("--").replace("-", "_") for word in args.search]


def print_outcomes(found: list[Outcome], asked: Asked, folder: Path, limits: dict[str, float]) -> int:
    """Print the best trials as a table, and the command that makes the best again."""
    from cuprl.cli.terminal import Styled, show
    from cuprl.core.text import printable
    from cuprl.experiments.report.formats import Table

    finished = [one for one in found if one.complete]
    if not finished:
        raise UserError(f"no trial of {folder} has come to its end; give a larger --budget, or look at its .log files.")
    rows = []
    for one in found[:SHOWN]:
        chosen = dict(one.cell.settings)
        costs = [f"{cost:.2f} / {limit:g}" for cost, limit in zip(one.score.costs, limits.values())]
        state = "done" if one.complete else f"pruned at {one.steps / asked.steps:.0%}"
        over = Styled(f"{one.score.over:.1%}", "red") if one.score.over > 0 else "-"
        values = [chosen[axis.name] for axis in asked.axes]
        rows.append([str(one.number), *values, f"{one.score.value:.1f}", *costs, over, state])
    named = [f"cost {name}" if len(limits) > 1 else "cost" for name in limits]
    header = ["trial", *(axis.name for axis in asked.axes), "return", *named, "over", "state"]
    title = f"the best {len(rows)} of {len(found)} trials"
    show([Table(header, rows, title)])
    best = finished[0]
    if best.score.over > 0:
        print(f"\nno trial was within the limits; the nearest is trial {best.number}, {best.score.over:.1%} over:")
    else:
        print(f"\nthe best is trial {best.number}, its best iteration {best.score.iteration}:")
    print(printable(shlex.join(["cup", *best.cell.train_words()])))
    print(f"its run: {best.cell.path(folder)}")
    print("A best of many is flattered by its seed: try it on others, with --seeds 1..5 in place of --seed.")
    return 1 if best.score.over > 0 else 0
