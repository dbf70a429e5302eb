"""CUP: a Conservative Update Policy algorithm for safe reinforcement learning (Yang et al. 2022).

Each iteration improves the policy without a thought for the cost, then projects it back onto the safe set, both by
first-order steps on minibatches (Section 4; Algorithm 1 in Appendix B).

    paper                      here
    pi_k, pi_{k+1/2}, pi_k+1   state.policy, half, new
    A-hat, A-hat^C             adv_r, adv_c (GAE)
    alpha, beta, eta, delta    config.alpha, config.beta, config.multiplier_lr, config.delta
    nu                         multiplier
    J-hat^C, b                 batch.cost_return (or what `belief` makes of it), spec.limits
    1/(1 - gamma-tilde)        (1 - gamma lambda) / (1 - gamma)

The defaults of Config are the printed algorithm, `cup-paper`. `cup` is the preset that mends what it loses, each part a
setting: docs/why-cup.md derives and measures them.

Differs from the paper, in both: both advantages are standardised over the batch, as in the runs behind its table; a step
stops when its KL passes delta; with several constraints the projection sums nu_i times each cost's surrogate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.errors import UserError
from cuprl.learn.belief import init_belief, outlook
from cuprl.learn.critics import fit_critics
from cuprl.learn.minibatch import Fit, fit, fit_priced, within
from cuprl.learn.policy import Policy, policy_for
from cuprl.learn.pricing import once_an_iteration, while_projecting
from cuprl.learn.settings import COST_SCALES, FirstOrder, Lagrangian, choice, setting
from cuprl.learn.state import init_state
from cuprl.learn.surrogate import (
    Rows,
    clipped_surrogate,
    cost_change,
    cost_unit,
    ratio_to_k,
    report,
    rows_at,
    scaled_cost_advantage,
    surrogates,
)
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(FirstOrder, Lagrangian):
    alpha: float = setting(0.2, "weight of sqrt(KL) in the improvement; the paper tries 0.1 to 0.3", "0 or more")
    delta: float = setting(0.02, "trust region: a step stops when its mean KL passes it; inf: never", "0 to inf")
    stop_checks: int = setting(1, "how often an epoch the KL is looked at to stop", "1 or more")
    projection_epochs: int = setting(10, "most passes of the projection over a batch", "1 or more")
    improvement: str = choice("sqrt-kl", "what holds the improvement back", ("sqrt-kl", "clip", "both"))
    clip: float = setting(0.2, "range of the ratio where a surrogate clips it", "more than 0")
    improvement_kl: str = choice("k-new", "which KL the improvement is charged for", ("k-new", "new-k"))
    projection_kl: str = choice("half-new", "which KL the projection minimises", ("half-new", "new-half"))
    projection_stop: str = choice("k", "the projection stops on the KL from pi_k or from pi_half", ("k", "half"))
    projection_delta: float = setting(0.02, "the projection stops when that KL passes it; inf: never", "0 to inf")
    projection_surrogate: str = choice("ratio", "the costs' surrogate in the projection", ("ratio", "clip"))
    cost_advantage: str = choice("standardise", "scale of the cost advantage", COST_SCALES)
    multiplier: str = choice(
        "ascent",
        "how nu follows the excess: once an iteration, or found while projecting, from the predicted excess",
        ("ascent", "adam", "pid", "projection"),
    )
    noise_floor: tuple[float, ...] = setting(
        (),
        "standard deviation below which the improvement does not push the noise, at first and at last, as 0.3,0.2; none: 0",
        "0.001 to 1e3",
    )
    beta: float = setting(0.0, "weight of sqrt(KL) in the predicted cost, in deviations of A^C: a margin", "0 or more")
    cost_memory: float = setting(0.0, "episodes that the predicted J^C counts for beside a batch's; 0: none", "0 or more")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.noise_floor) not in (0, 2):
            given = ",".join(map(str, self.noise_floor))
            raise UserError(f"noise_floor is {given}; give two numbers, at first and at last, as 0.3,0.2.")


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    belief = init_belief(len(spec.constraints)) if config.cost_memory else None
    return replace(init_state(key, config, spec), belief=belief)


def sqrt_kl(kl: jax.Array) -> jax.Array:
    """sqrt of a mean KL, with value and slope finite where rounding makes it 0 or slightly negative."""
    return jnp.sqrt(jnp.maximum(kl, 0.0) + 1e-12)


def improvement_loss(policy: Policy, params: Any, rows: Rows, config: Config) -> jax.Array:
    """-( mean ratio A-hat - alpha sqrt(mean KL(pi_k, pi)) ): Algorithm 1, policy improvement."""
    dist = policy.dist(params, rows.obs)
    ratio = ratio_to_k(policy, dist, rows)
    gain = ratio * rows.adv_r if config.improvement == "sqrt-kl" else clipped_surrogate(ratio, rows.adv_r, config.clip)
    if config.improvement == "clip":
        return -gain.mean()
    kl = policy.kl(rows.dist_k, dist) if config.improvement_kl == "k-new" else policy.kl(dist, rows.dist_k)
    return -gain.mean() + config.alpha * sqrt_kl(kl.mean())


def projection_loss(policy: Policy, params: Any, rows: Rows, weight: jax.Array, config: Config) -> jax.Array:
    """mean KL(pi_half, pi) + sum_i nu_i (1 - gamma lambda)/(1 - gamma) ratio A-hat^C_i: Algorithm 1, projection.

    The ratio is against pi_k, which collected the data; `weight` [m] is nu (1 - gamma lambda)/(1 - gamma).
    """
    dist = policy.dist(params, rows.obs)
    ratio = ratio_to_k(policy, dist, rows)
    half_new = config.projection_kl == "half-new"
    kl = policy.kl(rows.dist_half, dist) if half_new else policy.kl(dist, rows.dist_half)
    cost = rows.adv_c @ weight
    if config.projection_surrogate == "clip":
        return (kl - clipped_surrogate(ratio, -cost, config.clip)).mean()
    return (kl + ratio * cost).mean()


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    policy = policy_for(spec, config.hidden, config.init_log_std)
    key, key_improve, key_project, key_critics = jax.random.split(state.key, 4)
    rows = rows_at(policy, state.policy, batch, scaled_cost_advantage(batch.adv_c, config.cost_advantage))

    def mean_kl(dist_from: Any, params: Any, obs: Any = batch.obs) -> jax.Array:
        return policy.kl(dist_from, policy.dist(params, obs)).mean()

    half = fit(
        lambda params, r: improvement_loss(policy, params, r, config),
        Fit(state.policy, state.policy_opt),
        rows,
        key_improve,
        config,
        batch.lr_scale,
        within(lambda params, r: mean_kl(r.dist_k, params, r.obs), config.delta),
        config.stop_checks,
    )
    if config.noise_floor:
        first, last = config.noise_floor
        least = last + (first - last) * batch.lr_scale
        half = half._replace(params=policy.keep_noise(half.params, state.policy, least))
    rows = rows._replace(dist_half=policy.dist(half.params, batch.obs))
    cost = outlook(
        state.belief,
        batch.cost_return,
        batch.episodes,
        lambda params: cost_change(policy, params, rows, batch),
        config.cost_memory,
    )

    def excess(params: Any) -> jax.Array:
        """J^C + beta sqrt(KL) - b of a policy (Section 4), in deviations of the cost's surrogate [m]."""
        over = (cost.after(params) - spec.limits) / cost_unit(batch)
        return over + config.beta * sqrt_kl(mean_kl(rows.dist_k, params))

    if config.multiplier == "projection":
        prices = while_projecting(state.multiplier, half.params, excess, config)
    else:
        prices = once_an_iteration(state.multiplier, cost.now - spec.limits, config, spec)

    def moved(params: Any, r: Rows) -> jax.Array:
        return mean_kl(r.dist_k if config.projection_stop == "k" else r.dist_half, params, r.obs)

    new = fit_priced(
        lambda params, r, nu: projection_loss(policy, params, r, nu * prices.scale, config),
        half,
        rows,
        key_project,
        config,
        batch.lr_scale,
        within(moved, config.projection_delta),
        config.stop_checks,
        epochs=config.projection_epochs,
        price=prices.multiplier.value,
        reprice=prices.reprice,
    )
    multiplier = replace(prices.multiplier, value=new.price)

    critics = fit_critics(state, batch, key_critics, config)
    surrogate_half, surrogate_cost_half = surrogates(policy, half.params, rows)
    metrics: Metrics = {
        **report(policy, new.params, rows, batch),
        "train/predicted_cost": cost.after(new.params),
        "train/multiplier": multiplier.value,
        "train/kl_improvement": mean_kl(rows.dist_k, half.params),
        "train/kl_projection": mean_kl(rows.dist_half, new.params),
        "train/epochs_improvement": half.epochs,
        "train/epochs_projection": new.epochs,
        "train/surrogate_return_half": surrogate_half,
        "train/surrogate_cost_half": surrogate_cost_half,
        **cost.metrics(),
    }
    belief = cost.settled_on(new.params)
    return State(new.params, critics.params, new.opt_state, critics.opt_state, multiplier, key, belief), metrics
