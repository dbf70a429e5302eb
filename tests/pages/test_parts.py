"""The parts that pages are made of."""

from cuprl.pages import parts
from cuprl.pages.run_data import run_page
from pages.made_up import by_id, seen


def test_a_long_run_is_thinned_and_says_so():
    n = 3 * parts.MOST
    page = run_page(seen(n=n, iterations=n))
    steps = page["grids"]["training"]["steps"]
    assert len(steps) == parts.MOST and steps[-1] == n * 100
    assert {len(series["y"]) for panel in page["panels"] for series in panel["series"]} == {parts.MOST}
    assert by_id(page)["promise-0"]["series"][0]["y"] == [40] * parts.MOST
    assert page["warnings"] == ["the curves show one in 3 iterations of 12,000."]
