"""TensorBoard events of a run, if asked for."""

from __future__ import annotations

from pathlib import Path

from cuprl.errors import UserError


def require() -> None:
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        raise UserError("TensorBoard events need tensorboardX: pip install 'cuprl[tensorboard]'.") from None


class Events:
    """Writes each row of metrics under its own names, by environment steps."""

    def __init__(self, path: Path):
        require()
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(path))

    def write(self, row: dict[str, float]) -> None:
        for name, value in row.items():
            if "/" in name:
                self._writer.add_scalar(name, value, int(row["steps"]))
        self._writer.flush()
