"""The policies that come with the package: found by name, intact, certified, and what their cards say of them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.pages.card import card, summary
from cuprl.policies import zoo
from cuprl.policies.certificate import Certificate
from cuprl.policies.export import export_policy

DOCS = Path(__file__).parents[2] / "docs"


def test_hopper_is_there():
    assert "hopper-speed" in zoo.names()


@pytest.mark.parametrize("name", zoo.names())
def test_a_policy_of_the_zoo_acts_and_is_certified_within_its_limits(name):
    policy = cuprl.load(f"zoo:{name}")
    certificate = Certificate.from_json(policy.info["certificate"])
    certificate.refuse_other(policy)
    assert certificate.verdict == "within" and certificate.episodes >= 1000
    assert certificate.mode == "mode" or "sampled actions" in policy.info["training"]["chosen"]
    action = policy.predict(np.zeros(policy.info["spec"]["obs_dim"]))
    assert np.isfinite(action).all() and policy.arrays["mean"].any()
    assert zoo.file_of(f"zoo:{name}").stat().st_size < 200_000  # all of them go into the wheel
    assert policy.info["training"]["command"].startswith("cup train ") and policy.info["training"]["chosen"]
    assert "/" not in policy.info["training"]["command"]  # nothing of the machine it was made on


@pytest.mark.parametrize("name", zoo.names())
def test_a_card_is_what_the_file_says(name):
    """`python tools/zoo.py` writes them again."""
    shown = (DOCS / "policies" / f"{name}.md").read_text()
    assert shown == card(cuprl.load(f"zoo:{name}"), name, f"{name}.png")
    assert (DOCS / "policies" / f"{name}.png").stat().st_size > 10_000


def test_the_page_lists_them_all():
    page = (DOCS / "zoo.md").read_text()
    rows = summary({name: cuprl.load(f"zoo:{name}") for name in zoo.names()}).rows
    for name, *cells in rows:
        assert f"| [{name}](policies/{name}.md) | {' | '.join(cells)} |" in page
    assert len(re.findall(r"^\| \[", page, re.MULTILINE)) == len(rows)


def test_a_policy_measures_now_what_its_certificate_says():
    """The same episodes again, a few of them: the file, the task and the physics still fit together."""
    policy = cuprl.load("zoo:hopper-speed")
    stated = Certificate.from_json(policy.info["certificate"])
    again = cuprl.certify(policy, episodes=20, threads=1)
    (cost,) = again.constraints
    assert cost.cost == pytest.approx(stated.constraints[0].cost, rel=0.1)
    assert again.return_mean == pytest.approx(stated.return_mean, rel=0.2)


def test_commands_take_it_and_write_nothing_into_the_package(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = sorted(zoo.FOLDER.iterdir())
    assert main(["eval", "zoo:hopper-speed", "--episodes", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == "zoo:hopper-speed"
    assert main(["certify", "zoo:hopper-speed", "--episodes", "2", "--threads", "1"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["hopper-speed.certificate.json"]
    assert sorted(zoo.FOLDER.iterdir()) == before
    capsys.readouterr()
    assert main(["zoo"]) == 0 and "hopper-speed" in capsys.readouterr().out
    assert main(["zoo", "hopper-speed"]) == 0
    assert capsys.readouterr().out == card(cuprl.load("zoo:hopper-speed"), "hopper-speed")


@pytest.mark.parametrize("suffix", [".npz", ".onnx"])
def test_it_is_exported_with_its_certificate(suffix, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    of_zoo, to = cuprl.load("zoo:hopper-speed"), {".npz": "numpy", ".onnx": "onnx"}[suffix]
    assert main(["export", "zoo:hopper-speed", "--to", to, "--episodes", "0"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == [f"hopper-speed{suffix}"]
    exported = cuprl.load(tmp_path / f"hopper-speed{suffix}")
    assert exported.info == of_zoo.info
    obs = np.linspace(-1.0, 1.0, 11)
    np.testing.assert_allclose(exported.predict(obs), of_zoo.predict(obs), atol=1e-6)


def test_a_file_that_hides_its_arrays_is_not_exported_again(tmp_path):
    file = export_policy("zoo:hopper-speed", "onnx", tmp_path / "p.onnx")
    with pytest.raises(UserError, match=r"p\.onnx does not show its arrays; give the run .* or a \.npz file"):
        export_policy(file, "numpy", tmp_path / "q.npz")


@pytest.mark.parametrize("command", [["eval", "zoo:hoper-speed"], ["zoo", "hoper-speed"], ["video", "zoo:hoper-speed"]])
def test_a_name_that_is_not_there(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "unknown policy of the zoo 'hoper-speed'; did you mean hopper-speed" in told and told.count("\n") == 1


def test_it_has_no_checkpoints():
    with pytest.raises(UserError, match="zoo:hopper-speed holds one policy alone; the checkpoint 'best' goes with a run"):
        cuprl.load("zoo:hopper-speed", checkpoint="best")


def test_an_empty_zoo(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    with pytest.raises(UserError, match=r"the zoo is empty: .* install cuprl again"):
        cuprl.load("zoo:hopper-speed")
    assert main(["zoo"]) == 0
