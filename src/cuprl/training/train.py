"""Begin a run, or go on with one, bit for bit: what is asked for is checked and made here, `loop` does the rest."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuprl import envs
from cuprl.core.encoder import Encoder
from cuprl.core.task import Task
from cuprl.core.user_modules import Trust, named_by
from cuprl.errors import UserError
from cuprl.learn.settings import refuse_at_odds
from cuprl.runs import provenance
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run, iterations
from cuprl.training.display import Display, display_for
from cuprl.training.further import begin, begin_again, extended, sentence
from cuprl.training.hooks import Hook, check_hook
from cuprl.training.loop import loop
from cuprl.training.training import Training
from cuprl.training.writers import require_writers


def train(
    task: str | Task,
    algo: str = "cup",
    *,
    seed: int = 0,
    steps: float = 2.5e6,
    out: str | Path | None = None,
    threads: int = 1,
    limits: dict[str, float] | float | None = None,
    checkpoint_every: int = 10,
    eval_every: int = 0,
    eval_episodes: int = 10,
    start_from: str | Path | Run | None = None,
    start_checkpoint: str | int | None = None,
    start_critics: bool = False,
    tensorboard: bool = False,
    wandb: bool = False,
    display: Display | bool = False,
    on_iteration: Hook | None = None,
    **settings: Any,
) -> Run:
    """Train a policy and return its run, whose folder has all that is needed to use it later.

    Args:
        task: the name of a task (`cup tasks` lists them; "gym:ID" is any Gymnasium environment), or a task itself, as
            `from_gymnasium` or `MujocoTask` makes it.
        algo: the name of an algorithm (`cup algos` lists them), or "python:MODULE" for one of your own.
        seed: of everything random. The same seed gives the same run, to the last bit, on any number of threads.
        steps: environment steps in all, rounded down to whole batches.
        out: a folder that is new or empty [runs/TASK/ALGO/seedK-TIME].
        threads: of the physics; they change no result.
        limits: other limits than the task's own: a number where there is one constraint, else a dict by name.
        checkpoint_every: iterations between two checkpoints; the last one always leaves one.
        eval_every: iterations between two evaluations in environments of their own, recorded in evaluations.csv; the best
            one's checkpoint is kept. 0: none.
        eval_episodes: episodes of each evaluation, of the mode and as many of sampled actions.
        start_from: a run, its folder, or a policy's .npz file, whose network and normaliser the run begins with; all else
            begins anew.
        start_checkpoint: of that run, "last", "best" or an iteration, as for `load` [last].
        start_critics: begin with that run's critics too.
        tensorboard: write the rows as TensorBoard events too; needs its extra.
        wandb: write them to Weights & Biases too; needs its extra.
        display: True shows progress as `cup train` does; without, nothing is printed, and the logger "cuprl" has the
            messages.
        on_iteration: called with each row of progress.csv and a `View` of the training. Where it returns False the run
            stops with a checkpoint and is returned as it is; where it raises, the checkpoint is left and the error says
            where it is.
        settings: those of the algorithm, as alpha=0.1 (`cup algos cup` lists them with their defaults).

    Raises:
        UserError: what cannot be trained, in one sentence, before anything is made.
        RunStopped: a number was no longer finite, or the environment failed; the message names the last good checkpoint.
        KeyboardInterrupt: Ctrl-C or SIGTERM, after a checkpoint; `resume` goes on from there.
    """
    if on_iteration is not None:
        check_hook(on_iteration)
    task = envs.find(task)
    config = RunConfig(
        task=task.name,
        algo=algo,
        seed=seed,
        steps=steps,  # type: ignore[arg-type]  # 2.5e6 is taken too
        threads=threads,
        checkpoint_every=checkpoint_every,
        eval_every=eval_every,
        eval_episodes=eval_episodes,
        limits=limits,
        tensorboard=bool(tensorboard),
        wandb=bool(wandb),
        settings=settings,
    )
    refuse_at_odds(config.plan(task).settings)
    require_writers(config)
    start = begin(start_from, start_checkpoint, start_critics, settings.get("encoder"))
    with closing(Training(start.begun(config) if start else config, task)) as training:
        if start is not None:
            training.begin_from(start)
        with Run.begun(out, training.config) as run:
            if start is not None:
                run.save(0, training.arrays())  # from here on the policy that it began from is not needed
            return loop(training, run, display_for(display), on_iteration)


def resume(
    run: str | Path | Run,
    *,
    steps: float | None = None,
    anneal: str | None = None,
    task: Task | None = None,
    encoder: Encoder | None = None,
    threads: int | None = None,
    display: Display | bool = False,
    on_iteration: Hook | None = None,
    trust: Trust = False,
) -> Run:
    """Continue a stopped run from its newest intact checkpoint; the result equals that of a run never stopped.

    Args:
        run: the run, or its folder.
        steps: of the whole run in all, to train it further than it was planned for; config.json then says so.
        anneal: what its learning rates do over these: "continue" (as its own schedule has it for so many steps), "restart"
            (from their first value to 0 over the steps that are added) or "off" (stay at their first value) [continue].
        task: the task itself, for a run on one that was made in Python and that its name does not find.
        encoder: the encoder itself, where it was given in Python and no module holds it.
        threads: of the physics; they change no result [as before].
        display: as of `train`.
        on_iteration: as of `train`.
        trust: the modules named in the folder whose code may run here, or True for all.
    """
    if on_iteration is not None:
        check_hook(on_iteration)
    run = run if isinstance(run, Run) else Run(run)
    display = display_for(display)
    # Nothing is read that will be written, and nothing written, before the run is ours alone.
    with run.locked():
        provenance.refuse_altered(run.path, run.config)
        config = RunConfig.from_json(run.config)
        if threads is not None:
            config = replace(config, threads=threads)
        if encoder is not None:
            config = replace(config, settings={**config.settings, "encoder": encoder})
        further = extended(config, run, steps, anneal)
        with named_by(run.path, trust):
            training = Training(further, task)
        with closing(training):
            if changed := provenance.changes(run.config):
                display.note(changed)
            _go_back(training, run, display)
            if further is not config:
                run.extend(training.config)
                display.note(sentence(training.config, training.learner.schedule))
            return loop(training, run, display, on_iteration)


def _go_back(training: Training, run: Run, display: Display) -> None:
    """Restore the checkpoint to go on from, and tell what of the run is lost."""
    recorded, lost, learner = run.recorded(), run.lost(), training.learner
    if run.checkpoints():
        _, arrays, refused = run.read(run.to_resume_from())
        for sentence in refused:
            display.note(f"{sentence} Falling back to the one before it.")
        training.restore(arrays)
    elif training.config.start is not None and not recorded:
        training.begin_from(begin_again(training.config))
    elif max(recorded, default=0) > training.config.checkpoint_every:  # fewer: it was stopped before its first checkpoint
        raise UserError(
            f"{run.path} has the metrics of {len(recorded)} iterations but no checkpoint to go on from, and beginning again "
            f"would wipe them; restore {run.path / 'checkpoints'}, or train into another folder."
        )
    if lost and learner.iteration < lost[0][0]:
        display.note(f"progress.csv lacks {iterations(lost)}: going back to iteration {learner.iteration} to redo them.")
    elif lost:
        display.note(f"the metrics of {iterations(lost)} are lost, with no checkpoint from before; the run goes on without.")
    run.forget_after(learner.iteration)
