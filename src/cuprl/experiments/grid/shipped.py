"""The experiments that come with cuprl, and how one is found: by its name, or by a TOML file of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuprl.algorithms import MENDED, default_settings
from cuprl.errors import UserError, unknown
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.own import read_experiment
from cuprl.learn.fields import as_words

PAPER_TASKS = ("ant-speed", "hopper-speed", "swimmer-speed", "humanoid-speed", "humanoid-circle")
BASELINES = ("cpo", "pcpo", "trpo-lag", "ppo-lag", "focops")
PAPER_ALGOS = (*BASELINES, "cup-paper", "cup")
PAPER_STEPS = 2_500_000  # 500 iterations of 5000 steps
TEN = tuple(range(10))
FIVE = tuple(range(5))  # of the sweeps, where the paper does not say how many it took
SMALL_TASKS = ("hopper-speed", "swimmer-speed")
VELOCITY_TASKS = tuple(f"{robot}-velocity" for robot in ("hopper", "swimmer", "halfcheetah", "ant", "walker2d", "humanoid"))

# The paper prints Swimmer's four limits alone. The others' are the same shares of their own limits, 0.4 to 1, rounded.
FOUR_LIMITS = {
    "ant-speed": ("40", "60", "85", "105"),
    "hopper-speed": ("35", "50", "65", "85"),
    "swimmer-speed": ("10", "15", "20", "25"),
    "humanoid-speed": ("8", "12", "16", "20"),
    "humanoid-circle": ("20", "30", "40", "50"),
}

COST_FOR_ALL = {name: value for name, value in MENDED["cost"].items() if name != "cost_memory"}  # which is CUP's alone

EXPERIMENTS: dict[str, Experiment] = {}


def words(settings: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Write settings as a block has them."""
    return tuple((name, as_words(value)) for name, value in settings.items())


def as_printed(part: dict[str, Any]) -> dict[str, Any]:
    """Look up the same settings in the printed algorithm."""
    printed = default_settings("cup-paper")
    return {name: printed[name] for name in part}


def ship(name: str, summary: str, *blocks: Block) -> None:
    """Put an experiment on the list; each name once."""
    if name in EXPERIMENTS:
        raise ValueError(f"two experiments are called {name}")
    EXPERIMENTS[name] = Experiment(name, summary, blocks)


ship("quick", "two tasks, two algorithms, two seeds: minutes",
     Block(SMALL_TASKS, ("cup", "ppo-lag"), (0, 1), 100_000))  # fmt: skip
ship("paper-table", "the paper's table and learning curves, with PCPO: five tasks, seven algorithms, ten seeds",
     Block(PAPER_TASKS, PAPER_ALGOS, TEN, PAPER_STEPS))  # fmt: skip
ship("paper-extra", "the same on the tasks the paper's table leaves out",
     Block(("halfcheetah-speed", "walker2d-speed", "ant-circle"), PAPER_ALGOS, TEN, PAPER_STEPS))  # fmt: skip
ship("paper-nu", "cost and multiplier of CUP over training: the paper's figure on nu; runs of paper-table",
     Block(PAPER_TASKS, ("cup",), TEN, PAPER_STEPS))  # fmt: skip
ship("paper-alpha", "CUP with five weights of sqrt(KL): the paper's figure on alpha",
     Block(PAPER_TASKS, ("cup",), FIVE, PAPER_STEPS,
           sweep=(("alpha", ("0.1", "0.15", "0.2", "0.25", "0.3")),)))  # fmt: skip
ship("paper-limit", "CUP under four cost limits a task: the paper's figure on b",
     *(Block((task,), ("cup",), FIVE, PAPER_STEPS, sweep=(("limit", FOUR_LIMITS[task]),))
       for task in PAPER_TASKS))  # fmt: skip
# OmniSafe's and SafePO's CUP compare an undiscounted cost with their limits. Here all are held to the same discounted one.
ship("cup-variants", "cup beside CUP as the paper, its authors, OmniSafe and SafePO have it, under discounted limits",
     Block(PAPER_TASKS, ("cup", "cup-paper", "cup-clip", "cup-omnisafe", "cup-safepo"), FIVE, PAPER_STEPS,
           settings=(("cost_return", "discounted"),)))  # fmt: skip
# No part of `cup`: with the others the noise no longer grows, and on the circle it learns more slowly (docs/why-cup.md).
KLS_TURNED = {"improvement_kl": "new-k", "projection_kl": "new-half"}
ship("cup-ablation", "the printed CUP, with each mended part alone, with all, and with all but one; the KLs turned round",
     Block(SMALL_TASKS, ("cup-paper", "cup"), (0, 1, 2), PAPER_STEPS),
     *(Block(SMALL_TASKS, ("cup-paper",), (0, 1, 2), PAPER_STEPS, settings=words(part), label=f"only-{name}")
       for name, part in MENDED.items()),
     *(Block(SMALL_TASKS, ("cup",), (0, 1, 2), PAPER_STEPS, settings=words(as_printed(part)), label=f"but-{name}")
       for name, part in MENDED.items()),
     *(Block(SMALL_TASKS, (algo,), (0, 1, 2), PAPER_STEPS, settings=words(KLS_TURNED), label=label)
       for algo, label in (("cup-paper", "only-kl"), ("cup", "and-kl"))))  # fmt: skip
# `cup` looks further ahead than the paper does: what the others make of the same horizon.
ship("horizon", "the other algorithms with the horizon of cup: its discount and its critics",
     Block(SMALL_TASKS, (*BASELINES, "cup-paper"), (0, 1, 2), PAPER_STEPS, settings=words(MENDED["horizon"]),
           label="horizon"))  # fmt: skip
# … and of the horizon and its estimates of the cost, all that is open to every algorithm.
ship("horizon-cost", "the other algorithms with the horizon of cup and its estimates of the cost",
     Block(SMALL_TASKS, BASELINES, (0, 1, 2), PAPER_STEPS, settings=words(MENDED["horizon"] | COST_FOR_ALL),
           label="horizon-cost"))  # fmt: skip
ship("baselines", "all algorithms on Hopper and Swimmer, half a million steps",
     Block(SMALL_TASKS, ("ppo", "trpo", "ppo-lag", "trpo-lag", "cpo", "pcpo", "focops", "cup-paper", "cup"),
           (0, 1), 500_000))  # fmt: skip
ship("two-limits", "two constraints at once, half a million steps",
     Block(("hopper-speed-effort", "ant-speed-height"), (*BASELINES, "cup-paper", "cup"), (0, 1), 500_000))  # fmt: skip
ship("velocity-table", "four algorithms on the velocity tasks on which others publish, a million steps",
     Block(VELOCITY_TASKS, ("cup", "focops", "cpo"), (0, 1, 2), 1_000_000, evaluate=10),
     Block(VELOCITY_TASKS, ("ppo-lag",), (0, 1, 2), 1_000_000, settings=(("multiplier", "pid"),), label="pid",
           evaluate=10))  # fmt: skip
ship("velocity-critic", "CUP on three velocity tasks, its cost critic with a shorter and a longer horizon",
     Block(VELOCITY_TASKS[:3], ("cup",), (0, 1, 2), 1_000_000, evaluate=10),
     Block(VELOCITY_TASKS[:3], ("cup",), (0, 1, 2), 1_000_000, sweep=(("cost_gamma", ("0.99", "0.999")),),
           evaluate=10))  # fmt: skip
ship("velocity-long", "CUP on four velocity tasks, the ten million steps that others take",
     Block(VELOCITY_TASKS[:4], ("cup",), (0, 1, 2), 10_000_000, evaluate=10))  # fmt: skip


def find(name: str) -> Experiment:
    """Find a shipped experiment by its name, or one's own by its file."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    if not name.endswith(".toml"):
        raise UserError(f"{unknown('experiment', name, EXPERIMENTS)} Or give a file of your own, as my_experiment.toml.")
    experiment = read_experiment(Path(name))
    if experiment.name in EXPERIMENTS:
        raise UserError(f"{name}: {experiment.name} is an experiment that comes with cuprl; give yours another name.")
    return experiment
