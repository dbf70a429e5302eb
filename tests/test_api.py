"""The public names: what tab completion shows, and that each says what its arguments mean."""

import dataclasses
import inspect
import re

import pytest

import cuprl

CALLABLE = [name for name in cuprl.__all__ if callable(getattr(cuprl, name))]


def test_tab_completion_shows_the_public_names():
    assert set(dir(cuprl)) == {*cuprl.__all__, "__version__"}
    assert all(hasattr(cuprl, name) for name in cuprl.__all__)


@pytest.mark.parametrize("name", CALLABLE)
def test_every_argument_is_explained(name):
    """In an "Args:" section, from which the site's API reference is made."""
    public = getattr(cuprl, name)
    said = inspect.getdoc(public) or ""
    _, _, section = said.partition("\nArgs:\n")
    explained = re.findall(r"^    (\w+): \S", section.partition("\n\n")[0], re.MULTILINE)
    if dataclasses.is_dataclass(public):
        wanted = [field.name for field in dataclasses.fields(public)]
    else:
        wanted = list(inspect.signature(public).parameters)
    assert explained == wanted and said[0].isupper()
