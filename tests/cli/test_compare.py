"""`cup plot`, `cup table` and `cup figure` as a person types them."""

import csv
import shutil

import pytest
from matplotlib.image import imread

from cuprl.cli import main
from cuprl.cli.compare import FIGURES
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report.figures import KINDS
from cuprl.experiments.store.results import store
from cuprl.training.train import train
from experiments.synthetic import PAPER, made_up
from small import QUIET, SMALL

STEPS = 100_000  # 20 iterations


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Three runs: two seeds of one setting, one of another; and one that was not finished."""
    root = tmp_path_factory.mktemp("runs")
    asked = {"a": {"clip": 0.1}, "b": {"clip": 0.1, "seed": 1}, "c": {"clip": 0.3}, "d": {"seed": 3}}
    for name, more in asked.items():
        train("hopper-speed", "ppo", steps=400, out=root / name, **more, **SMALL, **QUIET)
    rows = (root / "d" / "progress.csv").read_text().splitlines(keepends=True)
    (root / "d" / "progress.csv").write_text("".join(rows[:-1]))
    for checkpoint in (root / "d" / "checkpoints").iterdir():
        checkpoint.unlink()
    return [str(root / name) for name in asked]


def test_run_folders_are_drawn_by_their_settings(paths, tmp_path, capsys):
    picture = tmp_path / "deep" / "all.svg"
    assert main(["plot", *paths, "--out", str(picture)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    text = picture.read_text()
    assert all(f"<!-- clip={clip} -->" in text for clip in (0.1, 0.2, 0.3)) and "<!-- cost (discount 0.99) -->" in text
    assert main(["plot", paths[0], "--out", str(tmp_path / "x.foo")]) == 2
    assert ".png" in capsys.readouterr().err


def test_a_changed_run_is_left_out_of_a_picture_and_named(paths, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(paths[2], changed)
    config = (changed / "config.json").read_text()
    (changed / "config.json").write_text(config.replace('"clip": 0.3', '"clip": 0.4'))
    with pytest.warns(UserWarning, match=f"left out: {changed}.* was changed since the run began"):
        assert main(["plot", paths[0], str(changed), "--out", str(tmp_path / "a.svg")]) == 0
    assert "clip=" not in (tmp_path / "a.svg").read_text()  # one line alone needs no name
    assert main(["plot", str(changed), "--out", str(tmp_path / "b.svg")]) == 2  # nothing is left


def test_run_folders_as_a_table(paths, tmp_path, capsys, monkeypatch):
    assert main(["table", *paths]) == 0
    shown = capsys.readouterr()
    lines = [line.split(" | ") for line in shown.out.splitlines() if line.startswith("| hopper-speed")]
    assert [(line[1], line[-1]) for line in lines] == [("ppo clip=0.1", "2 |"), ("ppo clip=0.3", "1 |")]
    assert "±" in lines[0][2] and "±" not in lines[1][2]
    assert f"1 run left out: {paths[3]} has 1 of 2 iterations; finish it with `cup resume" in shown.err
    assert main(["table", *paths[:3], "--only", "variant=clip=0.3", "--format", "csv"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row["variant"] == "clip=0.3" and row["seeds"] == "1"
    monkeypatch.chdir(tmp_path)
    assert main(["results", "import", *paths[:3], "--experiment", "mine"]) == 0  # and what is imported is read back
    capsys.readouterr()
    assert main(["table", "mine"]) == 0
    again = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| hopper-speed")]
    assert again == lines
    assert main(["figure", "curves", "mine"]) == 0 and (tmp_path / "mine-curves.png").stat().st_size > 10_000


def test_formats_agree(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(shipped.EXPERIMENTS, "like-paper", PAPER)
    for cell in expand(PAPER):
        store(made_up(cell), tmp_path / "like-paper")
    where = ["table", "like-paper", "--results", str(tmp_path)]
    for name in ("t.md", "t.csv", "t.tex"):
        assert main([*where, "--out", str(tmp_path / name)]) == 0
    rows = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert len(rows) == 6 and rows[0]["paper_return_mean"] == "2025.56" and rows[0]["seeds"] == "3"
    shown = f"{float(rows[0]['return_mean']):.1f} ± {float(rows[0]['return_std']):.1f}"
    assert shown in (tmp_path / "t.md").read_text()
    latex = (tmp_path / "t.tex").read_text()
    assert shown.replace("±", r"$\pm$") in latex and r"\textbf{" in latex and "**" not in latex
    capsys.readouterr()
    assert main([*where, "--format", "csv", "--stats"]) == 0
    facts = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {"cup > ppo-lag", "cup > pcpo"} <= {f["algorithm"] for f in facts}
    assert main([*where, "--stats", "--against", "cap"]) == 2
    assert "did you mean cup" in capsys.readouterr().err


def test_the_command_draws_at_a_width_that_reads_well(tmp_path, monkeypatch, capsys):
    tasks = ("ant-speed", "hopper-speed", "swimmer-speed", "humanoid-speed", "humanoid-circle")
    experiment = Experiment("drawn", "for tests", (Block(tasks, ("cup", "ppo-lag"), (0, 1), STEPS),))
    monkeypatch.setitem(shipped.EXPERIMENTS, "drawn", experiment)
    monkeypatch.chdir(tmp_path)
    for cell in expand(experiment):
        store(made_up(cell), tmp_path / "results" / "drawn")
    assert main(["figure", "curves", "drawn"]) == 0
    assert capsys.readouterr().out == "drawn-curves.png\n"
    height, width, _ = imread("drawn-curves.png").shape
    assert 900 < width < 1200 and height < 1300
    assert main(["figure", "plane", "drawn", "--only", "task=ant-speed", "--out", "deep/plane.svg"]) == 0
    assert main(["figure", "curves", "drawn", "--out", "x.foo"]) == 2
    assert ".png" in capsys.readouterr().err


def test_a_picture_has_the_whole_name_of_what_it_shows(monkeypatch, capsys):
    monkeypatch.setattr("cuprl.cli.compare.groups_of", lambda names, args: [])
    monkeypatch.setitem(KINDS, "curves", lambda groups, out: None)
    for name, picture in (("v1.2", "v1.2"), ("runs/v1.3/", "v1.3"), ("deep/mine.toml", "mine")):
        assert main(["figure", "curves", name]) == 0
        assert capsys.readouterr().out == f"{picture}-curves.png\n"


def test_help_names_every_figure():
    assert tuple(KINDS) == FIGURES


@pytest.mark.parametrize(
    "argv, words",
    [
        (
            ["table", "quick"],
            "no result of quick is stored in results (there is no such folder here",
        ),
        (["figure", "curves", "quick"], "run `cup bench quick`."),
        (["table", "quik"], "did you mean quick"),
        (["table", "quick", "--format", "pdf"], "accepted: md, csv, latex"),
        (["table", "quick", "--out", "x.doc"], "let it end in .md, .csv, .tex"),
        (["table", "quick", "--against", "cup"], "--against goes with --stats"),
        (["table", "quick", "--out", "/", "--format", "md"], "/ is a folder"),
        (["figure", "curve", "quick"], "did you mean curves"),
    ],
)
def test_wrong_input_gets_one_sentence(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not shown.out and not list(tmp_path.iterdir())
