"""Seconds until CUP hops at a return of 1000 with a cost under 25: cuprl's beside OmniSafe's. See README.md in this folder.

.venv/bin/python benchmarks/time_to_safe.py --seeds 0,1,2
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from installs import InstallError, install, rivals
from players import Player, PlayerError, System
from rivals import say
from table import machine, plural, versions

TASK, RETURN, COST = "hopper", 1000.0, 25.0
STAY = 100_000  # environment steps: 20 iterations of cuprl's, 5 of OmniSafe's
SETTINGS = {"ours": "as shipped", "shipped": "as shipped", "best": "best"}
NOTES = f"""\
Safe: the mean of the last 100 training episodes has a return of at least {RETURN:g} and a cost of at most {COST:g}, and
stays so for {STAY:,} steps; the first of these counts. Seconds are collection and update, with compiling; "start" is what
passes before the first step. Each system trains alone, in turn, with its own settings; "best" is OmniSafe with ten
environments in processes and one thread. OmniSafe has its own task, the same robot on the older MuJoCo it needs."""


@dataclass
class Learning:
    """A training that goes on: what it has taken and where it stands after each iteration."""

    seed: int
    player: Player
    planned: int
    most: int
    start: float = 0.0
    rows: list[dict[str, float]] = field(default_factory=list)  # steps and seconds so far, return, cost


def arrival(rows: list[dict[str, float]]) -> dict[str, float] | None:
    """The first row from which on return and cost are as they should for `STAY` steps; None: not so far."""
    first = None
    for row in rows:
        inside = row["return"] >= RETURN and row["cost"] <= COST
        first = (first or row) if inside else None
        if first and row["steps"] - first["steps"] >= STAY:
            return first
    return None


def learn(learning: Learning, python: Path, scratch: Path, options: argparse.Namespace) -> None:
    """Train until it is safe, or as far as is allowed."""
    player, name = learning.player, describe(learning)
    begun = datetime.now(UTC)
    try:
        player.start(python, scratch, options.timeout, str(learning.seed), str(learning.planned))
        learning.start = (datetime.now(UTC) - begun).total_seconds()
        steps = seconds = 0.0
        while arrival(learning.rows) is None and steps < learning.most and seconds < 3600 * options.most_hours:
            found = player.iteration(options.timeout)
            steps, seconds = steps + found["steps"], seconds + found["seconds"]
            value, cost = found["episode_return"], found["episode_cost"]
            learning.rows.append({"steps": steps, "seconds": seconds, "return": value, "cost": cost})
            say(f"  {name}: {steps:,.0f} steps, {seconds:.0f} s, return {value:.1f}, cost {cost:.1f}")
    except (PlayerError, OSError, ValueError) as error:
        player.failure = f"failed: {error}"
        say(f"  {name} {player.failure}")
    finally:
        player.stop()


def describe(learning: Learning) -> str:
    system = learning.player.system
    return f"{system.label} {system.algo} {SETTINGS[system.setting]} seed {learning.seed}"


def row(learning: Learning) -> str:
    player, there = learning.player, arrival(learning.rows)
    system, last = player.system, learning.rows[-1] if learning.rows else None
    start = [system.label, system.algo, SETTINGS[system.setting], str(learning.seed)]
    if there:
        found = [f"{there['steps']:,.0f}", f"{there['seconds']:.0f}", f"{there['return']:.0f} / {there['cost']:.1f}"]
    elif player.failure or not last:
        found = [f"**{(player.failure or 'not measured').replace('|', '/')}**", "-", "-"]
    else:
        found = [
            f"not in {last['steps']:,.0f}",
            f"not in {last['seconds']:.0f}",
            f"{last['return']:.0f} / {last['cost']:.1f}",
        ]
    speed = f"{last['steps'] / last['seconds']:,.0f}" if last else "-"
    return "| " + " | ".join([*start, *found, f"{learning.start:.0f}", speed, versions(player)]) + " |"


def report(learnings: list[Learning], load: float, command: str, when: str) -> str:
    """The table, and how much longer OmniSafe takes where both got there."""
    head = (
        "| system | algorithm | setting | seed | steps to safe | seconds | return / cost | start, s | steps/s | versions |"
    )
    lines = [f"Measured {when} with `{command}`.", f"Machine: {machine(load)}."]
    table = "\n".join([head, "|" + "---|" * 10, *map(row, learnings)])
    return "\n\n".join(["\n".join(lines), table, *ratios(learnings), NOTES]) + "\n"


def ratios(learnings: list[Learning]) -> list[str]:
    """A sentence for each setting of OmniSafe's of which there are runs that got there beside ours of the same seed."""
    ours = {one.seed: there for one in learnings if one.player.system.setting == "ours" and (there := arrival(one.rows))}
    said = []
    for setting in ("shipped", "best"):
        theirs = {
            one.seed: there for one in learnings if one.player.system.setting == setting and (there := arrival(one.rows))
        }
        times = [theirs[seed]["seconds"] / ours[seed]["seconds"] for seed in theirs if seed in ours]
        if times:
            spread = f"{statistics.median(times):.1f} [{min(times):.1f}-{max(times):.1f}]"
            said.append(f"OmniSafe {SETTINGS[setting]} takes {spread} times as long, of {plural(len(times), 'seed')}.")
    return said


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=numbers, default=(0,), help="as 0,1,2 (default 0)")
    parser.add_argument("--settings", type=settings, default=("best",), help="of OmniSafe, from shipped,best (default best)")
    parser.add_argument("--steps", type=whole, default=1_000_000, help="cuprl's are planned for so many (default 1e6)")
    parser.add_argument("--their-steps", type=whole, default=10_000_000, help="OmniSafe's are (default 1e7, as shipped)")
    parser.add_argument("--most-steps", type=whole, default=3_000_000, help="no run goes further (default 3e6)")
    parser.add_argument("--most-hours", type=float, default=3.0, help="nor takes longer (default 3)")
    parser.add_argument("--timeout", type=float, default=900.0, help="most seconds to wait for an iteration (default 900)")
    parser.add_argument("--python310", metavar="PATH", help="a Python 3.10 for OmniSafe (default: python3.10 on the path)")
    parser.add_argument("--omnisafe", type=Path, metavar="PYTHON", help="the Python of an environment that has OmniSafe")
    parser.add_argument("--out", type=Path, help="also write the report to this file")
    return parser.parse_args()


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def whole(text: str) -> int:
    return int(float(text))


def settings(text: str) -> tuple[str, ...]:
    given = tuple(text.split(","))
    if wrong := set(given) - {"shipped", "best"}:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(wrong))}; known: shipped, best")
    return given


def learnings_of(options: argparse.Namespace) -> list[Learning]:
    """Seed by seed, ours before theirs: whatever the hour brings hits both."""
    found = []
    for seed in options.seeds:
        ours = System("cuprl_learning", "cuprl", "cup", "cup", "ours", TASK)
        found.append(Learning(seed, Player(ours), options.steps, min(options.steps, options.most_steps)))
        for setting in options.settings:
            theirs = System("omnisafe_learning", "OmniSafe", "CUP", "cup", setting, TASK)
            most = min(options.their_steps, options.most_steps)
            found.append(Learning(seed, Player(theirs), options.their_steps, most))
    return found


def python_of(learning: Learning, options: argparse.Namespace) -> Path:
    """The Python that has a system; raises InstallError."""
    if learning.player.system.name == "cuprl_learning":
        return Path(sys.executable)
    return options.omnisafe or install("omnisafe", rivals("torch")["omnisafe"], options.python310)


def main() -> None:
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: what was measured is still reported
    learnings = learnings_of(options)
    load, when = os.getloadavg()[0], datetime.now(UTC).strftime("%Y-%m-%d")
    try:
        with tempfile.TemporaryDirectory(prefix="safe-", ignore_cleanup_errors=True) as scratch:
            for learning in learnings:
                folder = Path(scratch, f"seed{learning.seed}")
                folder.mkdir(exist_ok=True)
                try:
                    learn(learning, python_of(learning, options), folder, options)
                except InstallError as reason:
                    learning.player.failure = f"not installed: {reason}"
    except KeyboardInterrupt:
        say("interrupted: this is what was measured so far")
    hidden = {str(options.omnisafe), options.python310}
    words = ["PATH" if word in hidden else word for word in sys.argv[1:]]
    text = report(learnings, load, shlex.join([".venv/bin/python", "benchmarks/time_to_safe.py", *words]), when)
    print(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
