"""Where groups stand in a sweep, read from their variants: alpha=0.1, or alpha=0.1+limit=15."""

from __future__ import annotations

import re
from typing import Any

from cuprl.errors import UserError
from cuprl.experiments.report.groups import Group


def point(g: Group) -> dict[str, str]:
    """Read a group's place in a sweep: {alpha: 0.1, limit: 15} of alpha=0.1+limit=15."""
    return dict(re.findall(r"(\w+)=(.+?)(?:\+(?=\w+=)|$)", g.variant))


def swept_name(groups: list[Group]) -> str | None:
    """Name the one number in which groups differ; None where they differ in none, in words, or in several."""
    values: dict[str, set[str]] = {}
    for g in groups:
        for name, value in point(g).items():
            values.setdefault(name, set()).add(value)
    names = [name for name in values if len(values[name]) > 1] or list(values)
    if len(names) != 1 or len({frozenset(point(g)) for g in groups}) != 1:
        return None
    return names[0] if all(map(is_number, values[names[0]])) else None


def is_number(text: str) -> bool:
    """Tell whether a value can lie on an axis."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def no_sweep(groups: list[Group], what: str, names: list[str], example: str) -> UserError:
    """Say that these groups do not sweep one of these names alone, with a part of them that does if there is one."""
    part = largest_sweep(groups, names)
    if len(part) > 1:
        only = ",".join(f"variant={variant}" for variant in part)
        return UserError(f"this experiment sweeps no {what} alone; draw a part of it with --only {only}")
    return UserError(f"this experiment sweeps no {what}; draw its `curves`, or give one that does, as {example}.")


def largest_sweep(groups: list[Group], names: list[str]) -> list[str]:
    """Find the most variants that differ in one of these names and in nothing else."""
    parts: dict[Any, list[Group]] = {}
    for g in groups:
        for name in [name for name in names if name in point(g)]:
            rest = frozenset(pair for pair in point(g).items() if pair[0] != name)
            parts.setdefault((name, rest), []).append(g)
    sweeps = [list(dict.fromkeys(g.variant for g in part)) for (name, _), part in parts.items() if swept_name(part) == name]
    return max(sweeps, key=len, default=[])
