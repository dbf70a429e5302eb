"""Every command in README and docs is run as written, made small only by what is appended here."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from cuprl.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SMALL_RUN = ["--batch-size", "200", "--num-envs", "5", "--hidden", "8", "--minibatch", "50", "--critic-epochs", "2"]


def commands():
    """(page, command) for each line of a ```bash block that begins with cup."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if words and words[0] == "cup":
                    found.append((page.name, words[1:]))
    return found


def shrink(words):
    """The same command on a smaller problem."""
    words = list(words)
    match words[0], words[1:2]:
        case "train", _:
            words += ["--steps", "400", *SMALL_RUN]
        case "bench", [_, *_]:
            words += ["--dry-run"]
        case "table", _:
            return None  # needs the finished experiment; its own tests run it
        case "speed", _:
            words += ["--rounds", "1"]
        case "theory", ["optimum"]:
            words += ["--problems", "random", "--algos", "cup", "--seeds", "1", "--steps", "5000"]
        case "theory", _ if "--counterexample" not in words and "front" not in words:
            words += ["--instances", "30"]
    return words


def test_there_are_commands():
    assert len(commands()) > 5


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_commands_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, words in commands():
        small = shrink(words) if name == page else None
        if small is not None:
            assert main(small) == 0, (page, words, capsys.readouterr().err)


@pytest.mark.parametrize("page", ["README.md", "docs/tasks.md", "docs/theory.md"])
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    small = re.sub(r"steps=[\d_]+", "steps=400, batch_size=200, hidden=(8,), minibatch=50", code)
    names = {}
    exec(small, names)
    assert page != "README.md" or names["actions"].shape == (4, 3)
    assert page != "docs/theory.md" or names["best"].value > 0
    assert page != "docs/tasks.md" or names["policy"].predict(np.zeros(11)).shape == (3,)


def test_nothing_is_left_to_fill_in_and_pictures_exist():
    for page in PAGES:
        text = page.read_text()
        assert "@@" not in text, page.name
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
            assert (page.parent / picture).is_file(), picture
        for link in re.findall(r"(?<!!)\[[^]]*\]\(([^)#:]+)\)", text):
            assert (page.parent / link).exists(), link


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"^make (\S+)", page.read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
