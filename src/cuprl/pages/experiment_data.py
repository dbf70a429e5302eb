"""What of an experiment goes on its page: its table, the curves of its groups of seeds, its statistics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cuprl.experiments.report import stats_records, stats_table, table
from cuprl.experiments.report.drawing import COLOURS
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.over_training import band_of, band_text
from cuprl.experiments.report.panels import how_discounted, palette
from cuprl.pages import parts
from cuprl.pages.parts import Part, panel, series


def experiment_page(name: str, groups: list[Group], summary: str = "", left_out: str = "") -> Part:
    """Give all that an experiment's page shows, as JSON values.

    `groups` may hold some without a run yet: the table counts them. left_out: what is stored and does not count.
    """
    run = [g for g in groups if g.results]
    colours = places(list(dict.fromkeys(g.label for g in run)))
    seeds = sum(len(g.results) for g in run)
    return {
        "title": name,
        "subtitle": summary,
        "state": f"{seeds} runs of {len(run)} groups; lines: means over seeds{band_text(run)}",
        "cards": [],
        "warnings": [f"{left_out}."] if left_out else [],
        "lead": [parts.table(table.report(groups), "Results")],
        "legend": [{"name": label, "colour": c % len(COLOURS), "dash": c // len(COLOURS)} for label, c in colours.items()],
        "grids": {str(i): parts.grid(g.results[0].metrics) for i, g in enumerate(run)},
        "panels": list(curves(run, colours)),
        "tables": [parts.table(found, "Statistics") for found in stats_table.tables(stats_records.records(groups))],
        "facts": [],
        "certificate": [],
    }


def places(labels: list[str]) -> dict[str, int]:
    """Give each label its colour's place in the palette; the second with a colour is dashed, and so on."""
    found: dict[str, int] = {}
    for label, colour in palette(labels).items():
        place = COLOURS.index(colour)
        while place in found.values():
            place += len(COLOURS)
        found[label] = place
    return found


def curves(groups: list[Group], colours: dict[str, int]) -> Iterator[Part]:
    """Draw for each task its return and its costs, a curve a group."""
    for t, task in enumerate(dict.fromkeys(g.task for g in groups)):
        mine = [(str(i), g) for i, g in enumerate(groups) if g.task == task]
        returns = [curve(g, grid, g.curves("rollout/ep_rew_mean"), colours) for grid, g in mine]
        yield panel(f"return-{t}", "Return", returns, section=task)
        for c, name in enumerate(dict.fromkeys(name for _, g in mine for name in g.limits)):
            having = [(grid, g, list(g.limits).index(name)) for grid, g in mine if name in g.limits]
            costs = [curve(g, grid, g.cost_curves()[:, :, k], colours) for grid, g, k in having]
            limits = {f"limit {limit:g}": limit for limit in sorted({g.limits[name] for _, g, _ in having})}
            note = " or ".join(how_discounted([g for _, g, _ in having], name))
            yield panel(f"cost-{t}-{c}", f"Cost: {name}", costs, limits, section=task, note=note)


def curve(g: Group, grid: str, values: np.ndarray, colours: dict[str, int]) -> Part:
    """Average curves [seeds, iterations], with a band about the mean where there are several."""
    return series(g.label, grid, values.mean(axis=0), colours[g.label], band_of(values))
