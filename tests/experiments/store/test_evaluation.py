"""Evaluations of the mode that are stored with a run: the same numbers each time, and old files stay as they are."""

import gzip
import json
from pathlib import Path

import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import stats_records, stats_table, table
from cuprl.experiments.store.evaluation import with_evaluation
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import checksum, read, store
from cuprl.experiments.store.stored import files, stored
from cuprl.runs.folder import Run
from experiments.synthetic import groups_of
from experiments.tiny import FILE, SMALL

CELLS = expand(Experiment("tiny", "", (Block(("hopper-speed-effort",), ("cup",), (0,), 600, SMALL, evaluate=3),)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    (cell,) = CELLS
    path = cell.path(tmp_path_factory.mktemp("runs"))
    assert main(cell.command(path.parents[2])) == 0
    return Run(path)


def test_it_is_what_cup_eval_says(run, tmp_path):
    result = with_evaluation(from_run(run), run, 3)
    found = cuprl.evaluate(run, episodes=3)
    assert result.evaluation["return"] == pytest.approx(found["return_mean"], rel=1e-5)
    assert result.evaluation["cost"] == pytest.approx(found["cost_mean"], rel=1e-5) and len(found["cost_mean"]) == 2
    assert result.evaluation["cost_undiscounted"] == pytest.approx(found["cost_undiscounted_mean"], rel=1e-5)
    path = store(result, tmp_path)
    assert read(path).evaluation == result.evaluation
    before = path.read_bytes()
    assert store(with_evaluation(from_run(run), run, 3), tmp_path) == path and path.read_bytes() == before


def test_a_result_without_one_is_what_it_was(run, tmp_path):
    plain = store(with_evaluation(from_run(run), run, 0), tmp_path / "a")
    assert "evaluation" not in json.loads(gzip.decompress(plain.read_bytes())) and read(plain).evaluation is None
    assert (
        store(with_evaluation(from_run(run), run, 3), tmp_path / "b").name == plain.name
    )  # the hash is of what it was made with


@pytest.mark.parametrize(
    "wrong", [{"return": None}, {"cost": {"speed": 1.0}}, {"episodes": "10"}, {"episodes": 10.0}, {"cost": 3.0}]
)
def test_one_that_makes_no_sense_is_damage(run, tmp_path, wrong):
    path = store(with_evaluation(from_run(run), run, 3), tmp_path)
    body = json.loads(gzip.decompress(path.read_bytes()))
    body["evaluation"] |= wrong
    body.pop("format"), body.pop("checksum")
    path.write_bytes(gzip.compress(json.dumps({"format": 2, "checksum": checksum(body), **body}).encode()))
    with pytest.raises(UserError, match="is damaged"):
        read(path)


def test_an_experiment_asks_for_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(FILE.replace("20_000", "600") + "evaluate = 2\n")
    assert main(["bench", "mine.toml", "--seeds", "0"]) == 0
    (path,) = files(Path("results"))
    assert read(path).evaluation["episodes"] == 2
    capsys.readouterr()
    assert main(["table", "mine.toml"]) == 0
    shown = capsys.readouterr().out
    assert "| mode's return | mode's cost |" in shown and "2 episodes of each seed" in shown
    (folder,) = (str(config.parent) for config in Path("runs").rglob("config.json"))
    assert main(["results", "import", folder, "--experiment", "other"]) == 0
    assert read(next(iter(files(Path("results/other"))))).evaluation is None
    assert main(["results", "import", folder, "--experiment", "other", "--evaluate", "2"]) == 0
    assert next(iter(files(Path("results/other")))).read_bytes() == path.read_bytes()
    Path("mine.toml").write_text(FILE + "evaluate = -1\n")
    assert main(["bench", "mine.toml"]) == 2 and "evaluate is -1; give a whole number from 0" in capsys.readouterr().err


def test_an_import_does_as_the_experiment_says(run, tmp_path, monkeypatch):
    monkeypatch.setitem(
        shipped.EXPERIMENTS,
        "tiny",
        Experiment("tiny", "", (Block(("hopper-speed-effort",), ("cup",), (0,), 600, SMALL, evaluate=3),)),
    )
    assert main(["results", "import", str(run.path), "--experiment", "tiny", "--results", str(tmp_path)]) == 0
    (path,) = files(tmp_path)
    assert read(path).evaluation["episodes"] == 3
    assert main(["results", "export", "tiny", "--out", str(tmp_path / "out"), "--results", str(tmp_path)]) == 0
    (facts,) = (tmp_path / "out").rglob("*.json")
    assert json.loads(facts.read_text())["evaluation"]["episodes"] == 3


def test_storing_a_run_again_keeps_its_evaluation(run, tmp_path):
    import_it = ["results", "import", str(run.path), "--results", str(tmp_path), "--experiment"]
    assert main([*import_it, "mine", "--evaluate", "2"]) == 0 and main([*import_it, "mine"]) == 0
    (path,) = files(tmp_path)
    assert read(path).evaluation["episodes"] == 2
    assert main([*import_it, "another"]) == 0 and len(files(tmp_path)) == 2
    assert stored(CELLS, tmp_path)[CELLS[0]].evaluation["episodes"] == 2  # of two copies the one that was evaluated
    assert main([*import_it, "mine", "--evaluate", "0"]) == 0 and read(path).evaluation is None  # if one says so


def test_tables_say_of_how_many_seeds(run):
    groups = groups_of(Block(("hopper-velocity",), ("cup", "cpo"), (0, 1, 2), 100_000))
    for seed, value in ((0, 10.0), (1, 20.0)):
        object.__setattr__(
            groups[0].results[seed],
            "evaluation",
            {"episodes": 10, "return": value, "cost": {"velocity": 30.0}, "cost_undiscounted": {"velocity": 30.0}},
        )
    cup, cpo = (dict(zip(table.report(groups).header, row)) for row in table.report(groups).rows)
    assert cup["mode's return"] == "15.0 ± 5.0 (2 of 3 seeds)" and cup["mode's cost"].endswith("(over)")
    assert cpo["mode's return"] == cpo["mode's cost"] == "-"
    shown, *_ = stats_table.tables(stats_records.records(groups))
    cup = dict(zip(shown.header, shown.rows[0]))
    assert cup["mode over"] == "100% [34%, 100%] (2 seeds)" and "mode: a deterministic" in shown.note
