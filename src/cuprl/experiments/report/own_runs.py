"""Groups of runs that no experiment has planned: those that differ in their seed alone are one, what differs names it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuprl.algorithms import as_now
from cuprl.core.spec_json import spec_from_json
from cuprl.envs import TASKS
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import variant_of
from cuprl.experiments.report.groups import Group
from cuprl.experiments.store.of_run import all_metrics
from cuprl.experiments.store.results import Result
from cuprl.runs.config import identity_of
from cuprl.runs.folder import Run
from cuprl.runs.history import told
from cuprl.runs.provenance import plain, refuse_altered

MOST = 3  # differences that are all named; of more only as many as tell the groups apart

# --- from run folders -------------------------------------------------------------------------------------------------


def of_runs(paths: Sequence[str | Path], whole: bool = True) -> tuple[list[Group], list[str]]:
    """Put run folders together, importing nothing that they name, and say which were left out and why.

    One that is damaged or changed is left out. whole: one that is unfinished too; else each is taken as far as it is, and a
    group as far as the shortest of its runs.
    """
    folders = [Path(path).resolve() for path in paths]
    for path, folder in zip(paths, folders):
        if folders.count(folder) > 1:
            raise UserError(f"{path} is given {folders.count(folder)} times; give it once.")
    results, left = [], []
    for run in map(Run, paths):
        try:
            results.append(result_of(run, whole))
        except UserError as error:
            left.append(str(error))
    if not results:
        raise UserError(left[0] if left else "there is no run; give at least one folder that `cup train` made.")
    return together(results), left


def result_of(run: Run, whole: bool) -> Result:
    """Read a run folder as a result, with its spec: how its costs are discounted."""
    refuse_altered(run.path, run.config)
    config = as_now(run.config)
    kept = identity_of(config) | {key: config[key] for key in ("spec",) if key in config}
    metrics = all_metrics(run) if whole else run.measured()
    return Result(kept, metrics, config["versions"], config.get("machine"), config.get("git"))


# --- groups -----------------------------------------------------------------------------------------------------------


def together(results: Sequence[Result]) -> list[Group]:
    """Put results that differ in their seed alone into groups, each named by what sets it apart from its algorithm's."""
    families: dict[tuple[str, str], list[list[Result]]] = {}
    for seeds in alike(results):
        refuse_twice(seeds)
        families.setdefault((seeds[0].config["task"], seeds[0].config["algo"]), []).append(seeds)
    tasks = list(dict.fromkeys(task for task, _ in families))
    groups = []
    for (task, algo), members in sorted(families.items(), key=lambda family: tasks.index(family[0][0])):
        for variant, seeds in named(members):
            config = seeds[0].config
            groups.append(Group(task, algo, variant, config["steps"], config["limits"], cut(seeds), discounts_of(config)))
    return groups


def alike(results: Sequence[Result]) -> list[list[Result]]:
    """Put together what differs in its seed alone, and where each began from a run of its own seed, in that run too."""
    exact: dict[str, list[Result]] = {}
    for result in results:
        exact.setdefault(written(identity_of(result.config)), []).append(result)
    pooled: dict[str, list[list[Result]]] = {}
    for key, seeds in exact.items():
        start = seeds[0].config.get("start")
        if start and len(seeds) == 1 and start["seed"] == seeds[0].config["seed"]:
            begun = {name: start[name] for name in ("task", "algo", "critics")}
            key = written({**identity_of(seeds[0].config), "start": begun})
        pooled.setdefault(key, []).append(seeds)
    groups: list[list[Result]] = []
    for parts in pooled.values():
        pool = [result for seeds in parts for result in seeds]
        # Where some of one seed began from several runs, nothing says which belong together.
        groups += [pool] if len({result.config["seed"] for result in pool}) == len(pool) else parts
    return groups


def written(identity: dict[str, Any]) -> str:
    """Write an identity without its seed, equal ones alike."""
    return json.dumps(plain({**identity, "seed": None}), sort_keys=True)


def refuse_twice(seeds: list[Result]) -> None:
    """Refuse a seed that is there twice: one run must not pass for two."""
    numbers = [result.config["seed"] for result in seeds]
    for result, seed in zip(seeds, numbers):
        if numbers.count(seed) > 1:
            raise UserError(f"{result.name} is there {numbers.count(seed)} times, with the same settings; give it once.")


def cut(seeds: list[Result]) -> list[Result]:
    """Sort results by seed, and cut their metrics to the length of the shortest."""
    least = min(len(result.metrics["steps"]) for result in seeds)
    metrics = [{name: values[:least] for name, values in result.metrics.items()} for result in seeds]
    return sorted((replace(one, metrics=m) for one, m in zip(seeds, metrics)), key=lambda one: one.config["seed"])


def discounts_of(config: dict[str, Any]) -> dict[str, float]:
    """Tell how each cost is discounted: by the run's spec, else by the task of that name, else nothing is known."""
    if "spec" in config:
        return {c.name: c.discount for c in spec_from_json(config["spec"]).constraints}
    return {c.name: c.discount for c in TASKS[config["task"]].constraints} if config["task"] in TASKS else {}


# --- names ------------------------------------------------------------------------------------------------------------


def named(members: list[list[Result]]) -> list[tuple[str, list[Result]]]:
    """Name each group of one task and algorithm, alpha=0.1+limit=15, in the order of its values."""
    facts = [facts_of(seeds) for seeds in members]
    names = [name for name in dict.fromkeys(n for fact in facts for n in fact) if len({f.get(name) for f in facts}) > 1]
    shown = names if len(names) <= MOST else fewest(names, facts)
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    points = [[(name, fact.get(name, "unset")) for name in shown] for fact in facts]
    order = sorted(range(len(members)), key=lambda i: [in_order(value) for _, value in points[i]])
    return [(variant_of(points[i]) + more, members[i]) for i in order]


def facts_of(seeds: list[Result]) -> dict[str, str]:
    """List all in which groups of one task and algorithm may differ, as words."""
    config = seeds[0].config
    history, limits = told(config), config["limits"]
    if any(result.config.get("start") != config.get("start") for result in seeds):
        critics = " with critics" if config["start"]["critics"] else ""
        history["start"] = f"{config['start']['algo']} of the same seed{critics}"
    bounds = {"limit" if len(limits) == 1 else f"limit_{name}": limit for name, limit in limits.items()}
    values = plain({**config["settings"], **bounds, **{name: config[name] for name in ("steps", "numerics")}, **history})
    return {name: ",".join(map(str, v)) if isinstance(v, list) else str(v) for name, v in values.items()}


def fewest(names: list[str], facts: list[dict[str, str]]) -> list[str]:
    """Choose few names that tell the groups apart: each time the one that tells the most apart."""
    chosen: list[str] = []
    while apart(chosen, facts) < apart(names, facts):
        chosen.append(max(names, key=lambda name: apart([*chosen, name], facts)))
    return [name for name in names if name in chosen]


def apart(names: list[str], facts: list[dict[str, str]]) -> int:
    """Count the groups that these names tell apart."""
    return len({tuple(fact.get(name) for name in names) for fact in facts})


def in_order(value: str) -> tuple[bool, float, str]:
    """Sort numbers by their size, and after them words."""
    try:
        return False, float(value), ""
    except ValueError:
        return True, 0.0, value
