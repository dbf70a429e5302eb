"""What of a run goes on its page: a pure function of the folder as it was read."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from cuprl.algorithms import ALGORITHMS, default_settings, find, full_name, settings_that_differ
from cuprl.experiments.report.formats import Table
from cuprl.pages import parts, warnings
from cuprl.pages.certificate import sentences
from cuprl.pages.evaluation_data import evaluations
from cuprl.pages.parts import Part, panel, series
from cuprl.pages.reading import Seen
from cuprl.runs.history import told
from cuprl.training.display import clock

KL = {"train/approx_kl": "whole update", "train/kl_improvement": "improvement", "train/kl_projection": "projection"}


def run_page(seen: Seen) -> Part:
    """Give all that a run's page shows, as JSON values."""
    config = seen.config
    rows = len(seen.rows.get("steps", ()))
    each = parts.stride(rows)
    thin = [f"the curves show one in {each} iterations of {rows:,}."] if each > 1 else []
    grids = {"training": seen.rows, "evaluations": seen.evaluations}
    return {
        "title": f"{config['task']}, {config['algo']}, seed {config['seed']}",
        "subtitle": seen.path,
        "state": state(seen),
        "cards": list(cards(seen)) if seen.rows else [],
        "warnings": warnings.of_run(seen) + thin,
        "lead": [],
        "legend": [],
        "grids": {name: parts.grid(columns) for name, columns in grids.items() if columns},
        "panels": [*(curves(seen) if seen.rows else ()), *evaluations(seen)],
        "tables": [parts.table(settings(config))],
        "facts": facts(seen),
        "certificate": sentences(seen.certificate) if seen.certificate is not None else [],
    }


# --- in words ---------------------------------------------------------------------------------------------------------


def state(seen: Seen) -> str:
    """Say how far the run is."""
    if not seen.rows:
        return "training: no iteration has ended yet" if seen.training else "no iteration has ended"
    done, steps = int(seen.rows["iteration"][-1]), int(seen.rows["steps"][-1])
    seconds = sum(float(known(seen.rows[part]).sum()) for part in ("time/collect", "time/update"))
    far = f"iteration {done:,} of {seen.planned:,}, {steps:,} steps in {clock(seconds)}"
    if seen.training and done < seen.planned:
        left = (seen.planned - done) * seconds / len(seen.rows["iteration"])
        return f"training: {far}, about {clock(left)} left"
    return f"finished: {far}" if done >= seen.planned else f"stopped: {far}; `cup resume` continues it"


def cards(seen: Seen) -> Iterator[Part]:
    """Give the last row's numbers: each a name, a value, a note, and whether it is within its limit (None: it has none)."""
    value = number(seen.rows["rollout/ep_rew_mean"][-1])
    yield {"name": "return", "value": value, "note": "last 100 episodes", "good": None}
    for name, limit in seen.limits.items():
        cost = seen.cost(name)[-1]
        within = None if np.isnan(cost) else bool(cost <= limit)
        word = {None: "limit", True: "within its limit", False: "over its limit"}[within]
        yield {"name": f"cost: {name}", "value": number(cost), "note": f"{word} {limit:g}", "good": within}
    if (best := seen.best) is not None:
        found = seen.evaluations
        note = f"iteration {int(found['iteration'][best])}, within every limit"
        yield {"name": "best evaluation", "value": number(found["mode/return"][best]), "note": note, "good": True}
    if "time/fps" in seen.rows:
        yield {"name": "steps a second", "value": f"{np.median(seen.rows['time/fps']):,.0f}", "note": "median", "good": None}


def known(values: np.ndarray) -> np.ndarray:
    """Keep the finite values."""
    return values[np.isfinite(values)]


def number(value: float) -> str:
    """Write a number for a card, to four digits or so."""
    return "unknown" if np.isnan(value) else f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


# --- curves -----------------------------------------------------------------------------------------------------------


def curves(seen: Seen) -> Iterator[Part]:
    """Draw return, each cost, what was promised of it, the multipliers, the KL and the entropy: those that the run has."""
    rows = seen.rows
    yield panel("return", "Return", [series("return", "training", rows["rollout/ep_rew_mean"], 0)], note="last 100 episodes")
    for i, (name, limit) in enumerate(seen.limits.items()):
        curve = series(f"cost {name}", "training", seen.cost(name), 1)
        note = f"{seen.how_discounted(name)}, last 100 episodes"
        yield panel(f"cost-{i}", f"Cost: {name}", [curve], {f"limit {limit:g}": limit}, note=note)
    nus = [(name, nu) for name in seen.limits if (nu := seen.metric("train/multiplier", name)) is not None]
    if nus:
        most = max(known(nu).max(initial=0.0) for _, nu in nus)
        near = {f"bound {seen.bound:g}": seen.bound} if most >= 0.5 * seen.bound else {}  # a far one would flatten all
        drawn = [series(f"nu {name}", "training", nu, 2 + i) for i, (name, nu) in enumerate(nus)]
        yield panel("multiplier", "Multiplier" + "s" * (len(nus) > 1), drawn, near, note="nu, the price of the cost")
    for i, (name, limit) in enumerate(seen.limits.items()):
        if (pair := warnings.promises(seen, name)) is not None:
            both = [series(what, "training", y, c) for what, y, c in zip(("predicted", "realised"), pair, (5, 1))]
            yield panel(
                f"promise-{i}",
                f"Predicted and realised cost: {name}",
                both,
                {f"limit {limit:g}": limit},
                note="by the update before, by the batch; outliers are cut off",
                trim=True,
            )
    kls = [series(name, "training", rows[key], i) for i, (key, name) in enumerate(KL.items()) if key in rows]
    if kls:
        yield panel("kl", "KL divergence", kls, note="of an update's policies")
    if "train/entropy" in rows:
        yield panel("entropy", "Entropy", [series("entropy", "training", rows["train/entropy"], 3)], note="of the policy")


# --- tables -----------------------------------------------------------------------------------------------------------


def settings(config: dict[str, Any]) -> Table:
    """List the settings that are not the defaults of the algorithm's Config, what they would be, and who changed them."""
    algo, default = full_name(config["algo"]), default_settings(config["algo"])
    preset = ALGORITHMS[algo].preset if algo in ALGORITHMS else {}
    fields = dataclasses.fields(find(algo)[0].Config) if algo in ALGORITHMS else ()  # of a stranger's, nothing is imported
    help = {field.name: field.metadata.get("help", "") for field in fields}
    rows = [
        [
            name,
            parts.plain(value),
            parts.plain(default[name]) if name in default else "-",
            f"the preset {algo}" if name in preset and preset[name] == value else "this run",
            help.get(name, ""),
        ]
        for name, value in settings_that_differ(config["algo"], config["settings"]).items()
    ]
    note = "" if rows else "Every setting has its default."
    return Table(["setting", "value", "default", "set by", "meaning"], rows, "Settings that differ from the defaults", note)


def facts(seen: Seen) -> list[Part]:
    """List what made the run: groups of names and values."""
    config = seen.config
    run = {
        "task": config["task"],
        "algorithm": config["algo"],
        "seed": config["seed"],
        "steps": f"{config['steps']:,}",
        "limits": ", ".join(f"{name} {limit:g}" for name, limit in seen.limits.items()) or "none",
        "threads": config.get("threads"),
        "newest checkpoint": seen.checkpoint or "none",
        **history(config),
        "commit": config.get("git"),
        "command": command(config.get("command")),
    }
    groups = {"Run": run, "Machine": config.get("machine") or {}, "Versions": config.get("versions") or {}}
    return [
        {"title": title, "rows": [[name, parts.plain(value)] for name, value in group.items() if value is not None]}
        for title, group in groups.items()
        if group
    ]


def history(config: dict[str, Any]) -> dict[str, str]:
    """List what a run was before: trained further than was planned, or begun from a policy."""
    words, source = told(config), config.get("start_source")
    named = {"extended": "trained further", "start": "began from"}
    return {named[key]: f"{value}, {source}" if key == "start" and source else value for key, value in words.items()}


def command(words: Any) -> str | None:
    """Give the command line, without the path of the program: that is of the machine it ran on."""
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return None
    program = os.path.basename(words[0])
    return shlex.join(["cup" if program == "__main__.py" else program, *words[1:]])
