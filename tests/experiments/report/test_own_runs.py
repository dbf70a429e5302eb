"""Run folders and results that no experiment has planned, put together and named."""

from dataclasses import replace

import pytest

from cuprl.core.spec_json import spec_to_json
from cuprl.envs import TASKS
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.report.own_runs import discounts_of, of_runs, together
from experiments.synthetic import made_up

STEPS = 100_000  # 20 iterations
CHANGED = {"alpha": 0.1, "gamma": 0.98, "lam": 0.9, "clip": 0.1}


def made(algo="cup", seed=0, steps=STEPS, limits=(), **settings):
    words = tuple((name, str(value)) for name, value in settings.items())
    return made_up(Cell("hopper-speed", algo, seed, steps, words, limits))


def labels(*results):
    return [g.label for g in together(results)]


def test_seeds_are_put_together_and_what_differs_is_named():
    groups = together([made(alpha=0.3), made(seed=1, alpha=0.05), made(alpha=0.05), made("ppo-lag"), made(alpha="1e-1")])
    assert [(g.label, [r.config["seed"] for r in g.results]) for g in groups] == [
        ("cup alpha=0.05", [0, 1]),
        ("cup alpha=0.1", [0]),
        ("cup alpha=0.3", [0]),
        ("ppo-lag", [0]),
    ]
    assert groups[0].discounts == {"speed": 0.99}


def test_limits_steps_and_layers_are_named_too():
    assert labels(made(), made(limits=("9",)), made(limits=("50",))) == ["cup limit=9", "cup limit=50", "cup limit=82.748"]
    assert labels(made(), made(steps=2 * STEPS)) == ["cup steps=100000", "cup steps=200000"]
    assert labels(made(hidden="64,64"), made(hidden="8")) == ["cup hidden=8", "cup hidden=64x64"]
    assert labels(made(alpha=0.1, limits=("50",)), made()) == ["cup alpha=0.1+limit=50", "cup alpha=0.2+limit=82.748"]


def test_of_many_differences_as_few_as_tell_apart_are_named():
    assert labels(made(**CHANGED), made()) == ["cup gamma=0.98 and 3 more", "cup gamma=0.997 and 3 more"]
    third = labels(made(**CHANGED), made(), made(**CHANGED | {"alpha": 0.3}))
    assert len(set(third)) == 3 and third[0] == "cup alpha=0.1 and 3 more"


def changed(**history):
    result = made(**CHANGED)
    return replace(result, config={**result.config, **history})


def test_runs_that_were_trained_further_are_told_apart_by_what_was_planned():
    plans = ([{"iteration": 3, "steps": steps, "anneal": "off"}] for steps in (20_000, 30_000))
    assert labels(made(), *(changed(extensions=plan) for plan in plans)) == [
        "cup extended=off-at-iteration-3-of-20000-steps and 4 more",
        "cup extended=off-at-iteration-3-of-30000-steps and 4 more",
        "cup extended=unset and 4 more",
    ]


def test_groups_that_nothing_named_tells_apart_have_one_name():
    start = {"sha256": "0" * 64, "critics": False, "algo": "cup", "seed": 0, "iteration": 9}
    alike = (changed(start={**start, "task": task}) for task in ("hopper-speed", "swimmer-speed"))
    assert labels(made(), *alike) == 2 * ["cup gamma=0.98 and 4 more"] + ["cup gamma=0.997 and 4 more"]


def test_one_run_does_not_pass_for_two():
    with pytest.raises(UserError, match="hopper-speed cup seed 1 is there 2 times, with the same settings; give it once"):
        together([made(), made(seed=1), made(seed=1)])
    for again in ("und/seed0", "./und/../und/seed0"):
        with pytest.raises(UserError, match="und/seed0 is given 2 times; give it once"):
            of_runs(["und/seed0", "und/seed1", again])


def test_a_group_is_as_long_as_its_shortest_run():
    short = made(seed=1)
    short = replace(short, metrics={name: values[:7] for name, values in short.metrics.items()})
    (g,) = together([made(), short])
    assert g.curves("steps").shape == (2, 7)


def test_no_run_is_an_error():
    with pytest.raises(UserError, match="give at least one folder"):
        of_runs([])


def test_a_cost_whose_spec_leaves_its_discount_open_has_the_usual_one():
    spec = spec_to_json(TASKS["hopper-speed"].vector_env(1, 1, TASKS["hopper-speed"].constraints).spec)
    del spec["constraints"][0]["discount"]
    assert discounts_of({"spec": spec}) == {"speed": 0.99}
    assert discounts_of({"task": "hopper-velocity"}) == {"velocity": 1.0} and discounts_of({"task": "elsewhere"}) == {}
