"""Writes the tables and pictures of README.md and docs/ anew from results/: each has its command in a comment above it.

    <!-- table: paper-table --only task=hopper-speed -->
    what `cup table paper-table --only task=hopper-speed` prints
    <!-- end -->

    <!-- figure: curves paper-table --out docs/pictures/paper-table.png -->

    ![Learning curves](pictures/paper-table.png)

    python tools/tables.py                     # all of them
    python tools/tables.py docs/results.md     # those of a page
    python tools/tables.py --check             # writes nothing; fails where a table is not what results/ say

A table with numbers that are not made from results/ says above it where they are from: <!-- by hand: WHERE -->.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path

from cuprl.cli import main as cup
from cuprl.runs.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
TABLE = re.compile(r"^(<!-- table: (.*?) -->\n)(.*?)^(<!-- end -->)$", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"^<!-- figure: (.*?) -->$", re.MULTILINE)
ANY = r"\|.*\n\|[-:| ]+\|\n(?:\|.*\n)+"
CLAIMS = re.compile(r"^<!-- claims -->\n.*?^<!-- end -->$", re.DOTALL | re.MULTILINE)
BY_HAND = re.compile(rf"^<!-- by hand: .+? -->\n+{ANY}", re.MULTILINE)


def pages() -> list[Path]:
    """List the pages that may have tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def filled(text: str) -> str:
    """Give a page with all of its tables as results/ have them now."""
    begun = text.count("<!-- table: ")
    if begun != len(TABLE.findall(text)):
        raise SystemExit("a <!-- table: … --> stands not at the beginning of a line, or has no <!-- end --> below it.")
    return TABLE.sub(lambda found: f"{found[1]}\n{printed(found[2])}\n\n{found[4]}", text)


def printed(words: str) -> str:
    """Give what `cup table` prints, in Markdown."""
    text = io.StringIO()
    with redirect_stdout(text):
        run(["table", *shlex.split(words), "--format", "md"])
    return text.getvalue().rstrip()


def run(words: list[str]) -> None:
    """Run `cup` where results/ is; what it says is wrong ends the tool."""
    with chdir(ROOT):
        if cup(words):
            raise SystemExit(f"`cup {shlex.join(words)}` failed.")


def without_source(text: str) -> list[str]:
    """List the first lines of tables with numbers that neither have a command nor say where the numbers are from.

    What stands between <!-- claims --> and <!-- end --> is made by tests/claims.
    """
    for sourced in (CLAIMS, TABLE, BY_HAND):
        text = sourced.sub("", text)
    left = re.findall(rf"^{ANY}", text, re.MULTILINE)
    return [table.partition("\n")[0] for table in left if re.search(r"\d", table)]


def main() -> int:
    """Write the pages, or check them; 1 where a table is not what it should be."""
    parser = argparse.ArgumentParser(description="Writes the tables and pictures of the documentation anew from results/.")
    parser.add_argument("pages", metavar="PAGE", nargs="*", type=Path, help="Markdown files [README.md and docs/*.md]")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where a table differs")
    parser.add_argument("--no-figures", action="store_true", help="leave the pictures as they are")
    args = parser.parse_args()
    texts = {page: page.read_text() for page in args.pages or pages()}
    differing = {page: new for page, text in texts.items() if (new := filled(text)) != text}
    for page, new in differing.items():
        print(f"{page}: {'differs from' if args.check else 'written from'} results/")
        if not args.check:
            write_atomically(page, new.encode())
    if args.check:
        return 1 if differing else 0
    if not args.no_figures:
        for words in dict.fromkeys(command for text in texts.values() for command in FIGURE.findall(text)):
            run(["figure", *shlex.split(words)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
