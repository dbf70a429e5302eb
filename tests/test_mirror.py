"""Tests lie where what they test lies: src/cuprl/learn/gae.py is tested in tests/learn/test_gae.py."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "cuprl", ROOT / "tests"

NO_BEHAVIOUR = {"learn/types.py"}  # shapes of data alone
# Behaviour that only shows in something larger, and where that is tested.
ELSEWHERE = {
    "cli/certify.py": "policies/test_certify.py",
    "cli/child.py": "experiments/engines/test_engine.py",
    "cli/evaluations.py": "training/test_evaluating.py",
    "cli/export.py": "policies/test_export.py",
    "cli/optimum.py": "envs/test_tabular.py",
    "cli/report.py": "pages/test_report.py",
    "cli/zoo.py": "policies/test_zoo.py",
    "core/task.py": "envs/gymnasium/test_vector.py",
    "envs/mujoco/env.py": "envs/mujoco/test_trial.py",
    "envs/mujoco/parts.py": "envs/mujoco/test_trial.py",
    "envs/mujoco/physics.py": "envs/mujoco/test_robots.py",
    "envs/mujoco/speed.py": "envs/mujoco/test_robots.py",
    "experiments/grid/differences.py": "experiments/report/test_own_runs.py",
    "experiments/report/optimum.py": "envs/test_tabular.py",
    "experiments/report/plot.py": "cli/test_compare.py",
    "experiments/report/stats_records.py": "experiments/report/test_stats_table.py",
    "experiments/tuning/study.py": "experiments/tuning/test_search.py",
    "learn/networks.py": "learn/test_policy.py",
    "measure/latency.py": "policies/test_export.py",
    "pages/card.py": "policies/test_zoo.py",
    "policies/certificate.py": "policies/test_certify.py",
    "policies/start.py": "training/test_further.py",
    "policies/to_onnx/axes.py": "policies/to_onnx/test_encoder.py",
    "policies/to_onnx/graph.py": "policies/to_onnx/test_encoder.py",
    "policies/to_onnx/policy.py": "policies/test_export.py",
    "policies/to_onnx/products.py": "policies/to_onnx/test_encoder.py",
    "policies/to_onnx/rules.py": "policies/to_onnx/test_encoder.py",
    "runs/config_file.py": "cli/test_config.py",
}


def modules():
    names = (str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if not path.name.startswith("__"))
    return {name for name in names if name not in NO_BEHAVIOUR}


def own_test(module):
    return TESTS / Path(module).with_name(f"test_{Path(module).name}")


def test_every_module_with_behaviour_has_its_test():
    without = {module for module in modules() if not own_test(module).exists()}
    assert sorted(without - ELSEWHERE.keys()) == []


def test_what_is_tested_elsewhere_is_tested_there():
    assert [test for test in ELSEWHERE.values() if not (TESTS / test).exists()] == []
