"""The name of a Gymnasium task holds all that makes it, so that a run is resumed and evaluated from its folder alone.

    gym:highway-fast-v0+cost=info:crashed+limit=0.1+discount=1+import=highway_env

With several costs a limit or discount is NAME=X, and a cost may be named too: cost=NAME=info:KEY, cost=NAME=module:function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cuprl.core.parse import later_words, parse_numbers, parse_value, shortest
from cuprl.errors import UserError, unknown

PREFIX = "gym:"
OPTIONS = ("cost", "limit", "discount", "horizon", "backend", "timeout", "import")


def join_name(task: str, options: Iterable[tuple[str, str]]) -> str:
    """Write a task's name with its options: gym:ID+cost=…+limit=…"""
    words = [f"{option}={value}" for option, value in options]
    for word in words:
        if "+" in word:
            raise UserError(f"{word!r} holds a +, which parts the words of a task's name; use a function as the cost.")
    return "+".join((task, *words))


def format_name(
    identifier: str,
    costs: dict[str, str],
    limits: dict[str, float],
    discounts: dict[str, float],
    horizon: int | None,
    backend: str,
    timeout: float | None,
    imports: Sequence[str],
) -> str:
    """Write what `parse_name` reads; defaults are left out."""

    def numbers(option: str, values: dict[str, float]) -> list[tuple[str, str]]:
        if len(set(values.values())) == 1 and (option == "discount" or len(values) == 1):
            return [(option, shortest(next(iter(values.values()))))]
        return [(option, f"{cost}={shortest(value)}") for cost, value in values.items()]

    return join_name(
        PREFIX + identifier,
        [
            *(("cost", source if source == f"info:{cost}" else f"{cost}={source}") for cost, source in costs.items()),
            *numbers("limit", limits),
            *(numbers("discount", discounts) if set(discounts.values()) != {0.99} else ()),
            *([("horizon", str(horizon))] if horizon is not None else ()),
            *([("backend", backend)] if backend != "sync" else ()),
            *([("timeout", shortest(timeout))] if timeout is not None else ()),
            *(("import", module) for module in imports),
        ],
    )


def parse_name(name: str) -> dict[str, Any]:
    """Read the arguments of `from_gymnasium` from a name; where a word is given twice, the later counts."""
    identifier, *words = name.removeprefix(PREFIX).split("+")
    given: dict[str, list[str]] = {}
    for word in words:
        option, _, value = word.partition("=")
        if option not in OPTIONS:
            raise unknown("option of a gym: task", option, OPTIONS)
        given.setdefault(option, []).append(value)
    arguments: dict[str, Any] = {"env": identifier}
    if "cost" in given:
        arguments["costs"] = parse_costs(given["cost"])
    costs = list(arguments.get("costs", ("cost",)))
    for option, argument in (("limit", "limits"), ("discount", "discount")):
        if option in given:
            words = given[option]
            if len(costs) == 1:  # a number without a name is that cost's
                words = [word if "=" in word else f"{costs[0]}={word}" for word in words]
            arguments[argument] = parse_numbers(later_words(words), option)
    if "horizon" in given:
        arguments["horizon"] = parse_value(int, given["horizon"][-1], "horizon")
    if "backend" in given:
        arguments["backend"] = given["backend"][-1]
    if "timeout" in given:
        arguments["env_timeout"] = parse_value(float, given["timeout"][-1], "env-timeout")
    return {**arguments, "imports": tuple(dict.fromkeys(given.get("import", ())))}


def parse_costs(words: Iterable[str]) -> dict[str, str]:
    """Read costs by their names; two of one name are refused."""
    costs: dict[str, str] = {}
    for name, source in map(parse_cost, words):
        if costs.setdefault(name, source) != source:
            raise UserError(f"two costs are named {name!r}; name them, as --cost NAME={source}.")
    return costs


def parse_cost(text: str) -> tuple[str, str]:
    """Read NAME=info:KEY or NAME=module:function; without NAME= it is named by the key or the function."""
    name, equals, source = text.partition("=")
    return (name, source) if equals and ":" not in name else (text.rpartition(":")[2], text)
