"""The command as a person types it: right words and wrong ones. No traceback reaches a person."""

import os
import pty
import subprocess
import sys

import pytest

from cuprl.cli import COMMANDS, main


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert "usage: cup " + command in capsys.readouterr().out


@pytest.mark.parametrize(
    "argv, words",
    [
        (["trian", "hopper-speed"], "did you mean train"),
        (["train", "hoper-speed"], "did you mean hopper-speed"),
        (["train", "hopper-speed", "--algo", "cap"], "did you mean cup"),
        (["train", "hopper-speed", "--alpa", "0.1"], "did you mean --alpha"),
        (["train", "hopper-speed", "--alpha", "much"], "alpha is 'much'; give a number"),
        (["train", "hopper-speed", "--steps", "100"], "give at least 5000"),
        (["train", "hopper-speed", "--steps", "many"], "give a whole number"),
        (["train", "hopper-speed", "--limit", "low"], "--limit is 'low'; give a number"),
        (["train", "hopper-speed", "--limit", "nan"], "give a finite number"),
        (["train", "hopper-speed", "--limit", "sped=3"], "did you mean speed"),
        (["train", "hopper-speed", "--threads", "0"], "threads is 0"),
        (["train", "hopper-speed", "--improvement", "magic"], "accepted: sqrt-kl, clip"),
        (["train", "hopper-speed", "extra"], "unexpected argument 'extra'"),
        (["train", "hopper-speed", "--seed", "-1"], "give a whole number from 0"),
        (["train", "hopper-speed", "--checkpoint-every", "0"], "checkpoint_every is 0"),
        (["train", "hopper-speed", "--hidden", "-3"], "hidden is -3; give 1 to 1e5"),
        (["train", "hopper-speed", "--cost-window", "-1"], "cost_window is -1; give 0 or more"),
        (["train", "hopper-speed", "--multiplier-max", "-1"], "multiplier_max is -1.0; give 0 to inf"),
        (["train", "hopper-speed", "--alpha", "-1"], "alpha is -1.0; give 0 or more"),
        (["train", "hopper-speed", "--delta", "nan"], "delta is nan; give 0 to inf"),
        (["train", "hopper-speed", "--policy-lr", "inf"], "policy_lr is inf; give 0 or more"),
        (["train", "hopper-speed", "--epochs", "0"], "epochs is 0; give 1 or more"),
        (["train", "hopper-speed", "--epochs", "1e30"], "give 1 or more, whole and at most 1,000,000,000"),
        (["train", "hopper-speed", "--algo", "TRPO", "--delta", "0"], "delta is 0.0; give more than 0"),
        (["train", "hopper-speed", "--hidden", "1000000,1000000"], "hidden is 1000000,1000000; give 1 to 1e5"),
        (["train", "hopper-speed", "--hidden", "50_000,50_000"], "give layers of at most 100,000,000 weights"),
        (["train", "hopper-speed", "--steps", "1e30"], "steps is 1e+30; give at most 499,999,995,000"),
        (["train", "hopper-speed", "--limit", "5", "--limit", "6"], "--limit is given as 5 and 6; give one number"),
        (["train", "hopper-speed", "--limit", "speed=5", "--limit", "speed=6"], "--limit of speed is given twice"),
        (["check", "gym:CartPole-v1", "--limit", "cost=5", "--limit", "cost=6"], "--limit of cost is given twice"),
        (["train", "hopper-speed", "--algo"], "--algo"),
        (["train", "hopper-speed", "--out", "/proc/nowhere"], "give a file or folder that can be used"),
        (["eval", "nowhere", "--seed", "-1"], "--seed is -1"),
        (["train"], "TASK"),
        (["eval", "nowhere"], "not a run"),
        (["resume", "nowhere"], "not a run"),
        (["plot", "nowhere"], "not a run"),
        (["algos", "cap"], "did you mean cup"),
        (["speed", "hopper-speed", "--rounds", "0"], "rounds is 0"),
    ],
)
def test_wrong_input_gets_one_sentence_and_status_2(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not shown.out
    assert not list(tmp_path.iterdir())  # nothing was made


INTERRUPTED = """
import os, signal
from cuprl.cli import leave
from rich.console import Console

signal.signal(signal.SIGINT, leave)
with Console(stderr=True).status("the first frame"):
    os.kill(os.getpid(), signal.SIGINT)
"""


def test_ctrl_c_gives_a_terminal_its_cursor_back():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], stderr=theirs, env=environment, timeout=60)
    shown = os.read(ours, 10_000)
    os.close(ours)
    os.close(theirs)
    hidden, back = shown.partition(b"\x1b[?25l")[1:]
    assert done.returncode == 130 and hidden and back.endswith(b"\x1b[?25h\r\ncup: interrupted\r\n")


def test_a_package_that_is_not_installed_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich.table", None)
    for module in [name for name in sys.modules if name.startswith("cuprl.cli.terminal")]:
        monkeypatch.delitem(sys.modules, module)
    assert main(["tasks"]) == 2
    assert (
        capsys.readouterr().err
        == "cup: rich.table is not installed, which this command needs; `pip install cuprl` brings all.\n"
    )


def test_a_missing_module_of_ones_own_is_no_package_of_ours(tmp_path, monkeypatch):
    (tmp_path / "needy.py").write_text("def update(*a):\n    import some_missing_lib\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("cuprl.cli.inspect.run_tasks", lambda args: __import__("needy").update())
    with pytest.raises(ModuleNotFoundError, match="some_missing_lib"):
        main(["tasks"])
