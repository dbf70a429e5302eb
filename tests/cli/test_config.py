"""`cup train --config`: the settings of a run or of a TOML file, reused; flags beside it win, modules wait for a word."""

import json
import sys
from pathlib import Path

import pytest

from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.runs.folder import Run
from cuprl.training.train import train
from small import FLAGS, SMALL, same_progress

TOML = """
task = "hopper-speed-effort"
algo = "CUP_paper"
seed = 4
steps = 4e2
limits = { speed = 60, effort = 50 }

[settings]
alpha = 0.1
batch-size = "200"
num_envs = 5
hidden = [8]
minibatch = 50
epochs = 2
critic_epochs = 2
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(user_modules, "_named", set())
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("run.toml").write_text(TOML)
    return tmp_path


def test_a_run_is_made_again_from_its_config(here, capsys):
    first = train("hopper-speed", "ppo", seed=3, steps=400, limits=60.0, out="first", **SMALL)
    for given, out in (("first", "a"), ("first/config.json", "b")):
        assert main(["train", "--config", given, "--out", out]) == 0
        same_progress(first, Run(out))
        assert Run(out).config["hash"] == first.config["hash"]
    assert main(["train", "--config", "first", "--out", "c", "--seed", "5", "--clip", "0.3", "--limit", "82.748"]) == 0
    changed = Run("c").config
    assert (changed["seed"], changed["settings"]["clip"], changed["limits"]) == (5, 0.3, {"speed": 82.748})
    assert changed["settings"] == {**first.config["settings"], "clip": 0.3}
    assert main(["train", "swimmer-speed", "--config", "first", "--limit", "20", "--out", "d"]) == 0
    assert Run("d").config["task"] == "swimmer-speed"
    assert main(["train", "--config", "first", "--seeds", "7", "--out", "many"]) == 0
    assert Run("many/hopper-speed/ppo/seed7").config["limits"] == {"speed": 60.0}


def test_a_toml_file(here, capsys):
    assert main(["train", "--config", "run.toml", "--out", "a", "--limit", "effort=40"]) == 0
    config = Run("a").config
    assert (config["task"], config["algo"], config["seed"], config["steps"]) == ("hopper-speed-effort", "cup-paper", 4, 400)
    assert config["limits"] == {"speed": 60.0, "effort": 40.0} and config["settings"]["alpha"] == 0.1
    assert config["settings"]["batch_size"] == 200 and config["settings"]["hidden"] == [8]


@pytest.mark.parametrize(
    "text, words",
    [
        ("tsk = 'hopper-speed'", "unknown key 'tsk'; did you mean task? Accepted: task, algo, seed, steps"),
        ("settings = { alpa = 1 }", "unknown setting of cup 'alpa'; did you mean alpha"),
        ("start_source = 'runs/x'", "unknown key 'start_source'"),
        ("settings = 3", "settings is 3; give a table"),
        ("task = 3", "task is 3; give a word"),
        ("limits = 'low'", "limits is 'low'; give a number, or a table"),
        ("limits = { speed = nan }", "give a number, or a table"),
        ("wandb = 1", "wandb is 1; give true or false"),
        ("steps = 'many'", "steps is 'many'; give a whole number"),
        ("seed = 1.5", "seed is '1.5'; give a whole number"),
        ("task = 'hoper-speed'", "did you mean hopper-speed"),
        ("algo = 'cap'", "did you mean cup"),
        ("settings = { alpha = [1] }", "alpha is 1; give 0 or more"),
        ("a = = b", "run.toml is not TOML"),
        ("limits = { sped = 3 }", "did you mean speed"),
    ],
)
def test_a_wrong_file_gets_one_sentence(text, words, here, capsys):
    Path("run.toml").write_text(text)
    assert main(["train", *(["hopper-speed"] if "task" not in text else []), "--config", "run.toml"]) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1 and [path.name for path in here.iterdir()] == ["run.toml"]


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--config", "none.toml"], "there is no file none.toml"),
        (["--config", "none.txt"], "give a run's folder, its config.json, or a .toml file"),
        (["--config", "."], "there is no file config.json"),
        (["--config", "list.json"], "list.json holds no keys"),
        (["hopper-speed", "--trust"], "--trust goes with --config"),
        (["--config", "empty.toml"], "empty.toml names no task"),
    ],
)
def test_what_is_no_such_file(argv, words, here, capsys):
    Path("list.json").write_text("[]")
    Path("empty.toml").write_text("steps = 400")
    assert main(["train", *argv]) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1 and not Path("runs").exists()


EVIL = "from pathlib import Path\nPath('ran').touch()\nfrom cuprl.algorithms.ppo import Config, init, update\n"
COST = "\ndef far(obs, action, next_obs, info):\n    return 1.0\n"
FILES = [
    {"task": "gym:CartPole-v1+cost=x=evil:far+limit=3", "algo": "ppo"},
    {"task": "gym:CartPole-v1+cost=x=info:cost+limit=3+import=evil", "algo": "ppo"},
    {"task": "hopper-speed", "algo": "python:evil"},
]


@pytest.mark.parametrize("content", FILES)
def test_modules_that_a_file_names_wait_for_a_word(content, here, monkeypatch, capsys):
    Path("evil.py").write_text(EVIL + COST)
    Path("run.json").write_text(json.dumps(content))
    monkeypatch.delitem(sys.modules, "evil", raising=False)
    words = ["train", "--config", "run.json", "--steps", "200", *FLAGS]
    assert main(words) == 2
    shown = capsys.readouterr().err
    assert "run.json names the module evil" in shown and "--import evil" in shown and not Path("ran").exists()
    if "cost=x=evil" in content["task"]:
        for out, word in (("a", ["--import", "evil"]), ("b", ["--trust"]), ("c", ["--cost", "x=evil:far"])):
            user_modules._named.clear()
            assert main([*words, "--out", out, "--evaluate", *word]) == 0 and Path("ran").exists(), capsys.readouterr().err
            assert Run(out).config["task"] == content["task"]  # the word is none of the task's
    sys.modules.pop("evil", None)


ENCODER = """
from pathlib import Path
import cuprl

Path("ran").touch()


def init(key, obs_dim):
    return []


def apply(params, obs):
    return obs * 0.5


HALF = cuprl.Encoder(init, apply)
"""


def test_the_encoder_that_a_file_names_waits_for_a_word(here, monkeypatch, capsys):
    Path("own_half.py").write_text(ENCODER)
    Path("none.toml").write_text("algo = 'ppo'")
    Path("own.toml").write_text("algo = 'ppo'\nsettings = { encoder = 'own_half:HALF' }")
    words = ["train", "hopper-speed", "--steps", "200", *FLAGS, "--config"]
    for more in ([], ["--seeds", "0..1"]):
        assert main([*words, "own.toml", *more]) == 2
        assert "own.toml names the module own_half" in capsys.readouterr().err and not Path("ran").exists()
    typed = ["--encoder", "own_half:HALF"]
    for k, more in enumerate(
        (["own.toml", "--import", "own_half"], ["own.toml", "--trust"], ["own.toml", *typed], ["none.toml", *typed])
    ):
        user_modules._named.clear()
        assert main([*words, *more, "--out", str(k)]) == 0, capsys.readouterr().err
        assert Run(str(k)).config["settings"]["encoder"] == "own_half:HALF" and Path("ran").exists()
    sys.modules.pop("own_half", None)


@pytest.mark.parametrize("words", [["--trust=1"], ["--trust=1", "--config", "run.toml"]])
def test_a_value_that_no_flag_takes_is_one_sentence(words, here, capsys):
    assert main(["train", "hopper-speed", *words]) == 2
    assert capsys.readouterr().err == "cup: argument --trust: ignored explicit argument '1'; see `cup train --help`.\n"


def test_the_run_of_a_gymnasium_environment_is_made_again(here, monkeypatch):
    """Its one limit stands in its task's name and in config.json."""
    Path("someones.py").write_text("import gymnasium\nfrom envs.broken import Sound\ngymnasium.register('Ours-v0', Sound)\n")
    task = ["gym:Ours-v0", "--import", "someones"]
    assert main(["train", *task, "--limit", "5", "--steps", "200", "--out", "a", *FLAGS]) == 0
    assert main(["train", "--config", "a", "--seed", "4", "--trust", "--out", "b"]) == 0
    assert main(["train", "--config", "a", "--import", "someones", "--limit", "cost=6", "--out", "c"]) == 0
    assert main(["train", *task, "--config", "a", "--limit", "7", "--out", "d"]) == 0
    assert [Run(name).config["limits"]["cost"] for name in "abcd"] == [5.0, 5.0, 6.0, 7.0]
