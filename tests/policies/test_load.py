"""`cuprl.load`: in a process that has NumPy alone, and what is no policy."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.policies.export import export_policy
from policies.arms import SPECS, agent_with

ROOT = Path(__file__).parents[2]
# As on a robot: of what others made, only these packages can be imported.
ALONE = """
import sys

class Only:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {allowed} | sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Only())
"""


def python(code, *arguments, allowed=("numpy", "cuprl")):
    """In a fresh process that has these packages and the standard library."""
    script = ALONE.format(allowed=set(allowed)) + code
    done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PREDICT = """
import cuprl, json, numpy as np
policy = cuprl.load(sys.argv[1])
obs = np.load(sys.argv[2])
sample = policy.clip(policy.predict(obs, deterministic=False))
print(json.dumps([policy.predict(obs).tolist(), sample.tolist(), policy.info["task"]]))
"""


@pytest.mark.parametrize("kind", SPECS)
def test_a_file_acts_where_there_is_only_numpy(kind, tmp_path):
    agent, obs = agent_with(SPECS[kind])
    file = export_policy(agent.policy(), out=tmp_path / "policy.npz")
    np.save(tmp_path / "obs.npy", obs)
    here = cuprl.load(file)
    expected = [here.predict(obs).tolist(), here.clip(here.predict(obs, deterministic=False)).tolist(), SPECS[kind].name]
    assert python(PREDICT, file, tmp_path / "obs.npy") == expected


def test_what_is_blocked_is_blocked():
    """Else the test above would say nothing."""
    code = """
import json
found = []
for name in sys.argv[1:]:
    try:
        found.append(__import__(name).__name__)
    except ImportError:
        pass
print(json.dumps(found))
"""
    assert python(code, "gymnasium", "jax", "mujoco", "safetensors", "scipy", "json", "numpy") == ["json", "numpy"]


def test_the_lines_of_the_page_need_no_cuprl(run, tmp_path):
    export_policy(run, out=tmp_path / "policy.npz")
    np.save(tmp_path / "obs.npy", np.random.default_rng(0).normal(size=(6, 11)))
    (snippet,) = re.findall(r"```python\n(# no cuprl.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.DOTALL)
    code = f"import os; os.chdir(sys.argv[1])\n{snippet}\nprint(json.dumps(act(np.load('obs.npy')).tolist()))"
    expected = cuprl.load(run).predict(np.load(tmp_path / "obs.npy")).tolist()
    assert python(code, tmp_path, allowed=["numpy"]) == expected


def test_a_folder_a_run_and_a_file_are_the_same_policy(run, tmp_path):
    file = export_policy(run, out=tmp_path / "policy.npz")
    obs = np.random.default_rng(0).normal(size=(6, 11))
    found = [cuprl.load(source).predict(obs) for source in (run, run.path, str(run.path), file, str(file))]
    for actions in found:
        np.testing.assert_array_equal(actions, found[0])


@pytest.mark.parametrize("name, words", [("nowhere", "is not a run"), ("nowhere.npz", "there is no file")])
def test_what_is_not_there_is_told(name, words, tmp_path):
    with pytest.raises(UserError, match=words):
        cuprl.load(tmp_path / name)


@pytest.mark.parametrize("source, words", [("", "the folder of the run is ''"), (None, "None is no policy; give a run")])
def test_what_is_no_source_is_refused(source, words, run, monkeypatch):
    monkeypatch.chdir(run.path)  # which "" must not be
    with pytest.raises(UserError, match=words):
        cuprl.load(source)


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    (tmp_path / "p.pkl").write_bytes(b"hello")
    with pytest.raises(UserError, match=r"unknown kind of policy file '.pkl'.* Accepted: .npz, .onnx, .jax"):
        cuprl.load(tmp_path / "p.pkl")
