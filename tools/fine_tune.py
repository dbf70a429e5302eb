"""Measures what a trained policy is worth under another limit: how many steps it saves, seed by seed.

    python tools/fine_tune.py --runs 'runs/hopper-speed/cup/seed{seed}' --limit 60 --steps 2.5e6 --out runs/fine-tune

trains each seed under the limit twice, from nothing and from the run of its seed, then prints the table. Stopped, or with
some of the --seeds first, the same command goes on; --table prints what is there. Both are asked for the same: the cost
within the limit and the return at least a share of what training from nothing ends with, for some iterations on end. Costs
and returns are those of progress.csv, means of the latest 100 training episodes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np

from cuprl.cli.arguments import seeds, value_of, whole
from cuprl.cli.bench import make_engine, run_grid
from cuprl.core.parse import shortest
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Block, Cell, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report.formats import Table, to_markdown
from cuprl.policies.start import Origin
from cuprl.runs.columns import held_cost
from cuprl.runs.folder import Run

ALONE, TUNED = "from-nothing", "fine-tuned"  # the variants, and their folders
STAY = 20  # iterations
SHARE = 0.9  # of the return that training from nothing ends with
WANTED = 1 / 3  # at most, of the steps


def cells_of(args: argparse.Namespace) -> list[Cell]:
    """Make the runs of both kinds: fine-tuning is given a third of the steps."""
    which = ((args.task,), (args.algo,), tuple(args.seeds))
    origin = Origin(args.runs, args.from_checkpoint, not args.no_critics)
    limits = (shortest(args.limit),)
    alone = Block(*which, args.steps, tuple(args.set), limits, label=ALONE)
    tuned = Block(*which, int(args.steps * WANTED), tuple(args.set), limits, label=TUNED, start_from=origin)
    return expand(Experiment("fine-tune", "", (alone, tuned)))


def reached(rows: dict[str, np.ndarray], cost: str, limit: float, wanted: float) -> float:
    """Give the steps after which a run is within the limit with the return wanted, and stays so; infinite: never.

    cost: the column that is held to the limit.
    """
    good = (rows[cost] <= limit) & (rows["rollout/ep_rew_mean"] >= wanted)  # [iterations]
    stays = [i for i in range(len(good) - STAY + 1) if good[i : i + STAY].all()]
    return float(rows["steps"][stays[0]]) if stays else np.inf


def table(pairs: dict[int, tuple[Run, Run]], limit: float) -> tuple[Table, float]:
    """Compare the two runs of each seed; gives the table and the median share of the steps."""
    lines, shares = [], []
    for seed, (alone, tuned) in pairs.items():
        rows, others, cost = alone.measured(), tuned.measured(), held_cost(alone.config["settings"])
        wanted = SHARE * float(np.mean(rows["rollout/ep_rew_mean"][-STAY:]))
        steps, fewer = reached(rows, cost, limit, wanted), reached(others, cost, limit, wanted)
        all_steps = float(rows["steps"][-1])  # what is compared with where training from nothing never gets there
        shares.append(fewer / min(steps, all_steps))
        share = f"{shares[-1]:.2f}" if np.isfinite(shares[-1]) else "-"
        lines.append([str(seed), f"{wanted:.0f}", shown(steps, rows), shown(fewer, others), share])
    median = statistics.median(shares)
    note = f"The median share is {median:.2f}; asked for is at most {WANTED:.2f}."
    return Table(["seed", "return wanted", "steps from nothing", "steps fine-tuned", "share"], lines, note=note), median


def shown(steps: float, rows: dict[str, np.ndarray]) -> str:
    """Write when a run got there."""
    return f"{steps:,.0f}" if np.isfinite(steps) else f"never in {rows['steps'][-1]:,.0f}"


def pairs_of(cells: list[Cell], root: Path) -> dict[int, tuple[Run, Run]]:
    """Find the seeds of which both runs are at their ends."""
    done: dict[int, dict[str, Run]] = {}
    for cell in cells:
        if cell.fraction(root) >= 1.0:
            done.setdefault(cell.seed, {})[cell.variant] = Run(cell.path(root))
    return {seed: (runs[ALONE], runs[TUNED]) for seed, runs in sorted(done.items()) if len(runs) == 2}


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure what a trained policy is worth under another limit.")
    parser.add_argument("--runs", required=True, metavar="RUN", help="the runs to begin from; {seed} in it is the seed")
    parser.add_argument("--task", default="hopper-speed", help="[hopper-speed]")
    parser.add_argument("--algo", default="cup", help="[cup]")
    parser.add_argument("--seeds", type=seeds, default=list(range(5)), metavar="A..B", help="[0..4]")
    parser.add_argument("--limit", type=value_of(float), required=True, metavar="X", help="the other limit")
    parser.add_argument(
        "--steps", type=whole(1), default=2_500_000, metavar="S", help="from nothing; a third of it fine-tunes [2.5e6]"
    )
    parser.add_argument("--from-checkpoint", metavar="C", help="of the runs: last, best, or an iteration [last]")
    parser.add_argument("--no-critics", action="store_true", help="begin with the policy alone")
    parser.add_argument("--out", type=Path, default=Path("runs", "fine-tune"), metavar="DIR", help="[runs/fine-tune]")
    parser.add_argument("--workers", type=whole(1), metavar="N", help="runs at once [all cores]")
    parser.add_argument("--table", action="store_true", help="train nothing: the table of what is there")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=X", help="a setting of both")
    return parser.parse_args()


def setting(text: str) -> tuple[str, str]:
    """Read a setting of the algorithm, which is checked with the runs."""
    name, _, value = text.partition("=")
    return name.replace("-", "_"), value


def main() -> int:
    """Train what is missing, and print the table; 1 where a run failed or none is at its end."""
    try:
        args = parsed()
        cells = cells_of(args)
        failed = 0 if args.table else run_grid(cells, args.out, make_engine("local", None, args.workers, len(cells)))
        if not (pairs := pairs_of(cells, args.out)):
            raise UserError(f"no seed in {args.out} has both of its runs at their ends; start it again to go on.")
    except UserError as error:
        print(f"fine_tune: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        print(f"fine_tune: {stopped}", file=sys.stderr)
        return 130
    print(to_markdown([table(pairs, args.limit)[0]]))
    return failed


if __name__ == "__main__":
    sys.exit(main())
