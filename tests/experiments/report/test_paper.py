"""The published numbers."""

import pytest

from cuprl.envs import TASKS
from cuprl.experiments.report import paper


def test_the_papers_winners_and_limits_are_ours():
    assert {task: paper.best(task) for task in paper.TABLE} == dict.fromkeys(paper.TABLE, "cup")
    for task, limit in paper.LIMITS.items():
        assert TASKS[task].constraints[0].limit == pytest.approx(limit, abs=0.006)
