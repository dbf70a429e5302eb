"""Every link in the documentation leads somewhere: to a file that is there, and to a heading that it has."""

import re
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "benchmarks" / "README.md"]
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")


def without_blocks(page):
    """The text without blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """What `#…` may say of a page, as both GitHub and the site make it of a heading."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE):
        shown = unicodedata.normalize("NFKD", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading))
        plain = re.sub(r"[^\w\s-]", "", shown.encode("ascii", "ignore").decode())
        found.add(re.sub(r"[-\s]+", "-", plain.strip().lower()))
    return found


def leads_somewhere(link, page, root):
    if ELSEWHERE.match(link):
        return True
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    there = target.exists() and target.is_relative_to(root)
    return there and (not anchor or (target.suffix == ".md" and anchor in anchors(target)))


def broken(page, root=ROOT):
    """The links of a page that lead nowhere; what stands in code is none."""
    links = LINK.findall(re.sub(r"`[^`\n]*`(?!\])", "", without_blocks(page)))
    return [link for link in links if not leads_somewhere(link, page, root)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `cup` page: one\n[a](#a-cup-page-one) [b](page.md#two) [c](none.md) `[d](none.md)` [e](https://x.y)\n"
    )
    assert broken(page, tmp_path) == ["page.md#two", "none.md"]


def test_every_page_of_docs_is_in_the_site():
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert f": {page.name}\n" in nav, page.name
