"""The results store: what goes in comes out, and damage is seen."""

import gzip
import json
import platform

import numpy as np
import pytest

from cuprl.algorithms import as_now
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.report import paper
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import config_hash, read, store
from cuprl.experiments.store.stored import files, stored
from experiments.synthetic import made_up


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


def test_the_cost_of_a_result_is_the_one_that_is_held_to_the_limit(tmp_path):
    for algo, settings, kind in (
        ("cup", (), ""),
        ("cup", (("cost_return", "undiscounted"),), "_undiscounted"),
        ("cup-omnisafe", (), "_undiscounted"),
        ("cup-omnisafe", (("cost_return", "discounted"),), ""),
    ):
        result = read(store(made_up(Cell("hopper-speed-effort", algo, 0, 50_000, settings)), tmp_path))
        for name in ("speed", "effort"):
            np.testing.assert_array_equal(result.cost(name), result.metrics[f"rollout/ep_cost{kind}_mean/{name}"])
            np.testing.assert_array_equal(result.cost(name, "train/multiplier"), result.metrics[f"train/multiplier/{name}"])


def test_a_pause_is_no_time_of_the_run():
    result = made_up(Cell("hopper-speed", "cup", 0, 50_000))
    result.metrics["time/collect"], result.metrics["time/update"] = np.full(10, 0.6), np.full(10, 0.4)
    result.metrics["time/update"][3] = 1.9  # slow, but its own
    assert result.seconds[[0, 3, 9]] == pytest.approx([1.0, 5.5, 11.5])
    result.metrics["time/collect"][[0, 6]] = 8.0, 3600.0  # it compiled; it was stopped for an hour
    assert result.seconds[[0, 3, 9]] == pytest.approx([1.0, 5.5, 11.5])


def test_what_is_nested_too_deeply_is_damage(tmp_path):
    path = tmp_path / "a-cup-seed0-0123456789abcdef.json.gz"
    for depth in range(900, 1000, 5):  # read, but not written again, somewhere below the interpreter's own limit
        path.write_bytes(gzip.compress(b'{"format": 2, "checksum": "", "a": ' + b"[" * depth + b"]" * depth + b"}"))
        with pytest.raises(UserError, match="is damaged"):
            read(path)


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


def test_the_printed_cup_has_a_new_name(runs):
    """Until numerics were recorded, `cup` was the algorithm that is called cup-paper now."""
    config = next(iter(runs.values())).config
    old = {key: value for key, value in config.items() if key != "numerics"}
    assert as_now(config)["algo"] == "cup" and as_now(old)["algo"] == "cup-paper"
    without = {**old, "settings": {k: v for k, v in old["settings"].items() if k != "improvement_kl"}}
    assert as_now(without)["settings"]["improvement_kl"] == "k-new"
