"""Which observations can be used: finite ones of a size that squares. NumPy alone, for robots too."""

from __future__ import annotations

import numpy as np

# The normaliser squares observations and keeps what it saw for ever: one broken reading would blind the policy for good.
LARGEST = 1e15


def fault(obs: np.ndarray, name: str = "obs") -> str:
    """Say what makes observations [..., obs] unusable, as 'obs[3] is nan'; '' where nothing does."""
    if np.vdot(obs, obs) <= LARGEST**2:  # also false for NaN; one quick pass where all is well
        return ""
    wrong = ~(np.abs(obs) <= LARGEST)
    entries = np.unique(np.nonzero(wrong)[-1])
    shown = [f"{name}[{k}] is {obs[..., k][wrong[..., k]].flat[0]:g}" for k in entries[:3]]
    return ", ".join(shown) + (f" and {len(entries) - 3} more are wrong" if len(entries) > 3 else "")
