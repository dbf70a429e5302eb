"""CUP: a Conservative Update Policy algorithm for safe reinforcement learning (Yang et al. 2022).

Each iteration improves the policy without a thought for the cost, then projects it back onto the safe set, both by
first-order steps on minibatches (Section 4; Algorithm 1 in Appendix B).

    paper                      here
    pi_k, pi_{k+1/2}, pi_k+1   state.policy, half, new
    A-hat, A-hat^C             adv_r, adv_c (GAE)
    alpha, beta, eta, delta    config.alpha, config.beta, config.multiplier_lr, config.delta
    nu                         multiplier
    J-hat^C, b                 batch.cost_return (or what `belief` makes of it), batch.limits
    1/(1 - gamma-tilde)        (1 - gamma lambda) / (1 - gamma)

The defaults of Config are the printed algorithm, `cup-paper`. `cup` is the preset that mends what it loses, each part a
setting: docs/why-cup.md derives and measures them.

Differs from the paper, in both: both advantages are standardised over the batch, learning rates fall to 0 and gradients are
clipped, as in the runs behind its table; unlike there, time limits are bootstrapped over and unfinished episodes go on. A
step stops when its KL passes delta. Minibatches are shuffled rows and one nu follows the mean J^C, where Algorithm 1 goes
trajectory by trajectory. The temperature that its table of settings gives CUP, which no equation has, is left out. With
several constraints the projection sums nu_i times each cost's surrogate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax

from cuprl.core.spec import Spec
from cuprl.learn import surrogate
from cuprl.learn.belief import init_belief, outlook
from cuprl.learn.critics import fit_critics
from cuprl.learn.fields import choice, setting
from cuprl.learn.minibatch import Fit, fit, within
from cuprl.learn.noise import with_noise
from cuprl.learn.policy import Policy, policy_for
from cuprl.learn.pricing import prices
from cuprl.learn.settings import COST_SCALES, FirstOrder, Lagrangian, NoiseFloor
from cuprl.learn.state import init_state
from cuprl.learn.surrogate import Rows, clipped_surrogate, mean_kl, ratio_to_k, rows_at, scaled_cost_advantage, sqrt_kl
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(FirstOrder, Lagrangian, NoiseFloor):
    alpha: float = setting(0.2, "weight of sqrt(KL) in the improvement; the paper tries 0.1 to 0.3", "0 or more")
    delta: float = setting(0.02, "trust region: a step stops when its mean KL passes it; inf: never", "0 to inf")
    stop_checks: int = setting(1, "how often an epoch the KL is looked at to stop", "1 or more")
    projection_epochs: int = setting(10, "most passes of the projection over a batch", "1 or more")
    improvement: str = choice("sqrt-kl", "what holds the improvement back", ("sqrt-kl", "clip", "both"))
    clip: float = setting(0.2, "where a surrogate clips the ratio, to 1 ± this", "more than 0")
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
    beta: float = setting(0.0, "margin: weight of sqrt(KL) in the predicted cost, in deviations of A^C", "0 or more")
    cost_memory: float = setting(0.0, "episodes that a prediction of J^C counts for beside a batch's; 0: none", "0 or more")


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    belief = init_belief(len(spec.constraints)) if config.cost_memory else None
    return replace(init_state(key, config, spec), belief=belief)


def improvement_loss(policy: Policy, params: Any, rows: Rows, config: Config) -> jax.Array:
    """Give -( mean ratio A-hat - alpha sqrt(mean KL(pi_k, pi)) ): Algorithm 1, policy improvement."""
    dist = policy.dist(params, rows.obs)
    ratio = ratio_to_k(policy, dist, rows)
    gain = ratio * rows.adv_r if config.improvement == "sqrt-kl" else clipped_surrogate(ratio, rows.adv_r, config.clip)
    if config.improvement == "clip":
        return -gain.mean()
    kl = policy.kl(rows.dist_k, dist) if config.improvement_kl == "k-new" else policy.kl(dist, rows.dist_k)
    return -gain.mean() + config.alpha * sqrt_kl(kl.mean())


def projection_loss(policy: Policy, params: Any, rows: Rows, weight: jax.Array, config: Config) -> jax.Array:
    """Give mean KL(pi_half, pi) + sum_i nu_i (1 - gamma lambda)/(1 - gamma) ratio A-hat^C_i: Algorithm 1, projection.

    The ratio is against pi_k, which collected the data; `weight` [m] is nu (1 - gamma lambda)/(1 - gamma), or nu itself
    where it is found while projecting.
    """
    dist = policy.dist(params, rows.obs)
    ratio = ratio_to_k(policy, dist, rows)
    kl = policy.kl(rows.dist_half, dist) if config.projection_kl == "half-new" else policy.kl(dist, rows.dist_half)
    cost = rows.adv_c @ weight
    if config.projection_surrogate == "clip":
        return (kl - clipped_surrogate(ratio, -cost, config.clip)).mean()
    return (kl + ratio * cost).mean()


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    policy = policy_for(spec, config)
    key, key_improve, key_project, key_critics = jax.random.split(state.key, 4)
    rows = rows_at(policy, state.policy, batch, scaled_cost_advantage(batch.adv_c, config.cost_advantage))

    def improve(params: Any, r: Rows) -> jax.Array:
        return improvement_loss(policy, params, r, config)

    def from_k(params: Any, r: Rows) -> jax.Array:
        return mean_kl(policy, r.dist_k, params, r.obs)

    start, stop = Fit(state.policy, state.policy_opt), within(from_k, config.delta, config.stop_checks)
    half = fit(improve, start, rows, config, key=key_improve, lr_scale=batch.lr_scale, stop=stop)
    half = half._replace(params=with_noise(policy, half.params, state.policy, batch.lr_scale, config))
    rows = rows._replace(dist_half=policy.dist(half.params, batch.obs))

    def change(params: Any) -> jax.Array:
        return surrogate.cost_change(policy, params, rows, batch)

    cost = outlook(state.belief, batch.cost_return, batch.episodes, change, config.cost_memory)

    def excess(params: Any) -> jax.Array:
        """J^C + beta sqrt(KL) - b of a policy (Section 4), in deviations of the cost's surrogate [m]."""
        return (cost.after(params) - batch.limits) / surrogate.cost_unit(batch) + config.beta * sqrt_kl(from_k(params, rows))

    nu = prices(state.multiplier, cost.now - batch.limits, excess, half.params, config, spec)

    def project(params: Any, r: Rows, price: jax.Array) -> jax.Array:
        return projection_loss(policy, params, r, price * nu.scale, config)

    def moved(params: Any, r: Rows) -> jax.Array:
        return mean_kl(policy, r.dist_k if config.projection_stop == "k" else r.dist_half, params, r.obs)

    most, stop = config.projection_epochs, within(moved, config.projection_delta, config.stop_checks)
    new = fit(
        project, half, rows, config, key=key_project, lr_scale=batch.lr_scale, stop=stop, epochs=most, pricing=nu.pricing()
    )
    new = new._replace(params=with_noise(policy, new.params, state.policy, batch.lr_scale, config))

    critics = fit_critics(state, batch, key_critics, config)
    surrogate_half, surrogate_cost_half = surrogate.surrogates(policy, half.params, rows)
    metrics: Metrics = {
        **surrogate.report(policy, new.params, rows, batch),
        "train/predicted_cost": cost.after(new.params),
        "train/multiplier": new.price,
        "train/kl_improvement": from_k(half.params, rows),
        "train/kl_projection": mean_kl(policy, rows.dist_half, new.params, batch.obs),
        "train/epochs_improvement": half.epochs,
        "train/epochs_projection": new.epochs,
        "train/surrogate_return_half": surrogate_half,
        "train/surrogate_cost_half": surrogate_cost_half,
        **cost.metrics(),
    }
    multiplier, belief = replace(nu.multiplier, value=new.price), cost.settled_on(new.params)
    return State(new.params, critics.params, new.opt_state, critics.opt_state, multiplier, key, belief), metrics
