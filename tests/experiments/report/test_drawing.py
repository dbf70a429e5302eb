"""Pictures draw names letter by letter."""

from cuprl.experiments.report.drawing import drawn
from cuprl.experiments.report.plot import plot_runs
from pages.made_up import folder


def test_a_name_is_no_formula(tmp_path):
    assert drawn("a$b$") == r"a\$b\$"
    nasty = folder(tmp_path / "r", task="$\\frac{", limits={"$x_{": 1.0})
    assert plot_runs([nasty.path]).stat().st_size > 10_000
