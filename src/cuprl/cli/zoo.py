"""`cup zoo`."""

from __future__ import annotations

import argparse
from typing import Any

from cuprl.cli import add_command


def add(subparsers: Any) -> None:
    """Add `cup zoo`."""
    zoo = add_command(subparsers, "zoo")
    zoo.add_argument("name", metavar="NAME", nargs="?", help="show the card of this one")
    zoo.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List the policies, or print the card of one."""
    from dataclasses import replace

    from cuprl.cli.terminal import show
    from cuprl.pages.card import card, summary
    from cuprl.policies import zoo
    from cuprl.policies.load import load

    if args.name is not None:
        name = args.name.removeprefix(zoo.PREFIX)
        print(card(load(f"{zoo.PREFIX}{name}"), name), end="")
        return 0
    table = summary({name: load(f"{zoo.PREFIX}{name}") for name in zoo.names()})
    show(
        [
            replace(
                table, note="Give one as zoo:NAME to cup eval, certify, video, export or cuprl.load; its card: cup zoo NAME."
            )
        ]
    )
    return 0
