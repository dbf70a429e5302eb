"""What a person sees of a run while it goes on."""

import logging
from types import SimpleNamespace

import pytest

import cuprl
from cuprl.training.display import Live, Logged, Plain, Silent, clock, display_for

SPEC = cuprl.Spec("x", 3, cuprl.Discrete(2), (cuprl.Constraint("speed", 10.0), cuprl.Constraint("heat\x1b[2J", 1.0)), 100)
ROW = {
    "iteration": 5,
    "steps": 12_345,
    "time/fps": 2500.4,
    "rollout/ep_rew_mean": 123.45,
    "rollout/ep_cost_mean/speed": 9.876,
    "rollout/ep_cost_mean/heat\x1b[2J": 2.0,
    "train/multiplier/speed": 0.5,
}


def run_at(path, **settings):
    return SimpleNamespace(path=path, config={"settings": settings})


def shown_by(display):
    with display:
        display.start(run_at("runs/r"), SPEC, 0, 10)
        display.update(ROW)
        display.evaluated("evaluated \x1b[31m")
        display.note("careful \x1b[2J")


def test_plain_lines_have_the_numbers_to_watch_and_notes_go_beside(capsys):
    shown_by(Plain())
    out, err = capsys.readouterr()
    first, numbers, evaluated = out.splitlines()
    assert first == "run runs/r" and evaluated == r"evaluated \x1b[31m" and err == "note: careful \\x1b[2J\n"
    assert numbers.startswith(
        "iteration 5/10  steps 12,345  steps/s 2,500  return 123.5  cost speed 9.88 / 10  nu speed 0.500"
    )
    assert r"cost heat\x1b[2J 2.00 / 1" in numbers and "\x1b" not in out + err


def test_lines_come_now_and_then_and_the_last_one_always(capsys):
    display = Plain(seconds=1e9)
    display.start(run_at("r"), SPEC, 0, 10)
    for iteration in (1, 2, 3, 10):
        display.update({**ROW, "iteration": iteration})
    said = [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert said == ["1/10", "10/10"]


def test_a_library_prints_nothing_and_logs_its_messages(capsys, caplog):
    with caplog.at_level(logging.INFO, "cuprl.training"):
        shown_by(Logged())
    assert capsys.readouterr() == ("", "")
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO", "INFO", "WARNING"]


def test_the_live_display_is_green_under_the_limit_and_red_over_it():
    display = Live()
    display.start(run_at("r"), SPEC, 0, 10)
    display.update(ROW)
    costs = [text for text in display.live.renderable.renderables[1].renderables if text.plain.startswith("cost")]
    assert [text.spans[-1].style for text in costs] == ["bold green", "bold red"]


def test_a_cost_that_is_over_by_less_than_is_shown_is_red():
    display = Silent()
    display.start(run_at("r"), SPEC, 0, 10)
    assert display.summary({**ROW, "rollout/ep_cost_mean/speed": 10.004})["cost speed"] == ("10.00 / 10", "red")


def test_a_plain_sum_is_shown_where_it_is_held_to_the_limit():
    display = Silent()
    display.start(run_at("r", cost_return="undiscounted"), SPEC, 0, 10)
    plain = {name.replace("cost_mean", "cost_undiscounted_mean"): 8 * value for name, value in ROW.items() if "cost" in name}
    shown = display.summary({**ROW, **plain})
    assert shown["cost speed"] == ("79.01 / 10", "red")
    display.start(run_at("r", cost_return="discounted"), SPEC, 0, 10)
    assert display.summary({**ROW, **plain})["cost speed"] == ("9.88 / 10", "green")


def test_the_name_of_a_folder_is_shown_letter_by_letter(capsys):
    for display in (Live(), Plain()):
        display.start(run_at("runs[/bold]\x1b[2J"), SPEC, 0, 10)
        assert r"run runs[/bold]\x1b[2J" in capsys.readouterr().out


def test_what_is_asked_for():
    own = Silent()
    assert display_for(own) is own and type(display_for(False)) is Logged and type(display_for(True)) is Plain


@pytest.mark.parametrize("seconds, text", [(0, "0:00"), (61.9, "1:01"), (3723, "1:02:03")])
def test_clock(seconds, text):
    assert clock(seconds) == text
