"""Each sentence of claims.py stands so in its page.

A part of a page between <!-- claims --> and <!-- end --> has no other number. Where results have come, the test that fails
says what the page should.
"""

import re

import pytest

from claims import CLAIMS, ROOT

PART = re.compile(r"<!-- claims -->\n(.*?)<!-- end -->", re.DOTALL)


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", CLAIMS)
def test_a_page_says_what_the_results_say(page):
    text = flat((ROOT / page).read_text())
    for claim in CLAIMS[page]():
        assert flat(claim) in text, f"{page} should say: {claim}"


@pytest.mark.parametrize("page", ["README.md", "docs/results.md", "docs/velocity.md"])
def test_there_is_no_other_number_beside_them(page):
    parts = [flat(part) for part in PART.findall((ROOT / page).read_text())]
    assert parts
    for part in parts:
        for claim in sorted(map(flat, CLAIMS[page]()), key=len, reverse=True):
            part = part.replace(claim, "")
        part = re.sub(r"`[^`]*`|\]\([^)]*\)", "", part)  # commands and links
        assert not re.search(r"\d", part), part
