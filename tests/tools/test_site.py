"""The documentation site: it is built without a warning, has what it should, and loads nothing from anywhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuprl

pytest.importorskip("mkdocs", reason="the site needs pip install 'cuprl[docs]'")

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"""<(?:script|img|iframe|source|video)\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\bhref="([^"]+)\"""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for address in ("".join(found) for found in LOADED.findall(page.read_text())):
            assert not re.match(r"(https?:)?//", address), (page.name, address)
            if page.name != "404.html":  # shown at any address, it counts from the root
                assert (page.parent / address.partition("?")[0]).exists(), (page.name, address)
    for style in site.rglob("*.css"):
        assert not re.search(r"""(@import|url\()\s*["']?(https?:)?//""", style.read_text()), style.name


def test_every_public_name_is_in_the_reference(site):
    shown = (site / "api.html").read_text()
    for name in cuprl.__all__:
        found = re.search(rf'id="cuprl\.[\w.]*\b{name}"', shown) or f"cuprl.{name}" in shown
        assert found, name
    assert "eval_every" in shown and "Parameters" in shown


def test_formulas_and_files_outside_of_docs_are_pages(site):
    theory = (site / "theory.html").read_text()
    assert theory.count("<math") > 50 and "arithmatex" not in theory
    first = (site / "index.html").read_text()
    assert 'href="first-hour.html"' in first and 'src="policies/hopper-speed.png"' in first
    assert 'href="examples/own_mujoco_robot.py.html"' in first
    assert "MujocoTask" in (site / "examples" / "own_mujoco_robot.py.html").read_text()
