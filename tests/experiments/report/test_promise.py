"""Figures of what was promised and what came."""

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Block
from experiments.report.test_figures import STEPS, drawn
from experiments.synthetic import groups_of


def test_one_iteration_keeps_no_promise(tmp_path):
    with pytest.raises(UserError, match=r"one iteration each, .* draw their `curves`"):
        drawn("promise", groups_of(Block(("hopper-speed",), ("cup",), (0,), 5000)), tmp_path)


def test_promises_are_drawn_and_missed_where_a_run_has_none(tmp_path):
    groups = groups_of(Block(("hopper-speed-effort", "hopper-speed"), ("cup", "ppo"), (0, 1), STEPS))
    texts, _ = drawn("promise", groups, tmp_path)
    assert {"cup", "ppo", "hopper-speed", "hopper-speed-effort: effort", "cost of the next batch"} <= set(texts)
    for g in groups:
        for result in g.results:
            for name in [name for name in result.metrics if name.startswith("train/predicted_cost")]:
                del result.metrics[name]
    with pytest.raises(UserError, match=r"no run of this experiment has recorded train/predicted_cost; run it again"):
        drawn("promise", groups, tmp_path)
