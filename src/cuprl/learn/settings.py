"""Settings every algorithm shares. A dataclass is the single source of defaults, command-line flags and help texts."""

from __future__ import annotations

from dataclasses import dataclass

from cuprl.core.activations import ACTIVATIONS, USUAL
from cuprl.core.encoder import NO_ENCODER, Encoder
from cuprl.errors import UserError
from cuprl.learn.fields import as_words, check, choice, setting

POLICIES = ("gaussian", "squashed")
COST_SCALES = ("standardise", "centre", "raw")
LARGEST_NETWORK = 10**8  # weights between hidden layers: 0.4 GB


@dataclass(frozen=True)
class Common:
    """The collector, the networks and the critics: the paper's hyper-parameter table, alike for all algorithms."""

    batch_size: int = setting(5000, "environment steps an iteration", "1 to 1e8")
    num_envs: int = setting(5, "environments stepped together; batch_size must be a multiple", "1 or more")
    gamma: float = setting(0.99, "discount of the reward, and of a cost whose limit is undiscounted", "0 to 1")
    cost_gamma: float = setting(0.0, "discount of the critic of a cost whose limit is undiscounted; 0: gamma", "0 to 1")
    lam: float = setting(0.95, "GAE lambda of the reward", "0 to 1")
    cost_lam: float = setting(0.95, "GAE lambda of the costs", "0 to 1")
    time_limits: str = choice(
        "bootstrap",
        "what a time limit is: a cut to bootstrap over, or a real end as in the paper's runs",
        ("bootstrap", "terminal"),
    )
    normalise: bool = setting(True, "observations are shifted and scaled by their running mean and deviation")
    hidden: tuple[int, ...] = setting((64, 64), "sizes of hidden layers, as 64,64; none: a linear policy", "1 to 1e5")
    activation: str = choice(USUAL, "function between the layers of policy and critics", tuple(ACTIVATIONS))
    policy: str = choice("gaussian", "real actions: a Gaussian without bounds, or one squashed into the bounds", POLICIES)
    encoder: str = setting(NO_ENCODER, "what makes features of an observation first, MODULE:NAME of a cuprl.Encoder")
    init_log_std: float = setting(-0.5, "initial log standard deviation of a Gaussian policy", "-20 to 20")
    critic_lr: float = setting(3e-4, "learning rate of the critics", "0 or more")
    critic_epochs: int = setting(10, "passes of the critics over each batch", "1 or more")
    critic_unit: str = choice(
        "return",
        "what 1 of a critic's network means: a return of 1, or a usual step's reward or cost at every step of an episode",
        ("return", "step"),
    )
    critic_l2: float = setting(1e-3, "weight of the sum of squared parameters in the critics' loss", "0 or more")
    minibatch: int = setting(64, "minibatch size", "1 or more")
    anneal: bool = setting(True, "learning rates fall linearly to 0 over the run")
    cost_return: str = choice(
        "discounted",
        "J^C compared with the limit: as the constraint is discounted, or the plain sum",
        ("discounted", "undiscounted"),
    )
    cost_weights: str = choice(
        "alike",
        "weight of a state in the costs' surrogates: all alike, or gamma_C^t at step t, as J^C weighs it",
        ("alike", "discounted"),
    )
    cost_ends: str = choice(
        "real",
        "an early end to the costs' critics: real, nothing is paid after it; or a cut to bootstrap over, saving nothing",
        ("real", "bootstrap"),
    )
    cost_estimate: str = choice(
        "episodes",
        "J^C from the episodes that ended in this batch, or from all its steps, the critic filling in the rest",
        ("episodes", "steps"),
    )
    cost_window: int = setting(0, "J^C is the mean of this many last episodes; 0: of those ended in this batch", "0 or more")

    def __post_init__(self) -> None:
        check(self)
        if not isinstance(self.encoder, str | Encoder):  # one given from Python stays itself
            raise UserError(f"encoder is {self.encoder!r}; give a cuprl.Encoder, or the name of one as MODULE:NAME.")
        if sum(a * b for a, b in zip(self.hidden, self.hidden[1:])) > LARGEST_NETWORK:
            raise UserError(f"hidden is {as_words(self.hidden)}; give layers of at most {LARGEST_NETWORK:,} weights.")
        if self.batch_size % self.num_envs:
            raise UserError(f"batch_size {self.batch_size} is not a multiple of num_envs {self.num_envs}; change one.")


def refuse_at_odds(config: Common) -> None:
    """Refuse settings of a new run that leave each other without effect or without an end; old runs still open."""
    if config.cost_window and config.cost_estimate == "steps":
        raise UserError(
            f"cost_window is {config.cost_window}, but with cost_estimate steps J^C is of no episodes; leave one out."
        )
    for name in ("gamma", "cost_gamma"):
        if getattr(config, name) == 1.0 and config.time_limits == "bootstrap":
            raise UserError(
                f"{name} is 1 while time limits are bootstrapped over: what a critic counts then has no end. "
                "Give less than 1, or time_limits terminal."
            )


@dataclass(frozen=True)
class FirstOrder(Common):
    """Policies learnt by Adam on minibatches."""

    policy_lr: float = setting(3e-4, "learning rate of the policy", "0 or more")
    epochs: int = setting(10, "most passes of the policy over a batch", "1 or more")
    max_grad_norm: float = setting(40.0, "the policy's gradient is scaled down to this norm", "more than 0")


@dataclass(frozen=True)
class Lagrangian(Common):
    """Constraints kept by multipliers nu that follow the measured excess J^C - b."""

    multiplier: str = choice("ascent", "how nu follows the excess", ("ascent", "adam", "pid"))
    multiplier_lr: float = setting(0.01, "eta, step size of nu", "0 or more")
    multiplier_init: float = setting(0.0, "initial nu", "0 or more")
    multiplier_max: float = setting(2.0, "largest nu", "0 to inf")


@dataclass(frozen=True)
class NoiseFloor(Common):
    """Settings of a floor under the noise."""

    noise_floor: tuple[float, ...] = setting(
        (),
        "standard deviation that no step goes below, at the whole learning rate and at none, as 0.3,0.2; none: no floor",
        "0.001 to 1e3",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.noise_floor) not in (0, 2):
            given = ",".join(map(str, self.noise_floor))
            raise UserError(f"noise_floor is {given}; give two numbers, at first and at last, as 0.3,0.2.")


@dataclass(frozen=True)
class SecondOrder(Common):
    """Policies learnt by natural-gradient steps in a trust region; critics by full-batch steps."""

    delta: float = setting(0.01, "trust region: largest mean KL of a step", "more than 0")
    damping: float = setting(0.01, "multiple of the identity added to the Fisher matrix", "0 or more")
    cg_iterations: int = setting(10, "iterations of conjugate gradient", "1 or more")
    backtrack: float = setting(0.8, "the line search shortens a refused step by this factor", "0.01 to 0.99")
    backtracks: int = setting(10, "steps the line search tries, the whole one first", "1 or more")
    critic_epochs: int = setting(80, "gradient steps of the critics on each batch, each on all its rows", "1 or more")
    minibatch: int = setting(200, "rows whose gradients are computed together; changes speed, not the result", "1 or more")


@dataclass(frozen=True)
class LagrangianAdvantage(Lagrangian):
    """One step on reward and costs together: what nu multiplies has a scale."""

    cost_advantage: str = choice("standardise", "scale of the cost advantage", COST_SCALES)
