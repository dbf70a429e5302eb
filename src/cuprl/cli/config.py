"""`--config FILE`: a run's settings as the defaults of a command's flags, and the word for the modules that it names."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cuprl.cli import tell
from cuprl.cli.arguments import Parser, value_of
from cuprl.errors import UserError, unknown

if TYPE_CHECKING:
    from cuprl.runs.config_file import ConfigFile

BY_HAND = ("task", "algo", "seed", "limits", "encoder")  # whether they were typed makes a difference: see `filled_in`


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Add --config, and --trust for the code that the file names."""
    parser.add_argument(
        "--config", metavar="FILE", help="settings of a run's folder, config.json or .toml file; flags beside it win"
    )
    parser.add_argument("--trust", action="store_true", help="with --config: all code that the file names may run here")


def add_settings(parser: Parser, words: Sequence[str]) -> None:
    """Add the settings of the algorithm named in the words or in their --config, whose values become the defaults."""
    from cuprl import algorithms
    from cuprl.learn.fields import as_words, kinds_of
    from cuprl.runs.config_file import read_config_file

    named = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in ("--algo", "--config"):
        named.add_argument(flag, nargs="?")
    named.add_argument("--import", action="append", dest="imports", nargs="?", default=[])
    named.add_argument("--trust", nargs="?", const=True, default=False)  # that it takes no word, the parser itself says
    found = named.parse_known_args(words)[0]
    file = read_config_file(found.config) if found.config else None
    algo = found.algo or (file.algo if file else "cup")  # --algo without a name is refused later
    with gate(file, found.imports, found.trust, "", found.algo or ""):
        _, config = algorithms.load(algo)
    kinds = kinds_of(type(config))
    group = parser.add_argument_group(f"settings of {algo}")
    for field in dataclasses.fields(config):
        default = getattr(config, field.name)
        flag = "--" + field.name.replace("_", "-")
        said = f"{field.metadata.get('help', '')} [{as_words(default)}]".replace("%", "%%")
        group.add_argument(flag, type=value_of(kinds[field.name]), metavar="X", help=said)
    if file:
        for name in file.settings:
            if name not in kinds:
                raise UserError(f"{file.path}: {unknown(f'setting of {algo}', name, list(kinds))}")
        flags = {action.dest for action in parser._actions} - set(BY_HAND)
        of_file = {**file.values, **file.settings}
        parser.set_defaults(**{name: value for name, value in of_file.items() if name in flags})
    parser.set_defaults(file=file)


@contextmanager
def filled_in(args: argparse.Namespace) -> Iterator[None]:
    """Fill in what was not typed: from the file, else the usual. While inside, what the file names needs its user's word."""
    from cuprl import algorithms
    from cuprl.core.encoder import find_encoder
    from cuprl.envs.gymnasium.name import PREFIX

    file: ConfigFile | None = args.file
    if args.trust and not file:
        raise UserError("--trust goes with --config; what you type yourself needs no such word.")
    task, algo, encoder, imports = args.task or "", args.algo or "", args.encoder, args.imports or []
    args.task, args.algo = task or (file.task if file else ""), algorithms.full_name(algo or (file.algo if file else "cup"))
    if not args.task:
        missing = f"{file.path} names no task" if file else "there is no TASK"
        raise UserError(f"{missing}; give one, as `cup train hopper-speed` (`cup tasks` lists them).")
    if file:
        if args.seed is None and getattr(args, "seeds", None) is None:
            args.seed = file.values.get("seed")
        if encoder is None:
            args.encoder = file.settings.get("encoder")
        args.limit = limit_words(file, args.limit)
        if file.numerics not in (None, algorithms.numerics(args.algo)) and args.algo == file.algo:
            tell(f"{args.algo} gives other numbers now than when the run of {file.path} was made.")
        if file.started and not getattr(args, "start_from", None):
            tell(f"the run of {file.path} began from a policy; without --from this one does not.")
        # A module that the file names is no more than allowed by --import; another is one that registers the environment, as
        # each is beside a typed gym:ID.
        if not task.startswith(PREFIX):
            args.imports = [module for module in imports if module not in file.modules] or None
    with gate(file, imports, args.trust, task, algo, encoder, args.cost):
        find_encoder(args.encoder)  # the processes of several runs would take its name for one that was typed
        yield


@contextmanager
def gate(
    file: ConfigFile | None,
    imports: Sequence[Any],
    trust: bool,
    task: str,
    algo: str,
    encoder: str | None = None,
    costs: Sequence[str] | None = None,
) -> Iterator[None]:
    """Take modules from the file while inside: they are refused, but for those of these words, which a person typed."""
    from cuprl.core.encoder import NO_ENCODER
    from cuprl.core.user_modules import named_by
    from cuprl.envs.gymnasium.name import parse_costs
    from cuprl.runs.provenance import modules_of

    if file is None:
        yield
        return
    allowed = {*filter(None, imports), *modules_of(task, algo, encoder or NO_ENCODER)}
    allowed |= {source.partition(":")[0] for source in parse_costs(costs or ()).values()}
    allowed |= set(file.modules) if trust else set()
    with named_by(file.path, allowed):
        yield


def limit_words(file: ConfigFile, typed: list[str] | None) -> list[str] | None:
    """Give the limits as words of --limit: the file's, and over them those typed."""
    from cuprl.core.parse import later_words, parse_numbers, shortest

    limits = file.values.get("limits")
    if limits is None or isinstance(parse_numbers(typed, "--limit"), float):
        return typed
    words = [f"{name}={shortest(x)}" for name, x in limits.items()] if isinstance(limits, dict) else [shortest(limits)]
    return later_words([*words, *(typed or [])])
