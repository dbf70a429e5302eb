"""Run folders that an older cuprl made, before its modules were moved, are evaluated, exported and resumed."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.algorithms import numerics
from cuprl.runs import provenance
from cuprl.runs.folder import Run
from small import QUIET

OLD = Path(__file__).parents[1] / "data" / "old_run"


@pytest.fixture(params=["cup", "cup-paper"])
def old(request, tmp_path):
    return shutil.copytree(OLD / request.param, tmp_path / request.param)


def numbers_are_the_same(run):
    """With the versions that made it, if its algorithm gives the numbers it gave then."""
    config, ours = run.config, provenance.versions()
    made, now = ({**versions, "platform": ""} for versions in (config["versions"], ours))
    return made == now and config["numerics"] == numerics(config["algo"])


def test_it_is_evaluated_and_exported(old, tmp_path):
    found = cuprl.evaluate(old, episodes=2)
    assert np.isfinite(found["return_mean"]) and found["cost_limit"] == 82.748
    file = cuprl.export_policy(old, out=tmp_path / "policy.npz")
    obs = np.linspace(-1.0, 1.0, 11)
    np.testing.assert_array_equal(cuprl.load(file).predict(obs), cuprl.load(old).predict(obs))


def test_it_is_resumed(old):
    whole = Run(shutil.copytree(old, old.with_name("whole")))
    Run(old).checkpoints()[0].unlink()
    run = cuprl.resume(old, **QUIET)
    assert run.recorded() == {1, 2, 3} and len(run.checkpoints()) == 3
    if numbers_are_the_same(whole):
        for name, values in whole.progress().items():
            if not name.startswith("time/"):  # but for the last bits: they are the processor's
                np.testing.assert_allclose(run.progress()[name], values, rtol=1e-4, atol=1e-5, err_msg=name)


def test_where_the_algorithm_gives_other_numbers_now_it_goes_on_and_says_so(tmp_path, capsys):
    old = shutil.copytree(OLD / "cup", tmp_path / "cup")
    Run(old).checkpoints()[0].unlink()
    run = cuprl.resume(old, display=True)
    assert run.recorded() == {1, 2, 3} and "the algorithm cup changed since this run began" in capsys.readouterr().err
