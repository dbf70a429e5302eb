"""Every command in README and docs is run as written, made small only by what is appended here."""

import re
import shlex
from functools import partial
from glob import glob
from pathlib import Path

import numpy as np
import pytest

from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.experiments.grid.shipped import EXPERIMENTS
from cuprl.measure import speed
from film.studio import can_draw
from small import FLAGS, SMALL

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


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
    if any("highway" in word for word in words):
        return None  # a package that need not be here; tests/envs/gymnasium/test_task.py runs it where it is
    match words[0], words[1:2]:
        case "train", _:
            words += ["--steps", "400", *FLAGS, *(["--seeds", "0"] if "--seeds" in words else [])]
            words += ["--hidden", "64,64"] if "zoo:hopper-speed" in words else []  # a policy's network is as it is
        case "resume", _ if "--steps" in words:
            words += ["--steps", str(int(float(words[words.index("--steps") + 1]) / 5000))]
        case "tune", _:
            words += ["--steps", "400", "--budget", "400", *FLAGS]
            if "--search" in words:  # a setting is searched or fixed
                del words[(at := words.index("--hidden")) : at + 2]
        case "bench", [_, *_]:
            words += ["--dry-run"]
        case "table", [run, *_] if "/" in run:
            pass
        case "table" | "figure" | "results", _:
            return None  # needs the finished experiment; its own tests run it
        case "report", [name, *_] if name in EXPERIMENTS:
            words += ["--results", str(ROOT / "results")]
        case "video", _:
            if not can_draw():
                return None
            words += ["--steps", "9", "--episodes", "1", "--width", "96", "--height", "96"]
        case "watch", _:
            return None  # serves until Ctrl-C; its own tests run it
        case "certify", _:
            words += ["--episodes", "3"]
        case "check", _:
            words += ["--steps", "300"]
        case "speed", _:
            words += ["--rounds", "1"]
        case "theory", ["optimum"]:
            words += ["--problems", "random", "--algos", "cup", "--seeds", "1", "--steps", "5000"]
        case "theory", _ if "--counterexample" not in words and "front" not in words:
            words += ["--instances", "30"]
    return words


def globbed(words):
    """The words with patterns as a shell gives them."""
    return [path for word in words for path in (sorted(glob(word)) if "*" in word else [word])]


def own_files(page):
    """name: text for each ```python or ```toml block that begins with the name of its file"""
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", page.read_text(), re.DOTALL)
    return {named[1]: block for block in blocks if (named := re.match(r"# (\w+\.(?:py|toml))\n", block))}


def test_there_are_commands():
    assert len(commands()) > 5


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_commands_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(speed, "measure", partial(speed.measure, **SMALL))
    for name, text in own_files(next(p for p in PAGES if p.name == page)).items():
        (tmp_path / name).write_text(text)
    for name, words in commands():
        small = shrink(words) if name == page else None
        if small is not None:
            monkeypatch.setattr(user_modules, "_named", set())  # a command is a process of its own: it says its own words
            assert main(globbed(small)) == 0, (page, words, capsys.readouterr().err)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/certify.md",
        "docs/first-hour.md",
        "docs/hooks.md",
        "docs/own-environment.md",
        "docs/tasks.md",
        "docs/theory.md",
        "docs/train-further.md",
        "docs/video.md",
        "docs/zoo.md",
    ],
)
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page == "docs/video.md" and not can_draw():
        pytest.skip("MuJoCo has nothing to draw with here: neither EGL nor OSMesa")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    (code,) = [block for block in blocks if block not in own_files(ROOT / page).values()]
    code = re.sub(r"resume\((\w+), steps=[\d_]+", r"resume(\1, steps=800", code)
    settings = ", ".join(f"{name}={value}" for name, value in SMALL.items())
    small = re.sub(r"steps=[\d_]{4,}", f"steps=400, {settings}", code)
    names = {}
    exec(small, names)
    assert page != "README.md" or names["actions"].shape == (4, 3)
    assert page != "docs/certify.md" or names["certificate"].episodes == 100
    assert page != "docs/train-further.md" or names["careful"].config["start"]["iteration"] == names["run"].best()
    assert page != "docs/theory.md" or names["best"].value > 0
    assert page != "docs/tasks.md" or names["policy"].predict(np.zeros(11)).shape == (3,)


def test_nothing_is_left_to_fill_in():
    for page in PAGES:
        assert "@@" not in page.read_text(), page.name


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"^make (\S+)", page.read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
