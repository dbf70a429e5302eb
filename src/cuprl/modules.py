"""Modules of the user's own: found as Python finds them, and in the folder the command is given in."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from cuprl.errors import UserError, blame


def import_own(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:  # `python script.py` has the script's folder there, `cup` has nothing
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(f"cannot import {name} ({error}); install it, or go to the folder that has it.") from None
    except Exception as error:  # whatever the module's own code raises
        raise blame(f"importing {name}", error) from error
