"""The `cup` command: parsing and printing only. A module here adds its commands with `add(subparsers)`.

Only the module of the chosen command is imported, and it imports what is heavy when it runs: help answers at once.
"""

from __future__ import annotations

import argparse
import codecs
import importlib
import io
import sys
from collections.abc import Sequence
from typing import Any

from cuprl.core.printing import readers_may_leave
from cuprl.core.text import ascii_for, printable
from cuprl.errors import RunStopped, UserError, unknown

COMMANDS = {  # name: (module, one line of help)
    "train": ("train", "train a policy on a task"),
    "resume": ("train", "continue a stopped run, bit for bit"),
    "eval": ("inspect", "evaluate the policy of a run"),
    "certify": ("certify", "bound the expected costs of a policy, from fresh episodes"),
    "plot": ("inspect", "draw the learning curves of runs"),
    "check": ("check", "look for what is wrong with a Gymnasium environment"),
    "tasks": ("inspect", "list the tasks"),
    "algos": ("inspect", "list the algorithms, or the settings of one"),
    "export": ("export", "write the policy of a run as one file to deploy"),
    "bench": ("bench", "run an experiment: many trainings, on this machine or on Ray"),
    "results": ("results", "take runs into the results store, list them, write them out"),
    "table": ("results", "the results of an experiment as a table"),
    "figure": ("results", "draw the results of an experiment"),
    "speed": ("speed", "measure training against raw physics"),
    "theory": ("theory", "check the paper's bounds on exact random problems"),
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence with the nearest right name."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UserError(f"{message}; see `{self.prog} --help`.")


def add_trust_flags(parser: argparse.ArgumentParser) -> None:
    """For a command on a folder or file that may be a stranger's: what it names is not imported without a word."""
    parser.add_argument("--import", action="append", dest="imports", metavar="M", default=[],
                        help="a module named in the folder or file, whose code may run here")  # fmt: skip
    parser.add_argument("--trust", action="store_true", help="all code that the folder or file names, or is, may run here")


def trust_of(args: argparse.Namespace) -> bool | list[str]:
    return True if args.trust else args.imports


def top_help() -> str:
    lines = [f"  {name:<8} {summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(
        (
            "usage: cup COMMAND ...   (cup COMMAND --help for its options)", "",
            "Policies that are good and safe: CUP and the algorithms it is compared with.", "",
            "commands:", *lines, "",
            "Try: cup train hopper-speed --steps 250_000",
        )
    )  # fmt: skip


def run(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(top_help())
        return 0
    if argv[0] == "--version":
        from cuprl import __version__

        print(f"cuprl {__version__}")
        return 0
    if argv[0] not in COMMANDS:
        raise unknown("command", argv[0], COMMANDS)
    module = importlib.import_module(f"cuprl.cli.{COMMANDS[argv[0]][0]}")
    parser = Parser(prog="cup")
    subparsers = parser.add_subparsers(dest="command", parser_class=Parser)
    module.add(subparsers)
    args, extra = parser.parse_known_args(argv)
    if extra:
        command = getattr(args, "parser", subparsers.choices[argv[0]])  # that of `cup results import` is one deeper
        flags = [o for action in command._actions for o in action.option_strings if o.startswith("--")]
        if extra[0].startswith("-"):
            raise unknown("flag", extra[0].partition("=")[0], flags)
        raise UserError(f"unexpected argument {extra[0]!r}; see `cup {argv[0]} --help`.")
    return args.run(args)


def main(argv: Sequence[str] | None = None) -> int:
    codecs.register_error("cuprl", ascii_for)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="cuprl")  # a terminal without ± gets +-, not an error
    with readers_may_leave():
        try:
            status = run(sys.argv[1:] if argv is None else argv)
            print(end="", flush=True)  # what cannot be printed is known here, and not after the end
            return status
        except UserError as error:
            print(f"cup: {printable(error)}", file=sys.stderr)
            return 2
        except RunStopped as error:
            print(f"cup: {printable(error)}", file=sys.stderr)
            return 1
        except KeyboardInterrupt as stop:
            print(f"\ncup: {str(stop) or 'interrupted'}", file=sys.stderr)
            return 130
        except OSError as error:
            print(f"cup: {what_failed(error)}", file=sys.stderr)
            return 2


def what_failed(error: OSError) -> str:
    if error.filename is None:  # no file of ours, which would be named
        return f"{error.strerror or error}; see that the disk and what is printed to have room and can be used."
    return f"{error.strerror}: {error.filename}; give a file or folder that can be used."
