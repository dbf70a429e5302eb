"""Runs that are trained further, and runs that begin from a trained policy: exact, recorded, and refused in a sentence."""

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import config_hash
from cuprl.policies.export import SUFFIXES, export_policy
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.runs.provenance import refuse_altered
from cuprl.training.display import Plain
from cuprl.training.train import resume, train
from cuprl.training.training import Training
from probes import PROBE, Probe
from small import FLAGS, QUIET, same_arrays, same_progress

WALK = Probe("walk", lambda obs, a, t: obs * a, lambda obs, a, t: a**2, length=7, random_obs=True)
FALLING = {**PROBE, "anneal": True}


def trained(path, iterations, task=WALK, **settings):
    return train(task, "ppo-lag", steps=200 * iterations, out=path, checkpoint_every=2, **QUIET, **{**PROBE, **settings})


def further(run, iterations, anneal=None):
    return resume(run, steps=200 * iterations, anneal=anneal, task=WALK, **QUIET)


# --- more steps -------------------------------------------------------------------------------------------------------


def test_where_learning_rates_do_not_fall_more_steps_are_as_if_planned(tmp_path):
    whole, run = trained(tmp_path / "whole", 6), trained(tmp_path / "r", 3)
    further(run, 6)
    same_progress(whole, run)
    same_arrays(whole.latest()[0], run.latest()[0])


def stop_after(run, iterations):
    """The folder as a kill leaves it: begun again from config.json, with a checkpoint of this iteration alone."""
    config = RunConfig.from_json(json.loads((run.path / "config.json").read_text()))
    shutil.rmtree(run.path / "checkpoints")
    (run.path / "checkpoints").mkdir()
    training = Training(config, WALK)
    for _ in range(iterations):
        training.iterate()
    run.save(iterations, training.arrays())
    return run


@pytest.mark.parametrize("anneal", ["continue", "restart", "off"])
def test_a_stopped_extension_goes_on_exactly(anneal, tmp_path):
    run = trained(tmp_path / "r", 3, anneal=True)
    before = run.progress()
    further(run, 6, anneal)
    assert np.array_equal(run.progress()["rollout/ep_rew_mean"][:3], before["rollout/ep_rew_mean"])
    shutil.copytree(run.path, tmp_path / "whole")
    whole = Run(tmp_path / "whole")
    for reached in (2, 5):  # before what was planned first, and after
        resume(stop_after(run, reached).path, task=WALK, **QUIET)
        same_progress(whole, run)
        same_arrays(whole.latest()[0], run.latest()[0])


def test_an_extension_is_recorded_and_part_of_what_the_run_is(tmp_path, capsys):
    plain, run = trained(tmp_path / "plain", 6, anneal=True), trained(tmp_path / "r", 3, anneal=True)
    resume(run, steps="1_200", anneal="restart", task=WALK, display=Plain())
    assert "from iteration 3 to 6 (600 to 1,200 steps); --anneal restart" in capsys.readouterr().err
    read = Run(run.path)
    refuse_altered(read.path, read.config)
    assert read.config["steps"] == 1200
    assert read.config["extensions"] == [{"iteration": 3, "steps": 600, "anneal": "restart"}]
    (by,) = read.config["extended_by"]
    assert {"command", "versions", "git"} == by.keys()
    stored = from_run(read).config
    assert stored["extensions"] == read.config["extensions"] and config_hash(stored) != config_hash(from_run(plain).config)
    altered = {**read.config, "extensions": [{"iteration": 3, "steps": 600, "anneal": "off"}]}
    with pytest.raises(UserError, match="do not fit its hash"):
        refuse_altered(read.path, altered)
    again = (run.path / "config.json").read_bytes()
    further(run, 6)  # the same command, after a stop
    assert (run.path / "config.json").read_bytes() == again


def test_a_run_that_was_extended_elsewhere_is_read_anew(tmp_path):
    """What a program holds of a run may be older than its folder: a history made of it would be of no run."""
    held = trained(tmp_path / "r", 1)
    further(held.path, 2)
    further(held, 3)
    assert [one["iteration"] for one in Run(held.path).config["extensions"]] == [1, 2]


def test_a_run_that_fell_back_behind_its_extension_is_trained_further(tmp_path):
    run = trained(tmp_path / "r", 3, anneal=True)
    further(run, 4, "off")
    for path in run.checkpoints()[:-1]:  # all but that of iteration 2
        path.write_bytes(b"damage")
    further(run, 6)
    read = Run(run.path)
    assert [(one["iteration"], one["steps"]) for one in read.config["extensions"]] == [(2, 600), (2, 800)]
    whole = Run(shutil.copytree(run.path, tmp_path / "whole"))
    resume(stop_after(run, 5).path, task=WALK, **QUIET)
    same_progress(whole, run)
    same_arrays(whole.latest()[0], run.latest()[0])


def test_a_grid_does_not_take_an_extended_run_for_its_own(tmp_path):
    words = [*FLAGS, "--algo", "ppo-lag"]
    assert main(["train", "hopper-speed", "--steps", "200", "--out", str(tmp_path / "r"), *words]) == 0
    assert main(["resume", str(tmp_path / "r"), "--steps", "400"]) == 0
    assert main(["train", "--config", str(tmp_path / "r"), "--out", str(tmp_path / "again")]) == 0  # its settings alone
    assert Run(tmp_path / "again").config["steps"] == 400 and "extensions" not in Run(tmp_path / "again").config
    flags = {words[i].removeprefix("--").replace("-", "_"): words[i + 1] for i in range(0, len(words), 2)}
    cell = Cell("hopper-speed", flags.pop("algo"), 0, 400, tuple(flags.items()))
    with pytest.raises(UserError, match="was made with extended continue at iteration 1 of 200 steps, not unset"):
        cell.check_same(Run(tmp_path / "r"))


def test_more_steps_that_are_none_are_one_sentence(tmp_path):
    run = trained(tmp_path / "r", 3)
    before = {path: path.read_bytes() for path in run.path.rglob("*.*")}
    for options, words in (
        ({"steps": 400}, r"--steps is 400, but .* has 600 planned and 600 done; give more than 600"),
        ({"steps": 100}, "less than one batch"),
        ({"steps": "many"}, "give a whole number"),
        ({"anneal": "off"}, "--anneal off goes with --steps"),
        ({"steps": 600, "anneal": "off"}, "is settled; leave --anneal away"),
        ({"steps": 800, "anneal": "rise"}, "unknown anneal 'rise'"),
    ):
        with pytest.raises(UserError, match=words):
            resume(run, task=WALK, **options, **QUIET)
    assert {path: path.read_bytes() for path in run.path.rglob("*.*")} == before


def test_evaluations_go_on_in_a_run_trained_further(tmp_path):
    run = trained(tmp_path / "r", 3, eval_every=2, eval_episodes=2)
    further(run, 5)
    assert run.evaluations.columns()["iteration"].tolist() == [2, 3, 4, 5]
    whole = (run.path / "evaluations.csv").read_bytes()
    resume(stop_after(run, 2).path, task=WALK, **QUIET)
    assert (run.path / "evaluations.csv").read_bytes() == whole


# --- from a policy ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("teacher") / "r", 3, eval_every=1, eval_episodes=2, limits=100.0)


def group(arrays, name):
    return {key: array for key, array in arrays.items() if key.startswith(name)}


def first(run):
    return run.read(run.choose(0))[1]


def test_a_run_begins_with_a_policy_and_its_normaliser(teacher, tmp_path):
    run = trained(tmp_path / "r", 2, start_from=teacher.path, limits=50.0)
    theirs, mine = teacher.latest()[0], first(run)
    for part in ("policy/", "normaliser/"):
        assert group(mine, part)
        same_arrays(group(mine, part), group(theirs, part))
    assert not np.array_equal(mine["critic0/weight0"], theirs["critic0/weight0"])
    assert not any(array.any() for array in group(mine, "optimiser/").values())
    assert run.latest()[0]["normaliser/count"] == theirs["normaliser/count"] + 400
    sha256 = hashlib.sha256(teacher.checkpoints()[0].read_bytes()).hexdigest()
    about = {"task": "walk", "algo": "ppo-lag", "seed": 0, "iteration": 3}
    assert run.config["start"] == {"sha256": sha256, "critics": False, **about}
    assert run.config["start_source"] == str(teacher.path)
    assert config_hash(from_run(run).config) != config_hash(from_run(trained(tmp_path / "plain", 2, limits=50.0)).config)


def test_its_critics_and_another_checkpoint(teacher, tmp_path):
    run = trained(tmp_path / "r", 1, start_from=teacher, start_checkpoint=2, start_critics=True)
    theirs = teacher.read(teacher.choose(2))[1]
    same_arrays(group(first(run), "critic"), group(theirs, "critic"))
    same_arrays(group(first(run), "policy/"), group(theirs, "policy/"))
    assert run.config["start"]["iteration"] == 2 and run.config["start"]["critics"]


def test_from_a_file_as_from_its_run(teacher, tmp_path):
    file = export_policy(teacher, out=tmp_path / "policy.npz")
    runs = [trained(tmp_path / name, 1, start_from=start) for name, start in (("a", teacher), ("b", file))]
    a, b = map(first, runs)
    same_arrays(group(a, "policy/"), group(b, "policy/"))
    assert a["normaliser/count"] == b["normaliser/count"] == 600
    np.testing.assert_allclose(a["normaliser/var"], b["normaliser/var"], rtol=1e-6)
    assert runs[1].config["start"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_from_the_zoo(tmp_path):
    run = train(
        "hopper-speed", "ppo-lag", steps=200, out=tmp_path / "r", start_from="zoo:hopper-speed", batch_size=200, **QUIET
    )
    assert run.config["start_source"] == "zoo:hopper-speed" and run.config["start"]["task"] == "hopper-speed"
    obs = np.random.default_rng(0).normal(size=(9, 11))
    first_policy = cuprl.load(run, checkpoint=0)
    np.testing.assert_allclose(first_policy.predict(obs), cuprl.load("zoo:hopper-speed").predict(obs), rtol=1e-5, atol=1e-6)


def test_the_network_is_that_of_the_policy_unless_it_is_asked_for(teacher, tmp_path):
    left = {name: value for name, value in PROBE.items() if name != "hidden"}
    run = train(WALK, "ppo-lag", steps=200, out=tmp_path / "r", start_from=teacher, **left, **QUIET)
    assert run.config["settings"]["hidden"] == [16]


def test_a_run_from_a_policy_is_resumed_exactly_without_it(teacher, tmp_path):
    source = shutil.copytree(teacher.path, tmp_path / "source")
    whole = trained(tmp_path / "whole", 3, start_from=source)
    run = trained(tmp_path / "r", 3, start_from=source)
    for path in run.checkpoints()[:-1]:  # all but that of iteration 0
        path.unlink()
    shutil.move(source, tmp_path / "away")
    resume(run.path, task=WALK, **QUIET)
    same_progress(whole, run)
    same_arrays(whole.latest()[0], run.latest()[0])
    for path in [*run.checkpoints(), run.path / "progress.csv"]:  # killed as it began
        path.unlink()
    with pytest.raises(UserError, match=r"is no longer .*source; train it again"):
        resume(run.path, task=WALK, **QUIET)
    shutil.move(tmp_path / "away", source)
    resume(run.path, task=WALK, **QUIET)
    same_progress(whole, run)


def test_a_policy_that_does_not_fit_is_one_sentence(teacher, tmp_path):
    file = export_policy(teacher, out=tmp_path / "policy.npz")
    onnx = export_policy(teacher, "onnx", out=tmp_path / "policy.onnx")
    two = replace(WALK, constraints=(cuprl.Constraint("cost", 1.0), cuprl.Constraint("other", 1.0)))
    for options, words in (
        ({"task": "hopper-speed"}, r"\(obs 11, action 3\) are not the policy's \(obs 1, action 1\); begin from"),
        ({"task": replace(WALK, discrete=3)}, "begin from a policy of these sizes"),
        ({"hidden": (8,)}, "has hidden 16, this run 8; leave --hidden away"),
        ({"normalise": False}, "has normalise True, this run False"),
        ({"task": two, "start_critics": True}, "of the costs cost, this run has cost,other; leave --from-critics away"),
        (
            {"critic_unit": "step", "start_critics": True},
            "critic_unit return, this run step; give --critic-unit return",
        ),
        ({"start_from": file, "start_critics": True}, "a policy alone, without critics"),
        ({"start_from": file, "start_checkpoint": "best"}, "holds one policy alone"),
        ({"start_from": onnx}, "does not show its network"),
        ({"start_from": tmp_path / "none"}, "is not a run"),
        ({"start_checkpoint": 9}, "no checkpoint of iteration 9"),
        ({"start_from": None, "start_critics": True}, "--from-critics goes with --from RUN"),
        ({"start_from": None, "start_checkpoint": "best"}, "--from-checkpoint goes with --from RUN"),
    ):
        with pytest.raises(UserError, match=words):
            trained(tmp_path / "r", 1, **{"start_from": teacher, **options})
        assert not (tmp_path / "r").exists()


HALF = """
import cuprl

HALF = cuprl.Encoder(lambda key, n: [], lambda params, obs: obs * 0.5, lambda params, obs: obs * 0.5)
"""


def test_an_encoder_held_by_a_module_is_named_by_the_new_run(own_module, tmp_path):
    own_module("own_half", HALF)
    run = trained(tmp_path / "first", 1, encoder="own_half:HALF")
    files = [export_policy(run, to, tmp_path / f"policy{suffix}") for to, suffix in SUFFIXES.items() if to != "onnx"]
    for start, words in (
        (run, "first names the module own_half, .* name the policy's encoder, as --encoder MODULE:NAME"),
        (files[0], r"policy.npz names the module own_half, .* as --encoder MODULE:NAME .in Python encoder=\.\.\..\.$"),
        (files[1], "policy.jax does not show its network; begin from its run"),
    ):
        user_modules._named.clear()
        with pytest.raises(UserError, match=words):
            trained(tmp_path / "r", 1, start_from=start)
    assert trained(tmp_path / "r", 1, start_from=run, encoder="own_half:HALF").config["start"]["iteration"] == 1


def test_several_seeds_from_a_run_each(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["train", "hopper-speed", "--algo", "ppo-lag", "--seeds", "0..1", "--steps", "200", *FLAGS]
    assert main([*words, "--out", "first"]) == 0
    more = ["--from", "first/hopper-speed/ppo-lag/seed{seed}", "--limit", "60", "--out", "second"]
    assert main([*words, *more, "--eval-every", "1", "--eval-episodes", "1"]) == 0
    assert "best of 1 evaluation: that of iteration 1;" in capsys.readouterr().out
    runs = [Run(f"second/hopper-speed/ppo-lag/seed{seed}") for seed in (0, 1)]
    assert [run.config["start"]["seed"] for run in runs] == [0, 1]
    assert main([*words, *more]) == 0  # all are there: nothing is done again
    assert main([*words, "--limit", "60", "--out", "second"]) == 1
    assert "was made with start ppo-lag seed 0 iteration 1" in capsys.readouterr().out
