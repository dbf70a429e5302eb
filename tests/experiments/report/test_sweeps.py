"""Figures of sweeps."""

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Block
from experiments.report.test_figures import STEPS, drawn
from experiments.synthetic import groups_of


def test_sweeps(tmp_path):
    limits = groups_of(
        Block(("hopper-speed",), ("cup",), (0, 1), STEPS, sweep=(("limit", ("40", "80")),)),
        Block(("swimmer-speed",), ("cup",), (0, 1), STEPS, sweep=(("limit", ("10", "15", "20")),)),
    )
    texts, _ = drawn("limit", limits, tmp_path)
    assert {"limit=40", "40", "limit=15", "15"} <= set(texts)  # in its task's legend and beside its dashed line
    weights = groups_of(Block(("hopper-speed",), ("cup",), (0, 1), STEPS, sweep=(("alpha", ("0.1", "0.3")),)))
    assert any(text.startswith("alpha") for text in drawn("alpha", weights, tmp_path)[0])
    with pytest.raises(UserError, match="sweeps no cost limit"):
        drawn("limit", weights, tmp_path)
    with pytest.raises(UserError, match="sweeps no number"):
        drawn("alpha", groups_of(Block(("hopper-speed",), ("cup",), (0,), STEPS)), tmp_path)


def test_a_sweep_of_several_names_the_part_that_can_be_drawn(tmp_path):
    swimmer, values = ("swimmer-speed",), ("alpha", ("0.1", "0.3"))
    single = Block(swimmer, ("cup",), (0,), STEPS, sweep=(values,))
    double = Block(swimmer, ("cup",), (0,), STEPS, sweep=(values, ("limit", ("10", "15", "20"))))
    with pytest.raises(UserError, match=r"--only variant=alpha=0\.1,variant=alpha=0\.3$"):
        drawn("alpha", groups_of(single, Block(swimmer, ("ppo-lag",), (0,), STEPS)), tmp_path)
    limits = [f"alpha=0.1+limit={limit}" for limit in (10, 15, 20)]
    with pytest.raises(UserError) as error:
        drawn("limit", groups_of(single, double), tmp_path)
    assert str(error.value).endswith(f"--only {','.join(f'variant={variant}' for variant in limits)}")
    part = [g for g in groups_of(single, double) if g.variant in limits]
    assert {f"alpha=0.1+limit={limit}" for limit in (10, 15, 20)} <= set(drawn("limit", part, tmp_path)[0])
