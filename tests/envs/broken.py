"""A small environment that is sound, and faults to give it."""

import gymnasium
import numpy as np
from gymnasium import spaces


class Sound(gymnasium.Env):
    """A point on a line; the cost in info["cost"] is 1 right of 0."""

    observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
    action_space: spaces.Space = spaces.Discrete(3, start=-1)
    length = 20  # steps of an episode; 0: it never ends

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.x = 0, float(self.np_random.uniform(-1, 1))
        return self.obs(), {}

    def obs(self):
        return np.array([self.x, self.t / 100], np.float32)

    def reward(self):
        return self.x

    def info(self):
        return {"cost": float(self.x > 0.0)}

    def step(self, action):
        self.t, self.x = self.t + 1, float(np.clip(self.x + 0.1 * action, -9, 9))
        return self.obs(), self.reward(), False, bool(self.length) and self.t >= self.length, self.info()


def sound_but(**changes):
    """The class with some of its attributes changed."""
    return type("SoundBut", (Sound,), changes)
