"""Why what was made with one configuration is not what another asks for."""

from __future__ import annotations

from typing import Any

from cuprl.algorithms import numerics
from cuprl.runs.history import told
from cuprl.runs.provenance import plain


def numerics_reason(config: dict[str, Any]) -> str | None:
    """Say why numbers made with this configuration are not what it gives now; None: they are."""
    made, now = config["numerics"], numerics(config["algo"])
    return None if made == now else f"made with numerics {made} of {config['algo']}, now {now}"


def differing(found: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    """Say 'alpha 0.3, not 0.2' of each setting, limit or number of steps."""
    mine, theirs = (
        plain({"steps": c["steps"], **told(c), **{f"limit of {k}": v for k, v in c["limits"].items()}, **c["settings"]})
        for c in (found, asked)
    )
    names = dict.fromkeys((*theirs, *mine))
    return [f"{n} {mine.get(n, 'unset')}, not {theirs.get(n, 'unset')}" for n in names if mine.get(n) != theirs.get(n)]
