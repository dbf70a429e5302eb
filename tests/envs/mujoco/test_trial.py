"""A MuJoCo task of one's own: what is wrong with one of its parts is told in a sentence, before anything is learnt."""

from dataclasses import replace

import numpy as np
import pytest

import cuprl
from cuprl.envs import TASKS, make
from cuprl.envs.mujoco import env
from cuprl.envs.mujoco.physics import Physics
from cuprl.errors import UserError
from cuprl.policies.export import export_policy
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training
from small import QUIET, SMALL, same_arrays

CART = """
<mujoco>
  <worldbody>
    <body>
      <joint name="slide" type="slide" axis="1 0 0" damping="0.5"/>
      <geom type="box" size="0.2 0.1 0.05" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor joint="slide" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
FREE = CART.replace('ctrllimited="true" ctrlrange="-1 1"', "")


def reset(qpos, qvel, rng):
    return qpos + rng.uniform(-0.05, 0.05, 1), qvel


def cart(**changes):
    parts = {
        "name": "cart",
        "model": CART,
        "frame_skip": 2,
        "horizon": 50,
        "constraints": (cuprl.Constraint("force", 4.0), cuprl.Constraint("speed", 8.0)),
        "observe": lambda physics: physics.qpos_qvel,
        "position": lambda physics: physics.qpos,
        "reward": lambda physics, motion: motion.velocity[:, 0],
        "costs": lambda physics, motion: np.abs(np.column_stack((motion.action[:, 0], motion.velocity[:, 0]))),
        "terminated": lambda physics: np.abs(physics.qpos[:, 0]) > 5.0,
        "reset": reset,
    }
    return cuprl.MujocoTask(**{**parts, **changes})


ONE = (cuprl.Constraint("speed", 8.0),)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"costs": lambda p, m: m.velocity}, r"costs of cart gave .*\[5, 1\] for 5 environments; .*\[5, 2\]"),
        ({"costs": lambda p, m: 1.0}, r"costs of cart gave float .*let it give an array, \[5, 2\]"),
        ({"costs": lambda p, m: m.velocity[:, 0]}, r"costs of cart gave .*\[5\]"),
        ({"costs": lambda p, m: m.velocity[:, 0], "constraints": ONE}, r"costs of cart gave .*\[5\].*\[5, 1\]"),
        ({"costs": lambda p, m: 1 / 0}, r"costs of cart raised ZeroDivisionError.*test_trial.py, line \d+"),
        ({"costs": lambda p: 0}, r"costs of cart raised TypeError.*; it is called with \(physics, motion\)\.$"),
        ({"reward": lambda p, m: m.velocity}, r"reward of cart gave .*\[5, 1\].*\[5\]"),
        ({"terminated": lambda p: False}, "terminated of cart gave bool .*an array of bools"),
        ({"terminated": lambda p: np.zeros(len(p.qpos))}, "terminated of cart gave an array of float64"),
        ({"observe": lambda p: p.qpos[:, 0]}, r"observe of cart gave .*\[5\].*\[5, obs\]"),
        ({"observe": lambda p: p.xpos[:, 0]}, "observe of cart raised AttributeError.*xpos"),
        ({"observe": lambda p: [[0], [0, 1]]}, "observe of cart raised ValueError"),
        ({"position": lambda p: p.qpos[:, 0]}, r"position of cart gave .*\[5\].*\[5, k\]"),
        ({"reset": lambda q, v, rng: q}, r"reset of cart gave ndarray; let it give \(qpos, qvel\)"),
        ({"reset": lambda q, v, rng: (q, np.zeros(3))}, r"reset of cart gave .*\[3\]; let it give an array, \[1\]"),
        ({"fields": ("xpso",)}, r"fields of cart is \('xpso',\).*name fields of MjData"),
        ({"model": "nowhere.xml"}, "the model of cart, nowhere.xml, cannot be loaded .*nowhere.xml"),
        ({"model": "<mujoco><bad/></mujoco>"}, "the model of cart, given as text, cannot be loaded .*bad"),
        ({"frame_skip": 0}, "frame_skip of cart is 0; give a whole number"),
        ({"horizon": 0}, "horizon of cart is 0; give a whole number"),
        ({"horizon": "5"}, "horizon of cart is '5'"),
    ],
)
def test_each_fault_has_its_sentence(changes, words):
    with pytest.raises(UserError, match=words) as told:
        make(cart(**changes), 2)
    assert "\n" not in str(told.value)


def test_a_model_may_be_a_path(tmp_path):
    (tmp_path / "cart.xml").write_text(CART)
    assert make(cart(model=tmp_path / "cart.xml")).spec == make(cart()).spec


@pytest.mark.parametrize("task", [cart(), TASKS["humanoid-speed"]], ids=["cart", "humanoid"])
def test_the_trial_leaves_no_trace(task, monkeypatch):
    tried = make(task, 2, seed=3)
    monkeypatch.setattr(env, "try_functions", lambda task, model: Physics(model, task.frame_skip, task.fields, 1, 1))
    untried = make(task, 2, seed=3)
    same_arrays(tried.get_state(), untried.get_state())
    action = np.full((2, tried.spec.action.dim), 0.3)
    for _ in range(5):
        for a, b in zip(tried.step(action), untried.step(action)):
            np.testing.assert_array_equal(a, b)


def into_one_buffer(function):
    """The function, always answering in the same memory."""
    buffers = {}

    def answer(*arguments):
        new = function(*arguments)
        buffer = buffers.setdefault(new.shape, np.empty_like(new))
        buffer[:] = new
        return buffer

    return answer


def test_functions_may_answer_in_the_same_memory_each_time():
    """A live view of the physics, or a buffer of their own: what was learnt from before does not change."""
    hopper = TASKS["hopper-speed"]
    functions = {name: getattr(hopper, name) for name in ("observe", "position", "terminated", "reward", "costs")}
    fresh = {name: lambda *arguments, f=f: f(*arguments).copy() for name, f in functions.items()}
    reused = {name: into_one_buffer(f) for name, f in functions.items()}
    rollouts = []
    for changes in (fresh, reused):
        task = replace(hopper, **changes)
        training = Training(RunConfig(task.name, "ppo", steps=400, settings=SMALL), task)
        training.iterate()
        rollouts.append(training.collector.buffers.rollout)
    assert rollouts[0].terminated.any()
    same_arrays(vars(rollouts[0]), vars(rollouts[1]))


def test_actuators_without_a_range_take_any_number(tmp_path):
    assert make(cart()).spec.action == cuprl.Box(1, (-1.0,), (1.0,))
    task = cart(model=FREE)
    assert make(task).spec.action == cuprl.Box(1, (-np.inf,), (np.inf,))
    run = cuprl.train(task, "ppo", steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    original = cuprl.load(run, task)
    exported = cuprl.load(export_policy(original, out=tmp_path / "p.npz"))
    obs = np.array([[0.3, -2.0]])
    np.testing.assert_allclose(exported.predict(obs), original.predict(obs), rtol=1e-6)
    for policy in (original, exported):
        assert policy.clip(np.array([[7.0], [-9.0]])).tolist() == [[7.0], [-9.0]]
    assert cuprl.evaluate(original, episodes=2)["length_mean"] == 50
