"""Training speed of cuprl beside its rivals, on the same work, alternating. See README.md in this folder.

.venv/bin/python benchmarks/rivals.py
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from installs import InstallError, Rival, install, rivals
from players import Player, PlayerError, System
from table import rate, report

TASKS = ("hopper", "humanoid")
SAFE = (("CUP", "cup-paper"), ("CPO", "cpo"), ("FOCOPS", "focops"), ("PPOLag", "ppo-lag"))  # as rivals and as we call them


def systems(task: str, full: bool) -> list[System]:
    """Those measured on a task; on others than hopper only CUP unless `full`."""
    own = [System("cuprl", "cuprl", algo, algo, "ours", task) for algo in ("cup-paper", "ppo", "cpo", "focops", "ppo-lag")]
    own += [System("cuprl", "cuprl", algo, algo, "best", task) for algo in ("cup-paper", "ppo")]
    own.append(System("cuprl", "cuprl", "cup-paper", "cup-paper", "threads", task))
    omnisafe = [
        System("omnisafe", "OmniSafe", algo, ours, setting, task)
        for algo, ours in SAFE
        for setting in (("shipped", "one", "best", "core") if full or algo == "CUP" else ("best",))
    ]
    plain = [
        System(name, label, "PPO", "ppo", setting, task)
        for name, label, settings in (
            ("sb3", "Stable-Baselines3", ("shipped", "one", "best", "workers")),
            ("sbx", "SBX", ("shipped", "best", "workers")),
        )
        for setting in settings
    ]
    fsrl = [
        System("fsrl", "FSRL", algo, ours, setting, task)
        for algo, ours in SAFE[2:]
        for setting in (("shipped", "best") if full else ("best",))
    ]
    chosen = own + omnisafe + plain + fsrl
    if task == "hopper" or full:
        return chosen
    return [s for s in chosen if s.ours == "cup-paper" or (s.name, s.algo) == ("cuprl", "ppo")]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def install_all(names: set[str], known: dict[str, Rival], python310: str | None) -> dict[str, Path | str]:
    """For each system its Python, or the reason why there is none."""
    pythons: dict[str, Path | str] = {"cuprl": Path(sys.executable)}
    for name in sorted(names - {"cuprl"}):
        say(f"environment of {known[name].label} ...")
        try:
            pythons[name] = install(name, known[name], python310)
        except InstallError as reason:
            pythons[name] = f"not installed: {reason}"
            say(f"  {pythons[name]}")
    return pythons


def attempt(action: Callable[..., None], player: Player, *arguments: Any) -> None:
    """A system that fails is stopped and says why in the table."""
    if player.failure:
        return
    try:
        action(player, *arguments)
    except (PlayerError, OSError, ValueError) as error:
        player.failure = f"failed: {error}"
        player.stop()
        say(f"  {describe(player.system)} {player.failure}")


def describe(system: System) -> str:
    return f"{system.task} {system.label} {system.algo} {system.setting}"


def warm_up(player: Player, pythons: dict[str, Path | str], scratch: Path, options: argparse.Namespace) -> None:
    python = pythons[player.system.name]
    if isinstance(python, str):
        raise PlayerError(python)
    player.start(python, scratch, options.timeout)
    seconds = player.turn(0.0, options.timeout)["seconds"]
    say(f"  ready: {describe(player.system)}, first iteration {seconds:.1f} s")


def take_turn(player: Player, number: int, options: argparse.Namespace) -> None:
    player.rounds[number] = player.turn(options.turn_seconds, options.timeout)
    say(f"  round {number}: {describe(player.system)}, {rate(player.rounds[number]):.0f} steps/s")


def measure(players: list[Player], pythons: dict[str, Path | str], scratch: Path, options: argparse.Namespace) -> None:
    """All systems of one task: alive together, working one at a time."""
    try:
        for player in players:
            attempt(warm_up, player, pythons, scratch, options)
        for number in range(1, options.rounds + 1):
            for player in players:
                attempt(take_turn, player, number, options)
    finally:
        for player in players:
            player.stop()


def arguments() -> argparse.Namespace:
    known = ("cuprl", *rivals("torch"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="turns of each system (default 3)")
    parser.add_argument("--only", type=names_of(known), default=known, help=f"rivals, from {','.join(known[1:])}")
    parser.add_argument("--tasks", type=names_of(TASKS), default=TASKS, help=f"from {','.join(TASKS)} (default both)")
    parser.add_argument("--full", action="store_true", help="every algorithm, setting and system on every task")
    parser.add_argument("--turn-seconds", type=float, default=3.0, help="a turn measures at least this long (default 3)")
    parser.add_argument("--timeout", type=float, default=180.0, help="most seconds to wait for an iteration (default 180)")
    parser.add_argument("--python310", metavar="PATH", help="a Python 3.10 for OmniSafe (default: python3.10 on the path)")
    parser.add_argument("--torch", default="torch>=2.6,<3", metavar="SPEC", help="which torch the other rivals get")
    parser.add_argument("--install-only", action="store_true", help="make the environments and stop")
    parser.add_argument("--out", type=Path, help="also write the report to this file")
    parser.add_argument("--json", action="store_true", help="also write the raw results to benchmarks/results-<date>.json")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def names_of(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def names(text: str) -> tuple[str, ...]:
        given = tuple(text.split(","))
        if wrong := set(given) - set(known):
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(wrong))}; known: {', '.join(known)}")
        return given

    return names


def shown_command(python310: str | None) -> str:
    """What was typed, without the folders of this machine."""
    words = ["PATH" if word == python310 else word for word in sys.argv[1:]]
    return shlex.join([".venv/bin/python", "benchmarks/rivals.py", *words])


def main() -> None:
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: what was measured is still reported
    chosen = {"cuprl", *options.only}
    players = [Player(s) for task in options.tasks for s in systems(task, options.full) if s.name in chosen]
    pythons = install_all(chosen, rivals(options.torch), options.python310)
    if options.install_only:
        sys.exit(any(isinstance(python, str) for python in pythons.values()))
    load, start = os.getloadavg()[0], time.monotonic()
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    try:
        with tempfile.TemporaryDirectory(prefix="rivals-", ignore_cleanup_errors=True) as scratch:
            for task in options.tasks:
                measure([p for p in players if p.system.task == task], pythons, Path(scratch), options)
    except KeyboardInterrupt:
        say("interrupted: this is what was measured so far")
    say(f"measured for {(time.monotonic() - start) / 60:.1f} minutes")
    text = report(players, load, shown_command(options.python310), when, options.rounds)
    print(text)
    if options.out:
        options.out.write_text(text)
    if options.json:
        raw = [{**vars(p.system), "failure": p.failure, "about": p.about, "rounds": p.rounds} for p in players]
        (Path(__file__).parent / f"results-{when}.json").write_text(json.dumps(raw, indent=1) + "\n")


if __name__ == "__main__":
    main()
