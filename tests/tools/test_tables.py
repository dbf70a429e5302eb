"""Tables of the documentation are those of results/, and the tool that writes them does so."""

from pathlib import Path

import pytest

from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.store.results import store
from experiments.synthetic import made_up
from scripts import script

ROOT = Path(__file__).parents[2]
tool = script("tools/tables.py")

PAGE = """# Ours

<!-- table: mine --bare -->
| old |
<!-- end -->

<!-- figure: plane mine --out docs/pictures/mine.png -->

![The plane](pictures/mine.png)

<!-- by hand: a guess -->

| a | b |
|---|---|
| 1 | 2 |

| no | numbers |
|---|---|
| x | y |
"""


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in tool.pages()])
def test_tables_of_a_page_are_those_of_the_results(page):
    text = (ROOT / page).read_text()
    assert tool.filled(text) == text, "`python tools/tables.py` writes them anew"


@pytest.mark.parametrize("page", ["README.md", "docs/results.md", "docs/why-cup.md"])
def test_every_table_of_numbers_has_its_source(page):
    text = (ROOT / page).read_text()
    assert tool.TABLE.search(text) and tool.without_source(text) == []


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a page and results of its own."""
    for cell in expand(Experiment("mine", "for tests", (Block(("hopper-speed",), ("cup",), (0, 1), 100_000),))):
        store(made_up(cell), tmp_path / "results" / "mine")
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("Nothing.\n")
    (tmp_path / "docs" / "ours.md").write_text(PAGE)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    return tmp_path


def called(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["tables.py", *map(str, words)])
    return tool.main()


def test_the_tool(repository, monkeypatch, capsys):
    page = repository / "docs" / "ours.md"
    assert called(monkeypatch, "--check") == 1 and page.read_text() == PAGE
    assert "ours.md: differs from results/" in capsys.readouterr().out
    assert called(monkeypatch, "--no-figures") == 0 and not (repository / "docs" / "pictures").exists()
    text = page.read_text()
    assert "| hopper-speed | cup | **" in text and "old" not in text and "Mean ± deviation" not in text
    assert text.replace(tool.TABLE.search(text)[0], tool.TABLE.search(PAGE)[0]) == PAGE  # and nothing else
    assert called(monkeypatch, "--check") == 0
    assert called(monkeypatch, page) == 0 and page.read_text() == text
    assert (repository / "docs" / "pictures" / "mine.png").stat().st_size > 5000


def test_what_is_wrong_ends_it(repository, monkeypatch, capsys):
    page = repository / "docs" / "ours.md"
    page.write_text(PAGE.replace("<!-- end -->\n", ""))
    with pytest.raises(SystemExit, match="has no <!-- end -->"):
        called(monkeypatch)
    page.write_text(PAGE.replace("table: mine", "table: mien"))
    with pytest.raises(SystemExit, match="cup table mien --bare --format md"):
        called(monkeypatch)
    assert "unknown experiment 'mien'" in capsys.readouterr().err


def test_a_table_without_a_source_is_found():
    assert tool.without_source(PAGE) == []
    assert tool.without_source(PAGE.replace("<!-- by hand: a guess -->\n", "")) == ["| a | b |"]
