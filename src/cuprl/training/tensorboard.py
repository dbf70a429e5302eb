"""TensorBoard events of a run, if asked for."""

from __future__ import annotations

import secrets
from typing import Any

from cuprl.core.extras import need
from cuprl.runs.folder import Run


def require_tensorboard() -> Any:
    """Import the package and give it, or say how to get it."""
    return need("tensorboardX", "TensorBoard events need tensorboardX", "tensorboard")


class EventWriter:
    """Writes each row of metrics under its own names, by environment steps, until it is closed."""

    def __init__(self, run: Run):
        # Its name would be the second and the host: one that nobody can guess is in no link that waits for it.
        self._writer = require_tensorboard().SummaryWriter(str(run.path), filename_suffix=f".{secrets.token_hex(8)}")

    def write(self, row: dict[str, float]) -> None:
        """Write one iteration's row of metrics."""
        for name, value in row.items():
            if "/" in name:
                self._writer.add_scalar(name, value, int(row["steps"]))
        self._writer.flush()

    def close(self) -> None:
        """End the writer's threads and let go of its file."""
        self._writer.close()
