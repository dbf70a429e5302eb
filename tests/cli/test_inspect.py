"""Commands that only tell: `cup tasks`, `cup algos`, `cup eval`."""

import pytest

from cuprl.cli import main
from pages.made_up import folder


@pytest.mark.parametrize("argv", [[], ["--help"], ["--version"], ["tasks"], ["algos"], ["algos", "cup"]])
def test_commands_that_only_tell(argv, capsys):
    assert main(argv) == 0
    assert capsys.readouterr().out.strip()


def test_settings_are_shown_with_what_they_accept(capsys):
    assert main(["algos", "CUP"]) == 0
    assert "largest nu (0 to inf)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    assert "largest nu (0 to inf) [2.0]" in capsys.readouterr().out


def test_eval_with_a_wrong_number(tmp_path, capsys):
    run = folder(tmp_path / "r")
    assert main(["eval", str(run.path), "--episodes", "0"]) == 2
    assert "episodes is 0" in capsys.readouterr().err
