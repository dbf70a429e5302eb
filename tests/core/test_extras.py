"""Packages that not everybody has."""

import sys

import pytest

from cuprl.core.extras import need
from cuprl.errors import UserError


def test_what_is_there_is_given():
    import json

    assert need("json", "a file needs json", "json") is json


def test_what_is_missing_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r"^a search needs Optuna: pip install 'cuprl\[tune\]'\.$"):
        need("optuna", "a search needs Optuna", "tune")
