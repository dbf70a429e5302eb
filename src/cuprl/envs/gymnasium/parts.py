"""What a GymnasiumTask is made of: a function that makes an environment, and costs of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cuprl.core.spec import Constraint
from cuprl.errors import UserError

DEFAULT_HORIZON = 1000

CostFunction = Callable[[Any, Any, Any, dict[str, Any]], Any]  # (obs, action, next_obs, info) -> one number


@dataclass(frozen=True)
class InfoCost:
    """The cost that the environment itself puts into info."""

    key: str

    def __call__(self, obs: Any, action: Any, next_obs: Any, info: dict[str, Any]) -> Any:
        if self.key not in info:
            has = f"info has {', '.join(map(repr, info))}" if info else "info is empty"
            raise UserError(
                f"cost info:{self.key} is missing: {has} after a step; name a key that is always there, as --cost info:KEY, "
                "or a function of (obs, action, next_obs, info), as --cost MODULE:FUNCTION."
            )
        return info[self.key]


@dataclass(frozen=True)
class GymnasiumParts:
    """A task as its environments see it."""

    name: str
    make: Callable[..., Any]  # a new environment, which draws itself where it can if it is given a render_mode
    costs: dict[str, CostFunction]
    constraints: tuple[Constraint, ...]
    settings: dict[str, Any]  # what it changes of every algorithm's defaults
    horizon: int | None = None
    backend: str = "sync"
    env_timeout: float = 0.0  # seconds that a step or reset may take; 0: any

    @property
    def looks_at_observations(self) -> bool:
        """Tell whether a cost needs more than what `info` holds."""
        return not all(isinstance(cost, InfoCost) for cost in self.costs.values())

    def horizon_of(self, env: Any) -> int:
        """Count the steps after which an episode is cut: as told, else as registered, else the default."""
        return self.horizon or getattr(getattr(env, "spec", None), "max_episode_steps", None) or DEFAULT_HORIZON
