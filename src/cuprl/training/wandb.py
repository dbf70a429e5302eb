"""Weights & Biases of a run, if asked for: online, or offline into the run's folder with WANDB_MODE=offline."""

from __future__ import annotations

import os
import secrets
from typing import Any

from cuprl.core.extras import need
from cuprl.errors import UserError
from cuprl.runs import files
from cuprl.runs.folder import Run

PROJECT = "cuprl"  # where WANDB_PROJECT names no other
LARGEST_ID = 100  # bytes


def require_wandb() -> Any:
    """Import the package and give it, or say how to get it."""
    return need("wandb", "Weights & Biases needs wandb", "wandb")


class WandbWriter:
    """Sends each row of metrics under its own names, over environment steps, until it is closed."""

    def __init__(self, run: Run):
        wandb = require_wandb()
        files.refuse_link(run.path / "wandb")
        config = {name: run.config[name] for name in ("task", "algo", "seed", "steps", "limits", "settings", "versions")}
        try:
            self._run: Any = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT),
                name=f"{run.config['task']} {run.config['algo']} seed {run.config['seed']}",
                id=identifier(run),
                resume="allow",  # a resumed run goes on in the same place
                dir=str(run.path),
                config=config,
                settings=wandb.Settings(console="off"),  # what is printed is ours to draw
            )
        except wandb.errors.Error as error:
            said = str(error).rstrip(".")
            raise UserError(
                f"Weights & Biases did not start ({said}); run `wandb login`, or set WANDB_MODE=offline, and go on with "
                f"`cup resume {run.path}`."
            ) from None
        self._run.define_metric("*", step_metric="steps")

    def write(self, row: dict[str, float]) -> None:
        """Send one iteration's row of metrics."""
        self._run.log(row, step=int(row["iteration"]))

    def close(self) -> None:
        """End it; what is left to send or to write, wandb does before the process ends."""
        self._run.finish()


def identifier(run: Run) -> str:
    """Give the name that Weights & Biases knows the run by: drawn once, kept in its folder."""
    path = run.path / "wandb-id"
    if not os.path.lexists(path):
        files.write_atomically(path, secrets.token_hex(8).encode())
    text = files.read(path, LARGEST_ID).decode(errors="replace").strip()
    if not text.isalnum():
        raise UserError(f"{path} is no name of a run of Weights & Biases; remove it.")
    return text
