"""The public names as a person meets them at a prompt: completed by Tab, and telling what they are."""

import subprocess
import sys

import cuprl
from small import SMALL


def test_dir_has_every_public_name_and_imports_nothing():
    code = "import sys, cuprl; print(*dir(cuprl)); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names, modules = (line.split() for line in shown.splitlines())
    assert set(cuprl.__all__) <= set(names) and "__version__" in names and "jax" not in modules
    assert all(getattr(cuprl, name) is not None for name in cuprl.__all__)
    assert set(cuprl._HOMES) == set(cuprl.__all__)


def test_what_is_printed_says_what_it_is(tmp_path):
    run = cuprl.train("hopper-speed", seed=3, steps=400, out=tmp_path / "r", **SMALL)
    assert repr(run) == f"<Run {tmp_path / 'r'}: hopper-speed by cup, seed 3, 400 steps>"
    said = "of hopper-speed by cup, seed 3, iteration 2: obs 11, action 3>"
    assert repr(cuprl.load(run)) == f"<RunPolicy {said}"
    assert repr(cuprl.load(cuprl.export_policy(run))) == f"<SavedPolicy {said}"
    agent = cuprl.Agent("hopper-speed", steps=400, **{**SMALL, "num_envs": 1})
    agent.act([0.0] * 11)
    agent.observe([0.0] * 11, 1.0, 0.0, False, False)
    assert repr(agent) == "<Agent on hopper-speed by cup: iteration 0 of 2, 1 of 200 steps of the next>"
