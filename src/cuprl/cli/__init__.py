"""The `cup` command: parsing and printing only. A module here adds its commands with `add(subparsers)`.

Only the module of the chosen command is imported, and it imports what is heavy when it runs: help answers at once.
"""

from __future__ import annotations

import argparse
import codecs
import importlib
import io
import os
import shutil
import signal
import sys
import textwrap
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cuprl.cli.arguments import Parser
from cuprl.core.printing import readers_may_leave
from cuprl.core.text import ascii_for, printable
from cuprl.errors import RunStopped, UserError, blame, unknown

COMMANDS = {  # name: (module, one line of help)
    "train": ("train", "train a policy on a task"),
    "resume": ("train", "continue a stopped run, bit for bit"),
    "eval": ("inspect", "evaluate a policy: its return and costs"),
    "certify": ("certify", "bound the expected costs of a policy, from fresh episodes"),
    "video": ("video", "film the policy of a run at work"),
    "plot": ("compare", "draw the learning curves of runs"),
    "report": ("report", "write one HTML page about a run or an experiment"),
    "watch": ("report", "show a run in the browser while it goes on"),
    "check": ("check", "look for what is wrong with a Gymnasium environment"),
    "tasks": ("inspect", "list the tasks"),
    "algos": ("inspect", "list the algorithms, or the settings of one"),
    "export": ("export", "write the policy of a run as one file to deploy"),
    "zoo": ("zoo", "list the trained policies that come with cuprl, or show one's card"),
    "tune": ("tune", "search for the settings with the best return within the limits"),
    "bench": ("bench", "run an experiment: many trainings, on this machine or on Ray"),
    "results": ("results", "take runs into the results store, list them, write them out"),
    "table": ("compare", "show the results of runs or of an experiment as a table"),
    "figure": ("compare", "draw the results of an experiment"),
    "speed": ("speed", "measure training against raw physics"),
    "theory": ("theory", "check the paper's bounds, and what is learnt, on exact problems"),
}

SHOW_CURSOR = b"\x1b[?25h"


def add_command(subparsers: Any, name: str, summary: str | None = None, **kwargs: Any) -> Parser:
    """Add the parser of a command listed above, or of a part of one with its own summary, which its help begins with."""
    said = summary or COMMANDS[name][1]
    return subparsers.add_parser(name, help=said, description=f"{said[0].upper()}{said[1:]}.", **kwargs)


def add_trust_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command on a folder or file that may be a stranger's: it imports nothing without a word."""
    parser.add_argument(
        "--import",
        action="append",
        dest="imports",
        metavar="M",
        default=[],
        help="a module named in the folder or file, whose code may run here",
    )
    parser.add_argument("--trust", action="store_true", help="all code that the folder or file names or holds may run here")


def add_checkpoint_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag of a command on a run's policy: which of its checkpoints."""
    parser.add_argument(
        "--checkpoint",
        metavar="C",
        help="of a run: last; best, by its evaluations in training (--eval-every); or an iteration [last]",
    )


def trust_of(args: argparse.Namespace) -> bool | list[str]:
    """Tell what those flags allow: all, or the modules named."""
    return True if args.trust else args.imports


def top_help(width: int) -> str:
    """Say what commands there are, in lines of at most so many letters."""
    lines = [
        textwrap.fill(summary, width, initial_indent=f"  {name:<8} ", subsequent_indent=11 * " ")
        for name, (_, summary) in COMMANDS.items()
    ]
    said = "Policies that are good and safe: CUP and the algorithms it is compared with."
    return "\n".join(
        (
            "usage: cup COMMAND ...",
            "",
            textwrap.fill(said, width),
            "",
            "commands:",
            *lines,
            "",
            "Its options:  cup COMMAND --help",
            "To begin:     cup train hopper-speed --steps 500_000",
        )
    )


def run(argv: Sequence[str]) -> int:
    """Run a command line and give its exit status."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(top_help(min(shutil.get_terminal_size().columns, 100)))
        return 0
    if argv[0] == "--version":
        from cuprl import __version__

        print(f"cuprl {__version__}")
        return 0
    if argv[0] not in COMMANDS:
        raise unknown("command", argv[0], COMMANDS)
    parser = Parser(prog="cup")
    importlib.import_module(f"cuprl.cli.{COMMANDS[argv[0]][0]}").add(parser.add_subparsers(dest="command"))
    args = parser.parse_args(argv)
    try:
        return args.run(args)
    except SystemExit as error:  # not ours: of an environment, a cost, a module
        raise blame(f"what `cup {argv[0]}` was given", error) from None


def leave(number: int, frame: Any) -> None:
    """End the process here and now on a Ctrl-C that nothing has taken over, as a run or a grid does.

    A KeyboardInterrupt, raised at whatever line is being run, may be raised in what C called back, as when JAX is imported
    or the garbage collected: there it is ignored, and the command goes on, or it is the end in a segmentation fault.
    """
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)  # rich, which hides it while something goes on, is not asked any more
    os.write(2, b"\ncup: interrupted\n")
    os._exit(130)


def tell(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning as a person reads it, without the line of code it comes from."""
    print(f"note: {printable(message)}", file=sys.stderr)


def tell_changed(changed: Sequence[str], path: Any, so: str) -> None:
    """Note which modules are not what they were when a policy was trained, and what that makes of its numbers."""
    if changed:
        tell(f"{', '.join(changed)} changed since {path} was trained: {so}.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `cup` and give its exit status; no traceback reaches a person."""
    if argv is None:  # this process is ours
        signal.signal(signal.SIGINT, leave)
        warnings.showwarning = tell
    codecs.register_error("cuprl", ascii_for)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="cuprl")  # a terminal without ± gets +-, not an error
    with readers_may_leave():
        try:
            status = run(sys.argv[1:] if argv is None else argv)
            print(end="", flush=True)  # what cannot be printed is known here, and not after the end
        except (UserError, RunStopped, OSError, KeyboardInterrupt, ModuleNotFoundError) as error:
            if isinstance(error, ModuleNotFoundError) and not is_needed_here(error):
                raise
            said, status = sentence(error)
            print(said, file=sys.stderr)
        return status


def is_needed_here(error: ModuleNotFoundError) -> bool:
    """Tell whether it was cuprl that wanted the module, of another package."""
    wanted_by = [frame.filename for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    ours = Path(wanted_by[-1]).is_relative_to(Path(__file__).parents[1])
    return ours and (error.name or "cuprl").partition(".")[0] != "cuprl"


def sentence(error: BaseException) -> tuple[str, int]:
    """Say what ended a command, and with which exit status."""
    match error:
        case KeyboardInterrupt():
            return f"\ncup: {str(error) or 'interrupted'}", 130
        case ModuleNotFoundError(name=name):
            return f"cup: {name} is not installed, which this command needs; `pip install cuprl` brings all.", 2
        case RunStopped():
            return f"cup: {printable(error)}", 1
        case OSError(filename=None):  # no file of ours, which would be named
            said = f"{error.strerror or error}; see that the disk and what is printed to have room and can be used."
        case OSError():
            said = f"{error.strerror}: {error.filename}; give a file or folder that can be used."
        case _:
            said = str(error)
    return f"cup: {printable(said)}", 2
