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


def begun(seed, of_seed, sha256, **start):
    result = made(seed=seed)
    start = {"sha256": sha256 * 64, "critics": True, "task": "hopper-speed", "algo": "cup", "iteration": 9} | start
    return replace(result, config={**result.config, "start": {**start, "seed": of_seed}})


def test_seeds_that_each_began_from_a_run_of_that_seed_are_one_group():
    own = [begun(0, 0, "a"), begun(1, 1, "b", iteration=7), begun(2, 2, "c")]
    (g,) = together(own)
    assert [r.config["seed"] for r in g.results] == [0, 1, 2] and g.label == "cup"
    assert labels(*own, made(), made(seed=1)) == ["cup start=cup-of-the-same-seed-with-critics", "cup start=unset"]
    for seed in (0, 5):  # all of one and the same, whose seed may be one of theirs
        assert len(together([begun(0, seed, "a"), begun(1, seed, "a"), begun(2, seed, "a")])) == 1
    assert len(together([begun(0, 5, "a"), begun(1, 6, "b")])) == 2
    assert len(together([*own, begun(0, 0, "d")])) == 4  # which goes with which is not known
    with pytest.raises(UserError, match="seed 0 is there 2 times"):
        together([*own, own[0]])


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
