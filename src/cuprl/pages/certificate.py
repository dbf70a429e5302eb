"""A certificate as sentences. Its file may be another version's, or anyone's: what it has is said, what it lacks is not."""

from __future__ import annotations

from typing import Any

from cuprl.core.values import is_number
from cuprl.pages.parts import plain


def sentences(certificate: Any) -> list[str]:
    """Say what was run and what it came to, then a sentence a constraint; of a file of another kind, each thing it says."""
    constraints = certificate.get("constraints") if isinstance(certificate, dict) else None
    if not isinstance(constraints, list) or not all(isinstance(one, dict) for one in constraints):
        return told(certificate)
    return [of_whole(certificate), *(of_constraint(one, certificate.get("episodes")) for one in constraints)]


def of_whole(certificate: dict[str, Any]) -> str:
    """Say what was run for a certificate, and what it came to."""
    parts = [
        said("{:,} fresh episodes", certificate.get("episodes")),
        said("the policy of iteration {}", certificate.get("iteration")),
        word("its actions: {}", certificate.get("mode")),
        said("return {:.5g}", certificate.get("return_mean")),
        said("stated at {:.4g}%", percent(certificate.get("confidence"))),
        word("verdict: {}", certificate.get("verdict")),
    ]
    return sentence(parts)


def of_constraint(one: dict[str, Any], episodes: Any) -> str:
    """Say what a certificate states of one constraint."""
    over, low, high = (one.get(key) for key in ("over", "over_low", "over_high"))
    share = over / episodes if is_number(over) and is_number(episodes) and episodes else None
    parts = [
        f"{one.get('constraint', 'cost')}: {one.get('verdict', 'no verdict')}" + said(" (limit {:g})", one.get("limit")),
        said("mean cost {:.4g}", one.get("cost")),
        said("expected cost at most {:.4g}", one.get("upper")),
        said("at least {:.4g}", one.get("lower")),
        word("bounds by {}", one.get("method")),
        said("{:.1%} of the episodes over the limit", share) + said(" (between {:.1%} and {:.1%})", low, high),
        said("the worst 1% cost {:.4g}", one.get("worst")),
        said("about {:,} episodes would decide", one.get("to_decide")),
    ]
    return sentence(parts)


def told(value: Any, name: str = "") -> list[str]:
    """List each thing that a JSON value says, with its name."""
    if isinstance(value, dict):
        return [line for key, part in value.items() for line in told(part, key.replace("_", " "))]
    if isinstance(value, list):
        return [line for part in value for line in told(part, name)]
    return [f"{name}: {line}" if name else line for line in plain(value).splitlines()]


# --- words ------------------------------------------------------------------------------------------------------------


def said(form: str, *values: Any) -> str:
    """Fill numbers into a form; "" where one of them is none."""
    return form.format(*values) if all(map(is_number, values)) else ""


def word(form: str, value: Any) -> str:
    """Fill a word into a form; "" where it is none."""
    return form.format(value) if isinstance(value, str) and value else ""


def percent(share: Any) -> float | None:
    """Give 100 times a share; None where it is no number."""
    return 100 * share if is_number(share) else None


def sentence(parts: list[str]) -> str:
    """Join what there is to say into a sentence."""
    return "; ".join(filter(None, parts)) + "."
