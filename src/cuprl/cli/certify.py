"""`cup certify`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_checkpoint_flag, add_command, add_trust_flags, tell, tell_changed, trust_of
from cuprl.cli.arguments import value_of, whole
from cuprl.core.parse import parse_numbers
from cuprl.core.text import printable
from cuprl.errors import UserError

if TYPE_CHECKING:
    from cuprl.policies.acting import SavedPolicy
    from cuprl.policies.certificate import Certificate, Statement

METHODS = {  # what is said of each
    "betting": "betting: the bounds hold at any number of episodes, of costs from 0 to {largest} an episode.",
    "bootstrap-t": "bootstrap-t: the bounds hold nearly, as no bound on the cost is known (see docs/certify.md).",
}


def add(subparsers: Any) -> None:
    """Add `cup certify`."""
    certify = add_command(subparsers, "certify")
    certify.add_argument("path", metavar="RUN", help="the run's folder, a policy's file, or zoo:NAME")
    certify.add_argument("--episodes", type=whole(), default=1000, metavar="N", help="episodes [1000]")
    certify.add_argument(
        "--confidence",
        type=value_of(float),
        default=0.95,
        metavar="P",
        help="chance that the upper bounds on all costs hold [0.95]",
    )
    actions = certify.add_mutually_exclusive_group()
    actions.add_argument("--mode", action="store_true", help="certify the mode, as `cup eval` runs it [this]")
    actions.add_argument("--sampled", action="store_true", help="certify sampled actions, as in training")
    certify.add_argument("--seed", type=whole(), metavar="K", help="seed of the episodes [1_000_000]")
    certify.add_argument(
        "--cost-bound",
        action="append",
        metavar="X",
        help="a step costs from 0 to X, where the task does not say it itself; NAME=X for one of several",
    )
    certify.add_argument(
        "--threads", type=whole(), metavar="N", help="threads of the physics; never changes a result [all cores]"
    )
    certify.add_argument(
        "--out",
        metavar="FILE",
        help="a .json file, or a .npz file: the policy that carries its certificate "
        "[certificate.json in the run's folder, or .certificate.json beside the file]",
    )
    certify.add_argument("--json", action="store_true", help="print one JSON object")
    add_checkpoint_flag(certify)
    add_trust_flags(certify)
    certify.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Certify a policy, print the certificate and write it."""
    from cuprl.policies.certificate import write_certificate
    from cuprl.policies.certify import SEED, certify
    from cuprl.policies.export import write_with_certificate
    from cuprl.policies.load import load

    seed = SEED if args.seed is None else args.seed
    cost_bound = parse_numbers(args.cost_bound, "--cost-bound")
    policy = load(args.path, checkpoint=args.checkpoint, trust=trust_of(args))
    out = where(policy, args.out)
    mode = "sampled" if args.sampled else "mode"
    certificate = certify(
        policy, args.episodes, args.confidence, mode, seed, cost_bound, args.threads, tell=teller(args.episodes)
    )
    tell_changed(certificate.changed, args.path, "this is said of another task")
    if args.json:
        print(json.dumps(certificate.to_json()))
    else:
        print_certificate(certificate)
    if out.suffix == ".npz":
        write_with_certificate(policy, certificate, out)
    else:
        if other := what_it_holds(out, certificate):
            tell(f"{out} held the certificate of {other}, which this one replaces.")
        write_certificate(out, certificate)
    if not args.json:
        print(out)
    return 0


def where(policy: SavedPolicy, out: str | None) -> Path:
    """Choose the file to write; one that cannot be written is refused before the episodes are run."""
    from cuprl.policies.certificate import NAME
    from cuprl.policies.export import refuse_unwritable
    from cuprl.runs.files import try_writing

    path = policy.beside(NAME, ".certificate.json") if out is None else Path(out)
    assert path is not None  # the policy was loaded
    if path.suffix not in (".json", ".npz"):
        raise UserError(f"--out {out} ends neither in .json nor in .npz; name it so.")
    if path.suffix == ".npz":
        if not policy.arrays:
            raise UserError(f"--out {out} needs the arrays that {policy.source} does not show; give a .json file.")
        refuse_unwritable(policy, "numpy")
    try_writing(path)
    return path


def what_it_holds(path: Path, new: Certificate) -> str:
    """Say whose certificate stands in a file that is to be written, if it is of other actions or another iteration."""
    from cuprl.policies.certificate import read_certificate

    try:
        old = read_certificate(path)
    except (UserError, OSError):  # there is none
        return ""
    same = (old.mode, old.iteration) == (new.mode, new.iteration)
    return "" if same else f"{'the mode' if old.mode == 'mode' else 'sampled actions'}, iteration {old.iteration}"


def teller(episodes: int) -> Any:
    """Make what tells a person at a terminal how far it is."""

    def tell(done: int) -> None:
        if sys.stderr.isatty():
            end = "\r" if done < episodes else "\r\x1b[K"
            print(f"{done:,} of {episodes:,} episodes", end=end, file=sys.stderr, flush=True)

    return tell


def print_certificate(certificate: Certificate) -> None:
    """Print a certificate as a table, and the verdict in a sentence for each constraint."""
    from cuprl.cli.terminal import show
    from cuprl.experiments.report.formats import Table
    from cuprl.policies.certificate import digits

    of = certificate
    actions = "the mode" if of.mode == "mode" else "sampled actions"
    print(
        f"{printable(of.task)}, {printable(of.algo)}, iteration {of.iteration}, {actions}: "
        f"{of.episodes:,} fresh episodes from seed {of.episode_seed:,}\n"
    )
    header = ["constraint", "limit", "cost", "at least", "at most", "over the limit", "worst 1%", "by"]
    rows = []
    for s in of.constraints:
        share = f"{percent(s.over / of.episodes)} [{percent(s.over_low)}, {percent(s.over_high)}]"
        bounds = [digits(s.cost), digits(s.lower), digits(s.upper)]
        rows.append([s.constraint, f"{s.limit:g}", *bounds, share, digits(s.worst), s.method])
    show([Table(header, rows)])
    low, high = ("-" if bound is None else f"{bound:.1f}" for bound in (of.return_low, of.return_high))
    print(f"return {of.return_mean:.1f} [{low}, {high}]\n")
    for s in of.constraints:
        print(f"{printable(s.constraint)}: {s.sentence(of.confidence)}.")
    if len(of.constraints) > 1:
        print(
            f"all: {of.sentence()}. Each has {100 * of.constraints[0].confidence:g}%, so that all that is "
            f"said in a column holds at once with {100 * of.confidence:g}% (Bonferroni)."
        )
    for note in dict.fromkeys(map(note_of, of.constraints)):
        print(note)


def note_of(statement: Statement) -> str:
    """Say by which method a statement's bounds were found."""
    from cuprl.policies.certificate import digits

    return METHODS.get(statement.method, "").format(largest=digits(statement.largest))


def percent(share: float) -> str:
    """Write a share as 12.3%."""
    return f"{100 * share:.1f}%"
