"""`cup speed`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from cuprl.cli import add_command
from cuprl.cli.arguments import whole


def add(subparsers: Any) -> None:
    """Add `cup speed`."""
    speed = add_command(subparsers, "speed")
    speed.add_argument("task", metavar="TASK", help="a task (`cup tasks` lists them)")
    speed.add_argument("--algo", default="cup", metavar="A", help="an algorithm [cup]")
    speed.add_argument("--threads", type=whole(), default=1, metavar="N", help="threads of the physics [1]")
    speed.add_argument("--rounds", type=whole(), default=10, metavar="N", help="interleaved rounds; medians are shown [10]")
    speed.add_argument(
        "--growth", action="store_true", help="measure instead how an iteration's time grows with batch, width, …"
    )
    speed.add_argument("--json", action="store_true", help="print one JSON object")
    speed.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `cup speed`: measure an iteration beside raw physics, or how its time grows."""
    from cuprl.measure.speed import measure

    if args.growth:
        return run_growth(args.task, args.algo, args.rounds)
    result = measure(args.task, args.algo, threads=args.threads, rounds=args.rounds)
    if args.json:
        print(json.dumps(result))
        return 0
    print(f"{result['task']}, {result['algo']}, {result['threads']} thread(s), medians of {result['rounds']} rounds")
    print(f"  raw physics     {result['physics_sps']:10,.0f} steps/s   plain MuJoCo, one core, the same actions")
    print(f"  as stepped here {result['stepped_sps']:10,.0f} steps/s   the same without timers and islands")
    print(
        f"  collection      {result['rollout_sps']:10,.0f} steps/s   {result['rollout_ratio']:.2f} of raw physics, "
        f"{result['rollout_of_stepped']:.2f} as stepped here"
    )
    print(f"  update          {result['update_s']:10.3f} s         a batch")
    print(f"  whole training  {result['train_sps']:10,.0f} steps/s   {result['ratio']:.2f} of raw physics")
    print(f"  first step      {result['first_step_s']:10.1f} s         from the start of a process")
    print(f"  2nd iteration   {result['second_iteration_s']:10.1f} s         its end; compiled programs kept on disk")
    print(f"  peak memory     {result['peak_mb']:10.0f} MB")
    return 0


def run_growth(task: str, algo: str, rounds: int) -> int:
    """Print how the time of an iteration grows with what is asked of it, and what a second seed costs."""
    import statistics

    from cuprl.measure.growth import at_once, grow, growth_table

    print(f"{task}, {algo}, one iteration, medians of {rounds} interleaved rounds\n")
    print(growth_table(grow(task, algo, rounds)), flush=True)
    ratios = [at_once(task, algo, 2, 100_000) / at_once(task, algo, 1, 100_000) for _ in range(max(rounds // 2, 1))]
    print(f"\ntwo seeds at once take {statistics.median(ratios):.2f} of the time of one (100,000 steps)")
    return 0
