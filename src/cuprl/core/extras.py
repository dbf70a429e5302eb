"""Packages that not everybody has: imported where they are asked for, or said how to get."""

from __future__ import annotations

import importlib
from typing import Any

from cuprl.errors import UserError


def need(package: str, what: str, extra: str) -> Any:
    """Import a package and give it; where it is missing, refuse: "`what`: pip install 'cuprl[`extra`]'."."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise UserError(f"{what}: pip install 'cuprl[{extra}]'.") from None
