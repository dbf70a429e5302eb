"""Environments shared among worker processes: for environments that are slow to step."""

from __future__ import annotations

import math
import multiprocessing
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.resource_tracker import ensure_running
from multiprocessing.util import Finalize
from typing import Any

import numpy as np
from gymnasium.vector.utils import CloudpickleWrapper

from cuprl.core.orphans import end_with_parent
from cuprl.core.printing import readers_may_leave
from cuprl.core.spec import Constraint
from cuprl.core.task import Step, refuse_misfit
from cuprl.envs.gymnasium.parts import GymnasiumParts
from cuprl.envs.gymnasium.vector import GymnasiumVectorEnv
from cuprl.envs.gymnasium.watch import Watch
from cuprl.errors import RunStopped, UserError

PATIENCE = 5.0  # seconds that the workers have to close their environments


class WorkerVectorEnv:
    """The environments of a GymnasiumVectorEnv, some in each process; the results are the same to the last bit."""

    def __init__(self, task: GymnasiumParts, num_envs: int, constraints: tuple[Constraint, ...], workers: int):
        check_portable(task)
        self.task, self.num_envs = task, num_envs
        self.cuts = [num_envs * w // workers for w in range(workers + 1)]  # worker w has rows cuts[w] to cuts[w + 1]
        context = multiprocessing.get_context("spawn")  # a fork would copy the threads of JAX in the midst of their work
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        self.late: set[int] = set()  # the workers that were ended for a call that did not return
        calls = [context.RawArray("q", 2) for _ in range(workers)]
        self.watch = Watch(calls, task.env_timeout or math.inf, partial(give_up, self.processes, self.late))
        # At the exit too, and there before multiprocessing waits for its processes: a worker ends with its pipe.
        self._end = Finalize(self, end, (self.watch, self.pipes, self.processes), exitpriority=0)
        build: Any = CloudpickleWrapper(partial(GymnasiumVectorEnv, task, constraints=constraints))
        for first, last, counts in zip(self.cuts, self.cuts[1:], calls):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, build, last - first, counts), daemon=True)
            with no_interrupt():
                process.start()
            theirs.close()
            self.pipes.append(ours)
            self.processes.append(process)
        try:
            self.spec = self._answers()[0]
        except (UserError, RunStopped):
            self.close()
            raise

    def close(self) -> None:
        """Let each worker close its environments and end; nothing happens the second time."""
        self._end()

    def hurry(self) -> None:
        """Wait no longer for a call that hangs: the run is to stop."""
        self.watch.hurry()

    def _answers(self) -> list[Any]:
        """One from each worker; the first error becomes ours, once all have answered."""
        answers = [self._reach(w, pipe.recv) for w, pipe in enumerate(self.pipes)]
        for error, _ in answers:
            if error is not None:
                raise error
        return [result for _, result in answers]

    def _reach(self, w: int, talk: Callable[..., Any], *arguments: Any) -> Any:
        """Send to a worker or receive from it; one that is gone stops the run, whichever way its pipe tells."""
        try:
            return talk(*arguments)
        except (EOFError, ConnectionError):
            if w in self.late:
                raise RunStopped(self.watch.sentence(self.task.name)) from None
            raise RunStopped(f"worker process {w + 1} of {len(self.pipes)} {how_it_ended(self.processes[w])}") from None

    def _ask(self, method: str, *arguments: list[Any]) -> list[Any]:
        """Each argument is a list: an entry for each worker."""
        for w, pipe in enumerate(self.pipes):
            if pipe.closed:
                raise UserError("the environments are closed; make them anew.")
            self._reach(w, pipe.send, (method, [argument[w] for argument in arguments]))
        return self._answers()

    def _rows(self, array: np.ndarray) -> list[np.ndarray]:
        return np.split(array, self.cuts[1:-1])

    def reset(self, seed: int) -> np.ndarray:
        return np.concatenate(self._ask("reset", [seed + first for first in self.cuts[:-1]]))

    def step(self, action: np.ndarray) -> Step:
        return Step(*map(np.concatenate, zip(*self._ask("step", self._rows(action))))).shared()

    def get_state(self) -> dict[str, np.ndarray]:
        states = self._ask("get_state")
        return {name: np.concatenate([state[name] for state in states]) for name in states[0]}

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        refuse_misfit(state, self.get_state(), any_length="actions")
        parts = {name: self._rows(array) for name, array in state.items() if name != "actions"}
        total = [int(steps.sum()) for steps in parts["steps"]]
        parts["actions"] = np.split(state["actions"], np.cumsum(total)[:-1])
        each = [{name: rows[w] for name, rows in parts.items()} for w in range(len(self.pipes))]
        return np.concatenate(self._ask("set_state", each))


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Keep Ctrl-C waiting while inside, and from the processes that begin there until they take it up themselves."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    ensure_running()  # multiprocessing's own process, whose start lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_portable(task: GymnasiumParts) -> None:
    """Refuse a task that cannot be sent to another process."""
    try:
        pickle.dumps(CloudpickleWrapper(task))  # type: ignore[arg-type]
    except Exception as error:
        raise UserError(
            f"{task.name} cannot be sent to worker processes ({type(error).__name__}: {error}); use backend='sync', or let "
            "what makes the environment and its costs hold nothing open."
        ) from None


def how_it_ended(process: Any) -> str:
    """Say how a worker ended, and what to do."""
    process.join(PATIENCE)  # its pipe is closed before it has ended
    code = process.exitcode
    if code is not None and code < 0:
        return f"of the environments was killed ({signal.Signals(-code).name}), perhaps for want of memory"
    return (
        f"of the environments ended with status {code}; see its message above. A script that starts workers runs its own "
        "lines under `if __name__ == '__main__':`"
    )


def give_up(processes: list[Any], late: set[int], w: int) -> None:
    """Kill a worker that hangs, and remember which."""
    late.add(w)
    processes[w].kill()


def end(watch: Watch, pipes: list[Any], processes: list[Any]) -> None:
    """Close the pipes and wait for the workers to end; those that do not are killed."""
    watch.close()
    for pipe in pipes:
        pipe.close()
    give_up_at = time.monotonic() + PATIENCE
    for process in processes:
        process.join(max(give_up_at - time.monotonic(), 0.0))
        if process.is_alive():  # hangs in its environment
            process.kill()
            process.join()


def serve(pipe: Any, build: Any, num_envs: int, calls: Any) -> None:
    """Work: say the spec, then answer (method, arguments) with (error, result) until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which still needs its environments
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # `no_interrupt` held it back
    # SIGTERM, too, reaches all processes of a job. Not SIG_IGN: what an environment starts would inherit that, and its own
    # `terminate` would not end it.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    end_with_parent(PATIENCE)  # where it hangs in its environment: any other sees its pipe close
    with readers_may_leave():
        error, env = attempt(partial(build.fn, num_envs=num_envs, calls=calls))
        try:
            pipe.send((error, None if error else env.spec))
            while True:
                method, arguments = pipe.recv()
                pipe.send(attempt(getattr(env, method), *arguments))
        except (EOFError, ConnectionError):
            return
        finally:
            if env is not None:
                env.close()


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Exception | None, Any]:
    """Call a function; gives (error, None) or (None, result), which a pipe can carry."""
    try:
        return None, function(*arguments)
    except (UserError, RunStopped) as error:
        return error, None
