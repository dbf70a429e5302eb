"""TensorBoard events of a run, if asked for."""

from __future__ import annotations

import secrets

from cuprl.errors import UserError
from cuprl.runs.folder import Run


def require_tensorboard() -> None:
    """Refuse where the package is missing."""
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        raise UserError("TensorBoard events need tensorboardX: pip install 'cuprl[tensorboard]'.") from None


class EventWriter:
    """Writes each row of metrics under its own names, by environment steps, until it is closed."""

    def __init__(self, run: Run):
        require_tensorboard()
        from tensorboardX import SummaryWriter

        # Its name would be the second and the host: one that nobody can guess is in no link that waits for it.
        self._writer = SummaryWriter(str(run.path), filename_suffix=f".{secrets.token_hex(8)}")

    def write(self, row: dict[str, float]) -> None:
        """Write one iteration's row of metrics."""
        for name, value in row.items():
            if "/" in name:
                self._writer.add_scalar(name, value, int(row["steps"]))
        self._writer.flush()

    def close(self) -> None:
        """End the writer's threads and let go of its file."""
        self._writer.close()
