"""Hooks of the documentation site (mkdocs.yml): files outside of docs/ as pages of it, and formulas without scripts.

README.md is the first page; CONTRIBUTING.md and CHANGELOG.md, examples and other texts that a page links to are pages too,
so that no link leaves the site. Formulas become MathML when the site is built: browsers draw it without any script.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
FIRST = "index.md"  # what README.md is called in the site
LISTED = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # pages that mkdocs.yml lists; only links lead to the others
LINK = re.compile(r"(!?\[[^]]*\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)


def in_site(path: str) -> str:
    """Give the place in the site of a file of the repository."""
    if path == "README.md":
        return FIRST
    inside = path.removeprefix("docs/")
    return inside if path != inside or path.endswith(".md") else f"{path}.md"


def in_repository(page: str) -> str:
    """Give the file of the repository that is a page of the site."""
    if page == FIRST:
        return "README.md"
    if (ROOT / "docs" / page).exists():
        return f"docs/{page}"
    return page if (ROOT / page).exists() else page.removesuffix(".md")


def outside_links(text: str, source: str) -> set[str]:
    """Find the files outside of docs/ that a Markdown text links to."""
    found = {os.path.normpath(os.path.join(os.path.dirname(source), link[2])) for link in LINK.finditer(text)}
    return {path for path in found if not path.startswith(("docs/", "..")) and (ROOT / path).is_file()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the texts of the repository that pages of the site link to, and those that these link to."""
    wanted = set(LISTED)
    for file in files.documentation_pages():
        wanted |= outside_links(file.content_string, f"docs/{file.src_uri}")
    done: set[str] = set()
    while wanted - done:
        path = min(wanted - done)
        done.add(path)
        text = (ROOT / path).read_text()
        if path.endswith(".md"):
            wanted |= outside_links(text, path)
        else:
            text = f"# {path}\n\n```{Path(path).suffix.removeprefix('.')}\n{text}\n```\n"
        listed = InclusionLevel.UNDEFINED if path in LISTED else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, in_site(path), content=text, inclusion=listed))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the pages that files of the repository have become."""
    source = in_repository(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(source), link[2]))
        if not (ROOT / target).is_file():
            return link[0]
        there = os.path.relpath(in_site(target), os.path.dirname(page.file.src_uri))
        return f"{link[1]}{there}{link[3]}"

    parts = CODE.split(markdown)
    return "".join(part if i % 2 else LINK.sub(moved, part) for i, part in enumerate(parts))


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas into MathML; one that stands alone is scrolled where it is wider than the page."""

    def formula(found: re.Match[str]) -> str:
        alone = found[1] == "div"
        drawn = convert(html.unescape(found[2]), display="block" if alone else "inline")
        return f'<div class="formula">{drawn}</div>' if alone else drawn

    return FORMULA.sub(formula, content)
