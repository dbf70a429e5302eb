"""Microseconds an action takes in each exported format, on this machine, measured side by side."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.errors import UserError
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.export import SUFFIXES, export_policy
from cuprl.policies.load import load

CALLS = 100  # in a row, before the next format has its turn


def latency(policy: SavedPolicy, rounds: int = 50) -> list[dict[str, Any]]:
    """Measure a row a format: the time of `predict` for one observation (median and 99th percentile, interleaved rounds),
    the file's size, and the largest difference from the run's own policy on 1000 observations."""
    if rounds < 1:
        raise UserError(f"rounds is {rounds}; it must be at least 1.")
    spread = np.random.default_rng(0).normal(scale=2.0, size=(1000, policy.info["spec"]["obs_dim"]))
    obs = policy.arrays["mean"] + spread / policy.arrays["scale"]
    exact = policy.outputs(obs)
    rows: list[dict[str, Any]] = []
    loaded: list[SavedPolicy] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, suffix in SUFFIXES.items():
            try:
                file = export_policy(policy, name, Path(folder, "policy" + suffix))
                loaded.append(load(file, trust=True))
            except UserError as error:  # a package is missing
                rows.append({"format": name, "missing": str(error)})
                continue
            difference = float(np.abs(loaded[-1].outputs(obs) - exact).max())
            rows.append({"format": name, "bytes": file.stat().st_size, "difference": difference})
        seconds: list[list[float]] = [[] for _ in loaded]
        for k in range(rounds + 1):
            for which, taken in zip(loaded, seconds):
                times = [time_of(which, one) for one in obs[:CALLS]]
                taken += times if k else []  # the first round warms up
    for row, taken in zip([row for row in rows if "missing" not in row], seconds):
        row |= {"median_us": 1e6 * float(np.median(taken)), "p99_us": 1e6 * float(np.quantile(taken, 0.99))}
    return rows


def time_of(policy: SavedPolicy, obs: np.ndarray) -> float:
    """Measure the seconds of one `predict`."""
    clock = time.perf_counter()
    policy.predict(obs)
    return time.perf_counter() - clock
