"""A policy that sees only pixels, by an encoder of one's own (pixel_encoder.py), and must stay out of the water.

A ball rolls over a meadow of 12 x 12 pixels, from the left to a flag on the right. A pond lies between them; each step in
it costs 1. Actions are speeds within -1 and 1, which a squashed policy never leaves. Without the limit the ball rolls
through the water.

python examples/pixels_with_a_cnn.py
"""

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from pixel_encoder import CNN, SHAPE

import cuprl

SIZE, POND = SHAPE[0], 4


class Meadow(gymnasium.Env):
    observation_space = Box(0, 255, SHAPE, np.uint8)
    action_space = Box(-1.0, 1.0, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        rows = self.np_random.uniform(0.0, SIZE - 1.0, 2)
        self.ball, self.flag = np.array([rows[0], 0.0]), np.array([rows[1], SIZE - 1.0])
        self.pond = self.np_random.integers((0, 3), (SIZE - POND + 1, 6))  # its corner
        return self.look(), {}

    def look(self):
        """The ball, the flag and the pond, in red, green and blue; a ball between two pixels lights both."""
        image = np.zeros(SHAPE)
        for channel, place in enumerate((self.ball, self.flag)):
            near = np.maximum(1.0 - np.abs(np.arange(SIZE) - place[:, None]), 0.0)  # [2, SIZE]
            image[:, :, channel] = np.outer(*near)
        (row, column) = self.pond
        image[row : row + POND, column : column + POND, 2] = 1.0
        return np.asarray(255 * image, np.uint8)

    def step(self, action):
        before = np.linalg.norm(self.flag - self.ball)
        self.ball = np.clip(self.ball + action, 0.0, SIZE - 1.0)
        closer = before - np.linalg.norm(self.flag - self.ball)
        wet = np.all((self.pond <= self.ball + 0.5) & (self.ball + 0.5 < self.pond + POND))
        return self.look(), float(closer), False, False, {"cost": float(wet)}


TASK = cuprl.from_gymnasium(Meadow, limits=0.2, discount=1.0, horizon=25, num_envs=20)


def main(steps: int = 100_000, out: str | None = None, seed: int = 0, **settings) -> dict:
    network = {"encoder": CNN, "policy": "squashed", "activation": "relu", "normalise": False}  # the encoder scales pixels
    run = cuprl.train(TASK, steps=steps, seed=seed, out=out, **network, **settings)
    policy = cuprl.load(run, TASK)  # the encoder is found again: pixel_encoder:CNN
    for actions, mode in (("sampled, as in training", False), ("the mode", True)):
        result = cuprl.evaluate(policy, episodes=500, deterministic=mode)
        shown = f"return {result['return_mean']:.2f}, steps in water {result['cost_mean']:.2f} / {result['cost_limit']:g}"
        print(f"{actions}: {shown}")
    print(f"a file that acts with NumPy and pixel_encoder.py: {cuprl.export_policy(run, evaluation=result)}")
    return result


if __name__ == "__main__":
    # An episode has 25 steps, not a robot's 1000: a discount as short, smaller batches, larger steps. A step in the water
    # costs no more than a step towards the flag brings, and the limit is far below the way through: nu must be able to rise.
    main(gamma=0.9, multiplier_max=10.0, batch_size=2000, hidden=(64,), policy_lr=1e-3, critic_lr=1e-3, critic_epochs=5)
