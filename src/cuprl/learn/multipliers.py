"""The multipliers nu [m] of the constraints: projected ascent on the measured excess J^C - b, in three kinds."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from cuprl.learn.settings import Lagrangian


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Multiplier:
    """The multipliers nu of the constraints, and what their rule remembers."""

    value: jax.Array  # [m] nu
    first: jax.Array  # [m] Adam: mean of gradients; PID: integral of the excess
    second: jax.Array  # [m] Adam: mean of squared gradients; PID: the last excess
    count: jax.Array  # [] updates so far


def init_multiplier(m: int, initial: float) -> Multiplier:
    """Begin with nu [m] at its initial value, and nothing remembered."""
    zero = jnp.zeros(m)
    return Multiplier(jnp.full(m, initial, jnp.float32), zero, zero, jnp.zeros((), jnp.int32))


def ascent(nu: Multiplier, excess: jax.Array, rate: float, maximum: float) -> Multiplier:
    """Take nu <- clip(nu + eta (J^C - b), 0, nu_max): the paper's rule (Algorithm 1)."""
    return Multiplier(jnp.clip(nu.value + rate * excess, 0.0, maximum), nu.first, nu.second, nu.count + 1)


def adam(nu: Multiplier, excess: jax.Array, rate: float, maximum: float) -> Multiplier:
    """Ascend likewise with Adam's step, as OmniSafe and SafePO take it."""
    count = nu.count + 1
    first = 0.9 * nu.first + 0.1 * excess
    second = 0.999 * nu.second + 0.001 * excess**2
    step = (first / (1 - 0.9**count)) / (jnp.sqrt(second / (1 - 0.999**count)) + 1e-8)
    return Multiplier(jnp.clip(nu.value + rate * step, 0.0, maximum), first, second, count)


def pid(nu: Multiplier, excess: jax.Array, rate: float, maximum: float) -> Multiplier:
    """Control the excess in proportion, integral and derivative (Stooke et al. 2020); `rate` is the integral gain."""
    proportional, derivative = 10.0 * rate, rate
    before = jnp.where(nu.count > 0, nu.first, nu.value)  # its first value is where the integral begins
    integral = jnp.clip(before + rate * excess, 0.0, maximum)
    rising = jnp.where(nu.count > 0, jnp.maximum(excess - nu.second, 0.0), 0.0)
    value = jnp.clip(proportional * excess + integral + derivative * rising, 0.0, maximum)
    return Multiplier(value, integral, excess, nu.count + 1)


KINDS = {"ascent": ascent, "adam": adam, "pid": pid}


def follow(nu: Multiplier, excess: jax.Array, config: Lagrangian) -> Multiplier:
    """Update nu once from excess [m] = J^C - b, by the rule of the settings."""
    return KINDS[config.multiplier](nu, excess, config.multiplier_lr, config.multiplier_max)
