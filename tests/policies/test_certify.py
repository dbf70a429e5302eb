"""Certificates: what is said of a policy whose costs are known exactly, the same each time, nothing of another policy."""

import dataclasses
import json
import math

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core.spec_json import spec_from_json, spec_to_json
from cuprl.errors import UserError
from cuprl.policies import certify as certifying
from cuprl.policies.certificate import Certificate, read_certificate
from cuprl.policies.export import export_policy
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.theory.exact import evaluate
from cuprl.training.train import train
from small import QUIET, SMALL


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two constraints: the effort of a step is bounded, the speed is not."""
    return train("hopper-speed-effort", steps=400, out=tmp_path_factory.mktemp("runs") / "r", **SMALL, **QUIET)


@pytest.fixture(scope="module")
def certificate(run):
    return cuprl.certify(run, episodes=40)


# --- what is said ---------------------------------------------------------------------------------------------------------


def test_a_tabular_policy_whose_cost_is_known_exactly(tmp_path):
    run = train("tabular:gridworld", steps=400, out=tmp_path / "r", **SMALL, **QUIET)
    policy = cuprl.load(run)
    cmdp = cuprl.envs.find("tabular:gridworld").cmdp
    logits = policy.outputs(np.eye(cmdp.n_states))
    chances = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    value, (cost,) = evaluate(cmdp, chances / chances.sum(axis=1, keepdims=True))
    found = cuprl.certify(run, episodes=2000, confidence=0.99, mode="sampled")
    (statement,) = found.constraints
    assert statement.lower < cost < statement.upper and statement.method == "bootstrap-t" and statement.largest is None
    assert found.return_low < value < found.return_high
    assert statement.upper - statement.lower < 0.3 * cost  # and they say something
    assert found.verdict == statement.verdict == "not within" and cost > statement.limit
    with pytest.raises(UserError, match="steps, its horizon is 20: a bound on a step's cost is then none on an episode's"):
        cuprl.certify(run, episodes=100, mode="sampled", cost_bound=1.0)


def test_numbers_of_numpy_are_plain_ones_in_what_is_written(run):
    found = cuprl.certify(run, np.int64(3), np.float32(0.5), seed=np.int64(7))
    assert Certificate.from_json(json.loads(json.dumps(found.to_json()))) == found
    evaluated = cuprl.evaluate(run, np.int64(3), seed=np.int64(7))
    assert json.loads(json.dumps(evaluated)) == evaluated


def test_all_constraints_share_the_confidence(run, certificate):
    speed, effort = certificate.constraints
    assert speed.confidence == effort.confidence == pytest.approx(0.975) and certificate.confidence == 0.95
    assert (speed.method, effort.method) == ("bootstrap-t", "betting")
    assert effort.largest == pytest.approx(3.0 * (1 - 0.99**1000) / 0.01)
    alone = cuprl.evaluate(run, episodes=40, seed=certificate.episode_seed)  # the same episodes, where nothing is drawn
    for statement in certificate.constraints:
        assert statement.cost == pytest.approx(alone["cost_mean"][statement.constraint])
        assert statement.lower <= statement.cost <= statement.upper
        assert statement.over == round(40 * alone["cost_violation_rate"][statement.constraint])
    assert certificate.return_mean == pytest.approx(alone["return_mean"])
    assert certificate.iteration == 2 and certificate.task == "hopper-speed-effort"


@pytest.mark.parametrize("mode", ["mode", "sampled"])
def test_the_same_each_time_on_any_number_of_threads(run, mode):
    first = cuprl.certify(run, episodes=7, mode=mode, threads=1)
    assert cuprl.certify(cuprl.load(run), episodes=7, mode=mode, threads=2) == first
    assert cuprl.certify(run, episodes=7, mode=mode, seed=5).return_mean != first.return_mean


def test_in_rounds(run, certificate, monkeypatch):
    monkeypatch.setattr(certifying, "AT_ONCE", 12)  # four rounds of ten
    done = []
    again = cuprl.certify(run, episodes=40, tell=done.append)
    assert done == [10, 20, 30, 40]
    assert [s.over for s in again.constraints] == [s.over for s in certificate.constraints]
    assert again.return_mean == pytest.approx(certificate.return_mean)
    monkeypatch.setattr(certifying, "AT_ONCE", 15)  # 14, 14, and 12 of the last 14
    assert cuprl.certify(run, episodes=40, tell=done.append).return_mean == pytest.approx(certificate.return_mean)
    assert done[4:] == [14, 28, 40]


def test_episodes_come_in_the_order_of_their_seeds(run, monkeypatch):
    """That of their ends goes with their costs, and the betting bound of such an order is none."""
    taken, fresh = [], certifying.fresh_episodes
    monkeypatch.setattr(certifying, "fresh_episodes", lambda *a: taken.append(fresh(*a)) or taken[-1])
    cuprl.certify(run, episodes=6, seed=50)
    for i in range(6):
        cuprl.certify(run, episodes=1, seed=50 + i)
    together, *alone = taken
    assert sorted(together.length) != list(together.length)
    np.testing.assert_array_equal(together.length, [episodes.length[0] for episodes in alone])
    np.testing.assert_allclose(together.discounted, np.concatenate([episodes.discounted for episodes in alone]))


def test_a_bound_that_is_given_is_used_and_checked(run):
    speed, effort = cuprl.certify(run, episodes=5, cost_bound={"speed": 50.0}).constraints
    assert speed.method == effort.method == "betting" and speed.largest == pytest.approx(5000, rel=1e-3)
    with pytest.raises(UserError, match=r"cost .* in speed, outside of its bound, 0 to 0.01; correct"):
        cuprl.certify(run, episodes=5, cost_bound={"speed": 0.01})
    with pytest.raises(UserError, match=r"the bound is 1.0, but there are speed, effort; name it"):
        cuprl.certify(run, episodes=5, cost_bound=1.0)


def test_tasks_of_zero_or_one_say_so_and_others_keep_their_spec():
    for name, task in cuprl.TASKS.items():
        bounds = [c.step_bound for c in task.constraints]
        assert bounds == (
            [1.0] if name.endswith(("-circle", "-velocity")) else [None, 3.0] if "effort" in name else [None] * len(bounds)
        ), name
    for constraint in (cuprl.Constraint("cost", 1.0), cuprl.Constraint("cost", 1.0, step_bound=2.0)):
        spec = cuprl.Spec("arm", 5, cuprl.Discrete(2), (constraint,), 100)
        values = spec_to_json(spec)["constraints"][0]
        assert ("step_bound" in values) == (constraint.step_bound is not None)
        assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec
    assert cuprl.Constraint("cost", 1.0, discount=1.0, step_bound=2.0).largest_sum(30) == 60.0
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(UserError, match=r"the bound of cost 'cost' is .*; give a finite number above 0"):
            cuprl.Constraint("cost", 1.0, step_bound=wrong)


def test_undecided_tells_how_many(run, certificate):
    speed = certificate.constraints[0]
    near = (speed.cost + speed.upper) / 2
    again = certifying.state(cuprl.Constraint("speed", near), np.linspace(0.9, 1.1, 40) * speed.cost, 0.025, 1000)
    assert again.verdict == "undecided" and again.to_decide > 40


# --- files ----------------------------------------------------------------------------------------------------------------


def test_the_command_writes_and_an_exported_policy_carries_it(run, tmp_path, capsys):
    assert main(["certify", str(run.path), "--episodes", "10", "--sampled", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    kept = read_certificate(run.path / "certificate.json")
    assert kept.to_json() == shown and kept.mode == "sampled" and Certificate.from_json(shown) == kept
    assert kept == cuprl.certify(run, episodes=10, mode="sampled")
    for mode, said in (
        (["--sampled"], ""),
        ([], "held the certificate of sampled actions, iteration 2, which this one replaces"),
    ):
        assert main(["certify", str(run.path), "--episodes", "10", "--json", *mode]) == 0
        err = capsys.readouterr().err
        assert said in err and bool(said) == bool(err)
    assert main(["certify", str(run.path), "--episodes", "10", "--sampled", "--json"]) == 0 and capsys.readouterr()
    file = tmp_path / "policy.npz"
    assert main(["export", str(run.path), "--episodes", "0", "--out", str(file)]) == 0
    assert "with its certificate: 10 episodes, " in capsys.readouterr().out
    assert cuprl.load(file).info["certificate"] == shown
    (run.path / "certificate.json").write_text(json.dumps({**shown, "iteration": 7}))
    assert main(["export", str(run.path), "--episodes", "0", "--out", str(file)]) == 0
    said = capsys.readouterr()
    assert "no certificate: the certificate is of iteration 7, the policy of iteration 2; certify it anew." in said.err
    assert "with its certificate" not in said.out and cuprl.load(file).info["certificate"] is None
    with pytest.raises(UserError, match="the certificate is of iteration 7"):
        export_policy(run, out=file, certificate=dataclasses.replace(kept, iteration=7))
    (run.path / "certificate.json").unlink()


def test_a_certificate_is_of_no_other_run(run, certificate, tmp_path):
    other = train("hopper-speed-effort", steps=400, out=tmp_path / "r", **{**SMALL, "policy_lr": 1e-3}, **QUIET)
    assert certificate.policy == cuprl.load(run).fingerprint != cuprl.load(other).fingerprint
    with pytest.raises(UserError, match="of a policy with other weights, as of another run; certify this one anew"):
        export_policy(other, out=tmp_path / "policy.npz", certificate=certificate)
    file = export_policy(run, out=tmp_path / "policy.npz", certificate=certificate)
    assert cuprl.load(file).fingerprint == certificate.policy
    old = {name: value for name, value in certificate.to_json().items() if name != "policy"}  # from before it was kept
    export_policy(other, out=tmp_path / "policy.npz", certificate=Certificate.from_json(old))


def test_an_exported_policy_is_certified_as_its_run(run, certificate, tmp_path, capsys):
    file = export_policy(run, out=tmp_path / "policy.npz")
    assert main(["certify", str(file), "--episodes", "40"]) == 0
    shown = capsys.readouterr().out
    assert read_certificate(tmp_path / "policy.certificate.json") == certificate
    assert "40 fresh episodes from seed 1,000,000" in shown and "Each has 97.5%" in shown and "bootstrap-t: the" in shown
    for source in (file, run.path):
        out = tmp_path / "new" / f"{source.name}.npz"
        assert main(["certify", str(source), "--episodes", "40", "--out", str(out)]) == 0
        assert cuprl.load(out).info["certificate"] == certificate.to_json()
        np.testing.assert_array_equal(cuprl.load(out).predict(np.ones(11)), cuprl.load(run).predict(np.ones(11)))
    assert not (run.path / "certificate.json").exists()


# --- wrong input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--episodes", "0"], "episodes is 0; give a whole number of at least 1"),
        (["--episodes", "1.5"], "--episodes is '1.5'; give a whole number"),
        (["--confidence", "1.5"], "confidence is 1.5; give a number above 0 and below 1, as 0.95"),
        (["--confidence", "nan"], "confidence is nan"),
        (["--seed", "-1"], "seed is -1"),
        (["--threads", "0"], "threads is 0"),
        (["--mode", "--sampled"], "not allowed with argument --mode"),
        (["--cost-bound", "sped=1"], "did you mean speed"),
        (["--cost-bound", "speed=0"], "the bound of cost 'speed' is 0.0; give a finite number above 0"),
        (["--out", "c.txt"], "--out c.txt ends neither in .json nor in .npz"),
    ],
)
def test_wrong_words(argv, words, run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["certify", str(run.path), *argv]) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not shown.out
    assert not list(tmp_path.iterdir()) and not (run.path / "certificate.json").exists()


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_file_that_cannot_be_written_is_known_before_the_episodes(suffix, run, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(certifying, "certify", None)
    (tmp_path / f"folder{suffix}").mkdir()
    for out, words in (
        (tmp_path / "folder", "is a folder; give a file in it"),
        ("/proc/c", "give a file or folder that can"),
    ):
        assert main(["certify", str(run.path), "--out", f"{out}{suffix}"]) == 2
        shown = capsys.readouterr().err
        assert words in shown and f"{out}{suffix}" in shown and shown.count("\n") == 1


def test_a_certificate_is_not_put_into_a_program(run, tmp_path, capsys):
    file = export_policy(run, "jax", tmp_path / "p.jax")
    assert main(["certify", str(file), "--trust", "--out", str(tmp_path / "p.npz")]) == 2
    assert "needs the arrays that" in capsys.readouterr().err and not (tmp_path / "p.npz").exists()


def test_runs_that_cannot_act(run, tmp_path, capsys):
    empty = Run.create(tmp_path / "empty", RunConfig.from_json(run.config))
    broken = Run.create(tmp_path / "broken", RunConfig.from_json(run.config))
    arrays, _ = run.latest()
    broken.save(2, {name: np.full_like(x, np.nan) if name.startswith("policy/weight") else x for name, x in arrays.items()})
    for path, words in (
        (empty.path, "no intact checkpoint"),
        (broken.path, "NaN or infinite weights"),
        (tmp_path / "nowhere", "is not a run"),
    ):
        assert main(["certify", str(path)]) == 2
        shown = capsys.readouterr()
        assert words in shown.err and shown.err.count("\n") == 1 and not shown.out


def test_other_wrong_things(run):
    with pytest.raises(UserError, match=r"unknown mode 'best'.*accepted: mode, sampled"):
        cuprl.certify(run, mode="best")
    hopper = cuprl.TASKS["hopper-speed-effort"]
    other = cuprl.certify(run, episodes=2, task=dataclasses.replace(hopper, name="hopper-on-ice"))
    with pytest.raises(UserError, match="the certificate is of task hopper-on-ice, the policy of task hopper-speed-effort"):
        other.refuse_other(cuprl.load(run))
    nan = dataclasses.replace(hopper, costs=lambda physics, motion: np.full((len(motion.position), 2), np.nan))
    with pytest.raises(UserError, match="NaN"):
        cuprl.certify(run, episodes=2, task=nan)
