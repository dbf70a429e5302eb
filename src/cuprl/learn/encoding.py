"""Features of observations by an encoder of one's own; and what is wrong with one, said before anything is learnt."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

from cuprl.core.encoder import Encoder, by_rows, find_encoder, from_names, to_names
from cuprl.errors import UserError, blame, first_line

TRIED = 4  # observations


@cache
def compiled(encoder: Encoder) -> Any:
    """Compile `apply`, to act with where there is none in NumPy."""
    return jax.jit(encoder.apply)


@cache
def features(encoder: Encoder, obs_dim: int) -> int:
    """Tell how many features it makes of an observation."""
    shape = jax.eval_shape(
        lambda key, obs: encoder.apply(encoder.init(key, obs_dim), obs),
        jax.random.PRNGKey(0),
        jax.ShapeDtypeStruct((TRIED, obs_dim), np.float32),
    ).shape
    return shape[-1]


def encode(encoder: Encoder, params: Any, x: Any, xp: ModuleType = jnp) -> Any:
    """Encode normalised observations x [..., obs] -> [..., features]."""
    return by_rows(encoder.apply if xp is jnp else on_host(encoder), params, x)


def on_host(encoder: Encoder) -> Any:
    """Give what acts: the function in NumPy, or the compiled one where there is none."""
    return encoder.numpy or (lambda params, obs: np.asarray(compiled(encoder)(params, obs)))


def with_encoder(settings: Any, obs_dim: int) -> Any:
    """Look up an encoder that the settings name, and refuse one with which nothing can be learnt."""
    encoder = find_encoder(settings.encoder)
    if encoder is None:
        return settings
    check_encoder(encoder, obs_dim)
    return replace(settings, encoder=encoder)


def check_encoder(encoder: Encoder, obs_dim: int) -> None:
    """Refuse one that cannot be learnt or acted with, in a sentence that says what its functions gave."""
    whose = f"of the encoder {encoder.name}"
    obs = np.asarray(np.random.default_rng(0).normal(size=(TRIED, obs_dim)), np.float32)
    params = called(f"init {whose}", encoder.init, jax.random.PRNGKey(0), obs_dim)
    kept = from_names(to_names(params))  # as a checkpoint gives it back
    out = called(f"apply {whose}", encoder.apply, params, jnp.asarray(obs))
    shape, kind = list(np.shape(out)), getattr(out, "dtype", type(out).__name__)
    if len(shape) != 2 or shape[0] != TRIED or not shape[1] or kind != np.float32:
        raise UserError(f"apply {whose} gave {kind} {shape} for obs [{TRIED}, {obs_dim}]; give float32 [{TRIED}, any].")
    if not np.isfinite(out).all():
        raise UserError(f"apply {whose} gave NaN or infinite features; mend it.")
    try:
        open_shape = export.symbolic_shape(f"batch, {obs_dim}")
        found = jax.eval_shape(encoder.apply, params, jax.ShapeDtypeStruct(open_shape, np.float32)).shape
        if found[0] != open_shape[0]:
            raise ValueError(f"it gave {list(found)} for obs {list(open_shape)}")
    except Exception as error:
        said = f"apply {whose} does not leave the number of rows open ({first_line(error)})"
        raise UserError(f"{said}; let nothing depend on it, and reshape with -1 in its place.") from None
    for name, function in (("apply", encoder.apply), ("numpy", encoder.numpy)):
        if function is None:
            continue
        again = np.asarray(called(f"{name} {whose}, with lists in the place of tuples,", function, kept, obs))
        alone = np.asarray(called(f"{name} {whose}", function, kept, obs[:1]))
        if alone.shape != again[:1].shape or not np.allclose(alone, again[:1], rtol=1e-4, atol=1e-5):
            said = f"{name} {whose} gives an observation other features alone than among others"
            raise UserError(f"{said}; let each row be by itself.")
        if again.shape != out.shape or again.dtype != np.float32 or not np.allclose(again, out, rtol=1e-4, atol=1e-5):
            said = f"{name} {whose} gave {again.dtype} {list(again.shape)} and not the features that apply gave"
            raise UserError(f"{said}; they must be the same, in float32.")


def called(what: str, function: Any, *arguments: Any) -> Any:
    """Call a function of theirs; what it raises is a sentence."""
    try:
        return function(*arguments)
    except Exception as error:
        shapes = ", ".join(f"{type(x).__name__} {list(np.shape(x))}" if np.ndim(x) else str(x) for x in arguments[1:])
        raise blame(what, error, f"its parameters (init: a key), {shapes}") from error
