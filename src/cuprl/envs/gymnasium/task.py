"""Any Gymnasium environment as a constrained task: how it is made, and what its costs are."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium

from cuprl.core.spec import Constraint
from cuprl.core.task import VectorEnv
from cuprl.core.user_modules import import_own
from cuprl.core.values import as_number, as_tuple, whole
from cuprl.envs.gymnasium.name import PREFIX, format_name
from cuprl.envs.gymnasium.parts import CostFunction, GymnasiumParts, InfoCost
from cuprl.envs.gymnasium.vector import GymnasiumVectorEnv
from cuprl.envs.gymnasium.workers import WorkerVectorEnv
from cuprl.errors import UserError, blame, unknown

BACKENDS = ("sync", "async")
TIMEOUTS = {"sync": 0.0, "async": 60.0}  # seconds that a step or reset may take; 0: any
WRITTEN = {"limit": ("--limit", "limits", 25), "discount": ("--cost-discount", "discount", 0.99)}  # flag, argument, example

ByName = dict[str, float] | float | None


@dataclass(frozen=True)
class GymnasiumTask(GymnasiumParts):
    """A Gymnasium environment as a task; `from_gymnasium` makes one."""

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> VectorEnv:
        """Make N environments, in this process or over worker processes; threads: workers, all cores where it is 1."""
        if self.backend == "sync":
            return GymnasiumVectorEnv(self, num_envs, constraints)
        workers = threads if threads > 1 else os.cpu_count() or 1
        return WorkerVectorEnv(self, num_envs, constraints, min(workers, num_envs))


def from_gymnasium(
    env: str | Callable[[], Any],
    costs: dict[str, str | CostFunction] | str = "info:cost",
    limits: ByName = None,
    *,
    discount: dict[str, float] | float = 0.99,
    horizon: int | None = None,
    num_envs: int | None = None,
    backend: str = "sync",
    env_timeout: float | None = None,
    imports: str | Sequence[str] = (),
    name: str | None = None,
) -> GymnasiumTask:
    """Make a task to train on of a Gymnasium environment.

    Args:
        env: its id, or a function that makes one (a class will do).
        costs: for each name a function of (obs, action, next_obs, info), "info:KEY", or "module:function"; "info:KEY" alone
            is one cost of that name.
        limits: on the expected sum of each cost over an episode, by name or as one number.
        discount: of these sums, by name or as one number; 1 bounds the plain sum.
        horizon: where episodes are cut [the environment's own limit, else 1000].
        num_envs: the default of that setting for this task.
        backend: "sync", all in this process, or "async", in worker processes; the results are the same.
        env_timeout: seconds that a step or reset may take before the run is stopped, 0 for any [60 with backend "async",
            else any].
        imports: modules that register the environment.
        name: of the task [made of all the above, so that a run is found again by it].
    """
    if isinstance(costs, str):
        costs = {costs.partition(":")[2]: costs}
    if not isinstance(costs, dict):
        raise UserError(f'costs is {costs!r}; give each a name, as costs={{"name": function}}, or give "info:KEY".')
    if not costs:
        raise UserError('there is no cost; give one, as costs={"name": function} or costs="info:cost".')
    if backend not in BACKENDS:
        raise unknown("backend", str(backend), BACKENDS)
    for option, value in (("horizon", horizon), ("num_envs", num_envs)):
        if value is not None:
            whole(value, option)
    if env_timeout is not None and not as_number(env_timeout, "env_timeout") >= 0.0:
        raise UserError(f"env_timeout is {env_timeout}; give seconds, or 0 for no limit.")
    patience = float(TIMEOUTS[backend] if env_timeout is None else env_timeout)
    imports = (imports,) if isinstance(imports, str) else as_tuple(imports, "imports")
    limits_of, discounts = by_name("limit", limits, costs), by_name("discount", discount, costs, default=0.99)
    constraints = tuple(Constraint(cost, limits_of[cost], discounts[cost]) for cost in costs)
    functions = {cost: cost_function(cost, source) for cost, source in costs.items()}
    settings = {} if num_envs is None else {"num_envs": num_envs}
    if isinstance(env, str):
        if env.startswith(PREFIX):
            raise UserError(f"{env!r} is the name of a task; from_gymnasium takes the id alone, without {PREFIX!r}.")
        if ":" in env:  # Gymnasium's own way to name the module that registers an id
            module, _, env = env.partition(":")
            imports = (*imports, module)
        spec = registered(env, imports)
        sources = {cost: source for cost, source in costs.items() if isinstance(source, str)}
        if name is None and len(sources) == len(costs):
            name = format_name(env, sources, limits_of, discounts, horizon, backend, env_timeout, imports)
        make: Callable[[], Any] = partial(make_registered, env, tuple(imports))
        horizon = horizon or spec.max_episode_steps
        return GymnasiumTask(name or env, make, functions, constraints, settings, horizon, backend, patience)
    if not callable(env):
        raise UserError(f"{env!r} is one environment; give its id or a function that makes one: several copies are needed.")
    label = str(name or getattr(env, "__name__", type(env).__name__))
    maker = partial(made_by, env, label)
    return GymnasiumTask(label, maker, functions, constraints, settings, horizon, backend, patience)


def by_name(what: str, given: ByName, costs: Iterable[str], default: float | None = None) -> dict[str, float]:
    """Give a number for each cost, given by name or as one number; without a default every cost needs its own."""
    names, (flag, argument, example) = ", ".join(map(repr, costs)), WRITTEN[what]
    if isinstance(given, dict):
        for name in given:
            if name not in costs:
                raise UserError(f"there is a {what} for {name!r}, but the costs are {names}; name one of these.")
        for name in costs:
            if name not in given and default is None:
                also = f"{flag} {name}={example} or {argument}={{{name!r}: {example}}}"
                raise UserError(f"cost {name!r} has no {what}; give one, as {also}.")
        return {name: as_number(given.get(name, default), f"the {what} of cost {name!r}") for name in costs}
    if given is None:
        ways = f"{flag} {example}, {argument}={example} or gym:ID+{what}={example}"
        raise UserError(f"there is no {what} for {names}; give one, as {ways}.")
    number = as_number(given, f"the {what}")
    numbers = dict.fromkeys(costs, number)
    if len(numbers) > 1 and default is None:
        raise UserError(f"the {what} is {number:g}, but the costs are {names}; give each its own, as {flag} NAME=X.")
    return numbers


def cost_function(name: str, source: str | CostFunction) -> CostFunction:
    """Make the function of a cost that is given as one, as 'info:KEY' or as 'module:function'."""
    if callable(source):
        return source
    home, _, key = source.partition(":") if isinstance(source, str) else ("", "", "")
    if not home or not key:
        raise UserError(f"cost {name!r} is {source!r}; give a function, 'info:KEY' or 'module:function'.")
    if home == "info":
        return InfoCost(key)
    function = getattr(import_own(home), key, None)
    if not callable(function):
        raise UserError(f"cost {name!r} is {source!r}, but {home} has no function {key!r}; give one that it has.")
    return function


def registered(identifier: str, imports: Sequence[str]) -> Any:
    """Find Gymnasium's entry for an id."""
    for module in imports:
        import_own(module)
    try:
        return gymnasium.spec(identifier)
    except gymnasium.error.Error as error:
        message = str(error).rstrip(".")
        raise UserError(
            f"Gymnasium has no {identifier!r} ({message}); if a package registers it, name that: --import PACKAGE."
        ) from None


def make_registered(identifier: str, imports: Sequence[str], render_mode: str | None = None) -> Any:
    """Make an environment without Gymnasium's time limit, which takes only 5-tuples: the task cuts the episodes itself."""
    spec = copy.deepcopy(registered(identifier, imports))
    spec.max_episode_steps = None
    return made_by(partial(gymnasium.make, spec, disable_env_checker=True), identifier, render_mode)


def made_by(factory: Callable[..., Any], name: str, render_mode: str | None = None) -> Any:
    """Make the environment; render_mode: given to a factory that takes one."""
    if render_mode is not None and takes(factory, "render_mode"):
        factory = partial(factory, render_mode=render_mode)
    try:
        env = factory()
    except gymnasium.error.DependencyNotInstalled as error:
        raise UserError(f"{name} needs a package that is not there: {error}.") from None
    except Exception as error:
        raise blame(f"making {name}", error, "nothing") from error
    for attribute in ("reset", "step", "observation_space", "action_space"):
        if not hasattr(env, attribute):
            raise UserError(f"making {name} gave {type(env).__name__}, which has no {attribute}; make an environment.")
    return env


def takes(function: Callable[..., Any], name: str) -> bool:
    """Tell whether a function takes an argument of this name."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
