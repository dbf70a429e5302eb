"""What made a run; that a changed configuration or source is seen is shown in tests/core/test_user_modules.py too."""

import hashlib
import subprocess
import sys

import pytest

from cuprl.errors import UserError
from cuprl.runs import provenance
from pages.made_up import config


def test_the_hash_is_of_what_the_numbers_depend_on():
    made = config()
    digits = provenance.fingerprint(made)
    assert len(digits) == 16 and digits == provenance.fingerprint({**made, "threads": 8, "git": "other"})
    assert digits == provenance.fingerprint({**made, "steps": float(made["steps"])})  # 2.0 and 2 are one number
    for change in ({"seed": 1}, {"limits": {"speed": 49.0}}, {"settings": {**made["settings"], "alpha": 0.3}}):
        assert provenance.fingerprint({**made, **change}) != digits


def test_a_changed_configuration_is_refused_and_an_old_one_without_a_hash_is_not(tmp_path):
    made = config()
    provenance.refuse_altered(tmp_path, {**made, "hash": provenance.fingerprint(made)})
    provenance.refuse_altered(tmp_path, {name: value for name, value in made.items() if name != "hash"})
    with pytest.raises(UserError, match="was changed since the run began"):
        provenance.refuse_altered(tmp_path, {**made, "hash": "0" * 16})


@pytest.mark.parametrize("values", [{}, [], None, {"task": "x"}, {**config(), "seed": -1}])
def test_a_strangers_config_json_is_one_sentence(values, tmp_path):
    with pytest.raises(UserError, match=r"config\.json has .*; restore it, or train the run again"):
        provenance.refuse_foreign(tmp_path, values)


def test_modules_that_names_name():
    task = "gym:json:A-v0+cost=x=operator:add+cost=info:y+limit=x=1+limit=y=1+import=csv"
    assert provenance.modules_of(task, "python:mine") == ["mine", "csv", "operator", "json"]
    assert provenance.modules_of("hopper-speed", "cup", "my_encoders:CNN") == ["my_encoders"]
    assert provenance.modules_of("hopper-speed", "cup") == provenance.modules_of("gym:x+nonsense=1", "cup") == []


def test_a_changed_source_is_seen(tmp_path, monkeypatch):
    (tmp_path / "my_costs.py").write_text("def far(*a): return 1")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("my_costs")
    try:
        task = "gym:A-v0+cost=x=my_costs:far+limit=1"
        recorded = provenance.sources({"task": task, "algo": "cup"})
        assert recorded == {"my_costs": hashlib.sha256(b"def far(*a): return 1").hexdigest()}
        made = {"task": task, "algo": "cup", "sources": recorded}
        assert provenance.changed_sources(made) == []
        (tmp_path / "my_costs.py").write_text("def far(*a): return 0")
        assert provenance.changed_sources(made) == ["my_costs"]
        assert provenance.changed_sources({"task": task, "algo": "cup"}) == []  # from before they were recorded
    finally:
        del sys.modules["my_costs"]


def test_the_commit_is_that_of_the_package_and_not_of_a_project_around_it(tmp_path, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # a hook has these, and they would lead to our own
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "provenance.py"
    file.write_text("")
    monkeypatch.setattr(provenance, "__file__", str(file))
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init"], [*author, "commit", "--allow-empty", "-m", "theirs"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)
    assert provenance.git_commit() is None
    for words in (["add", file.name], [*author, "commit", "-m", "ours"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)
    commit = provenance.git_commit()
    assert len(commit) == 40
    file.write_text("changed")
    assert provenance.git_commit() == f"{commit}-dirty"


def test_another_processor_is_seen_and_one_of_which_only_the_name_is_known_is_not(monkeypatch):
    made = {**config(), "versions": provenance.versions()}
    monkeypatch.setattr(provenance, "processor", lambda: "Maker 7 (family 26, model 2)")
    for known in ("Maker 7 (family 26, model 2)", "Maker 7", None):
        machine = known and {"cpu": known}
        assert "processor" not in str(provenance.changes({**made, "machine": machine}))
    for other in ("Maker 7 (family 25, model 1)", "Another", 3):
        assert provenance.changes({**made, "machine": {"cpu": other}}).startswith("the processor")


def test_nothing_tells_whose_machine_it_is():
    assert set(provenance.machine()) == {"system", "cpu", "cores"}
    assert {"python", "cuprl", "jax", "mujoco", "numpy"} <= set(provenance.versions())
