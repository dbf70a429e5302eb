"""Anyone's environment as a task: what it does, how it continues exactly, and what is said of one that will not do."""

import json

import gymnasium
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.errors import RunStopped, UserError
from envs.broken import Sound
from small import QUIET, SMALL

FLAGS = ["--algo", "ppo", "--batch-size", "200", "--hidden", "8", "--minibatch", "50", "--epochs", "2"]
TINY = {name: value for name, value in SMALL.items() if name != "num_envs"}


# --- what a step is ----------------------------------------------------------------------------------------------


# --- exact continuation ------------------------------------------------------------------------------------------


# --- names and the command line ----------------------------------------------------------------------------------


def test_train_resume_eval_from_the_command_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "someones_package.py").write_text(
        "import gymnasium\nfrom envs.broken import Sound\ngymnasium.register('Someones-v0', Sound)\n"
        "def far(obs, action, next_obs, info):\n    return abs(next_obs[0]) > 0.5\n"
    )
    monkeypatch.chdir(tmp_path)
    task = ["gym:Someones-v0", "--import", "someones_package", "--horizon", "15", "--cost-discount", "1"]
    costs = ["--cost", "info:cost", "--cost", "far=someones_package:far", "--limit", "cost=5", "--limit", "far=9"]
    assert main(["check", *task, *costs, "--steps", "100"]) == 0
    assert main(["train", *task, *costs, "--steps", "400", "--out", "r", *FLAGS]) == 0
    config = json.loads((tmp_path / "r" / "config.json").read_text())
    assert config["limits"] == {"cost": 5.0, "far": 9.0}
    monkeypatch.delitem(gymnasium.registry, "Someones-v0")
    monkeypatch.delitem(__import__("sys").modules, "someones_package")  # as in a new process
    monkeypatch.setattr(user_modules, "_named", set())
    assert main(["resume", "r", "--import", "someones_package"]) == 0
    capsys.readouterr()
    assert main(["eval", "r", "--episodes", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["cost_mean"].keys() == {"cost", "far"} and result["length_mean"] == 15


def test_a_task_made_in_python_is_given_again(tmp_path, capsys):
    task = cuprl.from_gymnasium(Sound, limits=5.0, num_envs=10, name="mine")
    run = cuprl.train(task, "ppo", steps=200, out=tmp_path / "r", **TINY, **QUIET)
    assert run.config["settings"]["num_envs"] == 10
    assert main(["resume", str(run.path)]) == 2
    assert "as task=… of cuprl.resume" in capsys.readouterr().err
    assert cuprl.evaluate(cuprl.load(run, task), episodes=2)["length_mean"] == 20
    cuprl.resume(run, task=task, **QUIET)


def test_someone_elses_environment_trains_without_a_line_changed(tmp_path):
    pytest.importorskip("highway_env")
    task = ["gym:highway-fast-v0", "--import", "highway_env", "--cost", "info:crashed", "--limit", "0.1"]
    assert (
        main(
            [
                "train",
                *task,
                "--steps",
                "20",
                "--out",
                str(tmp_path / "r"),
                *FLAGS,
                "--batch-size",
                "20",
                "--minibatch",
                "20",
                "--num-envs",
                "2",
            ]
        )
        == 0
    )


# --- wrong input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"env": "CartPol-v1"}, "Gymnasium has no 'CartPol-v1'.*CartPole.*--import"),
        ({"env": "CartPole-v1", "imports": ["nowhere"]}, "cannot import nowhere"),
        ({"env": Sound()}, "is one environment; give its id or a function"),
        ({"env": Sound, "costs": {}}, "there is no cost"),
        ({"env": Sound, "costs": {"a": 3}}, "cost 'a' is 3; give a function, 'info:KEY'"),
        ({"env": Sound, "costs": {"a": "json:nothing"}}, "json has no function 'nothing'"),
        ({"env": Sound, "limits": None}, "there is no limit for 'cost'"),
        ({"env": Sound, "limits": {"b": 1.0}}, "a limit for 'b', but the costs are 'cost'"),
        ({"env": Sound, "costs": {"a": "info:a", "b": "info:b"}}, "the limit is 5, but the costs are 'a', 'b'"),
        ({"env": Sound, "costs": {"a": "info:a", "b": "info:b"}, "limits": {"a": 1}}, "cost 'b' has no limit"),
        ({"env": Sound, "limits": -1.0}, "the limit of cost 'cost' is -1.0; give 0 or more"),
        ({"env": Sound, "discount": 1.5}, "discount of cost 'cost' is 1.5"),
        ({"env": Sound, "backend": "asink"}, "did you mean async"),
        ({"env": Sound, "horizon": 0}, "horizon is 0"),
        ({"env": Sound, "horizon": "5"}, "horizon is '5'; give a whole number"),
        ({"env": Sound, "horizon": 2.5}, "horizon is 2.5; give a whole number"),
        ({"env": Sound, "limits": "abc"}, "the limit is 'abc'; give a number"),
        ({"env": Sound, "limits": [1]}, r"the limit is \[1\]; give a number"),
        ({"env": Sound, "limits": {"cost": None}}, "the limit of cost 'cost' is None; give a number"),
        ({"env": Sound, "discount": None}, "no discount for 'cost'; give one, as --cost-discount 0.99, discount=0.99 or"),
        ({"env": Sound, "costs": [len]}, "costs is .*give each a name"),
        ({"env": Sound, "costs": len}, "costs is .*give each a name"),
        ({"env": Sound, "backend": 3}, "unknown backend '3'"),
        ({"env": "CartPole-v1", "imports": "nowhere"}, "cannot import nowhere"),
        ({"env": "CartPole-v1", "imports": 3}, "imports is 3"),
        ({"env": "gym:CartPole-v1"}, "is the name of a task; from_gymnasium takes the id alone"),
    ],
)
def test_wrong_arguments_are_told_at_once(arguments, words):
    with pytest.raises(UserError, match=words):
        cuprl.from_gymnasium(**{"limits": 5.0, **arguments})


def test_a_fault_in_the_middle_stops_the_run_at_its_checkpoint(tmp_path):
    calls = iter(range(10**6))
    costs = {"cost": lambda o, a, n, i: 1 / (350 - next(calls))}
    task = cuprl.from_gymnasium(Sound, costs, 5.0, num_envs=10, name="mine")  # compiled for the test above
    with pytest.raises(RunStopped, match=r"cost 'cost' raised ZeroDivisionError.*last good checkpoint is .*00000001-"):
        cuprl.train(task, "ppo", steps=600, out=tmp_path / "r", checkpoint_every=1, **TINY, **QUIET)


def test_an_environment_that_leaves_the_program_ends_no_command_in_silence(tmp_path, monkeypatch, capsys):
    """As sys.exit does, also with status 0; a program of one's own it ends as it always did."""
    (tmp_path / "leaves.py").write_text(
        "import sys, gymnasium\nfrom envs.broken import Sound\n"
        "class Leaves(Sound):\n    def reward(self):\n        return sys.exit(0) if self.t == 15 else 0.0\n"
        "gymnasium.register('Leaves-v0', Leaves)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(user_modules, "_named", set())
    task = ["gym:Leaves-v0", "--import", "leaves", "--limit", "5"]
    assert main(["train", *task, "--steps", "400", "--out", "r", *FLAGS]) == 1
    said = "an iteration raised SystemExit: 0 (leaves.py, line 5); mend it there; there was no checkpoint yet."
    assert said in capsys.readouterr().err
    assert main(["check", *task]) == 2
    assert "what `cup check` was given raised SystemExit: 0 (leaves.py, line 5)" in capsys.readouterr().err
    env = cuprl.make(cuprl.from_gymnasium("Leaves-v0", limits=5.0))
    with pytest.raises(SystemExit):
        for _ in range(15):
            env.step([0])
