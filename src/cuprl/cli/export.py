"""`cup export`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_checkpoint_flag, add_command, add_trust_flags, trust_of
from cuprl.cli.arguments import whole

if TYPE_CHECKING:
    from cuprl.policies.acting import SavedPolicy
    from cuprl.policies.certificate import Certificate


def add(subparsers: Any) -> None:
    """Add `cup export`."""
    export = add_command(subparsers, "export")
    export.add_argument("path", metavar="RUN", help="the run's folder, a .npz file of a policy, or zoo:NAME")
    export.add_argument("--to", default="numpy", metavar="FORMAT", help="numpy, onnx or jax [numpy]")
    export.add_argument("--out", metavar="FILE", help="the file [policy.npz, .onnx or .jax in the run's folder]")
    export.add_argument(
        "--episodes",
        type=whole(0),
        default=20,
        metavar="N",
        help="episodes of the evaluation that the file carries; 0: none [20]",
    )
    export.add_argument("--latency", action="store_true", help="write nothing: measure an action's time in each format")
    add_checkpoint_flag(export)
    add_trust_flags(export)
    export.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the policy's file, or measure it."""
    from cuprl.errors import UserError
    from cuprl.policies.export import check, export_policy, refuse_program, where
    from cuprl.policies.load import load

    if args.latency and args.out:
        raise UserError("--latency writes no file; leave --out away.")
    check(args.to, args.out)  # before the evaluation
    policy = load(args.path, checkpoint=args.checkpoint, trust=trust_of(args))
    if args.latency:
        refuse_program(policy)
        return print_latency(policy)
    where(policy, args.to, args.out)
    evaluation = measured(policy, args.episodes) if args.episodes else None
    file = export_policy(policy, args.to, args.out, evaluation, certified(policy))
    every = f", an action every {policy.step_seconds:g} s" if policy.step_seconds else ""
    print(f"{file}  {file.stat().st_size:,} bytes, the policy of iteration {policy.info['iteration']}{every}")
    return 0


def measured(policy: SavedPolicy, episodes: int) -> dict[str, Any] | None:
    """Evaluate the mode; None where the task is not known here, as on hardware, or fails."""
    import sys

    from cuprl.cli.inspect import print_evaluation
    from cuprl.core.text import printable
    from cuprl.core.user_modules import NotTrusted
    from cuprl.errors import RunStopped, UserError
    from cuprl.policies.evaluate import evaluate

    try:
        evaluation = evaluate(policy, episodes)
    except NotTrusted:
        raise
    except (UserError, RunStopped) as error:
        reason = str(error).partition(";")[0].rstrip(".")
        print(f"note: the file carries no evaluation: {printable(reason)}.", file=sys.stderr)
        return None
    print_evaluation([evaluation])
    return evaluation


def certified(policy: SavedPolicy) -> Certificate | None:
    """Read the certificate in the run's folder; None, with a note, where it is of another checkpoint."""
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


def print_latency(policy: SavedPolicy) -> int:
    """Print how long an action takes in each format."""
    from cuprl.cli.terminal import show
    from cuprl.core.text import printable
    from cuprl.experiments.report.formats import Table
    from cuprl.measure.latency import latency
    from cuprl.policies.checks import sizes_of

    sizes = sizes_of(policy.arrays)
    if policy.encoder is not None:
        sizes = f"{policy.info['spec']['obs_dim']} by {printable(policy.encoder.name)} to {sizes}"
    of = f"{printable(policy.info['task'])}, iteration {policy.info['iteration']}"
    every = f", due every {1e6 * policy.step_seconds:,.0f} µs" if policy.step_seconds else ""
    print(f"one action of {of}{every}, network {sizes}; medians of interleaved calls")
    rows = [
        [row["format"], "not installed", "", "", ""]
        if "missing" in row
        else [
            row["format"],
            f"{row['median_us']:.1f} µs",
            f"{row['p99_us']:.1f} µs",
            f"{row['bytes'] / 1000:.0f} kB",
            f"{row['difference']:.0e}",
        ]
        for row in latency(policy)
    ]
    show([Table(["format", "median", "99%", "file", "difference"], rows)])
    return 0
