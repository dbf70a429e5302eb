"""Modules of the user's own: found as Python finds them, and in the working directory."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from cuprl.errors import UserError


def import_own(name: str, what: str) -> ModuleType:
    """what: who asks for it, for the error's sentence."""
    if os.getcwd() not in sys.path:  # `python script.py` has the script's folder there, `cup` has nothing
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever the module's own code raises
        raise UserError(f"{what}: importing {name} failed ({type(error).__name__}: {error}); mend or install it.") from error
