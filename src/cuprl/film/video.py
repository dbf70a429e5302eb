"""`video`: a film of a saved policy at work, with what its episodes come to drawn into the frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cuprl.core.user_modules import Trust, named_by
from cuprl.core.values import as_number, whole
from cuprl.errors import UserError
from cuprl.film import encode, opengl
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.load import loaded
from cuprl.runs.files import try_writing, write_with_folders
from cuprl.runs.folder import Run
from cuprl.runs.provenance import changed_sources

if TYPE_CHECKING:
    from cuprl.core.spec import Spec
    from cuprl.core.task import Task
    from cuprl.film.episode import Moment
    from cuprl.film.shots import Shot

SMALLEST, LARGEST = 96, 4096  # pixels of a side
FASTEST, FASTEST_GIF = 1000.0, 50.0  # frames a second; the second is what browsers play
HOLD = 1.0  # seconds for which the last frame of an episode stays


def video(
    run: str | Path | Run | SavedPolicy,
    out: str | Path | None = None,
    *,
    sheet: str | Path | None = None,
    episodes: int = 1,
    deterministic: bool = True,
    seed: int = 10_000,
    steps: int | None = None,
    width: int = 640,
    height: int = 480,
    fps: float = 30.0,
    camera: str | None = None,
    task: Task | None = None,
    checkpoint: str | int | None = None,
    trust: Trust = False,
    on_shot: Callable[[Shot], None] = lambda shot: None,
) -> dict[str, Any]:
    """Film a policy at work, with the return and each cost so far against its limit drawn into the frames.

    Args:
        run: a run or its folder, an exported file, "zoo:NAME", or a policy that `load` gave.
        out: a .mp4 or .gif file [video.mp4 in the run's folder, or beside the policy's file; none where there is a sheet].
        sheet: a .png file with frames from the first episode's first to its last.
        episodes: how many, one after the other.
        deterministic: the mode of the policy; False samples actions as in training.
        seed: episode i is the one that `evaluate` runs with episodes=1 and seed + i.
        steps: the most that are shown of each episode [all].
        width: of a frame, in pixels, an even number.
        height: of a frame, likewise.
        fps: frames a second; as many steps go by between two as show the robot at its true speed.
        camera: one of the robot's model by its name [one that follows the robot].
        task: the task itself, for a policy of one that was made in Python.
        checkpoint: as for `evaluate`.
        trust: as for `evaluate`.
        on_shot: called with each frame as it is made.

    Returns:
        What was written and what the episodes came to.
    """
    check_numbers(episodes, seed, steps, width, height, fps)
    for file, kinds in ((out, encode.FILMS), (sheet, encode.SHEETS)):
        if file is not None:
            encode.check(Path(file), kinds)
    opengl.choose()  # before MuJoCo is imported, as it is below
    saved = loaded(run, checkpoint, trust)
    film_to = default_file(saved) if out is None and sheet is None else out
    for file in (film_to, sheet):
        if file is not None:
            try_writing(Path(file))
    from cuprl.film.filmed import film
    from cuprl.film.shots import Pace, Thinned, shots
    from cuprl.policies.evaluate import as_trained, refuse_other_sizes

    info = saved.info
    with named_by(saved.source or "the policy", trust or saved.trust):
        env = film(task or saved.task or info["task"], info["limits"], width, height, camera)
    kept, ends, frames = Thinned(), list[dict[str, Any]](), 0
    try:
        refuse_other_sizes(env.spec, info)
        env.spec = as_trained(env.spec, info)
        fastest = FASTEST_GIF if film_to and Path(film_to).suffix.lower() == ".gif" else np.inf
        pace = Pace.of(env.seconds, fps, fastest)

        def shown() -> Iterator[np.ndarray]:
            nonlocal frames
            for shot in shots(env, saved, pace, (width, height), episodes, deterministic, seed, steps):
                on_shot(shot)
                if shot.episode == 0:
                    kept.take(shot.frame)
                if shot.last:
                    ends.append(came_to(shot.moment, env.spec))
                repeats = 1 + (round(HOLD * pace.rate) if shot.last else 0)
                frames += repeats
                yield from repeat(shot.frame, repeats)

        if film_to is None:
            deque(shown(), maxlen=0)
        else:
            write_with_folders(Path(film_to), encode.FILMS[Path(film_to).suffix.lower()](shown(), pace.rate))
    finally:
        env.close()
    if sheet is not None:
        write_with_folders(Path(sheet), encode.sheet(kept.all()))
    return {
        **{name: info[name] for name in ("task", "algo", "iteration")},
        "run": str(saved.source),
        "deterministic": deterministic,
        "seed": seed,
        "out": None if film_to is None else str(film_to),
        "sheet": None if sheet is None else str(sheet),
        "frames": frames,
        "fps": pace.rate,
        "episodes": ends,
        "changed": changed_sources(info),
    }


def check_numbers(episodes: int, seed: int, steps: int | None, width: int, height: int, fps: float) -> None:
    """Refuse numbers that no video can be made with."""
    whole(episodes, "episodes")
    whole(seed, "seed", least=0)
    if steps is not None:
        whole(steps, "steps")
    for name, value in (("width", width), ("height", height)):
        whole(value, name, SMALLEST)
        if value % 2 or value > LARGEST:
            raise UserError(f"{name} is {value}; give an even number from {SMALLEST} to {LARGEST}.")
    if not 0.0 < as_number(fps, "fps") <= FASTEST:
        raise UserError(f"fps is {fps}; give more than 0 and at most {FASTEST:g} frames a second.")


def default_file(saved: SavedPolicy) -> Path:
    """Choose video.mp4 in a run's folder, NAME.mp4 beside the file NAME.npz, or here for zoo:NAME."""
    file = saved.beside("video.mp4", ".mp4")
    if file is None:
        raise UserError("this policy has no folder or file of its own; say where the video goes, as out='video.mp4'.")
    encode.check(file, encode.FILMS)
    return file


def came_to(moment: Moment, spec: Spec) -> dict[str, Any]:
    """Give an episode's numbers, named as `evaluate` names their means."""
    names = [c.name for c in spec.constraints]
    return {
        "return": float(moment.total[0]),
        "cost": dict(zip(names, moment.discounted.tolist())),
        "cost_undiscounted": dict(zip(names, moment.total[1:].tolist())),
        "cost_limit": {c.name: c.limit for c in spec.constraints},
        "length": moment.step,
        "terminated": moment.terminated,
    }
