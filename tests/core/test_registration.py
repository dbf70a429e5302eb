"""Tasks as Gymnasium's ids."""

import subprocess
import sys

import pytest

from cuprl.core.registration import IDS
from cuprl.envs import TASKS


def test_every_task_has_an_id():
    assert sorted(IDS.values()) == sorted(TASKS)


def run(code):
    """Run code in a fresh interpreter; returns what it printed."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("imports", ["import cuprl, gymnasium", "import gymnasium, cuprl", "import cuprl, gymnasium.vector"])
def test_the_ids_are_there_in_any_order_of_imports(imports):
    assert run(f"{imports}; print(gymnasium.make('cuprl/HopperSpeed-v0').observation_space.shape)") == "(11,)\n"


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, cuprl.cli; print([name for name in ('numpy', 'gymnasium', 'jax', 'mujoco') if name in sys.modules])"
    assert run(code) == "[]\n"


def test_gymnasium_need_not_be_there():
    assert run("import sys; sys.modules['gymnasium'] = None; import cuprl; print('fine')") == "fine\n"
