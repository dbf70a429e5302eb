"""`cup report` and `cuprl.report`: the file, and what is refused."""

import json
import re
from pathlib import Path

import cuprl
from cuprl.cli import main
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from pages.made_up import config, folder

RESULTS = Path(__file__).parents[2] / "results"


def refused(capsys, *argv):
    assert main([*map(str, argv)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("cup: ") and said.count("\n") == 1
    return said


def test_a_page_is_one_file_without_a_network(tmp_path, capsys):
    run = folder(tmp_path / "r")
    assert main(["report", str(run.path), "--out", str(tmp_path / "deep" / "r.html")]) == 0
    text = (tmp_path / "deep" / "r.html").read_text()
    assert capsys.readouterr().out.strip() == str(tmp_path / "deep" / "r.html")
    assert "<title>hopper-speed, cup, seed 3</title>" in text
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text) and "@import" not in text
    assert "connect-src 'none'" in text and 'data-poll="0"' in text
    assert cuprl.report(run) == run.path / "report.html"


def test_an_experiments_page(tmp_path, capsys):
    where = ["--results", str(RESULTS), "--out", str(tmp_path / "e.html")]
    assert main(["report", "two-limits", "--only", "task=hopper-speed-effort", *where]) == 0
    data = json.loads(re.search(r'id="data">(.*?)</script>', (tmp_path / "e.html").read_text())[1])
    assert data["title"] == "two-limits" and len(data["panels"]) == 3 and len(data["legend"]) == 7


def test_what_is_no_run_and_no_experiment(tmp_path, capsys):
    assert "is not a run: it has no config.json" in refused(capsys, "report", tmp_path)
    assert "did you mean two-limits" in refused(capsys, "report", "two-limit")
    assert "there is no file" in refused(capsys, "report", tmp_path / "mine.toml")
    assert "no result of quick is stored" in refused(capsys, "report", "quick", "--results", tmp_path)


def test_a_run_without_an_iteration(tmp_path, capsys):
    run = Run.create(tmp_path / "r", RunConfig.from_json(config()))
    assert "has no iteration to report yet" in refused(capsys, "report", run.path)
    run.metrics.write_text("iteration,st")
    assert "has no iteration to report yet" in refused(capsys, "report", run.path)
    assert not (run.path / "report.html").exists()


def test_where_no_page_can_be_written(tmp_path, capsys):
    run = folder(tmp_path / "r", n=1)
    assert "is a folder; give a file in it" in refused(capsys, "report", run.path, "--out", tmp_path)
    assert "let it end in .html" in refused(capsys, "report", run.path, "--out", tmp_path / "r.png")
    assert "--only and --seeds choose a part of an experiment" in refused(capsys, "report", run.path, "--only", "algo=cup")
