"""`cup export`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_trust_flags, trust_of

if TYPE_CHECKING:
    from cuprl.policies.certificate import Certificate
    from cuprl.policies.of_run import RunPolicy


def add(subparsers: Any) -> None:
    export = subparsers.add_parser("export", help="write the policy of a run as one file to deploy")
    export.add_argument("path", metavar="RUN", help="the run's folder")
    export.add_argument("--to", default="numpy", metavar="FORMAT", help="numpy, onnx or jax [numpy]")
    export.add_argument("--out", metavar="FILE", help="the file [policy.npz, .onnx or .jax in the run's folder]")
    export.add_argument("--episodes", default="20", metavar="N",
                        help="episodes of the evaluation that the file carries; 0: none [20]")  # fmt: skip
    export.add_argument("--latency", action="store_true", help="write nothing: measure an action's time in each format")
    add_trust_flags(export)
    export.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from cuprl.core.parse import parse_value
    from cuprl.errors import UserError
    from cuprl.policies.export import check, export_policy
    from cuprl.policies.of_run import read_run
    from cuprl.runs.folder import Run

    episodes = parse_value(int, args.episodes, "--episodes")
    if episodes < 0:
        raise UserError(f"--episodes is {episodes}; give 0 or more.")
    if args.latency and args.out:
        raise UserError("--latency writes no file; leave --out away.")
    check(args.to, args.out)  # before the evaluation
    policy = read_run(Run(args.path), trust=trust_of(args))
    if args.latency:
        return print_latency(policy)
    evaluation = measured(policy, episodes) if episodes else None
    file = export_policy(policy, args.to, args.out, evaluation, certified(policy))
    print(f"{file}  {file.stat().st_size:,} bytes")
    return 0


def measured(policy: RunPolicy, episodes: int) -> dict[str, Any] | None:
    """The evaluation of the mode; none where the task is not known here, as on hardware."""
    import sys

    from cuprl.cli.inspect import print_evaluation
    from cuprl.core.text import printable
    from cuprl.core.user_modules import NotTrusted
    from cuprl.errors import UserError
    from cuprl.policies.evaluate import evaluate

    try:
        evaluation = evaluate(policy, episodes)
    except NotTrusted:
        raise
    except UserError as error:
        reason = str(error).partition(";")[0].rstrip(".")
        print(f"note: the file carries no evaluation: {printable(reason)}.", file=sys.stderr)
        return None
    print_evaluation([evaluation])
    return evaluation


def certified(policy: RunPolicy) -> Certificate | None:
    """The certificate in the run's folder; none where it is of another checkpoint."""
    import sys

    from cuprl.core.text import printable
    from cuprl.errors import UserError
    from cuprl.policies.certificate import of_folder

    try:
        certificate = of_folder(policy)
    except UserError as error:
        print(f"note: the file carries no certificate: {printable(error)}", file=sys.stderr)
        return None
    if certificate is not None:
        print(f"with its certificate: {certificate.episodes:,} episodes, {certificate.sentence()}")
    return certificate


def print_latency(policy: RunPolicy) -> int:
    from rich.console import Console
    from rich.table import Table

    from cuprl.core.text import printable
    from cuprl.measure.latency import latency
    from cuprl.policies.deployed import layers_of

    layers = layers_of(policy.arrays)
    sizes = " x ".join(str(n) for n in [*(len(weight) for weight, _ in layers), layers[-1][1].size])
    print(f"one action of {printable(policy.info['task'])}, network {sizes}; medians of interleaved calls")
    table = Table(box=None)
    for name in ("format", "median", "99%", "file", "difference"):
        table.add_column(name, justify="left" if name == "format" else "right", no_wrap=True)
    for row in latency(policy):
        if "missing" in row:
            table.add_row(row["format"], "not installed")
        else:
            table.add_row(row["format"], f"{row['median_us']:.1f} µs", f"{row['p99_us']:.1f} µs",
                          f"{row['bytes'] / 1000:.0f} kB", f"{row['difference']:.0e}")  # fmt: skip
    Console().print(table)
    return 0
