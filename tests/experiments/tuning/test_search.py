"""The search: what it prunes, counts and goes on with. Its runs are folders written here, worth what their alpha says."""

import pytest

from cuprl.errors import UserError
from cuprl.experiments.engines.local import log_of
from cuprl.experiments.tuning.search import Search, steps_of_a_trial
from cuprl.experiments.tuning.space import space_of
from cuprl.experiments.tuning.study import Asked
from cuprl.runs import files
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run

optuna = pytest.importorskip("optuna", reason="pip install 'cuprl[tune]'")
ITERATIONS = 12


class Written:
    """A run that is there at once, row after row as far as it is let."""

    def __init__(self, cell, root, engine):
        self.cell, self.engine, self.path = cell, engine, cell.path(root)
        engine.started.append(cell)
        if not (self.path / "config.json").is_file():
            log_of(self.path).parent.mkdir(parents=True, exist_ok=True)
            log_of(self.path).write_text("cup: something broke\n")
            config = RunConfig.from_json({**cell.resolved(), "versions": {}})
            Run.create(self.path, config)
        self.rows, self.stopped = len(self.written()), False

    def written(self):
        try:
            return Run(self.path).progress()["steps"]
        except UserError:
            return []

    def status(self):
        alpha = float(dict(self.cell.settings)["alpha"])
        if self.engine.fails:
            return 1
        if self.rows < ITERATIONS:
            self.rows += 1
            row = {"iteration": self.rows, "steps": 100 * self.rows, "rollout/ep_rew_mean": self.rows * alpha}
            cost = 5.0 if alpha < 0.4 else 90.0
            row |= {"rollout/ep_cost_mean": cost, "rollout/ep_cost_undiscounted_mean": 20 * cost}
            Run(self.path).append({**row, "time/collect": 0.0, "time/update": 0.0})
        if self.engine.interrupt_at == (len(self.engine.started), self.rows):
            raise KeyboardInterrupt
        return 0 if self.rows == ITERATIONS else None

    def stop(self):
        self.stopped = True

    def wait(self): ...


class Engine:
    def __init__(self, fails=False, interrupt_at=None, workers=1):
        self.fails, self.interrupt_at, self.workers, self.started = fails, interrupt_at, workers, []

    def room(self):
        return self.workers

    def start(self, cell, root):
        return Written(cell, root, self)

    def close(self): ...


def asked(**changes):
    settings = (("batch_size", "100"), ("hidden", "8"))
    axes = tuple(space_of("cup", ["alpha=0.05..0.5"], {}))
    fields = {"task": "hopper-speed", "algo": "cup", "seed": 0, "steps": 1200, "settings": settings, "limits": ("50",)}
    return Asked(**{**fields, **changes}, axes=axes)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr("cuprl.experiments.tuning.search.SECONDS", 0.0)


def test_the_best_within_the_limits_comes_first_and_laggards_are_pruned(tmp_path):
    said = []
    engine = Engine()
    found = Search(asked(), tmp_path, engine, said.append).run(budget=20 * 1200)
    assert dict(engine.started[0].settings)["alpha"] == "0.2"  # the default is tried first
    alphas = {one.number: float(dict(one.cell.settings)["alpha"]) for one in found}
    best = found[0]
    assert best.complete and best.score.value == pytest.approx(12 * alphas[best.number])
    assert alphas[best.number] == max(a for a in alphas.values() if a < 0.4)
    over = [one for one in found if one.score.over > 0]
    assert over and found[-len(over) :] == over and over[0].score.over == pytest.approx(0.8)
    pruned = [one for one in found if not one.complete]
    assert pruned and all(400 <= one.steps < 1200 for one in pruned) and len(found) > 20  # what they left paid for more
    assert sum(one.steps for one in found) <= 20 * 1200 and any("pruned after iteration" in line for line in said)
    study = optuna.load_study(storage=f"sqlite:///{tmp_path / 'study.db'}", study_name="cup tune")
    assert study.best_trial.number == best.number  # Optuna's own tools agree


def test_plain_sums_are_judged_where_they_are_held_to_the_limit(tmp_path):
    settings = (*asked().settings, ("cost_return", "undiscounted"))
    found = Search(asked(settings=settings), tmp_path, Engine(), print).run(4 * 1200)
    assert min(one.score.over for one in found) == 1.0 and found[0].score.costs == (100.0,)


def test_a_stopped_search_goes_on_as_if_it_had_not_been(tmp_path):
    whole = Search(asked(), tmp_path / "whole", Engine(), print).run(10 * 1200)
    with pytest.raises(KeyboardInterrupt):
        Search(asked(), tmp_path / "parts", Engine(interrupt_at=(4, 7)), print).run(10 * 1200)
    engine = Engine()
    parts = Search(asked(), tmp_path / "parts", engine, print).run(10 * 1200)
    assert engine.started[0].variant == "trial0003"  # the one that it was at
    assert parts == whole
    assert Search(asked(), tmp_path / "parts", Engine(), print).run(10 * 1200) == whole  # nothing is left to do
    more = Search(asked(), tmp_path / "parts", Engine(), print).run(12 * 1200)
    assert len(more) > len(whole)


def test_several_workers_share_a_file_and_its_budget(tmp_path):
    engine = Engine(interrupt_at=(6, 4), workers=3)
    with pytest.raises(KeyboardInterrupt):
        Search(asked(), tmp_path, engine, print).run(10 * 1200)
    study = optuna.load_study(storage=f"sqlite:///{tmp_path / 'study.db'}", study_name="cup tune")
    left = [trial.number for trial in study.trials if not trial.state.is_finished()]
    assert left == [3, 4, 5] and len(study.trials) == 6
    engine = Engine(workers=2)
    found = Search(asked(), tmp_path, engine, print).run(10 * 1200)
    assert [int(cell.variant[-4:]) for cell in engine.started[:3]] == left  # those that it was at come first
    numbers = [one.number for one in found]
    assert sorted(numbers) == list(range(len(found))) and sum(one.steps for one in found) <= 10 * 1200
    assert len({cell.variant for cell in engine.started}) == len(engine.started)  # none is run by two


def test_one_search_at_a_time_has_a_folder(tmp_path):
    with files.locked(tmp_path), pytest.raises(UserError, match="by another process; wait for it or stop it"):
        Search(asked(), tmp_path, Engine(), print).run(1200)


def test_without_pruning_and_by_number(tmp_path):
    found = Search(asked(), tmp_path, Engine(), print, prune=False).run(100 * 1200, trials=9)
    assert len(found) == 9 and all(one.complete and one.steps == 1200 for one in found)


def test_trials_that_fail_end_the_search_with_what_they_said(tmp_path):
    with pytest.raises(UserError, match="3 trials failed one after the other, the last: cup: something broke"):
        Search(asked(), tmp_path, Engine(fails=True), print).run(10 * 1200)
    assert len(Search(asked(), tmp_path, Engine(), print).run(2 * 1200)) == 2  # they cost nothing


def test_another_question_is_refused(tmp_path):
    Search(asked(), tmp_path, Engine(), print).run(1200)
    with pytest.raises(UserError, match="holds a search with steps 1200; give the same, or another --out"):
        Search(asked(steps=600), tmp_path, Engine(), print)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "study.db").write_text("no database" * 99)
    with pytest.raises(UserError, match=r"study\.db is not .* search"):
        Search(asked(), tmp_path / "other", Engine(), print)


def test_how_long_a_trial_is():
    assert steps_of_a_trial(5_000_000, "cup", {}) == 250_000
    assert steps_of_a_trial(103_000, "cup", {}) == 50_000 and steps_of_a_trial(2_000, "cup", {}) == 5_000
