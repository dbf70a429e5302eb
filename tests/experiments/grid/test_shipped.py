"""What is shipped: how many runs, and which are the same."""

from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.grid.shipped import EXPERIMENTS, FOUR_LIMITS


def test_what_is_shipped():
    cells = {name: expand(experiment) for name, experiment in EXPERIMENTS.items()}
    assert {name: len(grid) for name, grid in cells.items()} == {
        "quick": 8,
        "paper-table": 350,
        "paper-extra": 210,
        "paper-nu": 50,
        "paper-alpha": 125,
        "paper-limit": 100,
        "cup-variants": 125,
        "cup-ablation": 72,
        "horizon": 36,
        "horizon-cost": 30,
        "baselines": 36,
        "two-limits": 28,
        "velocity-table": 72,
        "velocity-critic": 27,
        "velocity-long": 12,
    }
    plain = [cell.resolved() for cell in cells["paper-table"]]
    assert all(cell.resolved() in plain for cell in cells["paper-nu"])  # runs done once count everywhere
    swimmer = [cell for cell in cells["paper-limit"] if cell.task == "swimmer-speed" and cell.seed == 0]
    assert [cell.resolved()["limits"] for cell in swimmer] == [{"speed": limit} for limit in (10, 15, 20, 25)]
    assert [cell.variant for cell in swimmer] == ["limit=10", "limit=15", "limit=20", "limit=25"]
    for task, limits in FOUR_LIMITS.items():  # around the task's own
        (own,) = Cell(task, "cup", 0, 5000).resolved()["limits"].values()
        assert [round(float(limit) / own, 1) for limit in limits] == [0.4, 0.6, 0.8, 1.0], task
