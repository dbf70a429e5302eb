"""The results store: what goes in comes out, damage and age are seen, tables say what they leave out."""

import csv
import gzip
import json
import platform
import shutil
from dataclasses import replace

import numpy as np
import pytest

import cuprl
from cuprl.algorithms import ALGORITHMS, as_now
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block, Cell, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import paper
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import Result, config_hash, files, read, store, stored
from cuprl.training.train import train
from experiments.synthetic import made_up
from small import QUIET, SMALL

WORDS = tuple((name, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)) for name, value in SMALL.items())
TINY = Experiment("tiny", "for tests", (Block(("hopper-speed", "hopper-speed-effort"), ("cup",), (0, 1), 600, WORDS),))
TWO = ("hopper-speed", "swimmer-speed")
PAPER = Experiment("like-paper", "for tests", (Block(TWO, ("cup", "pcpo", "ppo-lag"), (0, 1, 2), paper.STEPS),))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The runs of TINY, really trained; the second task has two constraints."""
    root = tmp_path_factory.mktemp("runs")
    return {
        cell: train(cell.task, cell.algo, seed=cell.seed, steps=600, out=cell.path(root), **SMALL, **QUIET)
        for cell in expand(TINY)
    }


@pytest.fixture
def tiny(runs, tmp_path, monkeypatch):
    """Its runs stored; the folder of all results."""
    monkeypatch.setitem(shipped.EXPERIMENTS, "tiny", TINY)
    for run in runs.values():
        store(from_run(run), tmp_path / "tiny")
    return tmp_path


def test_what_goes_in_comes_out(runs, tmp_path):
    for cell, run in runs.items():
        path = store(from_run(run), tmp_path)
        before = path.read_bytes()
        assert store(from_run(run), tmp_path) == path and path.read_bytes() == before
        result = read(path)
        assert config_hash(result.config) == config_hash(run.config) == config_hash(cell.resolved())
        assert result.git == run.config["git"] and result.machine == run.config["machine"] and result.machine["cores"] > 0
        progress = run.progress()
        assert list(result.metrics) == list(progress)
        for name, column in progress.items():
            np.testing.assert_allclose(result.metrics[name], column, rtol=1e-3 if "time/" in name else 1e-5, err_msg=name)
        text = gzip.decompress(before).decode()
        assert str(run.path) not in text and "command" not in json.loads(text) and f'"{platform.node()}"' not in text
    assert stored(runs, tmp_path).keys() == runs.keys()


def test_the_hash_is_of_what_a_run_depends_on(runs):
    config = next(iter(runs.values())).config
    assert config_hash({**config, "threads": 7, "versions": {}}) == config_hash(config)
    assert config_hash({**config, "steps": float(config["steps"])}) == config_hash(config)
    changed = [{**config, "seed": 5}, {**config, "limits": {"speed": 1.0}}, {**config, "settings": {}}]
    assert len({config_hash(c) for c in (config, *changed)}) == 4


def test_a_file_of_500_iterations_is_small(tmp_path):
    result = made_up(Cell("hopper-speed", "cup", 0, paper.STEPS))
    random = np.random.default_rng(0)
    result.metrics.update({f"train/{i}": random.normal(size=500) for i in range(14)})  # as many columns as CUP writes
    assert store(result, tmp_path).stat().st_size < 45_000  # though no digit of these repeats


def damage(run, tmp_path, change):
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy)
    change(copy)
    return copy


def cut_rows(path):
    lines = (path / "progress.csv").read_text().splitlines(keepends=True)
    (path / "progress.csv").write_text("".join(lines[:-1]))


def cut_run(path):
    """As it was before its last iteration was checkpointed."""
    cut_rows(path)
    for checkpoint in (path / "checkpoints").iterdir():
        checkpoint.unlink()


def replace_in(name, old, new):
    def change(path):
        text = (path / name).read_text()
        assert old in text
        (path / name).write_text(text.replace(old, new, 1))

    return change


@pytest.mark.parametrize(
    "change, words",
    [
        (cut_rows, "is finished, but the metrics of iteration 3 are lost, with no checkpoint from before; train it again"),
        (cut_run, "has 2 of 3 iterations; finish it with `cup resume"),
        (replace_in("progress.csv", "\n2,", "\n7,"), "its iterations are not 1 to 3"),
        (replace_in("progress.csv", "\n2,", "\ntwo,"), "is damaged"),
        (replace_in("config.json", '"limits"', '"limit"'), "has no limits"),
        (lambda path: (path / "progress.csv").unlink(), "no progress.csv"),
    ],
)
def test_a_run_that_is_not_whole_is_refused(runs, tmp_path, change, words, capsys):
    good, copy = next(iter(runs.values())), damage(next(iter(runs.values())), tmp_path, change)
    assert main(["results", "import", str(good.path), str(copy), "--results", str(tmp_path / "r")]) == 2
    shown = capsys.readouterr().err
    assert words in shown and "copy" in shown and shown.count("\n") == 1
    assert not (tmp_path / "r").exists()  # not even the good one: all or nothing


def test_damage_is_seen(tiny, capsys):
    path = files(tiny)[0]
    content = path.read_bytes()
    body = json.loads(gzip.decompress(content))
    body["metrics"]["rollout/ep_rew_mean"][-1] += 1
    for bad, words in (
        (content[:-20], "is damaged"),
        (b"", "is damaged"),
        (gzip.compress(b"[1]"), "is damaged"),
        (gzip.compress(json.dumps(body).encode()), "does not match its checksum"),
        (gzip.compress(json.dumps({**body, "format": 99}).encode()), "has format 99, this cuprl reads 2"),
    ):
        path.write_bytes(bad)
        with pytest.raises(UserError, match=words) as error:
            read(path)
        assert str(path) in str(error.value)
    assert main(["table", "tiny", "--results", str(tiny)]) == 0  # of the others
    shown = capsys.readouterr()
    assert f"cup: 1 damaged result left out: the result {path} has format 99" in shown.err and shown.err.count("\n") == 1
    assert [line[-3] for line in shown.out.splitlines() if line.startswith("| hopper")] == ["1", "2", "2"]
    assert main(["results", "list", "--results", str(tiny)]) == 1
    shown = capsys.readouterr().out
    assert shown.count("fresh") == 3 and "format 99" in shown
    path.write_bytes(content)
    path.rename(path.with_name(path.name.replace("seed0", "seed0-0000")[:-20] + "0" * 8 + ".json.gz"))
    assert main(["results", "export", "--results", str(tiny), "--out", str(tiny / "x.csv")]) == 2
    assert "or its name" in capsys.readouterr().err and not (tiny / "x.csv").exists()


def renumbered(monkeypatch, name, numerics):
    monkeypatch.setitem(ALGORITHMS, name, ALGORITHMS[name]._replace(numerics=numerics))


def test_results_are_stale_when_their_algorithm_gives_other_numbers(tiny, monkeypatch, capsys):
    where = ["--results", str(tiny)]
    renumbered(monkeypatch, "cpo", 2)
    assert main(["results", "list", *where]) == 0
    assert "stale" not in capsys.readouterr().out
    renumbered(monkeypatch, "cup", 3)
    assert main(["results", "list", *where]) == 0
    assert capsys.readouterr().out.count("stale") == 4
    assert main(["table", "tiny", *where]) == 2
    shown = capsys.readouterr().err
    assert "no result of tiny" in shown and "4 stale results left out" in shown
    assert "made with numerics 2 of cup, now 3" in shown and "run `cup bench tiny`" in shown


def test_a_new_version_or_a_new_setting_at_its_default_makes_no_result_stale(tiny, monkeypatch):
    """A setting that comes after a result was stored, simulated by one that goes: the hashes are the same."""
    monkeypatch.setattr(cuprl, "__version__", "9.9.9")
    cells = expand(TINY)
    assert set(stored(cells, tiny)) == set(cells)
    config = cells[0].resolved()
    assert config["settings"]["cost_lam"] != 0.1
    later = {**config, "settings": {**config["settings"], "critic_l2": 0.5}}
    earlier = {**config, "settings": {k: v for k, v in config["settings"].items() if k != "critic_l2"}}
    assert config_hash(earlier) == config_hash(config) != config_hash(later)


def test_the_printed_cup_has_a_new_name(runs):
    """Until numerics were recorded, `cup` was the algorithm that is called cup-paper now."""
    config = next(iter(runs.values())).config
    old = {key: value for key, value in config.items() if key != "numerics"}
    assert as_now(config)["algo"] == "cup" and as_now(old)["algo"] == "cup-paper"
    without = {**old, "settings": {k: v for k, v in old["settings"].items() if k != "improvement_kl"}}
    assert as_now(without)["settings"]["improvement_kl"] == "k-new"


def test_other_settings_are_stale_and_never_mixed(tiny, monkeypatch, capsys):
    changed = (
        Block(("hopper-speed",), ("cup",), (0,), 600, (*WORDS, ("alpha", "0.3"))),
        Block(("hopper-speed-effort",), ("cup",), (1,), 600, WORDS),
    )
    monkeypatch.setitem(shipped.EXPERIMENTS, "tiny", replace(TINY, blocks=changed))
    assert main(["table", "tiny", "--results", str(tiny)]) == 0
    shown = capsys.readouterr()
    assert "3 stale results left out: hopper-speed cup seed 0 (made with alpha 0.2, not 0.3)" in shown.err
    assert "the experiment has no such run" in shown.err and "run `cup bench tiny` again" in shown.err
    assert [line.split(" | ")[-1] for line in shown.out.splitlines() if "| cup |" in line] == ["0 |", "1 |", "1 |"]
    assert main(["table", "tiny", "--only", "seed=0", "--results", str(tiny)]) == 2
    assert "no result of tiny --only seed=0" in capsys.readouterr().err


def test_a_run_counts_wherever_it_is_stored(tiny, monkeypatch, capsys):
    other = replace(TINY, name="other")
    monkeypatch.setitem(shipped.EXPERIMENTS, "other", other)
    assert main(["table", "other", "--results", str(tiny)]) == 0
    assert "stale" not in capsys.readouterr().err
    assert len(stored(expand(other), tiny)) == 4
    assert main(["results", "export", "other", "--results", str(tiny), "--out", str(tiny / "other.csv")]) == 0
    rows = list(csv.DictReader((tiny / "other.csv").open()))
    assert len({row["hash"] for row in rows}) == 4 and {row["experiment"] for row in rows} == {"tiny"}


def test_a_file_above_the_folders_is_listed_once(tiny, capsys):
    (one, *_) = files(tiny)
    shutil.copy(one, tiny / one.name)
    assert main(["results", "list", "--results", str(tiny)]) == 0
    assert capsys.readouterr().out.count("fresh") == 5


def test_a_run_folder_with_other_numerics_is_no_cell(runs, monkeypatch):
    cell, run = next(iter(runs.items()))
    cell.check_same(run)
    renumbered(monkeypatch, "cup", 7)
    with pytest.raises(UserError, match=r"was made with numerics 2 of cup, now 7"):
        cell.check_same(run)


def test_a_finished_run_as_a_result_needs_no_folder(runs):
    assert isinstance(from_run(next(iter(runs.values()))), Result)
