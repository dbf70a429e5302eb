"""Names of tasks made of Gymnasium's environments."""

import pytest

import cuprl
from cuprl.cli import main
from cuprl.envs import find
from cuprl.envs.gymnasium.name import parse_name


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
    assert parse_name("gym:A-v0+limit=3+limit=4")["limits"] == {"cost": 4.0}
    assert parse_name("gym:A-v0+cost=info:b+limit=3+limit=b=4+discount=1")["limits"] == {"b": 4.0}  # of the only cost
    assert parse_name("gym:A-v0+cost=info:a+cost=info:a")["costs"] == {"a": "info:a"}
    assert cuprl.from_gymnasium("CartPole-v1", limits=1, imports="json").name.endswith("+import=json")
    assert cuprl.from_gymnasium("json:CartPole-v1", limits=1).name == "gym:CartPole-v1+cost=info:cost+limit=1+import=json"


def test_numbers_in_a_name_are_read_to_the_last_bit():
    limits, discounts = {"x": 0.1 + 0.2, "y": 1e16}, {"x": 1.0 - 1.0 / 300.0, "y": 1.0}
    task = cuprl.from_gymnasium("CartPole-v1", {"x": "info:x", "y": "info:y"}, limits, discount=discounts, env_timeout=1e-5)
    again = find(task.name)
    assert (again.name, again.constraints, again.env_timeout) == (task.name, task.constraints, 1e-5)


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
