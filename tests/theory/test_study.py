"""The study and the search for counterexamples."""

import re
from pathlib import Path

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.theory import STATEMENTS, run_study


def test_the_study_counts_every_instance_and_repeats_itself():
    seen = []
    names = ["theorem-1", "cpo-return"]
    rows = run_study(173, seed=4, lambdas=(0.0, 0.95), statements=names, on_progress=lambda *now: seen.append(now))
    assert [(row.statement, row.lam, row.instances) for row in rows] == [
        ("theorem-1", 0.0, 173),
        ("theorem-1", 0.95, 173),
        ("cpo-return", 0.0, 173),
        ("cpo-return", 0.95, 173),
    ]
    assert [done for done, _ in seen] == list(range(1, seen[-1][1] + 1))
    assert run_study(173, seed=4, lambdas=(0.0, 0.95), statements=names) == rows
    assert run_study(173, seed=5, lambdas=(0.0, 0.95), statements=names) != rows


def test_a_false_statement_is_counted_and_measured(monkeypatch):
    """A statement that is wrong on known instances: gain <= 0, true on about half of them."""
    from cuprl.theory import registry
    from cuprl.theory.statements import at_most

    wrong = registry.Statement("wrong", "paper", "J never rises", lambda x: at_most(x.gain, np.zeros_like(x.gain)))
    monkeypatch.setitem(STATEMENTS, "wrong", wrong)
    (row,) = run_study(500, lambdas=(0.0,), statements=["wrong"])
    assert 0.3 < row.share < 0.7
    assert row.worst == pytest.approx(1)  # the gain itself, over the larger side, which is the gain
    assert row.tightness == pytest.approx(1)  # |0 - gain| / |gain|


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"instances": 0}, "instances is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"lambdas": ()}, "no lambda is given"),
        ({"lambdas": (0.5, 1.5)}, "lambda is 1.5; accepted is 0 to 1"),
        ({"statements": ("theorem-3",)}, "unknown statement 'theorem-3'; did you mean"),
    ],
)
def test_bad_settings_are_refused(options, sentence):
    with pytest.raises(UserError) as error:
        run_study(**options)
    assert sentence in str(error.value)


@pytest.mark.slow
def test_the_documented_shares_are_those_measured():
    """docs/theory.md prints the table of `cup theory --instances 10000`."""
    measured = {(row.statement, row.lam): 100 * row.share for row in run_study(instances=10_000)}
    page = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()
    documented = re.findall(r"^\| (`[a-z0-9-]+`.*?) \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \|$", page, re.M)
    checked = 0
    for label, *shares in documented:
        for name in re.findall(r"`([a-z0-9-]+)`", label):
            for lam, share in zip((0.0, 0.5, 0.95, 1.0), shares):
                assert measured[name, lam] == pytest.approx(float(share), abs=0.1), (name, lam)
                checked += 1
    assert checked >= 4 * 20
