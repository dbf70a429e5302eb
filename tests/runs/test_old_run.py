"""Run folders that an older cuprl made, before its modules were moved, are evaluated, exported and resumed."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.runs import provenance
from cuprl.runs.folder import Run
from small import QUIET, same_progress

OLD = Path(__file__).parents[1] / "data" / "old_run"


@pytest.fixture(params=["cup", "cup-paper"])
def old(request, tmp_path):
    return shutil.copytree(OLD / request.param, tmp_path / request.param)


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
    made, now = ({**versions, "platform": ""} for versions in (whole.config["versions"], provenance.versions()))
    if made == now and whole.config["machine"]["cpu"] == provenance.machine()["cpu"]:  # else the last bits may differ
        same_progress(run, whole)
