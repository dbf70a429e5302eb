"""A certificate in sentences."""

from cuprl.pages.certificate import sentences


def test_a_certificate_in_sentences():
    speed = {
        "constraint": "speed",
        "limit": 50.0,
        "cost": 40.0,
        "lower": 39.1,
        "upper": 41.2,
        "method": "betting",
        "over": 25,
        "over_low": 0.01,
        "over_high": 0.04,
        "worst": 63.0,
        "to_decide": None,
        "verdict": "within",
    }
    made = {
        "episodes": 1000,
        "iteration": 200,
        "mode": "sampled",
        "confidence": 0.95,
        "return_mean": 812.3,
        "verdict": "within",
        "constraints": [speed],
    }
    whole, one = sentences(made)
    assert whole == (
        "1,000 fresh episodes; the policy of iteration 200; its actions: sampled; return 812.3; stated at 95%; "
        "verdict: within."
    )
    assert one == (
        "speed: within (limit 50); mean cost 40; expected cost at most 41.2; at least 39.1; bounds by betting; "
        "2.5% of the episodes over the limit (between 1.0% and 4.0%); the worst 1% cost 63."
    )


def test_a_certificate_of_another_kind_is_told_as_it_is():
    assert sentences({"constraints": [{"verdict": 3, "limit": "x"}], "episodes": 0}) == ["0 fresh episodes.", "cost: 3."]
    assert sentences({"all_within": True, "of": {"speed": {"upper": 2.5}}, "x": None}) == [
        "all within: yes",
        "upper: 2.5",
        "x: unknown",
    ]
    assert sentences(["one\ntwo", 7]) == ["one", "two", "7"]
