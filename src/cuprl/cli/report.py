"""Commands that make pages: `cup report`, `cup watch`."""

from __future__ import annotations

import argparse
import signal
from typing import Any


def add(subparsers: Any) -> None:
    report = subparsers.add_parser("report", help="one HTML page about a run or an experiment")
    report.add_argument("path", metavar="RUN|EXPERIMENT", help="a run's folder, or an experiment's name or TOML file")
    report.add_argument("--out", metavar="FILE", help="the page [report.html in the run, or EXPERIMENT-report.html]")
    report.add_argument("--only", metavar="WHAT", help="a part of an experiment, as task=hopper-speed,algo=cup")
    report.add_argument("--results", default="results", metavar="DIR", help="where an experiment's results are [results]")
    report.set_defaults(run=run_report)

    watch = subparsers.add_parser("watch", help="show a run in the browser while it goes on")
    watch.add_argument("path", metavar="RUN", help="the run's folder")
    watch.add_argument("--port", default="0", metavar="N", help="where to serve it on this machine; 0: any free one [0]")
    watch.set_defaults(run=run_watch)


def run_report(args: argparse.Namespace) -> int:
    from cuprl.pages.report import report

    print(report(args.path, args.out, results=args.results, only=args.only))
    return 0


def run_watch(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from cuprl.core.parse import parse_value
    from cuprl.pages.serve import server_of

    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C is the proper end here, not an interruption
    with server_of(args.path, parse_value(int, args.port, "--port")) as server:
        print(f"{server.url} shows {args.path}; Ctrl-C ends it.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
