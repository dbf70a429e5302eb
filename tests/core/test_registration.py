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


def test_who_only_asks_where_gymnasium_is_changes_nothing():
    asked = "import cuprl, sys; from importlib.util import find_spec; found = [find_spec('gymnasium') for _ in range(2)]"
    code = f"{asked}; assert 'gymnasium' not in sys.modules and found[0].origin; import gymnasium"
    assert run(f"{code}; print(gymnasium.make('cuprl/HopperSpeed-v0').observation_space.shape)") == "(11,)\n"


def test_the_package_may_be_imported_anew():
    again = "[sys.modules.pop(name) for name in [*sys.modules] if name.startswith('cuprl')]; import cuprl, gymnasium"
    assert run(f"import sys, cuprl; {again}; print('cuprl/HopperSpeed-v0' in gymnasium.registry)") == "True\n"


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, cuprl.cli; print([name for name in ('numpy', 'gymnasium', 'jax', 'mujoco') if name in sys.modules])"
    assert run(code) == "[]\n"


def test_gymnasium_need_not_be_there():
    assert run("import sys; sys.modules['gymnasium'] = None; import cuprl; print('fine')") == "fine\n"
