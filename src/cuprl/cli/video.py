"""`cup video`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cuprl.cli import add_checkpoint_flag, add_command, add_trust_flags, tell_changed, trust_of
from cuprl.cli.arguments import value_of

if TYPE_CHECKING:
    from cuprl.film.shots import Shot

NUMBERS: dict[str, tuple[type, float | None, str]] = {  # flag: (type, default, help)
    "episodes": (int, 1, "episodes, one after the other"),
    "seed": (int, 10_000, "seed of the first episode, as of `cup eval --episodes 1`; each next has the next"),
    "steps": (int, None, "at most so many steps of each episode [all]"),
    "width": (int, 640, "pixels"),
    "height": (int, 480, "pixels"),
    "fps": (float, 30.0, "frames a second; the robot moves at its true speed"),
}


def add(subparsers: Any) -> None:
    """Add `cup video`."""
    parser = add_command(subparsers, "video")
    parser.add_argument("path", metavar="RUN", help="the run's folder, a policy's file, or zoo:NAME")
    parser.add_argument("--out", metavar="FILE", help="the film, .mp4 or .gif [video.mp4 in the run's folder]")
    parser.add_argument("--sheet", metavar="FILE", help="a .png of frames from first to last; without --out no film is made")
    parser.add_argument("--sampled", action="store_true", help="sample actions as in training, not the mode")
    for name, (kind, default, meaning) in NUMBERS.items():
        shown = meaning if default is None else f"{meaning} [{default:g}]"
        parser.add_argument(f"--{name}", type=value_of(kind), default=default, metavar="N", help=shown)
    parser.add_argument("--camera", metavar="NAME", help="a camera of the robot's model [one that follows the robot]")
    add_checkpoint_flag(parser)
    add_trust_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Film, and print what the episodes came to and where the film is."""
    from rich.console import Console

    from cuprl.core.text import printable
    from cuprl.film.video import video

    with Console(stderr=True).status("the first frame …") as status:

        def tell(shot: Shot) -> None:
            status.update(f"episode {shot.episode + 1}, step {shot.moment.step}")

        made = video(
            args.path,
            args.out,
            sheet=args.sheet,
            deterministic=not args.sampled,
            camera=args.camera,
            checkpoint=args.checkpoint,
            trust=trust_of(args),
            on_shot=tell,
            **{name: getattr(args, name) for name in NUMBERS},
        )
    tell_changed(made["changed"], args.path, "this is another task")
    actions = "mode" if made["deterministic"] else "sampled"
    print(printable(f"{made['task']}, {made['algo']}, iteration {made['iteration']}, {actions}"))
    for i, episode in enumerate(made["episodes"]):
        costs = (f"{name} {cost:.2f} / {episode['cost_limit'][name]:g}" for name, cost in episode["cost"].items())
        shown = (f"return {episode['return']:.1f}", *costs, f"{episode['length']} steps")
        print(printable(f"seed {made['seed'] + i}: {', '.join(shown)}"))
    for file in filter(None, (made["out"], made["sheet"])):
        print(printable(file))
    return 0
