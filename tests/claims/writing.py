"""Puts a claim in the place of its earlier self: the same words with other numbers, wherever the lines break."""

import re

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def flat(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def written(text: str, claims: list[str]) -> tuple[str, list[str]]:
    """The page with the claims in it, and those for which it has no place, or more than one."""
    homeless = []
    for claim in map(flat, claims):
        if claim in flat(text):
            continue
        places = list(re.finditer(earlier(claim), text))
        if len(places) == 1:
            text = text[: places[0].start()] + with_numbers(places[0][0], claim) + text[places[0].end() :]
        else:
            homeless.append(claim)
    return text, homeless


def earlier(claim: str) -> str:
    """The pattern of a claim's words, whatever their numbers are."""
    parts = (r"\s+".join(map(re.escape, part.split(" "))) for part in NUMBER.split(claim))
    return NUMBER.pattern.join(parts)


def with_numbers(place: str, claim: str) -> str:
    """The words of a place, in its lines, with the numbers of a claim."""
    numbers = iter(NUMBER.findall(claim))
    return NUMBER.sub(lambda _: next(numbers), place)
