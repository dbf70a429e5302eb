"""Measures what evaluating while training costs: the same training with and without, in turns, and the median of the ratios.

    python tools/evaluation_cost.py swimmer-speed --iterations 100 --eval-every 100 --times 5

Of each training the time from the end of its first iteration counts, so that what compiles does not: by the clock, and the
processor's time of this process, which other programs disturb less. That both learnt the same is checked to the last bit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import cuprl
from cuprl import algorithms
from cuprl.cli.arguments import whole
from cuprl.cli.evaluations import USUAL_EVERY
from cuprl.errors import UserError
from cuprl.runs.folder import Run

CLOCKS = {"clock": time.perf_counter, "processor": time.process_time}


def read() -> np.ndarray:
    """Read both clocks."""
    return np.array([clock() for clock in CLOCKS.values()])


def timed(task: str, algo: str, iterations: int, out: Path, **evaluated: int) -> tuple[np.ndarray, Run]:
    """Train, and give the seconds from the end of the first iteration on, by each clock."""
    ends: list[np.ndarray] = []

    def note(row: dict[str, float], training: Any) -> None:
        ends.append(read())

    steps = iterations * algorithms.load(algo)[1].batch_size
    run = cuprl.train(task, algo, steps=steps, out=out, on_iteration=note, **evaluated)
    return read() - ends[0], run


def compare(plain: Run, evaluated: Run) -> None:
    """Raise where the evaluations changed what was learnt."""
    rows, others = plain.progress(), evaluated.progress()
    for name in (name for name in rows if not name.startswith("time/")):
        np.testing.assert_array_equal(rows[name], others[name], err_msg=f"evaluations changed {name}")


def measure(task: str, algo: str, iterations: int, times: int, every: int, episodes: int) -> np.ndarray:
    """Train in turns, telling of each; gives the added shares [turns, clocks]."""
    added = []
    for turn in range(times):
        with tempfile.TemporaryDirectory() as folder:
            without, plain = timed(task, algo, iterations, Path(folder, "plain"))
            seconds, run = timed(task, algo, iterations, Path(folder, "evaluated"), eval_every=every, eval_episodes=episodes)
            compare(plain, run)
            lengths = run.evaluations.columns()["mode/length"]
        added.append(seconds / without - 1)
        said = f"{len(lengths)} evaluations, episodes of {lengths.mean():.0f} steps"
        print(f"turn {turn + 1}: {without[0]:.2f} s without, {seconds[0]:.2f} s with ({said})", flush=True)
    return np.array(added)


def main() -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description="Measure what evaluating while training costs.")
    parser.add_argument("task", metavar="TASK")
    parser.add_argument("--algo", default="cup", metavar="A", help="[cup]")
    parser.add_argument("--iterations", type=whole(2), default=100, metavar="I", help="of each training [100]")
    parser.add_argument("--times", type=whole(1), default=3, metavar="T", help="turns [3]")
    parser.add_argument("--eval-every", type=whole(1), default=USUAL_EVERY, metavar="N", help=f"iterations [{USUAL_EVERY}]")
    parser.add_argument("--eval-episodes", type=whole(1), default=10, metavar="E", help="[10]")
    args = parser.parse_args()
    try:
        added = measure(args.task, args.algo, args.iterations, args.times, args.eval_every, args.eval_episodes)
    except UserError as error:
        print(f"evaluation_cost: {error}", file=sys.stderr)
        return 2
    for name, shares in zip(CLOCKS, added.T):
        low, middle, high = (f"{of(shares):+.1%}" for of in (np.min, np.median, np.max))
        print(f"evaluating costs {middle} by the {name} (median of {len(shares)}; {low} to {high})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
