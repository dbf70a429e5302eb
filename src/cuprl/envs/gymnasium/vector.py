"""N copies of anyone's Gymnasium environment, stepped together in this process (workers.py: over several)."""

from __future__ import annotations

import numpy as np

from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.core.task import Step, pack_generators, refuse_misfit, unpack_generators
from cuprl.envs.gymnasium.lane import Lane
from cuprl.envs.gymnasium.parts import GymnasiumParts
from cuprl.envs.gymnasium.watch import HURRY, Calls, Overdue, WatchHere
from cuprl.errors import RunStopped, UserError


class GymnasiumVectorEnv:
    """Environments in this process. Environment i draws the seeds of its episodes from a generator seeded seed + i."""

    def __init__(self, task: GymnasiumParts, num_envs: int, constraints: tuple[Constraint, ...], calls: Calls | None = None):
        """calls: where the calls are counted, if someone else watches them."""
        self.task, self.num_envs = task, num_envs
        self.lanes: list[Lane] = []
        self.calls = calls or [0, 0]
        self.watch = WatchHere(self.calls, task.env_timeout) if task.env_timeout and calls is None else None
        try:
            for _ in range(num_envs):
                self.lanes.append(Lane(task, self.calls))
            first = self.lanes[0]
            self.spec = Spec(task.name, first.size, first.action, constraints, first.horizon)
            first.reset(0)
            first.step(np.zeros(first.action.shape))  # what is wrong with a step is known before anything is learnt
            self.calls[1] = self.calls[0]
        except UserError:
            self.close()
            raise
        except Overdue:
            self.calls[1] = self.calls[0]
            sentence = self._overdue()
            self.close()
            raise sentence from None

    def hurry(self) -> None:
        """Wait no longer for a call that hangs: the run is to stop."""
        if self.watch is None:
            self.watch = WatchHere(self.calls, HURRY)
        self.watch.hurry()

    def close(self) -> None:
        """Close every environment; nothing happens the second time."""
        for lane in self.lanes:
            lane.close()
        self.calls[1] = self.calls[0]
        if self.watch is not None:
            self.watch.close()
            self.watch = None

    def _overdue(self) -> RunStopped:
        assert self.watch is not None
        return RunStopped(self.watch.sentence(self.task.name))

    def _refuse_closed(self) -> None:
        if self.lanes[0].closed:
            raise UserError("the environments are closed; make them anew.")

    def reset(self, seed: int) -> np.ndarray:
        self._refuse_closed()
        try:
            return np.array([lane.reset(seed + i) for i, lane in enumerate(self.lanes)])
        except Overdue:
            raise self._overdue() from None
        finally:
            self.calls[1] = self.calls[0]

    def step(self, action: np.ndarray) -> Step:
        self._refuse_closed()
        try:
            rows = [lane.step(a) for lane, a in zip(self.lanes, action)]
        except UserError as error:  # known only in the middle of a run
            raise RunStopped(str(error).removesuffix(".")) from error
        except Overdue:
            raise self._overdue() from None
        finally:
            self.calls[1] = self.calls[0]
        return Step(*map(np.array, zip(*rows))).shared()

    def get_state(self) -> dict[str, np.ndarray]:
        actions = [action for lane in self.lanes for action in lane.actions]
        kind = np.float32 if isinstance(self.spec.action, Box) else np.int64
        return {
            "seed": np.array([lane.seed for lane in self.lanes]),
            "steps": np.array([len(lane.actions) for lane in self.lanes]),
            "actions": np.array(actions) if actions else np.zeros((0, *self.spec.action.shape), kind),  # [sum steps, ...]
            "obs": np.array([lane.obs for lane in self.lanes]),
            "generators": pack_generators([lane.generator for lane in self.lanes]),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        """Go on from a state. Its episodes are replayed when the next step is taken: a saved policy is looked at without."""
        refuse_misfit(state, self.get_state(), any_length="actions")
        actions = np.split(state["actions"], np.cumsum(state["steps"])[:-1])
        generators = unpack_generators(state["generators"])
        for i, lane in enumerate(self.lanes):
            lane.seed, lane.actions, lane.obs = int(state["seed"][i]), list(actions[i]), state["obs"][i].copy()
            lane.generator, lane.stale = generators[i], True
        return state["obs"].copy()
