"""Tasks as Gymnasium's ids."""

import cuprl  # noqa: F401  (registers the ids)
from cuprl.core.registration import IDS
from cuprl.envs import TASKS


def test_every_task_has_an_id():
    assert sorted(IDS.values()) == sorted(TASKS)
