"""What makes an entry of the zoo: nothing without a verdict, and then all that belongs to it."""

import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.policies import zoo
from cuprl.training.train import train
from scripts import script
from small import QUIET, SMALL

PAGE = "# The zoo\n\n<!-- the zoo -->\nold\n<!-- end -->\n\nmore\n"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The tool, with a zoo of its own."""
    module = script("tools/zoo.py")
    for name in ("zoo", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "zoo.md").write_text(PAGE)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    monkeypatch.setattr(module, "EPISODES", 5)
    monkeypatch.setattr(module, "CARDS", tmp_path / "docs" / "policies")
    monkeypatch.setattr(module, "PAGE", tmp_path / "docs" / "zoo.md")
    return module


def run_with(limit, folder):
    """One iteration under a limit: a swimmer that hardly moves."""
    return train("swimmer-speed", "ppo", steps=200, limits=limit, seed=3, out=folder, clip=0.1, **SMALL, **QUIET)


def test_an_entry_and_a_refusal(tool, tmp_path):
    run = run_with(1000.0, tmp_path / "within")
    tool.make(run, "the only one", "swimmer-speed", 60, picture=False)
    policy = cuprl.load("zoo:swimmer-speed")
    made = policy.info["training"]
    assert made["chosen"] == "the only one" and policy.info["evaluation"]["episodes"] == tool.EPISODES
    assert made["command"].startswith("cup train swimmer-speed --algo ppo --seed 3 --steps 200 --limit speed=1000 ")
    for words in ("--clip 0.1", "--hidden 8", "--minibatch 50"):
        assert words in made["command"]
    assert "--gamma" not in made["command"]  # a default
    shown = (tmp_path / "docs" / "policies" / "swimmer-speed.md").read_text()
    assert made["command"] in shown and "speed is within the limit at 95%" in shown and "![" not in shown
    page = (tmp_path / "docs" / "zoo.md").read_text()
    assert (
        "| [swimmer-speed](policies/swimmer-speed.md) | ppo | 200 | mode |" in page and "old" not in page and "more" in page
    )

    with pytest.raises(UserError, match=r"takes only what is within its limits, and .* is not .speed: not within"):
        tool.make(run_with(0.001, tmp_path / "over"), "none", "other", 60, picture=False)
    assert zoo.names() == ["swimmer-speed"] and (tmp_path / "docs" / "zoo.md").read_text() == page


def test_sampled_actions_are_certified_and_shown_as_such(tool, tmp_path):
    tool.make(run_with(1000.0, tmp_path / "run"), "its mode stands", "swimmer-speed", 60, picture=False, sampled=True)
    info = cuprl.load("zoo:swimmer-speed").info
    assert info["certificate"]["mode"] == "sampled" and info["evaluation"]["deterministic"] is False
    shown = (tmp_path / "docs" / "policies" / "swimmer-speed.md").read_text()
    assert "with actions sampled as in training" in shown and "cup eval zoo:swimmer-speed --sampled" in shown
    assert "| ppo | 200 | sampled |" in (tmp_path / "docs" / "zoo.md").read_text()


def test_without_its_picture_nothing_is_written(tool, tmp_path, monkeypatch):
    def refused(*_, **__):
        raise UserError("no renderer")

    monkeypatch.setattr(cuprl, "video", refused)
    with pytest.raises(UserError, match="no renderer"):
        tool.make(run_with(1000.0, tmp_path / "run"), "the only one", "swimmer-speed", 60, picture=True)
    assert not zoo.names() and (tmp_path / "docs" / "zoo.md").read_text() == PAGE


def test_the_commands_of_a_run_with_a_history(tool, tmp_path):
    run = run_with(1000.0, tmp_path / "run")
    start = {"sha256": "ab" * 32, "critics": True, "task": "swimmer-speed", "algo": "cup", "seed": 0, "iteration": 9}
    more = [{"iteration": 1, "steps": 200, "anneal": "restart"}, {"iteration": 3, "steps": 600, "anneal": "off"}]
    first, *further = tool.command_of({**run.config, "steps": 1000, "start": start, "extensions": more}).splitlines()
    assert "--steps 200 --from POLICY --from-critics --limit speed=1000" in first
    assert "--eval" not in first
    evaluated = tool.command_of({**run.config, "eval_every": 20, "eval_episodes": 5})
    assert evaluated.endswith("--eval-every 20 --eval-episodes 5")
    assert "--limit speed=103.11555 " in tool.command_of({**run.config, "limits": {"speed": 103.11555}})
    assert further == ["cup resume RUN --steps 600 --anneal restart", "cup resume RUN --steps 1_000 --anneal off"]


def test_the_rule_says_which_policy_it_is(tool, tmp_path):
    run = run_with(1000.0, tmp_path / "seed3")
    with pytest.raises(UserError, match=r"has seed 3, and the zoo takes seed 0 .* say with --chosen"):
        tool.by_the_rule(run)
    more = {"steps": 400, "limits": 1000.0, "seed": 0, **SMALL, **QUIET}
    assert tool.by_the_rule(train("swimmer-speed", "ppo", out=tmp_path / "last", **more))[0] == "last"
    evaluated = train("swimmer-speed", "ppo", out=tmp_path / "best", eval_every=1, eval_episodes=1, **more)
    assert tool.by_the_rule(evaluated) == ("best", "by the rule: seed 0, the best of 2 evaluations in training")
    stopped = train("swimmer-speed", "ppo", out=tmp_path / "stopped", on_iteration=lambda row, training: False, **more)
    with pytest.raises(UserError, match="is at iteration 1 of 2; `cup resume"):
        tool.by_the_rule(stopped)


def test_one_command_makes_entries(tool, tmp_path, monkeypatch, capsys):
    more = {"steps": 200, "limits": 1000.0, "seed": 0, **SMALL, **QUIET}
    runs = [str(train(task, "ppo", out=tmp_path / task, **more).path) for task in ("swimmer-speed", "hopper-speed")]
    words = ["zoo.py", runs[0], str(tmp_path / "none"), runs[1], "--episodes", "60", "--no-picture"]
    monkeypatch.setattr("sys.argv", words)
    assert tool.main() == 2  # one of the three is no run
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and str(tmp_path / "none") in shown.err
    assert zoo.names() == ["hopper-speed", "swimmer-speed"] and shown.out.count("by the rule: seed 0, the last") == 2
    assert cuprl.load("zoo:hopper-speed").info["training"]["chosen"].startswith("by the rule")


@pytest.mark.parametrize(
    "more, words",
    [
        (["--checkpoint", "1"], "a checkpoint that is not the rule's: say with --chosen"),
        (["--sampled"], "actions that are not the rule's: say with --chosen"),
        (["b", "--name", "x"], "go with one run"),
    ],
)
def test_wrong_words(more, words, tool, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["zoo.py", str(tmp_path), *more])
    assert tool.main() == 2 and words in capsys.readouterr().err
