"""Settings every algorithm shares. A dataclass is the single source of defaults, command-line flags and help texts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, get_type_hints

from cuprl.errors import UserError, unknown
from cuprl.words import parse_value


def setting(default: Any, help: str) -> Any:
    """A dataclass field with its help text."""
    return dataclasses.field(default=default, metadata={"help": help})


def choice(default: str, help: str, options: tuple[str, ...]) -> Any:
    return dataclasses.field(default=default, metadata={"help": f"{help} ({', '.join(options)})", "options": options})


@dataclass(frozen=True)
class Common:
    """The collector, the networks and the critics: the paper's hyper-parameter table, alike for all algorithms."""

    batch_size: int = setting(5000, "environment steps an iteration")
    num_envs: int = setting(5, "environments stepped together; batch_size must be a multiple")
    gamma: float = setting(0.99, "discount of the reward, and of a cost whose limit is undiscounted")
    lam: float = setting(0.95, "GAE lambda of the reward")
    cost_lam: float = setting(0.95, "GAE lambda of the costs")
    time_limits: str = choice(
        "bootstrap", "what a time limit is: a cut to bootstrap over, or a real end as in the paper's runs",
        ("bootstrap", "terminal"),
    )  # fmt: skip
    normalise: bool = setting(True, "observations are shifted and scaled by their running mean and deviation")
    hidden: tuple[int, ...] = setting((64, 64), "sizes of the hidden tanh layers, as 64,64; none: a linear policy")
    init_log_std: float = setting(-0.5, "initial log standard deviation of a Gaussian policy")
    critic_lr: float = setting(3e-4, "learning rate of the critics")
    critic_epochs: int = setting(10, "passes of the critics over each batch")
    critic_l2: float = setting(1e-3, "weight of the sum of squared parameters in the critics' loss")
    minibatch: int = setting(64, "minibatch size")
    anneal: bool = setting(True, "learning rates fall linearly to 0 over the run")
    cost_return: str = choice(
        "discounted", "J^C compared with the limit: as the constraint is discounted, or the plain sum",
        ("discounted", "undiscounted"),
    )  # fmt: skip
    cost_weights: str = choice(
        "alike", "weight of a state in the costs' surrogates: all alike, or gamma_C^t at step t, as J^C weighs it",
        ("alike", "discounted"),
    )  # fmt: skip
    cost_estimate: str = choice(
        "episodes", "J^C from the episodes that ended in this batch, or from all its steps, the critic filling in the rest",
        ("episodes", "steps"),
    )  # fmt: skip
    cost_window: int = setting(0, "J^C is the mean of this many latest episodes; 0: of those that ended in this batch")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            options, value = field.metadata.get("options"), getattr(self, field.name)
            if options and value not in options:
                raise UserError(f"{field.name} is {value!r}; accepted: {', '.join(options)}.")
        for name in ("batch_size", "num_envs", "minibatch"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if any(size < 1 for size in self.hidden):
            raise UserError(f"hidden is {self.hidden}; each layer must have at least 1 unit.")
        if self.cost_window < 0:
            raise UserError(f"cost_window is {self.cost_window}; give 0 or a number of episodes.")
        if self.batch_size % self.num_envs:
            raise UserError(f"batch_size {self.batch_size} is not a multiple of num_envs {self.num_envs}; change one.")
        for name in ("gamma", "lam", "cost_lam"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UserError(f"{name} is {getattr(self, name)}; it must be between 0 and 1.")


@dataclass(frozen=True)
class FirstOrder(Common):
    """Policies learnt by Adam on minibatches."""

    policy_lr: float = setting(3e-4, "learning rate of the policy")
    epochs: int = setting(10, "most passes of the policy over a batch")
    max_grad_norm: float = setting(40.0, "the policy's gradient is scaled down to this norm")


@dataclass(frozen=True)
class Lagrangian(Common):
    """Constraints kept by multipliers nu that follow the measured excess J^C - b."""

    multiplier: str = choice("ascent", "how nu follows the excess", ("ascent", "adam", "pid"))
    multiplier_lr: float = setting(0.01, "eta, step size of nu")
    multiplier_init: float = setting(0.0, "initial nu")
    multiplier_max: float = setting(2.0, "largest nu")


def field_names(config_class: type) -> list[str]:
    return [field.name for field in dataclasses.fields(config_class)]


def configure(config_class: type, changes: dict[str, Any], algorithm: str) -> Any:
    """The algorithm's Config with some settings changed; an unknown setting is an error that names those it has."""
    kinds = get_type_hints(config_class)
    names = field_names(config_class)
    for name in changes:
        if name not in names:
            raise unknown(f"setting of {algorithm}", name, names)
    return config_class(**{name: as_kind(kinds[name], value, name) for name, value in changes.items()})


def as_kind(kind: Any, value: Any, name: str) -> Any:
    """A value from the command line, from JSON or from Python as a setting's type."""
    if isinstance(value, list | tuple):
        return tuple(value)
    if isinstance(value, str) or (kind is int and isinstance(value, float)):
        return parse_value(kind, str(value), name)
    return (value,) if kind not in (bool, int, float, str) else value
