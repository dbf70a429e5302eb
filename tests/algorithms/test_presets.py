"""What an algorithm's name stands for."""

from cuprl import algorithms


def test_an_algorithm_is_found_in_other_letters():
    assert algorithms.full_name("CUP_Clip") == "cup-clip"
    assert algorithms.find("PPO-lag") == algorithms.find("ppo-lag")
    assert algorithms.full_name("python:My_Module") == "python:My_Module"


def test_defaults_are_the_table_of_the_paper():
    configs = {name: algorithms.load(name)[1] for name in algorithms.ALGORITHMS}
    common = {"batch_size": 5000, "hidden": (64, 64), "gamma": 0.99, "lam": 0.95, "cost_lam": 0.95, "critic_lr": 3e-4}
    table = {
        "ppo": {"clip": 0.2, "minibatch": 64, "epochs": 10, "policy_lr": 3e-4, "init_log_std": -0.5},
        "ppo-lag": {
            "clip": 0.2,
            "minibatch": 64,
            "epochs": 10,
            "policy_lr": 3e-4,
            "init_log_std": -0.5,
            "critic_l2": 3e-3,
            "multiplier_lr": 0.01,
            "multiplier_init": 0.0,
            "multiplier_max": 1.0,
        },
        "trpo": {"delta": 0.01, "damping": 0.01, "critic_epochs": 80},
        "trpo-lag": {
            "init_log_std": -1.0,
            "critic_l2": 3e-3,
            "damping": 0.01,
            "backtrack": 0.8,
            "backtracks": 10,
            "cg_iterations": 10,
            "critic_epochs": 80,
            "delta": 0.01,
            "multiplier_lr": 0.01,
            "multiplier_init": 0.0,
            "multiplier_max": 2.0,
        },
        "cpo": {
            "init_log_std": -0.5,
            "critic_l2": 3e-3,
            "damping": 0.01,
            "backtrack": 0.8,
            "backtracks": 10,
            "cg_iterations": 10,
            "critic_epochs": 80,
            "delta": 0.01,
        },
        "pcpo": {"projection": "kl", "delta": 0.01, "damping": 0.01, "critic_epochs": 80},
        "pcpo-l2": {"projection": "l2"},
        "focops": {
            "minibatch": 64,
            "epochs": 10,
            "policy_lr": 3e-4,
            "critic_l2": 1e-3,
            "temperature": 1.5,
            "delta": 0.02,
            "multiplier_lr": 0.01,
            "multiplier_init": 0.0,
            "multiplier_max": 2.0,
        },
    }
    for name, expected in table.items():
        for setting, value in {**common, **expected}.items():
            assert getattr(configs[name], setting) == value, (name, setting)


def test_a_discount_and_rates_of_the_task_go_before_a_presets():
    of_task = {"gamma": 0.9, "policy_lr": 3e-3, "multiplier": "pid", "minibatch": 500}
    _, config = algorithms.load("cup", of_task=of_task)
    assert (config.gamma, config.policy_lr, config.minibatch, config.multiplier) == (0.9, 3e-3, 500, "projection")
    assert algorithms.load("cup", {"gamma": 0.5}, of_task)[1].gamma == 0.5
