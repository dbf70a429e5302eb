"""What tells the lines of a picture apart, and what its axes say."""

from dataclasses import replace

import pytest

from cuprl.algorithms import ALGORITHMS
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report.panels import arranged, colours_of, cost_label, lines_of, panels_of, shapes_of
from experiments.synthetic import groups_of

STEPS = 5_000  # 1 iteration


def swept(name, values):
    return groups_of(Block(("hopper-speed",), ("cup",), (0,), STEPS, sweep=((name, values),)))


@pytest.mark.parametrize("kinds_of", [lines_of, shapes_of])
def test_twenty_groups_look_different(kinds_of):
    groups = [replace(g, variant=f"kind{i}") for i, g in enumerate(swept("alpha", ("0.1",)) * 20)]
    colours, lines = colours_of(groups), kinds_of(groups)
    looks = {(colours[g.label], str(lines[g.label])) for g in groups}
    assert len(looks) == 20 and len({colour for colour, _ in looks}) == 10 and len({line for _, line in looks}) == 4


def test_a_swept_number_has_a_scale_and_few_lines_are_solid():
    groups = swept("alpha", ("0.1", "0.2", "0.3"))
    assert len({colours_of(groups)[g.label] for g in groups}) == 3 and set(lines_of(groups).values()) == {"-"}
    assert set(shapes_of(groups).values()) == {"o"}
    assert not isinstance(colours_of(groups)[groups[0].label], str)  # of a colour map


@pytest.mark.parametrize("kinds_of", [lines_of, shapes_of])
def test_an_algorithm_looks_the_same_wherever_there_are_many(kinds_of):
    seven = groups_of(Block(("hopper-speed",), shipped.PAPER_ALGOS, (0,), STEPS))
    kinds = kinds_of(seven)
    looks = {(colours_of(seven)[g.label], str(kinds[g.label])) for g in seven}
    assert len(looks) == 7 and len({kind for _, kind in looks}) == 4
    every = groups_of(Block(("hopper-speed",), tuple(ALGORITHMS), (0,), STEPS))
    kinds_of_all = kinds_of(every)
    assert len({(colours_of(every)[g.label], str(kinds_of_all[g.label])) for g in every}) == len(every) > 10
    assert len(set(kinds_of(seven[:5]).values())) == 1  # few are told apart by colours alone
    six = kinds_of(seven[1:])
    assert six == {label: kind for label, kind in kinds.items() if label in six}


def test_a_cost_is_named_by_how_it_is_discounted():
    (one,) = groups_of(Block(("hopper-speed",), ("cup",), (0,), STEPS))
    (two,) = groups_of(Block(("hopper-speed-effort",), ("cup",), (0,), STEPS))
    assert cost_label([one], 0, " ") == "cost (discount 0.99)"
    assert cost_label([replace(one, discounts={"speed": 1.0})], 0, " ") == "cost (undiscounted)"
    assert cost_label([replace(one, discounts={})], 0, " ") == "cost"
    assert cost_label([two], 1, "\n").startswith("cost: effort\n(")


def test_a_cost_is_named_as_it_is_held_to_the_limit():
    one, plain = groups_of(Block(("hopper-speed",), ("cup", "cup-omnisafe"), (0,), STEPS))
    assert cost_label([plain], 0, " ") == cost_label([replace(plain, discounts={})], 0, " ") == "cost (undiscounted)"
    assert cost_label([one, plain], 0, " ") == "cost (discount 0.99\nor undiscounted)"
    assert cost_label([replace(one, discounts={}), plain], 0, " ") == "cost"


def test_long_labels_are_broken_and_counted():
    texts, columns, lines = arranged(["alpha=0.1+" * 8, "short"], 40)
    assert columns == 1 and lines == texts[0].count("\n") + 2 and max(map(len, texts[0].split("\n"))) <= 33
    assert arranged(["a", "b", "c"], 40) == (["a", "b", "c"], 3, 1)


def test_a_legend_of_two_lines_is_filled_evenly():
    four = [f"limit={limit}" for limit in (35, 50, 65, 85)]  # three would fit abreast
    assert arranged(four, room=50) == (four, 2, 2)


def test_titles_longer_than_their_panel_are_broken_and_have_room():
    long = "gym:SomeoneElsesRobot-v0+cost=torque=my_costs:torque+limit=torque=60+import=my_costs"
    (one, short), (two, panels) = (panels_of([name, "b"], 2) for name in ("a", long))
    title = panels[long][0].get_title()
    assert title.count("\n") >= 2 and title.replace("\n", "").replace(" ", "") == long and short["a"][0].get_title() == "a"
    assert two.get_figheight() > one.get_figheight()


def test_long_names_of_costs_are_broken():
    (g,) = groups_of(Block(("hopper-speed-effort",), ("cup",), (0,), 20_000))
    name = "the torque of all the motors in every leg"
    named = replace(g, limits={name: 1.0, "b": 2.0}, discounts={name: 0.99, "b": 0.99})
    assert cost_label([named], 0, "\n").count("\n") == 2 and cost_label([named], 1, "\n") == "cost: b\n(discount 0.99)"
