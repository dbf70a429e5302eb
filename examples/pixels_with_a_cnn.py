"""A policy that sees only pixels, by an encoder of one's own (pixel_encoder.py), and must stay out of the water.

A ball rolls over a meadow of 12 x 12 pixels to the flag in its middle. A pond lies anywhere; each step in it costs 1.
Actions are speeds within -1 and 1, which a squashed policy never leaves.

python examples/pixels_with_a_cnn.py
"""

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from pixel_encoder import CNN, SHAPE

import cuprl

SIZE = SHAPE[0]


class Meadow(gymnasium.Env):
    observation_space = Box(0, 255, SHAPE, np.uint8)
    action_space = Box(-1.0, 1.0, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ball, self.flag = self.np_random.uniform(0.0, SIZE - 1.0, 2), np.full(2, SIZE / 2)
        self.pond = self.np_random.integers(1, SIZE - 4, 2)  # the corner of 3 x 3 pixels
        return self.look(), {}

    def look(self):
        """The ball, the flag and the pond, in red, green and blue; a ball between two pixels lights both."""
        image = np.zeros(SHAPE)
        for channel, place in enumerate((self.ball, self.flag)):
            near = np.maximum(1.0 - np.abs(np.arange(SIZE) - place[:, None]), 0.0)  # [2, SIZE]
            image[:, :, channel] = np.outer(*near)
        (row, column) = self.pond
        image[row : row + 3, column : column + 3, 2] = 1.0
        return np.asarray(255 * image, np.uint8)

    def step(self, action):
        before = np.linalg.norm(self.flag - self.ball)
        self.ball = np.clip(self.ball + action, 0.0, SIZE - 1.0)
        closer = before - np.linalg.norm(self.flag - self.ball)
        wet = float(np.all((self.pond <= self.ball + 0.5) & (self.ball + 0.5 < self.pond + 3)))
        return self.look(), float(closer), False, False, {"cost": wet}


TASK = cuprl.from_gymnasium(Meadow, limits=0.2, discount=1.0, horizon=25, num_envs=10)


def main(steps: int = 100_000, out: str | None = None, **settings) -> dict:
    run = cuprl.train(TASK, steps=steps, out=out, encoder=CNN, policy="squashed", activation="relu", **settings)
    result = cuprl.evaluate(cuprl.load(run, TASK), episodes=50)  # the encoder is found again: pixel_encoder:CNN
    print(f"return {result['return_mean']:.2f}, steps in water {result['cost_mean']:.2f} / {result['cost_limit']:g}")
    print(f"a file that acts with NumPy and pixel_encoder.py: {cuprl.export_policy(run, evaluation=result)}")
    return result


if __name__ == "__main__":
    main(batch_size=1000, hidden=(64,), policy_lr=1e-3, critic_lr=1e-3, critic_epochs=5, delta=0.03)
