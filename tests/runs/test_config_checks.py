"""What a config.json may not say: each is refused in a clause."""

import pytest

from cuprl.core.actions import Discrete
from cuprl.core.spec import Constraint, Spec
from cuprl.core.spec_json import spec_to_json
from cuprl.envs import TASKS
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.runs.config_checks import check_configuration

SPEC = spec_to_json(Spec("hopper-speed", 11, Discrete(3), (Constraint("speed", 80.0),), 1000))


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"seed": "0"}, "has seed '0'"),
        ({"seed": True}, "has seed True"),
        ({"seed": -1}, "has seed -1"),
        ({"limits": 3}, "has limits 3"),
        ({"limits": {}, "spec": SPEC}, r"its constraints are \['speed'\], the limits \[\]"),
        ({"limits": {"speed": -1.0}}, "has the limit of speed -1.0"),
        ({"threads": 0}, "has threads 0"),
        ({"steps": 10}, "has steps 10"),
        ({"settings": {}}, "has no batch_size in its settings"),
        ({"settings": {"batch_size": 200, "alpha": "0.2"}}, "has the setting alpha '0.2'"),
        ({"settings": {"batch_size": 0}}, "has settings that cup does not take .batch_size is 0"),
        ({"spec": {"name": "x"}}, "has a spec that is none"),
        ({"versions": {"jax": 1}}, "has the version of jax 1"),
        ({"algo": "x" * 99, "checkpoint_every": "y" * 99}, "has checkpoint_every 'y{59}…$"),
    ],
)
def test_a_file_that_is_no_runs_is_refused_in_a_clause(changes, words):
    values = {**RunConfig("hopper-speed").plan(TASKS["hopper-speed"]).config.to_json(), **changes}
    for reader in (check_configuration, RunConfig.from_json):
        with pytest.raises(UserError, match=words):
            reader(values)


@pytest.mark.parametrize("values", [None, 3, [], {}])
def test_json_that_is_no_configuration(values):
    with pytest.raises(UserError, match="has no task: it is not a run's"):
        RunConfig.from_json(values)
