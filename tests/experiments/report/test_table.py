"""The table of an experiment."""

import numpy as np

from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import formats, table
from cuprl.experiments.store.results import store
from experiments.synthetic import groups_of, made_up, made_up_by


def test_the_table_beside_the_papers():
    text = formats.to_markdown([table.report(made_up_by(cup=(0.9, 100.0), ppo_lag=(1.1, 900.0)))])
    hopper = {line.split(" | ")[1]: line for line in text.splitlines() if line.startswith("| hopper")}
    assert "| **" in hopper["cup"] and hopper["cup"].endswith("| 3 | **2025.56 ± 122.35** | 79.98 ± 2.306 |")
    assert "(over) | 82.748 |" in hopper["ppo-lag"] and "**" not in hopper["ppo-lag"]
    assert hopper["ppo-lag"].endswith("| 1010.2 ± 61.48 | 83.28 ± 31.19 (over) |")
    assert hopper["pcpo"] == "| hopper-speed | pcpo | - | - | 82.748 | - | 0 | - | - |"


def test_the_numbers_of_a_table_are_the_runs(tmp_path):
    block = Block(("hopper-speed-effort", "hopper-speed"), ("cup",), (0, 1), 100_000)
    cells = expand(Experiment("two", "for tests", (block,)))
    results = {cell: made_up(cell) for cell in cells}
    for result in results.values():
        store(result, tmp_path / "two")
    text = table.summary(cells, tmp_path)
    finals = [result.metrics for cell, result in results.items() if cell.task == "hopper-speed-effort"]
    for name in ("speed", "effort"):
        costs = np.array([metrics[f"rollout/ep_cost_mean/{name}"][-1] for metrics in finals])
        (line,) = (line for line in text.splitlines() if f"| {name} " in line)
        assert f"| {costs.mean():.2f} ± {costs.std():.2f}" in line and line.endswith("| 2 |")
    assert len(text.splitlines()) == 2 + 1 + 2 and "| hopper-speed | cup | **" in text


def test_a_plain_sum_over_the_limit_is_neither_best_nor_within_it():
    """As of the fault: a limit of 300, 285 discounted, 1140 in all."""
    groups = groups_of(Block(("hopper-speed",), ("cup-omnisafe",), (0, 1), 100_000, limits=("300",)))
    shown = table.report(groups)
    row = dict(zip(shown.header, shown.rows[0]))
    assert "**" not in row["return"] and row["cost"] == "1139.93 ± 0.00 (over)" and row["undiscounted cost"] == "1139.9"
    assert "the plain sum is held to the limit" in shown.note
    (usual,) = groups_of(Block(("hopper-speed",), ("cup",), (0, 1), 100_000, limits=("300",)))
    shown = table.report([usual])
    row = dict(zip(shown.header, shown.rows[0]))
    assert "**" in row["return"] and "(over)" not in row["cost"] and "plain sum" not in shown.note
