"""An encoder of one's own: what turns an observation into features, before the layers of each network.

Files know it by its name, `MODULE:NAME`, and keep its parameters as named arrays. NumPy alone, for robots too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuprl.core.user_modules import import_own, name_own
from cuprl.errors import UserError

NO_ENCODER = "none"


@dataclass(frozen=True)
class Encoder:
    """A pair of pure functions. The policy and each critic learn parameters of their own for it.

    Args:
        init: init(key, obs_dim) -> params: float32 arrays in dicts, lists and tuples, drawn with a JAX key.
        apply: apply(params, obs [B, obs]) -> features [B, any]: in JAX, of normalised observations, flat as the task gives
            them.
        numpy: the same as `apply` in NumPy alone, for acting without JAX; the two are compared before anything is learnt.
    """

    init: Callable[[Any, int], Any]
    apply: Callable[[Any, Any], Any]
    numpy: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("init", "apply"):
            if not callable(getattr(self, name)):
                raise UserError(f"{name} of an Encoder is {getattr(self, name)!r}; give a function.")
        if self.numpy is not None and not callable(self.numpy):
            raise UserError(f"numpy of an Encoder is {self.numpy!r}; give a function, or none.")

    @property
    def name(self) -> str:
        """Say where it can be found again: MODULE:NAME; what no module holds must be given again."""
        module = getattr(self.apply, "__module__", None) or "python"
        held = [name for name, value in vars(sys.modules.get(module, object)).items() if value is self]
        return f"{module}:{held[0] if held else getattr(self.apply, '__qualname__', type(self.apply).__name__)}"


def find_encoder(given: str | Encoder | None) -> Encoder | None:
    """Give the encoder itself, or the one that is called MODULE:NAME; importing goes through the gate for own modules."""
    if isinstance(given, Encoder):
        if home := module_of(given.name):
            name_own(home)
        return given
    if given in (None, NO_ENCODER):
        return None
    if not isinstance(given, str):
        raise UserError(f"encoder is {given!r}; give a cuprl.Encoder, or the name of one as MODULE:NAME.")
    module, colon, name = given.partition(":")
    if not (module and colon and name):
        raise UserError(f"encoder is {given!r}; give MODULE:NAME, or {NO_ENCODER}.")
    # What the script that runs holds is its user's own.
    found = getattr(sys.modules["__main__"] if module == "__main__" else import_own(module), name, None)
    if not isinstance(found, Encoder):
        fix = "mend it, or give it again from Python, as encoder=..."
        raise UserError(f"the encoder {given} is not there: {module} has no cuprl.Encoder {name}; {fix}.")
    return found


def by_rows(function: Callable[[Any, Any], Any], params: Any, x: Any) -> Any:
    """Map x [..., obs] to [..., features] by a function that takes [B, obs], as an encoder's do."""
    out = function(params, x.reshape(-1, x.shape[-1]))
    return out.reshape(*x.shape[:-1], out.shape[-1])


def module_of(name: str) -> str | None:
    """Tell which module an encoder's name names; None: no other than the script that made it."""
    module, colon, _ = name.partition(":")
    return module if colon and module not in ("__main__", "python") else None


# --- parameters as named arrays ---------------------------------------------------------------------------------------


def to_names(params: Any) -> dict[str, np.ndarray]:
    """Name the arrays by where they stand, as "conv/0/weight"; UserError for what could not be put together again."""
    return dict(_named(params, ""))


def _named(params: Any, place: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(params, dict):
        for key, part in params.items():
            if not isinstance(key, str) or not key or "/" in key or key.isdigit():
                raise UserError(f"init of the encoder names a parameter {key!r}; give a text without / that is no number.")
            yield from _named(part, f"{place}/{key}")
    elif type(params) in (list, tuple):
        for index, part in enumerate(params):
            yield from _named(part, f"{place}/{index}")
    else:
        array = np.asarray(params)
        if array.dtype != np.float32 or not place:
            said = f"{array.dtype} as {place[1:]}" if place else f"a {type(params).__name__}"
            raise UserError(f"init of the encoder gave {said}; give float32 arrays in dicts, lists and tuples.")
        yield place[1:], array


def from_names(arrays: dict[str, np.ndarray]) -> Any:
    """Put the parameters together again; a tuple comes back as a list, and one without any array as an empty dict."""
    if set(arrays) == {""}:
        return arrays[""]
    parts: dict[str, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        first, _, rest = name.partition("/")
        parts.setdefault(first, {})[rest] = array
    whole = {first: from_names(part) for first, part in parts.items()}
    if whole and all(first.isdigit() for first in whole):
        return [whole[first] for first in sorted(whole, key=int)]
    return whole
