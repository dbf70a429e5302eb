"""The episodes of a film are those of the evaluation."""

import pytest

import cuprl
from film.studio import filmed, same_numbers


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_film_shows_the_episodes_of_the_evaluation(lamp, deterministic, tmp_path):
    made, shots = filmed(lamp, tmp_path / "lamp.gif", episodes=2, deterministic=deterministic, seed=7)
    for i, episode in enumerate(made["episodes"]):
        same_numbers(episode, cuprl.evaluate(lamp, 1, deterministic, seed=7 + i))
        assert episode["cost_limit"] == {"heat": 2.0, "light": 40.0} and episode["terminated"]
    assert made["episodes"][0]["return"] != made["episodes"][1]["return"]
    assert [shot.moment.step for shot in shots] == [*range(1, 13)] * 2
    # The lamp as each step left it, also the last, after which it is dark again.
    assert [shot.frame[-1, 80, 0] for shot in shots] == [100 + 10 * light for light in range(1, 13)] * 2
