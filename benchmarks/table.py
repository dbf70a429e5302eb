"""The benchmark's results as Markdown."""

from __future__ import annotations

import os
import platform
import statistics
from pathlib import Path

from players import Player

SETTINGS = {
    "ours": "as shipped",
    "shipped": "as shipped",
    "one": "as shipped but one thread",
    "threads": "with two threads",
    "best": "best",
    "core": "best, kept to one core",
    "workers": "best, in processes",
}

NOTES = """\
Every iteration: 5000 environment steps, minibatches of 64, 10 epochs (CUP: 10 + 10), 2x64 networks, no early stop. Steps
a second are of whole iterations, collection and update; the first iteration of each system is not counted. All systems
are alive and warm, one works at a time, in turn; a ratio is of the two turns of one round, and the median of those is shown.
Memory is the process's peak, plus what its worker processes hold.

Where the work is not the same:

- OmniSafe: its own tasks, the same robots on the older MuJoCo it needs. Its Humanoid is observed with 376 numbers, ours with
  270; its Hopper with the same 11. It needs Python 3.10. CPO and ours take 10 epochs of the critics only.
- Stable-Baselines3 and SBX: no costs and no cost critic, and observations not normalised as shipped: less work than our
  PPO does, which normalises and fits a cost critic all the same. They have no safe algorithm to compare.
- FSRL: no CUP. It collects whole episodes only, so an iteration is about 5000 steps, and the steps made are counted. Its
  agents cannot be given tanh (they use ReLU), nor normalise observations. The speed-limited robots it is shown with need
  Python 3.10; here it has Gymnasium's Hopper with the speed as the cost.
- cuprl: CUP with the paper's sqrt(KL), OmniSafe's with PPO's clip."""


def rate(turn: dict[str, float]) -> float:
    return turn["steps"] / turn["seconds"]


def ratios(player: Player, players: list[Player], setting: str) -> list[float]:
    """Ours in a setting over theirs, round by round, for the same algorithm on the same task."""
    wanted = (player.system.task, player.system.ours, setting)
    own = {(p.system.task, p.system.ours, p.system.setting): p for p in players if p.system.name == "cuprl"}.get(wanted)
    if own is None or player.system.name == "cuprl":
        return []
    return [rate(own.rounds[n]) / rate(turn) for n, turn in player.rounds.items() if n in own.rounds]


def spread(values: list[float], digits: int) -> str:
    if not values:
        return "-"
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}-{max(values):.{digits}f}]"


def row(player: Player, players: list[Player]) -> str:
    system, about = player.system, player.about
    setting = SETTINGS[system.setting]
    if about:
        setting += f": {plural(about['environments'], 'environment')}, {plural(about['threads'], 'thread')}"
    start = [system.task, system.label, system.algo, setting]
    if player.failure or not player.rounds:
        reason = player.failure or "not measured"
        return "| " + " | ".join([*start, f"**{reason.replace('|', '/')}**", "-", "-", "-", "-", versions(player)]) + " |"
    turns = list(player.rounds.values())
    per_batch = [tuple(5000 * turn[part] / turn["steps"] for part in ("collect", "update")) for turn in turns]
    parts = " + ".join(f"{statistics.median(values):.2f}" for values in zip(*per_batch))
    own, workers = (max(turn[name] for turn in turns) for name in ("own_mb", "workers_mb"))
    memory = f"{own:.0f} + {workers:.0f}" if workers > 1 else f"{own:.0f}"
    rates = spread([rate(turn) for turn in turns], 0)
    over = [spread(ratios(player, players, setting), 1) for setting in ("ours", "threads")]
    return "| " + " | ".join([*start, rates, parts, *over, memory, versions(player)]) + " |"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + "s" * (count != 1)


def versions(player: Player) -> str:
    return ", ".join(f"{name} {number}" for name, number in player.about.get("versions", {}).items()) or "-"


def table(players: list[Player]) -> str:
    head = (
        "| task | system | algorithm | setting | steps/s, median [min-max] | s per 5000: collect + update "
        "| ours, same algorithm, over it | ours with two threads | MB | versions |\n|" + "---|" * 10
    )
    return "\n".join([head, *(row(player, players) for player in players)])


def machine(load: float) -> str:
    """One line; `load` is the load average before the first measurement."""
    return (
        f"{os.cpu_count()} cores, {first_value('/proc/cpuinfo', 'model name') or platform.processor()}, "
        f"{memory_gb()} GB, {platform.system()} {platform.release()}, Python {platform.python_version()}; "
        f"load average before the measurement {load:.2f}"
    )


def first_value(file: str, label: str) -> str:
    path = Path(file)
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(label)), "")


def memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def report(players: list[Player], load: float, command: str, when: str, rounds: int) -> str:
    lines = (f"Measured {when}, {plural(rounds, 'round')}, with `{command}`.", f"Machine: {machine(load)}.")
    return "\n\n".join(["\n".join(lines), table(players), NOTES]) + "\n"
