"""What names mean: an experiment, a folder of the results store, or run folders."""

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.report.lookup import find_groups, unusable
from cuprl.experiments.store.results import store
from experiments.synthetic import made_up


@pytest.fixture
def root(tmp_path):
    for seed in (0, 1):
        for alpha in ("0.1", "0.3"):
            store(made_up(Cell("hopper-speed", "cup", seed, 100_000, (("alpha", alpha),))), tmp_path / "mine")
    return tmp_path


def test_what_was_imported_is_found_by_its_name(root):
    groups, left = find_groups(["mine"], root)
    assert [(g.label, len(g.results)) for g in groups] == [("cup alpha=0.1", 2), ("cup alpha=0.3", 2)] and not left
    (damaged, *_) = sorted((root / "mine").iterdir())
    damaged.write_bytes(b"x")
    groups, left = find_groups(["mine"], root)
    assert sum(len(g.results) for g in groups) == 3 and "1 damaged result left out" in left and "import these" in left


def test_a_part_of_it(root):
    (g,), _ = find_groups(["mine"], root, "variant=alpha=0.3,seed=1")
    assert g.variant == "alpha=0.3" and [r.config["seed"] for r in g.results] == [1]
    with pytest.raises(UserError, match=r"unknown seed of these runs '7'; .*accepted: 0, 1"):
        find_groups(["mine"], root, "seed=7")


@pytest.mark.parametrize(
    "names, words",
    [
        (["quik"], "did you mean quick"),
        (["quick"], "run `cup bench quick`"),
        (["a", "b"], "a is not a run"),
        (["some/where"], "some/where is not a run"),
    ],
)
def test_what_is_not_found_is_one_sentence(names, words, tmp_path):
    with pytest.raises(UserError, match=words):
        find_groups(names, tmp_path)


def test_a_folder_of_runs_is_no_unknown_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "seed0").mkdir(parents=True)
    (tmp_path / "mine" / "seed0" / "config.json").touch()
    with pytest.raises(UserError, match=r"mine is not a run: .*give one, as mine/seed0"):
        find_groups(["mine"], tmp_path / "results")


def test_of_many_runs_left_out_three_are_named():
    said = unusable([f"run{i} has 1 of 2 iterations; finish it." for i in range(5)])
    assert said.startswith("5 runs left out, three of them: run1 has 1 of 2 iterations; run2")
    assert said.endswith("run0 has 1 of 2 iterations; finish it.")
