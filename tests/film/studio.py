"""What the tests of films are made of: policies that nobody trained, and an environment that draws what it knows."""

from typing import Any

import gymnasium
import numpy as np

import cuprl
from cuprl import envs
from cuprl.errors import UserError
from cuprl.film import opengl
from cuprl.policies.of_run import RunPolicy
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run

SMALL: dict[str, Any] = {"width": 160, "height": 120}


def can_draw():
    try:
        return opengl.choose()
    except UserError:
        return False


def untrained(task):
    """The checkpoint and the configuration of a run on a task, with weights drawn by chance."""
    task = envs.find(task)
    spec, rng = envs.make(task).spec, np.random.default_rng(0)
    outputs = getattr(spec.action, "n", None) or spec.action.dim
    checkpoint = {
        "counters": np.array([3]),
        "policy/weight0": rng.normal(0.0, 0.3, (spec.obs_dim, outputs)).astype(np.float32),
        "policy/bias0": np.zeros(outputs, np.float32),
        "policy/log_std": np.full(outputs, -0.5, np.float32),
    }
    settings = {"hidden": (), "normalise": False, "batch_size": 200}
    return checkpoint, RunConfig(task.name, steps=600, settings=settings, numerics=1).on(spec)


def policy_of(task):
    checkpoint, config = untrained(task)
    policy = RunPolicy(checkpoint, config.to_json())
    policy.task = task
    return policy


def run_of(task, folder):
    checkpoint, config = untrained(task)
    run = Run.create(folder, config)
    run.save(3, checkpoint)
    return run


class Lamp(gymnasium.Env):
    """Gets brighter by one in each of its twelve steps, as its pictures show."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.light = 0
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}

    def step(self, action):
        self.light += 1
        info = {"heat": float(np.abs(action[0])), "light": self.light}
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), float(action[0]), self.light == 12, False, info

    def render(self):
        return np.full((50, 70, 3), 100 + 10 * self.light, np.uint8)


def lamp_task(make=Lamp):
    costs = {"heat": "info:heat", "light": "info:light"}
    return cuprl.from_gymnasium(make, costs, {"heat": 2.0, "light": 40.0}, discount={"heat": 0.9, "light": 1.0}, name="lamp")


def filmed(policy, out=None, **options):
    """What was made, and each of its frames."""
    shots = []
    return cuprl.video(policy, out, **SMALL, on_shot=shots.append, **options), shots


def same_numbers(episode, evaluation):
    """To the last bit."""
    cost, plain = (evaluation[name] for name in ("cost_mean", "cost_undiscounted_mean"))
    many = isinstance(cost, dict)
    assert episode["return"] == evaluation["return_mean"] and episode["length"] == evaluation["length_mean"]
    assert list(episode["cost"].values()) == (list(cost.values()) if many else [cost])
    assert list(episode["cost_undiscounted"].values()) == (list(plain.values()) if many else [plain])
