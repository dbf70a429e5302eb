"""Train further: a run that is given more steps than it was planned for, or a new one that begins from a trained policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cuprl.core.encoder import Encoder, find_encoder
from cuprl.errors import UserError, unknown
from cuprl.policies.start import Origin, Start, origin_of, read_start
from cuprl.runs.config import RunConfig, iterations_of
from cuprl.runs.folder import Run
from cuprl.runs.history import ANNEALS, Schedule


def begin(
    source: str | Path | Run | None, checkpoint: str | int | None, critics: bool, encoder: str | Encoder | None = None
) -> Start | None:
    """Read the policy that a new run begins from, None where it begins from nothing; encoder: that of the new run."""
    origin = origin_of(source, checkpoint, critics)
    return None if origin is None else read_start(origin, find_encoder(encoder))


def begin_again(config: RunConfig) -> Start:
    """Read once more the policy that a run was killed before it kept."""
    start, found = config.start or {}, None
    try:
        checkpoint = start["iteration"] if Path(config.start_source or "").is_dir() else None
        origin = Origin(config.start_source or "", checkpoint, start["critics"])
        found = read_start(origin, find_encoder(config.settings.get("encoder")))
    except UserError:
        pass
    if found is None or found.facts != start:
        raise UserError(f"the policy that this run was to begin from is no longer {config.start_source}; train it again.")
    return found


def extended(config: RunConfig, run: Run, steps: float | None, anneal: str | None) -> RunConfig:
    """Give the configuration of a run with more steps; the same one where it has that many already.

    The run is locked: the checkpoint that it goes on from is where its learning rates turn.
    """
    if anneal is not None and anneal not in ANNEALS:
        raise unknown("anneal", str(anneal), ANNEALS)
    if steps is None:
        if anneal is not None:
            raise UserError(f"--anneal {anneal} goes with --steps, for a run that is trained further; add it.")
        return config
    size, before = config.settings["batch_size"], config.extensions or []
    asked = replace(config, steps=steps)  # type: ignore[arg-type]  # 5e6 is taken too
    planned, wanted = config.steps // size, iterations_of(asked.steps, size)
    reached = int(run.read(run.to_resume_from())[1]["counters"][0]) if run.checkpoints() else 0
    if wanted < planned:
        said = f"--steps is {asked.steps:,}, but {run.path} has {planned * size:,} planned and {reached * size:,} done"
        raise UserError(f"{said}; give more than {planned * size:,}, or leave --steps away to finish what is planned.")
    if wanted == planned:  # the same command again, after a stop
        if anneal is not None and anneal != (before[-1]["anneal"] if before else None):
            said = f"{run.path} has {config.steps:,} steps already"
            raise UserError(f"{said}, and what its learning rates do is settled; leave --anneal away, or give more --steps.")
        return config
    # Where it went back behind an extension, nothing that was learnt under that one is left.
    turned = [{**one, "iteration": min(one["iteration"], reached)} for one in before]
    return replace(asked, extensions=[*turned, extension(reached, config.steps, anneal or "continue")])


def extension(iteration: int, steps: int, anneal: str) -> dict[str, object]:
    """Write what config.json keeps of it: where the run had got to, what was planned till then, what the rates do."""
    return {"iteration": iteration, "steps": steps, "anneal": anneal}


def sentence(config: RunConfig, schedule: Schedule) -> str:
    """Say what is done, and what happens to the learning rates."""
    last = (config.extensions or [])[-1]
    first, end = last["iteration"], schedule.stages[-1].last
    rates = f"from {schedule.scale(first):.3g} of their first value to {schedule.scale(end - 1):.3g} of it"
    said = f"trained further, from iteration {first} to {end} ({last['steps']:,} to {config.steps:,} steps)"
    return f"{said}; --anneal {last['anneal']}: learning rates {ANNEALS[last['anneal']]}, {rates}."
