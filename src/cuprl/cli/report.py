"""Commands that make pages: `cup report`, `cup watch`."""

from __future__ import annotations

import argparse
import signal
from typing import Any

from cuprl.cli import add_command
from cuprl.cli.arguments import add_part_flags, part_of, whole


def add(subparsers: Any) -> None:
    """Add `cup report` and `cup watch`."""
    report = add_command(subparsers, "report")
    report.add_argument("path", metavar="RUN|EXPERIMENT", help="a run's folder, or an experiment's name or TOML file")
    report.add_argument("--out", metavar="FILE", help="the page [report.html in the run, or EXPERIMENT-report.html]")
    add_part_flags(report)
    report.add_argument("--results", default="results", metavar="DIR", help="where an experiment's results are [results]")
    report.set_defaults(run=run_report)

    watch = add_command(subparsers, "watch")
    watch.add_argument("path", metavar="RUN", help="the run's folder")
    watch.add_argument(
        "--port", type=whole(), default=0, metavar="N", help="where to serve it on this machine; 0: any free one [0]"
    )
    watch.set_defaults(run=run_watch)


def run_report(args: argparse.Namespace) -> int:
    """Write the page."""
    from cuprl.pages.report import report

    print(report(args.path, args.out, results=args.results, only=part_of(args)))
    return 0


def run_watch(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from cuprl.pages.serve import server_of

    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C is the proper end here, not an interruption
    with server_of(args.path, args.port) as server:
        print(f"{server.url} shows {args.path}; Ctrl-C ends it.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
