"""`load`: a policy to act with, from a run's folder, from a file that `cup export` wrote, or from the zoo.

An exported `.npz` file is read and acts where there is only NumPy: what a run's folder needs is imported for one alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cuprl.core.encoder import Encoder
from cuprl.core.task import Task
from cuprl.core.user_modules import NotTrusted, Trust, named_by
from cuprl.errors import UserError, unknown
from cuprl.policies import zoo
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.deployed import READERS

if TYPE_CHECKING:
    from cuprl.runs.folder import Run


def load(
    source: str | Path | Run,
    task: Task | None = None,
    *,
    checkpoint: str | int | None = None,
    encoder: Encoder | None = None,
    trust: Trust = False,
) -> SavedPolicy:
    """Load a policy to act with. Nothing is unpickled, and of a .npz file or the zoo nothing but NumPy is needed.

    Args:
        source: a run or its folder, a file that `cup export` wrote, or "zoo:NAME" for a policy that comes with cuprl
            (`cup zoo` lists them).
        task: the task itself, where the policy is to be evaluated on one that was made in Python.
        checkpoint: of a run, "last" (its newest intact one; so is None), "best" by its evaluations in training, or an
            iteration whose checkpoint is there; `info["iteration"]` tells which it was.
        encoder: the policy's own, where the module it names is not to be imported, or none holds it.
        trust: the modules named in the file or folder whose code may run, or True for all; a .jax file, which is a
            program itself, needs True.
    """
    if not isinstance(source, str | os.PathLike):
        return _of_run(source, task, trust, checkpoint, encoder)
    of_zoo = os.fspath(source).startswith(zoo.PREFIX)
    path = zoo.file_of(os.fspath(source)) if of_zoo else Path(source)
    if path.is_dir() or (path.suffix not in READERS and not path.exists()):
        return _of_run(source, task, trust, checkpoint, encoder)
    if path.suffix not in READERS:
        raise unknown("kind of policy file", path.suffix or path.name, READERS)
    if not path.is_file():
        raise UserError(f"there is no file {path}; `cup export RUN --out {path}` would write it.")
    if checkpoint is not None:
        raise UserError(f"{source} holds one policy alone; the checkpoint {checkpoint!r} goes with a run: leave it away.")
    if path.suffix == ".jax" and trust is not True:
        raise NotTrusted(f"{path} is a compiled program; if you trust who made it, add --trust (in Python trust=True).")
    with named_by(path, trust):
        policy = READERS[path.suffix](path, encoder)
    policy.task, policy.trust = task, trust
    if of_zoo:
        policy.source = Path(source)
    return policy


def loaded(source: str | Path | Run | SavedPolicy, checkpoint: str | int | None = None, trust: Trust = False) -> SavedPolicy:
    """Give a policy that is loaded as it is, and load any other."""
    if not isinstance(source, SavedPolicy):
        return load(source, checkpoint=checkpoint, trust=trust)
    if checkpoint is not None:
        raise UserError(f"the policy is loaded already; give checkpoint={checkpoint!r} to cuprl.load, or give its run here.")
    return source


def _of_run(
    run: str | Path | Run, task: Task | None, trust: Trust, checkpoint: str | int | None, encoder: Encoder | None
) -> SavedPolicy:
    from cuprl.policies.of_run import read_run
    from cuprl.runs.folder import Run

    run = Run(run) if isinstance(run, str | os.PathLike) else run
    if not isinstance(run, Run):
        raise UserError(f"{run!r} is no policy; give a run or its folder, a policy's file, or what cuprl.load gave.")
    return read_run(run, task, trust, checkpoint, encoder)
