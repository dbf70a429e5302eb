"""The policy of a run's folder: of an old one, and of one that cannot act."""

import json
from dataclasses import replace

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from policies.arms import SPECS, agent_with, broken_arrays


def test_it_acts_as_training_does_with_or_without_a_normaliser():
    for normalise in (True, False):
        agent, obs = agent_with(SPECS["gaussian"], normalise=normalise)
        policy, learner = agent.policy(), agent.learner
        expected = learner.policy.act(learner.numpy_policy(), learner.normaliser.apply(obs), None, np)
        np.testing.assert_array_equal(policy.predict(obs), expected)
        assert np.isinf(policy.arrays["clip"]) == (not normalise) and policy.info["iteration"] == 0


def test_a_run_from_before_the_spec_was_kept(run, tmp_path):
    config = json.loads((run.path / "config.json").read_text())
    del config["spec"]
    old = Run.create(tmp_path / "old", RunConfig.from_json(config))
    old.save(3, run.latest()[0])
    np.testing.assert_array_equal(cuprl.load(old).predict(np.ones(11)), cuprl.load(run).predict(np.ones(11)))
    config["settings"]["hidden"] = [8, 8]
    (old.path / "config.json").write_text(json.dumps(config | {"hash": "0" * 16}))
    with pytest.raises(UserError, match="was changed since the run began"):
        cuprl.load(old.path)
    del config["hash"]  # as of a run of early days
    (old.path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="does not fit the run's settings"):
        cuprl.load(old.path)


@pytest.mark.parametrize("name, value", [("policy/weight0", np.nan), ("normaliser/var", np.inf)])
def test_a_checkpoint_with_weights_that_are_none_is_refused(name, value, run, tmp_path, capsys):
    broken = Run.create(tmp_path / "broken", replace(RunConfig.from_json(run.config), steps=800))
    broken.save(3, broken_arrays(run.latest()[0], name, value))
    assert main(["eval", str(broken.path)]) == 2
    assert "NaN or infinite weights" in capsys.readouterr().err
    assert main(["resume", str(broken.path)]) == 2
    assert f"the checkpoint's {name} is NaN or infinite" in capsys.readouterr().err


def test_a_checkpoint_with_a_count_that_is_no_number_is_refused(run, tmp_path):
    broken = Run.create(tmp_path / "broken", replace(RunConfig.from_json(run.config), steps=800))
    broken.save(3, {**run.latest()[0], "normaliser/count": np.zeros(2)})
    with pytest.raises(UserError, match="does not fit the run's settings"):
        cuprl.load(broken)
