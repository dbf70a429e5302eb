"""Evaluation: whole episodes, repeatable, of a policy that it leaves alone, on a task that it fits."""

import numpy as np
import pytest

import cuprl
from cuprl.core.episodes import Episodes
from cuprl.core.spec import Constraint
from cuprl.core.task import Step
from cuprl.errors import UserError
from cuprl.policies.evaluate import evaluate, measures, refuse_other_sizes, run_episodes
from cuprl.policies.load import load
from cuprl.training.train import train
from policies.arms import SPECS, agent_with
from probes import Probe, constant
from small import QUIET, SMALL, same_arrays


def test_it_is_repeatable_and_leaves_the_normaliser_alone(run):
    saved = load(run.path)
    before = {name: array.copy() for name, array in saved.arrays.items()}
    first, second = evaluate(saved, episodes=5), evaluate(run.path, episodes=5)
    first.pop("run"), second.pop("run")
    assert first == second
    same_arrays(saved.arrays, before)
    assert first["episodes"] == 5 and 0 <= first["violation_rate"] <= 1
    keys = "return_mean return_std cost_mean cost_undiscounted_mean cost_limit violation_rate episodes length_mean"
    assert set(keys.split()) <= first.keys()


def test_it_counts_one_whole_episode_of_each_environment(tmp_path):
    probe = Probe("count", constant(1), constant(2), length=7, constraints=(Constraint("cost", 5.0, 0.5),))
    run = train(probe, steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    result = evaluate(load(run.path, probe), episodes=4)
    assert (result["return_mean"], result["length_mean"], result["cost_undiscounted_mean"]) == (7.0, 7.0, 14.0)
    assert result["cost_mean"] == pytest.approx(2 * (2 - 0.5**6)) and result["violation_rate"] == 0.0


def test_the_noise_of_actions_is_not_the_stream_of_an_environment():
    """It was: with one environment what it drew and what the policy drew were the same numbers."""

    class Drawing:
        spec, num_envs = cuprl.Spec("arm", 5, cuprl.Discrete(4), (Constraint("cost", 0.7),), 1), 1

        def reset(self, seed):
            self.drawn = np.random.default_rng(seed).gumbel(size=(1, 4)).astype(np.float32)
            return np.zeros((1, 5))

        def step(self, action):
            one = np.ones(1)
            same = np.array([float(action[0] == self.drawn.argmax())])
            return Step(np.zeros((1, 5)), same, np.zeros((1, 1)), one > 0, one < 0, np.zeros((1, 5)))

    policy = agent_with(SPECS["categorical"])[0].policy()
    policy.outputs = lambda obs: np.zeros((len(obs), 4))
    alike = [run_episodes(Drawing(), policy, False, seed).total[0, 0] for seed in range(400)]
    assert 0.15 < np.mean(alike) < 0.35


def test_a_cost_at_its_limit_is_not_over_it():
    spec = cuprl.Spec("arm", 5, cuprl.Discrete(2), (Constraint("cost", 0.7),), 10)  # 0.7 is less in float32
    costs = np.array([[0.7], [0.7 + 1e-15]])
    found = measures(Episodes(np.column_stack((np.ones(2), costs)), costs, np.ones(2)), spec)
    assert found["violation_rate"] == 0.5 and found["cost_limit"] == 0.7


def test_a_task_of_other_sizes_is_refused(run):
    with pytest.raises(UserError, match=r"\(obs 17, action 6\) are not the policy's \(obs 11, action 3\); give the task"):
        evaluate(run, episodes=1, task="walker2d-speed")


def test_choices_of_the_same_sizes_fit():
    info = agent_with(SPECS["multi"])[0].policy().info
    refuse_other_sizes(SPECS["multi"], info)
    sizes = SPECS["multi"].action.sizes
    for action in (cuprl.Discrete(sum(sizes)), cuprl.MultiDiscrete(sizes[::-1])):  # as many logits, of other choices
        with pytest.raises(UserError, match=f"action {action}\\) are not the policy's"):
            refuse_other_sizes(cuprl.Spec("other", 5, action, SPECS["multi"].constraints, 10), info)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"episodes": 2.5}, "episodes is 2.5; give a whole number from 1 to 100000"),
        ({"episodes": 10**30}, "give a whole number from 1 to 100000"),
        ({"trust": 5}, "trust is 5; give the names of modules, or True for all"),
        ({"episodes": "many"}, "episodes is 'many'"),
        ({"seed": -1}, "seed is -1; give a whole number of at least 0"),
        ({"seed": 0.5}, "seed is 0.5"),
    ],
)
def test_wrong_numbers_of_an_evaluation(arguments, words, run):
    with pytest.raises(cuprl.errors.UserError, match=words):
        cuprl.evaluate(run, **arguments)


def test_a_limit_on_the_plain_sum_is_judged_by_it(tmp_path):
    """What was trained to keep a plain sum is not called safe for its discounted one; an exported file knows it too."""
    small = {"algo": "ppo", "steps": 400, **SMALL, **QUIET}
    run = cuprl.train("hopper-speed", out=tmp_path / "r", cost_return="undiscounted", eval_every=1, **small)
    file = cuprl.export_policy(run, out=tmp_path / "policy.npz")
    for policy in (run, file):
        found = cuprl.evaluate(policy, episodes=3)
        assert found["cost_mean"] == pytest.approx(found["cost_undiscounted_mean"])
        (speed,) = cuprl.certify(policy, episodes=3).constraints
        assert speed.discount == 1.0
    rows = run.evaluations.columns()
    assert (rows["mode/cost"] < rows["mode/cost_undiscounted"]).all()  # both are there
    between = (rows["mode/cost"][-1] + rows["mode/cost_undiscounted"][-1]) / 2
    again = {"eval_every": 2, "limits": float(between), **small}
    rates = [
        cuprl.train("hopper-speed", out=tmp_path / kind, cost_return=kind, **again).evaluations.columns()[
            "mode/violation_rate"
        ]
        for kind in ("discounted", "undiscounted")
    ]
    assert rates[0][-1] < rates[1][-1]
