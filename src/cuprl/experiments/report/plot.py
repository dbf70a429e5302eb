"""The picture of run folders: `cup plot`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from cuprl.experiments.report.over_training import curves
from cuprl.experiments.report.own_runs import of_runs


def plot_runs(paths: Sequence[str | Path], out: str | Path | None = None) -> Path:
    """Draw the learning curves of runs, finished or not, in one picture; give its path.

    Seeds of the same settings become a mean and a band. The picture is curve.png in the first run unless `out` names it.
    """
    groups, left = of_runs(paths, whole=False)
    for said in left:
        warnings.warn(f"left out: {said}", stacklevel=2)
    out = Path(out) if out else Path(paths[0]) / "curve.png"
    curves(groups, out)
    return out
