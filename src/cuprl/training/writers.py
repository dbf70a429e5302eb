"""Where a run's rows go beside progress.csv: the same columns, for tools that people look at many runs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Protocol

from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.training.tensorboard import EventWriter, require_tensorboard
from cuprl.training.wandb import WandbWriter, require_wandb


class Writer(Protocol):
    """Takes each row of metrics as it is made, until it is closed."""

    def write(self, row: dict[str, float]) -> None:
        """Write one iteration's row of metrics."""

    def close(self) -> None:
        """Write what is held back, and let go of all that it holds."""


# The field of RunConfig that asks for it: (what refuses where its package is missing, what writes)
WRITERS: dict[str, tuple[Callable[[], object], Callable[[Run], Writer]]] = {
    "tensorboard": (require_tensorboard, EventWriter),
    "wandb": (require_wandb, WandbWriter),
}


def require_writers(config: RunConfig) -> None:
    """Refuse, before anything is made, where a package that is asked for is missing."""
    for name, (require, _) in WRITERS.items():
        if getattr(config, name):
            require()


@contextmanager
def open_writers(config: RunConfig, run: Run) -> Iterator[list[Writer]]:
    """Open those that a run asks for; they are closed when it ends, however it does."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(made(run))) for name, (_, made) in WRITERS.items() if getattr(config, name)]
