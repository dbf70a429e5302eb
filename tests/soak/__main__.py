"""`python -m tests.soak`: attack after attack for some time, then a table of tries and failures."""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from . import damage, disks, grids, histories, trainings, workers
from .processes import Failed, Host
from .trial import Pairs, References, Trial

TRIES_A_PAIR = 4  # so that an undisturbed run is compared with more than once
ATTACKS: dict[str, Callable[[Trial], str]] = {
    "training, SIGKILL": partial(trainings.killed, number=signal.SIGKILL),
    "full disk": disks.full,
    "damaged checkpoints": partial(damage.damaged, damage=damage.checkpoint),
    "grid, SIGKILL": partial(grids.killed, number=signal.SIGKILL),
    "training, SIGTERM": partial(trainings.killed, number=signal.SIGTERM),
    "worker, SIGKILL": workers.worker_killed,
    "damaged progress.csv": partial(damage.damaged, damage=damage.metrics),
    "grid, SIGTERM": partial(grids.killed, number=signal.SIGTERM),
    "training, SIGINT": partial(trainings.killed, number=signal.SIGINT),
    "run with workers, any signal": workers.run_killed,
    "damaged config.json": partial(damage.damaged, damage=damage.configuration),
    "grid, SIGINT": partial(grids.killed, number=signal.SIGINT),
    "run of a grid, SIGKILL": grids.run_killed,
    "two grids on one folder": grids.twice,
    "full disk of a grid": grids.full,
    "damaged run in a grid": grids.damaged,
    "training further, any signal": histories.further_killed,
    "run from a policy, any signal": histories.begun_killed,
}


class Soak:
    def __init__(self, scratch: Path, seed: int):
        self.scratch, self.seed = scratch, seed
        self.host = Host(scratch)
        self.references = References(self.host, scratch / "references")
        self.pairs = Pairs(self.host, seed)
        self.outcomes: Counter[tuple[str, str]] = Counter()  # (attack, "same", "told" or "failed")
        self.seen: set[tuple[str, str]] = set()

    def attempt(self, number: int) -> bool:
        """The try of this number: all its chance is in it and the seed. Whether what is promised held."""
        names = list(ATTACKS)
        name, pair = names[number % len(names)], self.pairs[number // TRIES_A_PAIR]
        folder = self.scratch / f"try{number}"
        folder.mkdir()
        self.host.log = folder / "said.txt"
        trial = Trial(self.host, self.references, folder, random.Random(f"{self.seed}/{number}"), *pair)
        began = time.monotonic()
        try:
            outcome = ATTACKS[name](trial)
        except Exception as failure:
            outcome = "failed"
            why = failure if isinstance(failure, Failed) else traceback.format_exc()
            print(f"\nFAILED: {name} on {' '.join(pair)}: {why}\n  its folder: {folder}\n  again: {self.again(number)}\n")
        finally:
            self.host.kill_all()
        took = time.monotonic() - began
        print(f"{number:>5}  {name:<30} {pair[0]:<22} {pair[1]:<14} {outcome:<7} {took:6.1f} s", flush=True)
        self.outcomes[name, outcome] += 1
        self.seen.add(pair)
        if outcome != "failed":
            shutil.rmtree(folder)
        return outcome != "failed"

    def again(self, number: int) -> str:
        return f"python -m tests.soak --seed {self.seed} --only {number}"

    def table(self) -> str:
        """same: equal to the undisturbed run; told: what is lost was said, and the rest is there."""
        lines = [f"{'attack':<30} {'tries':>6} {'same':>6} {'told':>6} {'failed':>6}"]
        for name in [*ATTACKS, "all"]:
            counts = [
                sum(n for (attack, outcome), n in self.outcomes.items() if name in (attack, "all") and outcome == kind)
                for kind in ("same", "told", "failed")
            ]
            lines.append(f"{name:<30} {sum(counts):>6} {counts[0]:>6} {counts[1]:>6} {counts[2]:>6}")
        tasks, algos = ({pair[i] for pair in self.seen} for i in (0, 1))
        lines.append(
            f"on {len(self.seen)} pairs of {len(tasks)} tasks ({len(self.pairs.tasks)} there are) and {len(algos)} "
            f"algorithms ({len(self.pairs.algos)}), seed {self.seed}"
        )
        return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description=sys.modules[__package__].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=1800.0, help="how long [1800]")
    parser.add_argument("--seed", type=int, default=None, help="of all chance but the clock's [another each time]")
    parser.add_argument("--only", type=int, nargs="+", help="the tries of these numbers, and no others")
    args = parser.parse_args(argv)
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a background job of a shell ignores it: so would all this starts
    seed = random.SystemRandom().randrange(10**6) if args.seed is None else args.seed
    scratch = Path(tempfile.mkdtemp(prefix="cuprl-soak-"))
    soak, end, status = Soak(scratch, seed), time.monotonic() + args.seconds, 0
    try:
        for number in args.only or itertools.count():
            if time.monotonic() > end and not args.only:
                break
            status |= not soak.attempt(number)
    except KeyboardInterrupt:
        status = 130
    finally:
        soak.host.kill_all()
    print(f"\n{soak.table()}")
    if status == 1:
        print(f"the folders of what failed are in {scratch}")
    else:
        shutil.rmtree(scratch)
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it, too, ends what was started
    sys.exit(main())
