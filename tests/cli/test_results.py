"""`cup results` as a person types it."""

import csv
import json

import pytest

import cuprl
from cuprl.cli import main
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.store.results import config_hash
from cuprl.runs.folder import Run
from cuprl.training.train import train
from small import QUIET, SMALL

WORDS = tuple((name, ",".join(map(str, v)) if isinstance(v, tuple) else str(v)) for name, v in SMALL.items())
TINY = Experiment("tiny", "for tests", (Block(("hopper-speed", "hopper-speed-effort"), ("cup",), (0,), 600, WORDS),))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The runs of TINY, really trained; the second task has two constraints."""
    root = tmp_path_factory.mktemp("runs")
    return [str(train(task, steps=600, out=root / task, **SMALL, **QUIET).path) for task in TINY.blocks[0].tasks]


def test_import_list_export(paths, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(shipped.EXPERIMENTS, "tiny", TINY)
    monkeypatch.chdir(tmp_path)
    assert main(["results", "list"]) == 2
    assert "no result is stored in results (there is no such folder here" in capsys.readouterr().err
    assert main(["results", "import", *paths, "--experiment", "tiny"]) == 0
    assert main(["results", "import", paths[0]]) == 0
    assert main(["results", "import", paths[0], "--experiment", "quick"]) == 0
    assert "(stale: made with steps 600, not 100000)" in capsys.readouterr().out
    assert main(["results", "export", "tiny", "--out", "all.csv"]) == 0
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert len(rows) == 2 * 3 and {r["task"] for r in rows} == {"hopper-speed", "hopper-speed-effort"}
    first = Run(paths[0])
    mine = [r for r in rows if r["hash"] == config_hash(first.config)]
    assert [float(r["rollout/ep_rew_mean"]) for r in mine] == pytest.approx(
        first.progress()["rollout/ep_rew_mean"], rel=1e-5
    )
    assert mine[0]["rollout/ep_cost_mean/effort"] == "" and mine[0]["seed"] == "0" and mine[0]["algo"] == "cup"
    assert main(["results", "export", "--out", "folder"]) == 0
    assert "1 stale result left out" in capsys.readouterr().err
    written = sorted(path.parent.name for path in (tmp_path / "folder").rglob("*.csv"))
    assert written == ["imported", *["tiny"] * 2]
    facts = json.loads(next((tmp_path / "folder" / "tiny").glob("*.json")).read_text())
    assert facts["settings"]["batch_size"] == 200 and facts["versions"]["cuprl"] == cuprl.__version__


@pytest.mark.parametrize(
    "argv, words",
    [
        (["results"], "import|export|list"),
        (["results", "import", "nowhere"], "not a run"),
        (["results", "import", "nowhere", "--experiment", "a/b"], "letters, digits, dots and dashes"),
        (["results", "import", "nowhere", "--experiment", ".."], "letters"),
        (["results", "import", "nowhere", "--experiment", "mine.toml"], "a file; give a name"),
        (["results", "export", "quick", "--out", "x.csv"], "no result of quick"),
        (["results", "export", "quick"], "--out"),
        (["results", "list", "--resuls", "x"], "did you mean --results"),
    ],
)
def test_wrong_input_gets_one_sentence(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not shown.out and not list(tmp_path.iterdir())
