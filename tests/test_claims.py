"""Each sentence of claims/ stands so in its page.

A part of a page between <!-- claims --> and <!-- end --> has no other number. Where results have come,
`python -m tests.claims` writes the new numbers; where the words change too, the test that fails says what the page should.
"""

import re

import pytest

from claims import CLAIMS
from claims.numbers import ROOT
from claims.writing import flat, written

PART = re.compile(r"<!-- claims -->\n(.*?)<!-- end -->", re.DOTALL)


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


@pytest.mark.parametrize("page", CLAIMS)
def test_new_numbers_find_their_places(page):
    """A page with other numbers in all of its claims becomes the page again."""
    text, claims = (ROOT / page).read_text(), CLAIMS[page]()
    other, homeless = written(text, [re.sub(r"\d", "7", claim) for claim in claims])
    assert not homeless and other != text
    assert written(other, claims) == (text, [])


def test_new_numbers_leave_the_lines_and_everything_else():
    page = "In 2022 `cup` has 12.5\nand (CPO 3 of\n10). It ends at 4."
    text, homeless = written(page, ["`cup` has 9 and (CPO 11 of 20)"])
    assert text == "In 2022 `cup` has 9\nand (CPO 11 of\n20). It ends at 4." and not homeless


def test_what_has_no_one_place_is_told():
    page = "`cup` has 1 and FOCOPS has 2."
    assert written(page, ["has 3", "PCPO has 2"]) == (page, ["has 3", "PCPO has 2"])
