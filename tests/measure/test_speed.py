from cuprl.measure.speed import measure
from small import SMALL


def test_speed_replays_the_same_work():
    result = measure("hopper-speed", rounds=2, **SMALL)
    assert {"physics_sps", "rollout_sps", "update_s", "train_sps", "ratio"} <= result.keys()
