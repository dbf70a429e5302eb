"""What each algorithm reaches on small problems whose optimum is known exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cuprl.core.orphans import end_with_parent
from cuprl.errors import RunStopped, UserError
from cuprl.experiments.report.exact_promises import Promises, judge
from cuprl.theory import CMDP, GENERATORS, evaluate, front_limits, pareto_front, solve

if TYPE_CHECKING:
    from cuprl.training.learner import Learner

STEPS = 500_000


@dataclass(frozen=True)
class Reached:
    """One training run beside the optimum; all values exact, of the policy it ended with."""

    problem: str
    algo: str
    seed: int
    value: float  # J(pi)
    costs: tuple[float, ...]  # J^c(pi) [m]
    best: float  # the constrained optimum
    limits: tuple[float, ...]
    promises: Promises | None  # how true what it predicted of its costs was

    @property
    def share(self) -> float:
        """Give the achieved over the optimal return."""
        return self.value / self.best

    @property
    def excess(self) -> float:
        """Give the worst constraint's J^c / b - 1: above 0 the limit is broken."""
        return max(cost / limit - 1.0 for cost, limit in zip(self.costs, self.limits))


def train_once(problem: str, algo: str, seed: int, steps: int) -> Reached:
    """Train on one problem and evaluate the policies on its way exactly."""
    from cuprl.envs.tabular import tabular_task
    from cuprl.runs.config import RunConfig
    from cuprl.training.training import Training

    task = tabular_task(problem)
    training = Training(RunConfig(task.name, algo, seed, steps), task)
    rows, exact = [], [evaluate(task.cmdp, policy_table(training.learner, task.cmdp))]
    while not training.done:
        rows.append(training.iterate())
        exact.append(evaluate(task.cmdp, policy_table(training.learner, task.cmdp)))
    value, costs = exact[-1]
    limits = {c.name: c.limit for c in task.constraints}
    promises = judge(rows, np.array([paid for _, paid in exact]), limits)
    best = solve(task.cmdp).value
    return Reached(problem, algo, seed, value, tuple(map(float, costs)), best, tuple(limits.values()), promises)


def policy_table(learner: Learner, cmdp: CMDP) -> np.ndarray:
    """Tabulate pi(a|s) [S, A] of a policy over one-hot states."""
    obs = learner.normaliser.apply(np.eye(cmdp.n_states))
    probability = np.exp(np.asarray(learner.policy.dist(learner.state.policy, obs).log_p, np.float64))
    return probability / probability.sum(axis=1, keepdims=True)


def run_all(
    problems: Iterable[str],
    algos: Iterable[str],
    seeds: Iterable[int],
    steps: int = STEPS,
    workers: int = 1,
    tell: Callable[[int, int, Reached], None] = lambda done, total, reached: None,
) -> list[Reached]:
    """Run every problem x algorithm x seed, over worker processes; in the order given, whatever order they end in.

    One that fails is told at once, and none is begun any more.
    """
    grid = [(p, a, s) for p in problems for a in algos for s in seeds]
    results: dict[tuple[str, str, int], Reached] = {}
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_parent)
    try:
        runs = {pool.submit(train_once, *cell, steps): cell for cell in grid}
        for future in as_completed(runs):
            problem, algo, seed = cell = runs[future]
            try:
                results[cell] = future.result()
            except (UserError, RunStopped) as error:
                said = f"{problem} {algo} seed {seed}: {str(error).removesuffix('.')}"
                raise type(error)(f"{said}; the others are given up.") from error
            tell(len(results), len(grid), results[cell])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [results[cell] for cell in grid]


def plot_planes(results: list[Reached], out: str | Path) -> Path:
    """Draw the return-cost plane of each problem: the exact front, the limit, and each algorithm's points."""
    from cuprl.experiments.report.drawing import pyplot, save_figure
    from cuprl.experiments.report.panels import palette

    problems = list(dict.fromkeys(r.problem for r in results))
    algos = list(dict.fromkeys(r.algo for r in results))
    colours = palette(algos)
    columns = min(3, len(problems))
    rows = -(-len(problems) // columns)
    figure, axes = pyplot().subplots(rows, columns, figsize=(4 * columns, 3.4 * rows), layout="constrained", squeeze=False)
    for axis, problem in zip(axes.flat, problems):
        cmdp = GENERATORS[problem]()
        # The front over the points' neighbourhood: the optimum for each limit of the first cost.
        highest = max(r.costs[0] for r in results if r.problem == problem)
        limits = np.unique(np.append(front_limits(cmdp, 25), [cmdp.limits[0], highest]))
        front = [best for _, best in pareto_front(cmdp, limits.tolist()) if best is not None]
        line = np.array([(best.costs[0], best.value) for best in front])
        axis.plot(*line.T, color="0.5", label="exact front")
        axis.axvline(cmdp.limits[0], color="black", linestyle="--", linewidth=1, label="limit")
        for i, algo in enumerate(algos):
            points = [r for r in results if (r.problem, r.algo) == (problem, algo)]
            marker = "os^DvP*X"[i % 8]
            axis.plot(
                [r.costs[0] for r in points],
                [r.value for r in points],
                marker,
                color=colours[algo],
                label=algo,
                markersize=5,
                alpha=0.8,
            )
        reached = np.array([(r.costs[0], r.value) for r in results if r.problem == problem])
        axis.set(**near(reached, line, cmdp.limits[0]))
        axis.set_title(problem, fontsize=10)
        axis.set_xlabel(f"{cmdp.cost_names[0]} (discounted cost)")
        axis.set_ylabel("return")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in list(axes.flat)[len(problems) :]:
        axis.axis("off")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    spare = list(axes.flat)[len(problems) :]
    (spare[0].legend if spare else figure.legend)(handles, labels, loc="center", frameon=False)
    save_figure(figure, Path(out))
    return Path(out)


def near(reached: np.ndarray, line: np.ndarray, limit: float) -> dict[str, tuple[float, float]]:
    """Choose the part of a plane about its limit, with all points [n, 2] that were reached and the front [k, 2] there."""
    low, high = (end(*reached[:, 0], share * limit) for end, share in ((min, 0.5), (max, 1.5)))
    seen = [*reached[:, 1], *np.interp((low, high), *line.T), *line[(line[:, 0] >= low) & (line[:, 0] <= high), 1]]
    margin = 0.05 * ((max(seen) - min(seen)) or 1.0)
    return {"xlim": (low, high), "ylim": (min(seen) - margin, max(seen) + margin)}
