"""A task's spec as plain JSON values and back: config.json keeps it, so that a run's policy is read without its task."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from cuprl.core.actions import Action, Box, Discrete, MultiDiscrete
from cuprl.core.spec import Constraint, Spec
from cuprl.core.values import is_number

ACTIONS: dict[str, Any] = {kind.__name__: kind for kind in (Box, Discrete, MultiDiscrete)}


def spec_to_json(spec: Spec) -> dict[str, Any]:
    """Write a spec: an infinite bound of an action is null, as strict JSON has none; what is None or False is left out."""
    action = {
        name: [None if math.isinf(x) else x for x in value] if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(spec.action).items()
    }
    constraints = [{name: x for name, x in dataclasses.asdict(c).items() if x is not None} for c in spec.constraints]
    written = {**vars(spec), "action": {"kind": type(spec.action).__name__, **action}, "constraints": constraints}
    return {name: value for name, value in written.items() if value is not None and value is not False}


def action_from_json(values: dict[str, Any]) -> Action:
    """Make the action again of a spec's JSON; KeyError, TypeError or ValueError for what is none."""
    action = dict(values)
    kind = ACTIONS[action.pop("kind")]
    for name, bound in (("low", -math.inf), ("high", math.inf)):
        if name in action:
            if not all(x is None or is_number(x) for x in action[name]):
                raise ValueError(f"{name} of an action is {action[name]}")
            action[name] = [bound if x is None else x for x in action[name]]
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in action.items()})


def spec_from_json(values: dict[str, Any]) -> Spec:
    """Make the spec again of what `spec_to_json` gave."""
    constraints = tuple(Constraint(**c) for c in values["constraints"])
    return Spec(**{**values, "action": action_from_json(values["action"]), "constraints": constraints})
