"""Results that no longer count: other numbers, other settings; tables leave them out and say so."""

from dataclasses import replace

from cuprl.algorithms import ALGORITHMS, numerics
from cuprl.cli import main
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block
from cuprl.experiments.store import results
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.stale import entry, wanted_in
from experiments.tiny import SMALL, TWO_TASKS


def renumbered(monkeypatch, name, number):
    monkeypatch.setitem(ALGORITHMS, name, ALGORITHMS[name]._replace(numerics=number))


def test_results_are_stale_when_their_algorithm_gives_other_numbers(tiny, monkeypatch, capsys):
    where = ["--results", str(tiny)]
    renumbered(monkeypatch, "cpo", 2)
    assert main(["results", "list", *where]) == 0
    assert "stale" not in capsys.readouterr().out
    now = numerics("cup")
    renumbered(monkeypatch, "cup", now + 1)
    assert main(["results", "list", *where]) == 0
    assert capsys.readouterr().out.count("stale") == 4
    assert main(["table", "tiny", *where]) == 2
    shown = capsys.readouterr().err
    assert "no result of tiny" in shown and "4 stale results left out" in shown
    assert f"made with numerics {now} of cup, now {now + 1}" in shown and "run `cup bench tiny`" in shown


def test_other_settings_are_stale_and_never_mixed(tiny, monkeypatch, capsys):
    changed = (
        Block(("hopper-speed",), ("cup",), (0,), 600, (*SMALL, ("alpha", "0.3"))),
        Block(("hopper-speed-effort",), ("cup",), (1,), 600, SMALL),
    )
    monkeypatch.setitem(shipped.EXPERIMENTS, "tiny", replace(TWO_TASKS, blocks=changed))
    assert main(["table", "tiny", "--results", str(tiny)]) == 0
    shown = capsys.readouterr()
    assert "3 stale results left out: hopper-speed cup seed 0 (made with alpha 0.2, not 0.3)" in shown.err
    assert "the experiment has no such run" in shown.err and "run `cup bench tiny` again" in shown.err
    assert [line.split(" | ")[-1] for line in shown.out.splitlines() if "| cup |" in line] == ["0 |", "1 |", "1 |"]
    assert main(["table", "tiny", "--only", "seed=0", "--results", str(tiny)]) == 2
    assert "no result of tiny --only seed=0" in capsys.readouterr().err


def test_a_result_that_was_named_under_other_defaults(tiny, runs, monkeypatch):
    with monkeypatch.context() as then:
        then.setattr(results, "settings_that_differ", lambda algo, settings: settings)  # as if none were a default
        path = results.store(from_run(next(iter(runs.values()))), tiny / "tiny")
    assert entry(path, wanted_in("tiny")).stale == "named under older defaults; import its run again"
