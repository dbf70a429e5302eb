"""What a certificate states: its verdict in words, and a file that is none."""

import dataclasses
import json
import math

import pytest

import cuprl
from cuprl.cli.certify import print_certificate
from cuprl.errors import UserError
from cuprl.policies.certificate import Statement, read_certificate


@pytest.fixture(scope="module")
def certificate(run):
    return cuprl.certify(run, episodes=40)


def stated(**changes):
    """A statement on a cost of 20 under the limit 25."""
    values = {
        "constraint": "speed",
        "limit": 25.0,
        "discount": 0.99,
        "cost": 20.0,
        "lower": 19.0,
        "upper": 21.0,
        "confidence": 0.95,
        "method": "bootstrap-t",
        "largest": None,
        "over": 1,
        "over_low": 0.0,
        "over_high": 0.1,
        "worst": 27.0,
        "to_decide": None,
    }
    return Statement(**{**values, **changes})


@pytest.mark.parametrize(
    "changes, verdict, words",
    [
        ({}, "within", "within the limit at 95%: the expected cost is at most 21.00"),
        ({"limit": 21.0}, "within", "within the limit"),
        ({"limit": 18.99}, "not within", "not within the limit at 95%: the expected cost is at least 19.00"),
        ({"limit": 19.0, "to_decide": 1200}, "undecided", "undecided at 95%; about 1,200 episodes would decide it"),
        ({"limit": 20.5}, "undecided", "too near to the limit"),
        ({"upper": None}, "undecided", "give --cost-bound"),
        ({"upper": None, "limit": 18.0}, "not within", "at least 19"),
    ],
)
def test_verdicts(changes, verdict, words):
    statement = stated(**changes)
    assert statement.verdict == verdict and words in statement.sentence(0.95)


def test_the_verdict_over_all(certificate):
    verdicts = {"within": stated(), "not within": stated(limit=10.0), "undecided": stated(limit=20.0)}

    def over(*names):
        return dataclasses.replace(certificate, constraints=tuple(verdicts[name] for name in names)).verdict

    assert over("within", "within") == "within"
    assert over("within", "undecided") == "undecided"
    assert over("undecided", "not within", "within") == "not within"


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "something else"},
        {"constraints": []},
        {"constraints": [{}]},
        {"constraints": [3]},
        {"episodes": "many"},
        {"episodes": 0},
        {"episodes": -40},
        {"confidence": 3.0},
        {"confidence": math.nan},
        {"changed": [1]},
        {"versions": 3},
        {"return_low": "x"},
        None,
    ],
)
def test_a_file_that_is_no_certificate_is_refused(damage, certificate, tmp_path):
    (tmp_path / "c.json").write_text("[" if damage is None else json.dumps({**certificate.to_json(), **damage}))
    with pytest.raises(UserError, match="is damaged or no certificate"):
        read_certificate(tmp_path / "c.json")


@pytest.mark.parametrize(
    "damage",
    [
        {"confidence": 1.0},
        {"over": -1},
        {"over": 41},
        {"over_low": -1.0},
        {"over_high": 1.5},
        {"over": 20, "over_high": 0.4},
        {"lower": 9.0, "upper": 2.0},
    ],
)
def test_numbers_that_no_episodes_give_are_refused(damage, certificate, tmp_path):
    values = certificate.to_json()
    values["constraints"] = [{**values["constraints"][0], **damage}]
    (tmp_path / "c.json").write_text(json.dumps(values))
    with pytest.raises(UserError, match="is damaged or no certificate"):
        read_certificate(tmp_path / "c.json")


def test_names_from_a_file_move_no_cursor(certificate, capsys):
    strange = stated(constraint="\x1b[2Jspeed[bold]")
    print_certificate(dataclasses.replace(certificate, task="\x1b[2Jhop", constraints=(strange,)))
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown and "[bold]" in shown
