"""What makes an entry of the zoo: nothing without a verdict, and then all that belongs to it."""

import importlib.util
from pathlib import Path

import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.policies import zoo
from cuprl.training.train import train
from small import QUIET, SMALL

ROOT = Path(__file__).parents[2]
PAGE = "# The zoo\n\n<!-- the zoo -->\nold\n<!-- end -->\n\nmore\n"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The tool, with a zoo of its own."""
    spec = importlib.util.spec_from_file_location("zoo_tool", ROOT / "tools" / "zoo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("zoo", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "zoo.md").write_text(PAGE)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    monkeypatch.setattr(module, "CARDS", tmp_path / "docs" / "policies")
    monkeypatch.setattr(module, "PAGE", tmp_path / "docs" / "zoo.md")
    return module


def run_with(limit, folder):
    """One iteration under a limit: a swimmer that hardly moves."""
    return train("swimmer-speed", steps=200, limits=limit, seed=3, out=folder, alpha=0.1, **SMALL, **QUIET)


def test_an_entry_and_a_refusal(tool, tmp_path):
    run = run_with(1000.0, tmp_path / "within")
    tool.make(run, "the only one", "swimmer-speed", 60, picture=False)
    policy = cuprl.load("zoo:swimmer-speed")
    made = policy.info["training"]
    assert made["chosen"] == "the only one" and policy.info["evaluation"]["episodes"] == tool.EPISODES
    assert made["command"].startswith("cup train swimmer-speed --algo cup --seed 3 --steps 200 --limit speed=1000 ")
    for words in ("--alpha 0.1", "--hidden 8", "--minibatch 50"):
        assert words in made["command"]
    assert "--gamma" not in made["command"]  # a default
    shown = (tmp_path / "docs" / "policies" / "swimmer-speed.md").read_text()
    assert made["command"] in shown and "speed is within the limit at 95%" in shown and "![" not in shown
    page = (tmp_path / "docs" / "zoo.md").read_text()
    assert "| [swimmer-speed](policies/swimmer-speed.md) | cup | 200 |" in page and "old" not in page and "more" in page

    with pytest.raises(UserError, match=r"takes only what is within its limits, and .* is not .speed: not within"):
        tool.make(run_with(0.001, tmp_path / "over"), "none", "other", 60, picture=False)
    assert zoo.names() == ["swimmer-speed"] and (tmp_path / "docs" / "zoo.md").read_text() == page


def test_the_commands_of_a_run_with_a_history(tool, tmp_path):
    run = run_with(1000.0, tmp_path / "run")
    start = {"sha256": "ab" * 32, "critics": True, "task": "swimmer-speed", "algo": "cup", "seed": 0, "iteration": 9}
    more = [{"iteration": 1, "steps": 200, "anneal": "restart"}, {"iteration": 3, "steps": 600, "anneal": "off"}]
    first, *further = tool.command_of({**run.config, "steps": 1000, "start": start, "extensions": more}).splitlines()
    assert "--steps 200 --from POLICY --from-critics --limit speed=1000" in first
    assert further == ["cup resume RUN --steps 600 --anneal restart", "cup resume RUN --steps 1_000 --anneal off"]


def test_how_it_was_chosen_must_be_said(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["zoo.py", str(tmp_path)])
    assert tool.main() == 2 and "say with --chosen" in capsys.readouterr().err
