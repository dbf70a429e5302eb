"""A stranger's folder or file: what it names is not imported, and what it says is not believed, without its user's word."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.policies.export import export_policy
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from small import QUIET, SMALL

EVIL = "from pathlib import Path\nPath('ran').touch()\nfrom cuprl.algorithms.ppo import Config, init, update\n"
COST = "\ndef far(obs, action, next_obs, info):\n    return 1.0\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    task = cuprl.from_gymnasium("CartPole-v1", {"x": lambda obs, action, next_obs, info: 1.0}, 3.0)
    return cuprl.train(task, "ppo", steps=400, out=tmp_path_factory.mktemp("runs") / "r", **SMALL, **QUIET)


@pytest.fixture
def strange(trained, tmp_path, monkeypatch):
    """A run whose config.json names a module, `evil`, of the folder that commands are given in."""

    def made(**changes):
        run = Run.create(tmp_path / "r", replace(RunConfig.from_json(trained.config), **changes))
        run.save(2, trained.latest()[0])
        (run.path / "progress.csv").write_text((trained.path / "progress.csv").read_text())
        return str(run.path)

    (tmp_path / "evil.py").write_text(EVIL + COST)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(user_modules, "_named", set())
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "evil", raising=False)
    yield made
    sys.modules.pop("evil", None)


NAMES = [
    {"task": "gym:CartPole-v1+cost=x=evil:far+limit=3"},
    {"task": "gym:CartPole-v1+cost=x=info:cost+limit=3+import=evil"},
    {"task": "gym:evil:CartPole-v1+cost=x=info:cost+limit=3"},
    {"task": "gym:CartPole-v1+cost=x=info:cost+limit=3", "algo": "python:evil"},
]
COMMANDS = [line.split() for line in ("eval r --episodes 1", "resume r", "export r --episodes 1", "results import r")]


@pytest.mark.parametrize("changes", NAMES)
def test_nothing_that_a_folder_names_is_imported(changes, strange, capsys):
    strange(**changes)
    evaluated = "algo" not in changes  # acting needs no algorithm
    for command in COMMANDS if evaluated else COMMANDS[1::2]:
        assert main(command) == 2
        shown = capsys.readouterr().err
        assert "names the module evil" in shown and "add --import evil" in shown and shown.count("\n") == 1
    assert main(["plot", "r"]) == 0  # needs no code
    assert not Path("ran").exists()
    with pytest.raises(UserError, match="trust='evil'"):
        cuprl.resume("r", **QUIET)


@pytest.mark.parametrize("word", [["--import", "evil"], ["--trust"]])
def test_what_its_user_trusts_is_imported(word, strange, capsys):
    strange(**NAMES[0], steps=200)
    assert main(["eval", "r", "--episodes", "1", *word]) == 0 and Path("ran").exists()
    user_modules._named.clear()
    assert main(["eval", "r", "--episodes", "1", "--import", "evill"]) == 2
    assert cuprl.evaluate("r", episodes=1, trust="evil")["episodes"] == 1
    assert cuprl.evaluate(cuprl.load("r", trust=True), episodes=1)["episodes"] == 1


def test_an_exported_file_is_a_strangers_too(strange, capsys):
    file = export_policy(strange(**NAMES[0]), out="p.npz")
    assert cuprl.load(file).predict(np.zeros(4)) in (0, 1)  # acting needs no task
    assert main(["eval", "p.npz", "--episodes", "1"]) == 2
    assert "p.npz names the module evil" in capsys.readouterr().err and not Path("ran").exists()
    assert main(["eval", "p.npz", "--episodes", "1", "--import", "evil"]) == 0


def test_a_compiled_policy_needs_the_word(strange, trained):
    file = export_policy(trained, "jax", "p.jax")
    with pytest.raises(UserError, match="compiled program; if you trust who made it, add --trust"):
        cuprl.load(file, trust="operator")
    assert cuprl.load(file, trust=True).predict(np.zeros(4)) in (0, 1)


def test_an_agents_folder(strange):
    spec = cuprl.Spec("arm", 3, cuprl.Box(1, (-1.0,), (1.0,)), (cuprl.Constraint("c", 1.0),), 10)
    cuprl.Agent(spec, "python:evil", steps=200, **{**SMALL, "num_envs": 1}).save("arm")
    user_modules._named.clear()
    with pytest.raises(UserError, match="names the module evil"):
        cuprl.Agent.load("arm")
    assert cuprl.Agent.load("arm", trust="evil").num_envs == 1


def test_the_grid_says_the_word_for_what_its_user_named(strange, tmp_path):
    cell = Cell("gym:CartPole-v1+cost=x=evil:far+limit=3", "python:evil", 0, 200, limits=())
    assert "--import" not in cell.command(tmp_path)  # `cup train` names it
    cell.path(tmp_path).mkdir(parents=True)
    (cell.path(tmp_path) / "config.json").write_text("{}")
    assert cell.command(tmp_path)[2:] == ["--import", "evil"]


def test_a_folder_in_the_way_of_a_grid_is_not_believed(strange):
    cell = Cell("hopper-speed", "cup", 0, 5000)
    with pytest.raises(UserError, match="names the module evil"):
        cell.check_same(Run(strange(**NAMES[0])))
    assert not Path("ran").exists()


# --- processes of ours ------------------------------------------------------------------------------------------------

SHADOW = "from pathlib import Path\nPath('ran').touch()\n"
NAMES_OWN = "from cuprl.core.user_modules import import_own; import_own('own'); import numpy; numpy.zeros(1)"


@pytest.mark.parametrize("words", [("-c", NAMES_OWN), ("-m", "cuprl", "tasks")])
def test_a_process_of_ours_takes_no_file_of_the_folder_for_a_library(words, tmp_path):
    for library in ("numpy", "rich", "gymnasium"):
        (tmp_path / f"{library}.py").write_text(SHADOW)
    (tmp_path / "own.py").write_text("")
    done = subprocess.run(user_modules.python(*words), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not (tmp_path / "ran").exists(), done.stderr


def test_nothing_else_starts_a_process_of_python():
    sources = Path(cuprl.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if "sys.executable" in path.read_text()] == ["user_modules.py"]


# --- what a run says of itself ------------------------------------------------------------------------------------------


def test_a_changed_source_is_told(strange, capsys):
    cuprl.train("gym:CartPole-v1+cost=x=evil:far+limit=3", "ppo", steps=400, out="own", **SMALL, **QUIET)
    commands = [["eval", "own", "--episodes", "1"], ["resume", "own"], ["results", "import", "own"]]
    assert all(main(command) == 0 for command in commands) and "changed" not in capsys.readouterr().err
    export_policy("own", out="p.npz")
    Path("evil.py").write_text(EVIL + COST.replace("1.0", "2.0"))
    for command in (*commands, ["eval", "p.npz", "--episodes", "1"]):
        assert main(command) == 0
        assert "evil changed since" in capsys.readouterr().err, command


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 7},
        {"steps": 600},
        {"limits": {"x": 99.0}},
        {"algo": "cup"},
        {"settings": {"gamma": 0.5}},
    ],
)
def test_a_changed_configuration_is_refused(change, strange, capsys):
    path = strange(task="gym:CartPole-v1+cost=x=info:cost+limit=3")
    file = Path(path, "config.json")
    config = json.loads(file.read_text())
    change = {"settings": {**config["settings"], **change["settings"]}} if "settings" in change else change
    for hash in (config["hash"], None):
        file.write_text(json.dumps({**config, **change, "hash": hash}))
        for command in (["resume", "r"], ["results", "import", "r"]):
            main(command)  # without a hash, as before there was one, it is believed: what else may be wrong is not said here
            assert ("do not fit its hash" in capsys.readouterr().err) == (hash is not None), command


@pytest.mark.parametrize(
    "text, words",
    [
        ("{}", "has no task: it is not a run's"),
        ("[1]", "has no task: it is not a run's"),
        ("\xff", "not readable JSON"),
        ('{"task": 3}', "has task 3"),
    ],
)
@pytest.mark.parametrize("command", [["eval"], ["resume"], ["plot"], ["export"], ["results", "import"]])
def test_a_folder_that_is_no_runs_gets_one_sentence(text, words, command, tmp_path, capsys):
    (tmp_path / "config.json").write_bytes(text.encode("latin-1"))
    assert main([*command, str(tmp_path)]) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1


@pytest.mark.parametrize("name", ["", "a b", "x;y", "../evil", ".evil", "evil."])
def test_what_is_no_name_of_a_module(name):
    with pytest.raises(UserError, match="is no name of a module"):
        user_modules.import_own(name)
