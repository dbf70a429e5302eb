"""Parts of a table."""

import pytest

from cuprl.cli import main
from cuprl.cli.compare import PARTS
from cuprl.errors import UserError
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import selection
from cuprl.experiments.report.table import report
from cuprl.experiments.store.results import store
from experiments.synthetic import PAPER, groups_of, made_up


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(shipped.EXPERIMENTS, "like-paper", PAPER)
    for cell in expand(PAPER):
        store(made_up(cell), tmp_path / "like-paper")

    def table(*words):
        status = main(["table", "like-paper", "--results", str(tmp_path), *words])
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return table


def test_each_part_is_one_table(shown):
    assert tuple(selection.PARTS) == PARTS
    for part, title in selection.PARTS.items():
        text = shown("--stats", "--part", part)
        assert text.count("\n|---|") == 1 and (f"**{title}**" in text if title else not text.startswith("**"))


def test_columns_keep_the_order_they_are_given_in(shown):
    text = shown("--columns", "algorithm,task,return", "--bare", "--only", "task=hopper-speed")
    lines = text.splitlines()
    assert (
        lines[0] == "| algorithm | task | return |" and len(lines) == 2 + 3 and lines[2].startswith("| cup | hopper-speed |")
    )
    stats = shown("--stats", "--columns", "algorithm,better return")
    assert stats.count("\n|---|") == 4 and "| algorithm | better return |" in stats  # every table has algorithms


def test_a_line_a_seed(shown):
    lines = shown("--by-seed", "--bare", "--only", "task=hopper-speed,algo=cup").splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["cup seed 0", "cup seed 1", "cup seed 2"] and "±" not in str(lines)


def test_algorithms_side_by_side(shown):
    longer = [line.split(" | ") for line in shown("--bare").splitlines()[2:]]
    head, _, *lines = shown("--bare", "--wide", "return,cost").splitlines()
    assert head == "| task | limit | what | cup | pcpo | ppo-lag |" and len(lines) == 2 * 2
    assert lines[0].split(" | ")[:3] == ["| hopper-speed", "82.748", "return"] and lines[2].startswith("| swimmer-speed | ")
    assert lines[1].split(" | ")[:3] == ["| ", "", "cost"]  # task and limit are said once
    assert lines[1].removesuffix(" |").split(" | ")[3:] == [row[3] for row in longer[:3]]  # its costs
    times = shown("--stats", "--part", "time-to-safe", "--wide", "steps", "--only", "task=hopper-speed").splitlines()
    assert times[2] == "| task | level | what | cup | pcpo | ppo-lag |" and "(50%) | steps | " in times[4]
    stats = shown("--stats", "--part", "runs", "--wide", "cost IQM", "--only", "task=hopper-speed").splitlines()
    assert stats[0] == "| task | limit | what | cup | pcpo | ppo-lag |"  # of one constraint only its limit
    assert shown("--stats", "--bare", "--wide", "better return").count("\n|---|") == 1  # the others have no such column


def test_other_limits_do_not_stand_side_by_side():
    groups = groups_of(Block(("hopper-speed",), ("cup",), (0,), 5000, sweep=(("limit", ("40", "80")),)))
    with pytest.raises(UserError, match="that have the same limits, and these do not"):
        selection.wide([report(groups)], ["return"])
    both = groups_of(Block(("hopper-speed-effort",), ("cup", "cpo"), (0,), 5000))
    (turned,) = selection.wide([report(both)], ["cost"])
    assert turned.header == ["task", "limit", "what", "cup", "cpo"] and len(turned.rows) == 2


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--columns", "retrun"], "unknown column 'retrun'; did you mean return"),
        (["--wide", "retrun"], "unknown column 'retrun'; did you mean return"),
        (["--wide", "return", "--columns", "task"], "--wide already chooses columns; leave --columns away."),
        (["--wide", "task,return"], "--wide task: every line says that already"),
        (["--stats", "--part", "over-tasks", "--only", "task=hopper-speed", "--wide", "x"], "these runs have no over-tasks"),
        (["--part", "runs"], "--part goes with --stats; add it."),
        (["--stats", "--part", "run"], "unknown part 'run'; did you mean runs"),
        (["--stats", "--by-seed"], "leave one of them away"),
        (["--bare", "--format", "csv"], "--bare is of a table to read"),
        (["--stats", "--part", "over-tasks", "--only", "task=hopper-speed"], "these runs have no over-tasks"),
    ],
)
def test_what_cannot_be(shown, words, sentence):
    assert sentence in shown(*words)
