"""Runs with other networks than the usual: exact to resume, whatever acts and whatever encodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training
from small import QUIET, SMALL, same_arrays, same_progress


def init(key, obs_dim):
    return [jax.random.normal(key, (obs_dim, 4)) * obs_dim**-0.5]


def apply(params, obs):
    return jnp.tanh(obs @ params[0])


ENCODER = cuprl.Encoder(init, apply)
OTHERS = {
    "squashed": {"policy": "squashed", "activation": "swish"},
    "encoder": {"encoder": ENCODER, "activation": "relu"},
    "all": {"policy": "squashed", "activation": "elu", "encoder": ENCODER, "hidden": (8, 6, 4)},
}


def training(algo, settings, steps=600):
    return Training(RunConfig("swimmer-speed", algo, steps=steps, settings={**SMALL, **settings}))


@pytest.mark.parametrize("algo, other", [("cup", "all"), ("cpo", "all"), ("ppo-lag", "squashed"), ("focops", "encoder")])
def test_every_part_learns_and_a_checkpoint_continues_exactly(algo, other):
    settings = OTHERS[other]
    small = {name: value for name, value in SMALL.items() if (algo, name) != ("cpo", "epochs")}
    config = RunConfig("swimmer-speed", algo, steps=600, settings={**small, **settings})
    first = Training(config)
    before = first.arrays()
    first.iterate()
    kept = first.arrays()
    moved = {
        name for name in kept if name.startswith(("policy/", "critic")) and not np.array_equal(before[name], kept[name])
    }
    learnt = {name for name in kept if name.startswith(("policy/", "critic"))}
    assert moved == learnt and ("policy/encoder/0" in learnt) == ("encoder" in settings)
    assert ("critic1/encoder/0" in learnt) == ("encoder" in settings)
    rows = [first.iterate(), first.iterate()]
    again = Training(config)
    again.restore(kept)
    for row in rows:
        found = again.iterate()
        for name in row.keys() - {"time/fps", "time/collect", "time/update"}:
            np.testing.assert_array_equal(found[name], row[name], err_msg=name)
    same_arrays(first.arrays(), again.arrays())


def test_a_run_whose_encoder_no_module_holds(tmp_path):
    def other(params, obs):
        return jnp.sin(obs @ params[0])

    held_by_none = cuprl.Encoder(init, other)
    given = {"steps": 600, "checkpoint_every": 1, "encoder": held_by_none, **SMALL, **QUIET}
    whole = cuprl.train("swimmer-speed", "ppo", out=tmp_path / "whole", **given)
    cut = cuprl.train("swimmer-speed", "ppo", out=tmp_path / "cut", **given)
    cut.checkpoints()[0].unlink()
    assert cut.config["settings"]["encoder"].endswith("holds.<locals>.other")
    with pytest.raises(UserError, match=r"the encoder .* is not there: .* give it again from Python, as encoder="):
        cuprl.resume(cut, **QUIET)
    same_progress(cuprl.resume(cut, encoder=held_by_none, **QUIET), whole)
    policy = cuprl.load(cut, encoder=held_by_none)
    assert cuprl.evaluate(policy, episodes=1)["episodes"] == 1
    with pytest.raises(UserError, match=r"does not fit the run's settings|cannot act"):
        cuprl.load(cut, encoder=cuprl.Encoder(lambda key, n: [], lambda params, obs: obs))


def test_the_actions_of_a_squashed_policy_reach_the_environment_within_its_bounds():
    run = training("ppo", {"policy": "squashed", "init_log_std": 3.0})
    told = []
    env = run.collector.env
    physics, low, high = env.move, np.float32(env.spec.action.low), np.float32(env.spec.action.high)
    env.move = lambda action: (told.append(np.array(action)), physics(action))[1]
    row = run.iterate()
    actions = np.concatenate(told)
    assert (actions >= low).all() and (actions <= high).all() and np.ptp(actions, axis=0).min() > 1.99 * high.max()
    assert np.abs(run.collector.buffers.rollout.action).max() > 10  # what is learnt from is not cut off
    assert np.isfinite(row["train/approx_kl"]) and np.isfinite(row["train/entropy"])


@pytest.mark.parametrize("name", ["", "cnn", "nowhere_at_all:CNN"])
def test_an_encoder_that_is_not_there(name, tmp_path):
    with pytest.raises(UserError, match=r"encoder is|cannot import nowhere_at_all"):
        cuprl.train("swimmer-speed", out=tmp_path / "r", encoder=name, **SMALL, **QUIET)
    assert not (tmp_path / "r").exists()


def test_a_run_begins_from_one_with_the_same_network(tmp_path):
    small = {name: value for name, value in SMALL.items() if name != "hidden"}
    given = {"steps": 400, **small, **QUIET}
    first = cuprl.train("swimmer-speed", "ppo", out=tmp_path / "first", **given, **OTHERS["all"])
    second = cuprl.train("swimmer-speed", "ppo", out=tmp_path / "second", start_from=first, encoder=ENCODER, **given)
    taken = {name: second.config["settings"][name] for name in ("policy", "activation", "encoder", "hidden")}
    assert taken == {"policy": "squashed", "activation": "elu", "encoder": ENCODER.name, "hidden": [8, 6, 4]}
    begun = Training(RunConfig.from_json(second.config))
    begun.restore(second.read([second.checkpoints()[-1]])[1])  # that of iteration 0
    np.testing.assert_array_equal(
        begun.arrays()["policy/encoder/0"], first.read(first.choose("last"))[1]["policy/encoder/0"]
    )
    for wrong in ({"activation": "relu"}, {"policy": "gaussian"}):
        with pytest.raises(UserError, match=r"first has (activation elu|policy squashed), this run .*; leave --"):
            cuprl.train("swimmer-speed", "ppo", out=tmp_path / "third", start_from=first, encoder=ENCODER, **given, **wrong)
