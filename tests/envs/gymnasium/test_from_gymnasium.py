"""Anyone's environment as a task: what it does, how it continues exactly, and what is said of one that will not do."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import cuprl
from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.core.spec import Box, Discrete, MultiDiscrete
from cuprl.envs import find, make
from cuprl.envs.gymnasium.name import parse_name
from cuprl.envs.gymnasium.spaces import action_of, observation_of
from cuprl.errors import RunStopped, UserError
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.training.training import Training
from envs.broken import Sound, sound_but
from small import QUIET, SMALL, same_arrays, same_progress

FLAGS = ["--algo", "ppo", "--batch-size", "200", "--hidden", "8", "--minibatch", "50", "--epochs", "2"]
TINY = {name: value for name, value in SMALL.items() if name != "num_envs"}


def right(obs, action, next_obs, info):
    return next_obs[0] > 0.0


# --- what a step is ----------------------------------------------------------------------------------------------


def test_a_step_is_what_the_environments_do_one_by_one():
    def moved(obs, action, next_obs, info):
        return 100 * (next_obs[0] - obs[0]) + action

    env = make(cuprl.from_gymnasium("CartPole-v1", {"moved": moved}, 5.0, horizon=25), 3, seed=4)
    assert env.spec.horizon == 25 and env.spec.action == Discrete(2) and env.spec.obs_dim == 4
    singles = [gymnasium.make("CartPole-v1") for _ in range(3)]
    generators = [np.random.default_rng(4 + i) for i in range(3)]
    last = [e.reset(seed=int(g.integers(2**31)))[0] for e, g in zip(singles, generators)]
    t, ends = np.zeros(3, int), set()
    rng = np.random.default_rng(0)
    for _ in range(120):
        action = rng.integers(0, 2, 3)
        step = env.step(action)
        for i, single in enumerate(singles):
            obs, reward, terminated, _, _ = single.step(action[i])
            t[i] += 1
            np.testing.assert_array_equal(step.next_obs[i], obs)
            assert step.cost[i, 0] == pytest.approx(100 * (obs[0] - last[i][0]) + action[i])
            assert (step.reward[i], step.terminated[i], step.truncated[i]) == (reward, terminated, t[i] >= 25)
            if terminated or t[i] >= 25:
                obs, t[i] = single.reset(seed=int(generators[i].integers(2**31)))[0], 0
                ends.add(bool(terminated))
            np.testing.assert_array_equal(step.obs[i], obs)
            last[i] = obs
    assert ends == {True, False}


def test_the_last_observation_is_kept_from_an_environment_that_writes_over_it():
    class Reuses(Sound):
        buffer = np.zeros(2, np.float32)

        def obs(self):
            self.buffer[:] = super().obs()
            return self.buffer

    task = cuprl.from_gymnasium(Reuses, {"moved": lambda o, a, n, i: n[0] - o[0]}, 1.0)
    assert make(task).step(np.array([2])).cost[0, 0] == pytest.approx(0.1)


def test_safety_gymnasiums_six_values_from_a_plain_class():
    class Six:
        observation_space, action_space = spaces.Discrete(3), spaces.Box(-1.0, 1.0, (1,))

        def reset(self, seed=None):
            return 0, {}

        def step(self, action):
            return 2, 1.0, 0.25, False, False, {}

    env = make(cuprl.from_gymnasium(Six, limits=1.0), 2)
    step = env.step(np.zeros((2, 1)))
    assert step.cost.tolist() == [[0.25], [0.25]] and step.obs.tolist() == [[0, 0, 1]] * 2 and env.spec.horizon == 1000


def test_observations_become_flat():
    space = spaces.Dict(
        {
            "b": spaces.Discrete(3, start=5),
            "a": spaces.Box(0, 255, (2, 2), np.uint8),
            "c": spaces.Tuple((spaces.Box(-1.0, 1.0, (1,)), spaces.MultiBinary(2))),
        }
    )
    size, flat = observation_of(space, "x")
    obs = {"a": np.array([[1, 2], [3, 4]], np.uint8), "b": 6, "c": (np.array([0.5], np.float32), np.array([1, 0]))}
    assert size == 10 and flat(obs).tolist() == [1, 2, 3, 4, 0, 1, 0, 0.5, 1, 0]
    with pytest.raises(UserError, match="does not fit its space"):
        flat({**obs, "a": np.zeros(3)})


@pytest.mark.parametrize(
    ("space", "ours", "policys", "environments"),
    [
        (
            spaces.Box(np.array([[-1, 0]], np.float32), np.array([[1, 2]], np.float32)),
            Box(2, (-1, 0), (1, 2)),
            [5.0, -0.5],
            [[1, 0]],
        ),
        (spaces.Box(-np.inf, np.inf, (1,)), Box(1, (-np.inf,), (np.inf,)), [-99.0], [-99]),
        (spaces.Discrete(4, start=-1), Discrete(4), 0, -1),
        (spaces.MultiDiscrete([[2, 3]], start=[[1, 0]]), MultiDiscrete((2, 3)), [1, 2], [[2, 2]]),
        (spaces.MultiBinary(2), MultiDiscrete((2, 2)), [0, 1], [0, 1]),
    ],
)
def test_actions(space, ours, policys, environments):
    spec, convert = action_of(space, "x")
    action = convert(np.array(policys))
    assert spec == ours and np.array_equal(action, environments) and space.contains(action)


def test_several_choices_at_once_are_learnt():
    class Choices(Sound):
        action_space = spaces.MultiDiscrete([3, 2])

        def step(self, action):
            obs, _, *rest = super().step(0)
            return obs, float(action[0] == 2) + float(action[1] == 1), *rest

    config = RunConfig("x", "ppo", settings={**SMALL, "policy_lr": 0.02})
    training = Training(config, cuprl.from_gymnasium(Choices, limits=1e3))
    returns = [training.iterate()["rollout/ep_rew_mean"] for _ in range(10)]
    assert returns[0] < 22 and returns[-1] > returns[0] + 3, returns


# --- exact continuation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "gym:CartPole-v1+cost=x=envs.gymnasium.test_from_gymnasium:right+limit=9",
        "gym:Pendulum-v1+cost=x=envs.gymnasium.test_from_gymnasium:right+limit=9",
    ],
)
def test_resumed_equals_uninterrupted(name, tmp_path):
    whole = cuprl.train(name, "ppo", steps=800, out=tmp_path / "whole", checkpoint_every=1, **SMALL, **QUIET)
    config = RunConfig.from_json(whole.config)
    stopped, first = Run.create(tmp_path / "stopped", config), Training(config)
    for _ in range(2):
        stopped.append(first.iterate())
    stopped.save(2, first.arrays())
    resumed = cuprl.resume(stopped.path, **QUIET)
    same_progress(whole, resumed)
    same_arrays(whole.latest()[0], resumed.latest()[0])


def test_worker_processes_change_nothing():
    def task(backend):
        return cuprl.from_gymnasium(Sound, {"right": lambda o, a, n, i: n[0] > 0}, 5.0, backend=backend)

    one, two, again = make(task("sync"), 3, seed=1), make(task("async"), 3, seed=1, threads=2), make(task("sync"), 3)
    rng = np.random.default_rng(0)
    for t in range(50):
        if t == 30:
            same_arrays(one.get_state(), two.get_state())
            again.set_state(two.get_state())
            two.reset(7)
            two.set_state(one.get_state())
        action = rng.integers(0, 3, 3)
        steps = [env.step(action) for env in ((one, two) if t < 30 else (one, two, again))]
        for fields in zip(*steps):
            for other in fields[1:]:
                np.testing.assert_array_equal(fields[0], other)
        for step in steps:
            assert (step.obs is step.next_obs) != (step.terminated | step.truncated).any()


def test_a_fault_in_a_worker_process_is_said_here():
    with pytest.raises(UserError, match="cost 'ten' raised ZeroDivisionError"):
        make(cuprl.from_gymnasium(Sound, {"ten": lambda o, a, n, i: 1 / 0}, 5.0, backend="async"), 1)


def test_a_signal_to_all_processes_leaves_the_workers_to_the_run():
    class Known(Sound):
        def info(self):
            return {"cost": os.getpid()}

    env = make(cuprl.from_gymnasium(Known, limits=5.0, backend="async"), 2, threads=2)
    action = np.zeros(2, int)
    workers = {int(process) for process in env.step(action).cost[:, 0]}
    assert len(workers) == 2 and os.getpid() not in workers
    for process in workers:
        os.kill(process, signal.SIGTERM)
        os.kill(process, signal.SIGINT)
    assert {int(process) for process in env.step(action).cost[:, 0]} == workers
    env.close()
    assert not any(Path(f"/proc/{process}").exists() for process in workers)
    with pytest.raises(UserError, match="are closed"):
        env.step(action)


@pytest.mark.parametrize("backend", ["sync", "async"])
def test_every_environment_is_closed_once(backend, tmp_path):
    class Closes(Sound):
        def close(self):
            with (tmp_path / "closed").open("a") as file:
                file.write("x")

    env = make(cuprl.from_gymnasium(Closes, limits=5.0, backend=backend), 3, threads=2)
    assert not (tmp_path / "closed").exists()
    for _ in range(2):
        env.close()
        assert (tmp_path / "closed").read_text() == "xxx"
    for call in (lambda: env.reset(0), lambda: env.step(np.zeros(3, int))):
        with pytest.raises(UserError, match="are closed"):
            call()


def test_what_goes_wrong_in_closing_is_only_told():
    env = make(cuprl.from_gymnasium(sound_but(close=lambda self: 1 / 0), limits=5.0))
    with pytest.warns(UserWarning, match="close of SoundBut raised ZeroDivisionError"):
        env.close()


def test_a_worker_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr("cuprl.envs.gymnasium.workers.PATIENCE", 0.2)
    env = make(cuprl.from_gymnasium(sound_but(close=lambda self: time.sleep(600)), limits=5.0, backend="async"))
    begun = time.monotonic()
    env.close()
    assert time.monotonic() - begun < 60


def test_a_script_that_fails_with_workers_open_ends(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys, weakref\nweakref.finalize(sys, print)\n"  # before multiprocessing's own function for the exit
        "import cuprl\nfrom cuprl.envs import make\nfrom envs.broken import Sound\n"
        "if __name__ == '__main__':\n"
        "    env = make(cuprl.from_gymnasium(Sound, limits=5.0, backend='async'), 1)\n    raise SystemError('here')\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(tmp_path / "script.py")]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1 and ended.stderr.rstrip().endswith("SystemError: here")


def test_what_cannot_be_sent_to_a_worker_is_said():
    lock = threading.Lock()
    task = cuprl.from_gymnasium(Sound, {"c": lambda o, a, n, i: lock.locked()}, 5.0, backend="async")
    with pytest.raises(UserError, match=r"Sound cannot be sent to worker processes .*lock.*use backend='sync'"):
        make(task)


def test_an_environment_that_does_not_repeat_is_told_once_a_step_is_taken():
    chance = np.random.default_rng(0)
    task = cuprl.from_gymnasium(sound_but(obs=lambda self: chance.normal(size=2).astype(np.float32)), limits=5.0)
    a, b = make(task), make(task)
    for _ in range(5):
        a.step(np.array([0]))
    b.set_state(a.get_state())
    with pytest.warns(UserWarning, match="does not repeat an episode"):
        b.step(np.array([0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        b.step(np.array([0]))


# --- names and the command line ----------------------------------------------------------------------------------


def test_a_name_finds_the_same_task_again():
    task = cuprl.from_gymnasium(
        "CartPole-v1",
        {"x": "info:a", "y": "operator:add"},
        {"x": 1.5, "y": 2.0},
        discount={"y": 1.0},
        horizon=7,
        backend="async",
        imports=["json"],
    )
    again = find(task.name)
    assert (again.name, again.constraints, again.costs) == (task.name, task.constraints, task.costs)
    assert (again.horizon, again.backend, again.make.args) == (7, "async", ("CartPole-v1", ("json",)))
    assert [c.discount for c in again.constraints] == [0.99, 1.0]
    short = cuprl.from_gymnasium("CartPole-v1", "info:crash", 3)
    assert short.name == "gym:CartPole-v1+cost=info:crash+limit=3"
    assert parse_name("gym:A-v0+limit=3+limit=4")["limits"] == 4.0
    assert parse_name("gym:A-v0+cost=info:a+cost=info:a")["costs"] == {"a": "info:a"}
    assert cuprl.from_gymnasium("CartPole-v1", limits=1, imports="json").name.endswith("+import=json")
    assert cuprl.from_gymnasium("json:CartPole-v1", limits=1).name == "gym:CartPole-v1+cost=info:cost+limit=1+import=json"


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
        ({"env": Sound, "costs": [right]}, "costs is .*give each a name"),
        ({"env": Sound, "costs": right}, "costs is .*give each a name"),
        ({"env": Sound, "backend": 3}, "unknown backend '3'"),
        ({"env": "CartPole-v1", "imports": "nowhere"}, "cannot import nowhere"),
        ({"env": "CartPole-v1", "imports": 3}, "imports is 3"),
        ({"env": "gym:CartPole-v1"}, "is the name of a task; from_gymnasium takes the id alone"),
    ],
)
def test_wrong_arguments_are_told_at_once(arguments, words):
    with pytest.raises(UserError, match=words):
        cuprl.from_gymnasium(**{"limits": 5.0, **arguments})


def nan_cost(obs, action, next_obs, info):
    return float("nan")


@pytest.mark.parametrize(
    ("env", "costs", "words"),
    [
        (sound_but(observation_space=spaces.Text(3)), "info:cost", "observations in Text.*TransformObservation"),
        (sound_but(observation_space=spaces.Sequence(spaces.Discrete(2))), "info:cost", "observations in Sequence"),
        (sound_but(action_space=spaces.Tuple(())), "info:cost", "actions in Tuple.*TransformAction"),
        (sound_but(action_space=spaces.Box(0, 5, (1,), np.int64)), "info:cost", "a Box of real numbers"),
        (sound_but(step=lambda self, a: (0, 1.0, False, {})), "info:cost", "gave 4 values; it must give"),
        (sound_but(reset=lambda self, seed: 0), "info:cost", "must give .obs, info."),
        (sound_but(reward=lambda self: None), "info:cost", "gave the reward None"),
        (sound_but(reward=lambda self: 1 / 0), "info:cost", "step of .* raised ZeroDivisionError.*line"),
        (
            sound_but(step=lambda self, a: (self.obs(), 0.0, np.zeros(2, bool), False, {})),
            "info:cost",
            r"gave terminated array\(\[False, False\]\) and truncated False; each must be one truth value",
        ),
        (sound_but(reset=lambda self: 0), "info:cost", r"raised TypeError.*it is called with \(seed=NUMBER\)\.$"),
        (lambda: 3, "info:cost", "which has no reset"),
        (Sound, {"c": lambda o, a: 0}, r"cost 'c' raised TypeError.*; it is called with \(obs, action, next_obs, info\)\.$"),
        (Sound, "info:crash", "cost info:crash is missing: info has 'cost'"),
        (Sound, {"c": nan_cost}, "cost 'c' is nan"),
        (Sound, {"c": lambda o, a, n, i: n}, r"cost 'c' is an array of shape \(2,\)"),
        (Sound, {"c": lambda o, a, n, i: None}, "cost 'c' is None"),
        (Sound, {"c": lambda o, a, n, i: i["no"]}, "cost 'c' raised KeyError: 'no' .test_from_gymnasium.py, line"),
    ],
)
def test_what_will_not_do_is_told_before_training(env, costs, words):
    with pytest.raises(UserError, match=words):
        make(cuprl.from_gymnasium(env, costs, 5.0))


def test_a_fault_in_the_middle_stops_the_run_at_its_checkpoint(tmp_path):
    calls = iter(range(10**6))
    costs = {"cost": lambda o, a, n, i: 1 / (350 - next(calls))}
    task = cuprl.from_gymnasium(Sound, costs, 5.0, num_envs=10, name="mine")  # compiled for the test above
    with pytest.raises(RunStopped, match=r"cost 'cost' raised ZeroDivisionError.*last good checkpoint is .*00000001-"):
        cuprl.train(task, "ppo", steps=600, out=tmp_path / "r", checkpoint_every=1, **TINY, **QUIET)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["train", "hopper-speed", "--cost", "info:cost"], "--cost goes with a Gymnasium environment"),
        (["train", "hopper-speed", "--cost-discount", "1"], "--cost-discount goes with a Gymnasium environment"),
        (["train", "gym:CartPole-v1", "--cost", "a:torque", "--cost", "b:torque"], "two costs are named 'torque'"),
        (["train", "gym:CartPole-v1"], "there is no limit for 'cost'"),
        (["train", "gym:CartPole-v1", "--limit", "x"], "limit is 'x'; give a number"),
        (["train", "gym:CartPole-v1", "--limit", "1", "--cost", "info:a+b"], "holds a +"),
        (["train", "gym:CartPole-v1+limt=3"], "did you mean limit"),
        (["check", "hopper-speed"], "looks at Gymnasium environments"),
        (["check", "hoper-speed"], "did you mean hopper-speed"),
        (["check", "gym:CartPole-v1", "--limit", "3", "--steps", "0"], "--steps is 0"),
    ],
)
def test_wrong_words(argv, words, capsys):
    assert main(argv) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1
