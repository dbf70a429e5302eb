"""python -m tests.claims: the pages' sentences with the numbers that results/ have now."""

from . import CLAIMS
from .numbers import ROOT
from .writing import written

left = 0
for page, claims in CLAIMS.items():
    before = (ROOT / page).read_text()
    text, homeless = written(before, claims())
    if text != before:
        (ROOT / page).write_text(text)
        print(f"{page}: written from results/")
    for claim in homeless:
        print(f"{page} should say, by hand: {claim}")
    left += len(homeless)
raise SystemExit(bool(left))
