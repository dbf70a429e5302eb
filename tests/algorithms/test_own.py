"""Algorithms outside the package, named by their module."""

import numpy as np
import pytest

import cuprl
from cuprl import algorithms
from cuprl.errors import UserError
from cuprl.training.display import Silent
from small import SMALL

PPO_AGAIN = """
from cuprl.algorithms.ppo import Config, init, update
"""


def write(folder, name, text):
    (folder / f"{name}.py").write_text(text)


def test_a_module_in_the_working_directory_is_an_algorithm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "ppo_again", PPO_AGAIN)
    runs = [
        cuprl.train("swimmer-speed", algo, out=algo.replace(":", "-"), steps=400, display=Silent(), **SMALL)
        for algo in ("python:ppo_again", "ppo")
    ]
    mine, theirs = (run.progress() for run in runs)
    np.testing.assert_array_equal(mine["rollout/ep_rew_mean"], theirs["rollout/ep_rew_mean"])
    assert mine["train/approx_kl"].tolist() == theirs["train/approx_kl"].tolist()
    assert cuprl.evaluate(runs[0], episodes=1)["algo"] == "python:ppo_again"


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "has no Config and no init and no update"),
        ("from cuprl.algorithms.ppo import Config, init", "has no update"),
        ("from cuprl.algorithms.ppo import init, update\nclass Config: ...", "its Config has no batch_size; derive it from"),
        ("1 / 0", "ZeroDivisionError"),
        ("import not_there_at_all", "not_there_at_all"),
    ],
)
def test_what_is_wrong_with_it_is_said(text, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"own_{abs(hash(text))}"
    write(tmp_path, name, text)
    with pytest.raises(UserError, match=sentence):
        algorithms.load(f"python:{name}")


def test_a_module_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="cannot import nowhere"):
        algorithms.load("python:nowhere")
