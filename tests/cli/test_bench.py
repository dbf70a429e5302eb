"""`cup bench` as a person types it."""

import sys
from pathlib import Path

from cuprl.cli import main
from cuprl.cli.bench import print_summary
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import table
from cuprl.experiments.store.results import store
from experiments.synthetic import made_up
from experiments.tiny import FILE

TWO = ("hopper-speed", "swimmer-speed")
STEPS = 100_000  # 20 iterations
SHORT = FILE.replace("20_000", "600")


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SHORT)
    assert main(["bench"]) == 0 and "paper-table" in capsys.readouterr().out
    assert main(["bench", "mine.toml", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("0%  cup train hopper-speed") == 2 and "2 runs, 0 finished" in shown and not Path("runs").exists()
    assert main(["bench", "mine.toml", "--only", "seed=1"]) == 0
    shown = capsys.readouterr().out
    assert "| hopper-speed | cup |" in shown and "cup table mine.toml" in shown
    assert main(["bench", "mine.toml", "--dry-run"]) == 0
    assert "2 runs, 1 finished" in capsys.readouterr().out
    for words, sentence in (
        (["quik"], "did you mean quick"),
        (["mine.tml"], "Or give a file"),
        (["no.toml"], "no file no.toml"),
        (["mine.toml", "./mine.toml"], "two experiments are called mine"),
        (["quick", "--workers", "0"], "give 1 or more"),
        (["quick", "--engine", "slurm"], "accepted: local, ray"),
        (["quick", "--address", "auto"], "give --engine ray"),
    ):
        assert main(["bench", *words]) == 2
        assert sentence in capsys.readouterr().err


def test_commands_can_be_pasted(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my own.toml").write_text(SHORT + 'name = "mine"\n')
    where = ["my own.toml", "--root", "my runs", "--results", "my results"]
    assert main(["bench", *where, "--dry-run"]) == 0
    assert "--out 'my runs/mine/hopper-speed/cup/seed0'" in capsys.readouterr().out
    monkeypatch.setattr("cuprl.cli.bench.run_grid", lambda *_: 0)
    assert main(["bench", *where]) == 0
    commands = "table: cup table {0}    figures: cup figure curves {0}\n".format("'my own.toml' --results 'my results'")
    assert commands in capsys.readouterr().out


def test_a_stage_asked_for_twice_does_nothing_twice(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SHORT)
    assert main(["bench", "mine.toml", "--seeds", "1"]) == 0
    assert "0 of 1 runs are finished; 1 to do" in capsys.readouterr().out
    left = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}
    assert main(["bench", "mine.toml", "--seeds", "1"]) == 0
    shown = capsys.readouterr().out
    assert "1 of 1 runs are finished; 0 to do" in shown and shown.count("| hopper-speed | cup |") == 1
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()} == left
    assert main(["table", "mine.toml", "--seeds", "1"]) == 0 and "| 1 |" in capsys.readouterr().out
    for words, sentence in (
        (["--seeds", "7"], "unknown seed of mine '7'"),
        (["--seeds", "0", "--only", "seed=1"], "--seeds and --only seed=1 both choose seeds"),
    ):
        assert main(["bench", "mine.toml", *words]) == 2
        assert sentence in capsys.readouterr().err


def test_a_bench_ends_with_the_table_of_its_terminal(tmp_path, monkeypatch, capsys):
    cells = expand(Experiment("shown", "for tests", (Block(TWO, ("cup",), (0, 1), STEPS),)))
    for cell in cells:
        store(made_up(cell), tmp_path / "shown")
    print_summary(cells, tmp_path)
    assert capsys.readouterr().out.strip() == table.summary(cells, tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_summary(cells, tmp_path)
    shown = capsys.readouterr().out
    assert "hopper-speed, limit 82.748" in shown and "**" not in shown and "|" not in shown
