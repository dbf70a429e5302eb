"""A run's configuration: what may be asked for, what is filled in, and config.json back and forth."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl import algorithms
from cuprl.envs import TASKS
from cuprl.errors import UserError
from cuprl.runs.config import IDENTITY, RunConfig
from cuprl.runs.config_checks import COUNTS
from cuprl.runs.provenance import fingerprint

OLD = Path(__file__).parents[1] / "data" / "old_run"
HOPPER = TASKS["hopper-speed"]


def planned(**changes):
    return replace(RunConfig("hopper-speed"), **changes).plan(HOPPER)


@pytest.mark.parametrize("steps", [20_000, 2e4, "2e4", "20_000", np.int64(20_000), np.float64(20_000)])
def test_whole_numbers_are_taken_as_people_write_them(steps):
    config = RunConfig("hopper-speed", steps=steps)
    assert config == RunConfig("hopper-speed", steps=20_000) and type(config.steps) is int


def test_a_plan_leaves_nothing_open():
    plan = planned(algo="CUP", steps=1e4, settings={"batch_size": "200", "hidden": "8"})
    assert plan.iterations == 50 and plan.settings.hidden == (8,)
    assert (
        plan.config.algo == "cup"
        and plan.config.limits == {"speed": 82.748}
        and plan.config.numerics == algorithms.numerics("cup")
    )
    assert plan.config.settings["hidden"] == (8,) and plan.config.settings["alpha"] == plan.settings.alpha
    assert plan.config.plan(HOPPER) == plan  # planned again it is the same


def test_the_tasks_settings_yield_to_those_given():
    task = cuprl.from_gymnasium("CartPole-v1", {"x": lambda *_: 1.0}, 3.0, num_envs=2)
    assert RunConfig("x").plan(task).settings.num_envs == 2
    assert RunConfig("x", settings={"num_envs": 4}).plan(task).settings.num_envs == 4


def test_to_json_and_back():
    spec = cuprl.make(HOPPER, limits=50).spec
    config = planned(seed=3, limits=50, settings={"hidden": ()}).config.on(spec)
    written = json.loads(json.dumps(config.to_json()))
    assert written["limits"] == {"speed": 50.0} and written["settings"]["hidden"] == [] and "agent" not in written
    assert RunConfig.from_json(written).to_json() == written
    by_hand = replace(config, agent=True).to_json()
    assert by_hand["agent"] and by_hand.keys() == written.keys() - {*COUNTS, "tensorboard", "wandb"} | {"agent"}
    assert list(config.identity()) == list(IDENTITY) and fingerprint(config.identity()) == fingerprint(written)


@pytest.mark.parametrize("name, algo", [("cup", "cup"), ("cup-paper", "cup-paper")])
def test_a_file_of_an_older_cuprl(name, algo):
    """Its hash is that of what it says; read, it has today's words and every setting of today."""
    values = json.loads((OLD / name / "config.json").read_text())
    assert fingerprint(values) == values["hash"]
    config = RunConfig.from_json(values)
    assert config.algo == algo and config.plan(HOPPER).config.identity() == config.identity()
    early = {key: value for key, value in values.items() if key not in ("numerics", "checkpoint_every", "tensorboard")}
    early["algo"], early["settings"] = "cup", {"batch_size": 200}
    read = RunConfig.from_json(early)
    assert (read.algo, read.numerics, read.checkpoint_every, read.tensorboard) == ("cup-paper", 1, 10, False)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"steps": "many"}, "steps is 'many'; give a whole number"),
        ({"steps": 100.5}, "steps is '100.5'; give a whole number"),
        ({"steps": None}, "steps is 'None'; give a whole number"),
        ({"steps": 10}, "steps is 10, less than one batch; give at least 5000, or a smaller --batch-size"),
        ({"steps": 10**13}, "steps is 1e[+]13; give at most 499,999,995,000, 99,999,999 batches"),
        ({"seed": -1}, "seed is -1; give a whole number from 0 to 4294967295"),
        ({"seed": 2**32}, "seed is 4294967296"),
        ({"checkpoint_every": 0}, "checkpoint_every is 0; give a whole number of at least 1"),
        ({"threads": 0}, "threads is 0; give a whole number from 1 to 4096"),
        ({"threads": 1e9}, "threads is 1000000000; give a whole number from 1 to 4096"),
        ({"algo": "cap"}, "did you mean cup"),
        ({"settings": {"alpa": 1}}, "did you mean alpha"),
        ({"limits": {"sped": 1.0}}, "did you mean speed"),
        ({"limits": float("inf")}, "the limit of cost 'speed' is inf; give a finite number"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(changes, words):
    with pytest.raises(UserError, match=words):
        planned(**changes)
