"""Makes entries of the zoo from runs: the policy's file, its card, its picture, its line in docs/zoo.md.

    python tools/zoo.py runs/hopper runs/swimmer

The rule says which policy it is, so that none is picked by its numbers: of the run of seed 0 the best evaluation in training
(`--eval-every`), and where it has none, the last checkpoint. It is certified once on fresh episodes, and refused unless it
is within every limit. Nothing is written before that is known.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import cuprl
from cuprl import algorithms, envs
from cuprl.cli import add_checkpoint_flag
from cuprl.core.parse import shortest
from cuprl.errors import UserError
from cuprl.experiments.report.formats import to_markdown
from cuprl.pages.card import card, summary
from cuprl.policies import zoo
from cuprl.policies.certificate import WITHIN
from cuprl.policies.evaluate import evaluate
from cuprl.policies.export import as_carried
from cuprl.policies.formats import numpy_bytes
from cuprl.runs.files import write_atomically
from cuprl.runs.folder import Run
from cuprl.runs.history import told

ROOT = Path(__file__).parent.parent
CARDS, PAGE = ROOT / "docs" / "policies", ROOT / "docs" / "zoo.md"
TABLE = re.compile(r"(?<=<!-- the zoo -->\n).*?(?=<!-- end -->)", re.DOTALL)  # in docs/zoo.md
SEED = 0  # of the rule
EPISODES = 100  # of the evaluation that the file carries beside its certificate


def command_of(config: dict[str, Any]) -> str:
    """Write the commands that make a run of this config.json: what is not said is the default, then and now."""
    task = envs.find(config["task"])
    own = {c.name: c.limit for c in task.constraints}
    defaults = algorithms.load(config["algo"], of_task=getattr(task, "settings", None))[1]
    words = ["cup", "train", config["task"], "--algo", config["algo"]]
    added = config.get("extensions") or []
    planned = [*(one["steps"] for one in added), config["steps"]]
    words += ["--seed", str(config["seed"]), "--steps", f"{planned[0]:_}"]
    if start := config.get("start"):
        words += ["--from", "POLICY", *(["--from-critics"] if start["critics"] else [])]
    for name, limit in config["limits"].items():
        words += ["--limit", f"{name}={shortest(limit)}"] if own[name] != limit else []
    typed = {word.lstrip("-").partition("=")[0].replace("-", "_") for word in config.get("command", ())}
    for name, value in config["settings"].items():
        if name in typed or json.loads(json.dumps(getattr(defaults, name, None))) != value:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words += [f"--{name.replace('_', '-')}", text]
    if every := config.get("eval_every"):  # it changes no number, and keeps the checkpoint of the best
        words += ["--eval-every", str(every), "--eval-episodes", str(config["eval_episodes"])]
    further = (f"cup resume RUN --steps {steps:_} --anneal {one['anneal']}" for one, steps in zip(added, planned[1:]))
    return "\n".join([shlex.join(words), *further])


def by_the_rule(run: Run) -> tuple[str, str]:
    """Give the checkpoint that the rule takes of a run, and how it was chosen in words; UserError where it takes none."""
    planned, done = run.config["steps"] // run.config["settings"]["batch_size"], max(run.recorded(), default=0)
    if done < planned:
        raise UserError(f"{run.path} is at iteration {done} of {planned}; `cup resume {run.path}` ends it.")
    if (seed := run.config["seed"]) != SEED:
        said = f"{run.path} has seed {seed}, and the zoo takes seed {SEED} so that none is picked by its numbers"
        raise UserError(f"{said}; say with --chosen how else this one was chosen: it stands on the card.")
    if not (count := len(run.evaluations.recorded())):
        return "last", f"by the rule: seed {SEED}, the last checkpoint of the run"
    return "best", f"by the rule: seed {SEED}, the best of {count} evaluations in training"


def make(
    run: Run,
    chosen: str,
    name: str,
    episodes: int,
    picture: bool,
    checkpoint: str | int | None = None,
    sampled: bool = False,
) -> None:
    """Certify the policy of a run, its mode or its sampled actions, then write all that belongs to its entry."""
    policy = cuprl.load(run, checkpoint=checkpoint)
    certificate = cuprl.certify(policy, episodes, mode="sampled" if sampled else "mode")
    print(f"return {certificate.return_mean:.1f}, {certificate.sentence()}")
    if certificate.verdict != WITHIN:
        said = "; ".join(f"{s.constraint}: {s.sentence(certificate.confidence)}" for s in certificate.constraints)
        raise UserError(f"the zoo takes only what is within its limits, and {run.path} is not ({said}); train it on.")
    training = {"command": command_of(run.config), **told(run.config), "git": run.config["git"], "chosen": chosen}
    measured = as_carried(evaluate(policy, EPISODES, deterministic=not sampled))
    more = {"certificate": certificate.to_json(), **measured, "training": training}
    CARDS.mkdir(exist_ok=True)
    if picture:  # first, as it alone may be refused here
        cuprl.video(policy, sheet=CARDS / f"{name}.png", deterministic=not sampled)
    write_atomically(zoo.FOLDER / f"{name}{zoo.SUFFIX}", numpy_bytes({**policy.info, **more}, policy.arrays))
    write_cards()


def write_cards() -> None:
    """Write every card and the table of docs/zoo.md again, from the policies' files."""
    policies = {name: cuprl.load(f"{zoo.PREFIX}{name}") for name in zoo.names()}
    for name, policy in policies.items():
        shown = f"{name}.png" if (CARDS / f"{name}.png").is_file() else None
        write_atomically(CARDS / f"{name}.md", card(policy, name, shown).encode())
    page = TABLE.sub(lambda _: page_table(policies), PAGE.read_text())
    write_atomically(PAGE, page.encode())


def page_table(policies: dict[str, Any]) -> str:
    """Write the table of docs/zoo.md, each policy with a link to its card."""
    text = to_markdown([summary(policies)])
    for name in policies:
        text = text.replace(f"| {name} |", f"| [{name}](policies/{name}.md) |")
    return f"\n{text}\n\n"


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Make entries of the zoo from runs.")
    parser.add_argument("runs", metavar="RUN", nargs="*", help="folders of runs; without any, only cards are written again")
    parser.add_argument("--chosen", metavar="TEXT", help="not by the rule: how, and out of how many; it stands on the card")
    add_checkpoint_flag(parser)
    parser.add_argument("--sampled", action="store_true", help="certify sampled actions, as in training; the card says so")
    parser.add_argument("--name", help="of the entry [the task's]")
    parser.add_argument("--episodes", type=int, default=1000, metavar="N", help="of the certificate [1000]")
    parser.add_argument("--no-picture", action="store_true", help="leave the picture as it is")
    args = parser.parse_args()
    if (args.chosen or args.checkpoint or args.sampled or args.name) and len(args.runs) != 1:
        raise UserError("--chosen, --checkpoint, --sampled and --name go with one run; give one.")
    if (args.checkpoint or args.sampled) and not args.chosen:
        what = "a checkpoint that is" if args.checkpoint else "actions that are"
        raise UserError(f"{what} not the rule's: say with --chosen why, and what else was tried.")
    return args


def main() -> int:
    """Make entries as the command line says; what one is refused for does not keep the others out."""
    status = 0
    try:
        args = parsed()
        if not args.runs:
            write_cards()
    except UserError as error:
        print(f"zoo: {error}", file=sys.stderr)
        return 2
    for folder in args.runs:
        try:
            run = Run(folder)
            checkpoint, chosen = (args.checkpoint, args.chosen) if args.chosen else by_the_rule(run)
            print(f"{folder}: {chosen}", flush=True)
            name = args.name or run.config["task"]
            make(run, chosen, name, args.episodes, not args.no_picture, checkpoint, args.sampled)
        except UserError as error:
            print(f"zoo: {error}", file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
