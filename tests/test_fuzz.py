"""Damaged files, at random: whoever reads one gets what is there or one sentence, never a traceback.

A few seconds of it run with all tests; `make fuzz` goes on for an hour, with other damage each time.
"""

import contextlib
import io
import os
import random
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuprl
from cuprl.cli import main
from cuprl.cli.certify import print_certificate
from cuprl.errors import RunStopped, UserError
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import read, store
from cuprl.experiments.store.stored import files
from cuprl.policies.certificate import read_certificate, write_certificate
from cuprl.policies.export import SUFFIXES, export_policy
from cuprl.policies.start import Origin, read_start
from cuprl.runs.folder import Run
from cuprl.training.training import Training
from damaged import (
    damage_archive,
    damage_certificate,
    damage_checkpoint,
    damage_config,
    damage_onnx,
    damage_progress,
    damage_result,
)
from small import QUIET, SMALL

WORDS = tuple((name, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)) for name, value in SMALL.items())
GRID = Experiment("tiny", "for tests", (Block(("hopper-speed",), ("cup",), (0,), 600, WORDS),))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A run, its stored result, its exported policies, and an agent in its second batch; no run is ever trained further."""
    folder = tmp_path_factory.mktemp("home")
    run = cuprl.train("hopper-speed", steps=600, out=folder / "run", checkpoint_every=1, **SMALL, **QUIET)
    further = {"start_from": run, "eval_every": 1, "eval_episodes": 1, "checkpoint_every": 1}
    cuprl.train("hopper-speed", steps=200, out=folder / "further", **further, **SMALL, **QUIET)
    cuprl.resume(folder / "further", steps=400, **QUIET)
    store(from_run(run), folder / "results" / "tiny")
    for to, suffix in SUFFIXES.items():
        export_policy(run, to, folder / f"policy{suffix}")
    write_certificate(run.path / "certificate.json", cuprl.certify(run, episodes=3))
    agent = cuprl.Agent("hopper-speed", steps=600, **{**SMALL, "batch_size": 50, "num_envs": 1})
    for step in range(60):
        agent.act(np.full(11, 0.01 * step))
        agent.observe(np.full(11, 0.01 * step), 1.0, 0.5, False, step % 10 == 9)
        if step % 25 == 9:
            agent.save(folder / "agent")
        if agent.ready:
            agent.update()

    def no_more(self):
        raise RunStopped("a resumed run would go on here")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "iterate", no_more)
        patch.setitem(shipped.EXPERIMENTS, "tiny", GRID)
        yield folder


# --- what a user does ---------------------------------------------------------------------------------------------------


def cup(*argv):
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        status = main([*map(str, argv)])
    lines = said.getvalue().splitlines()
    assert status in (0, 1, 2), (argv, status)
    assert status != 2 or (len(lines) == 1 and lines[0].startswith("cup: ")), (argv, lines)


def with_metrics(home):
    run = home / "run"
    yield lambda: from_run(Run(run))
    yield lambda: cup("plot", run, "--out", home / "curve.svg")
    yield lambda: cup("report", run, "--out", home / "report.html")
    yield lambda: cup("results", "import", run, "--results", home / "more")
    yield lambda: cup("results", "list", "--results", home / "more")
    yield lambda: cuprl.resume(run, **QUIET)


def with_checkpoint(home):
    run = home / "run"
    yield lambda: cuprl.load(run)
    yield lambda: cuprl.evaluate(run, episodes=1)
    yield lambda: from_run(Run(run))
    yield lambda: cuprl.resume(run, **QUIET)


def with_run(home):
    yield from with_metrics(home)
    yield from with_checkpoint(home)


def with_result(home):
    yield lambda: read(files(home / "results")[0])
    for command in (
        ["table", "tiny"],
        ["table", "tiny", "--stats"],
        ["results", "list"],
        ["results", "export", "--out", home / "all.csv"],
        ["report", "tiny", "--out", home / "report.html"],
    ):
        yield lambda command=command: cup(*command, "--results", home / "results")


def with_certificate(home):
    yield lambda: print_certificate(read_certificate(home / "run" / "certificate.json"))
    yield lambda: cup("export", home / "run", "--episodes", "0", "--out", home / "certified.npz")


def act_with(file):
    policy = cuprl.load(file, trust=True)
    for deterministic in (True, False):
        policy.clip(policy.predict(np.zeros((2, 11)), deterministic=deterministic))


def with_further(home):
    """A run with evaluations that began from a policy and was given more steps."""
    run = home / "further"
    yield lambda: cuprl.load(run, checkpoint="best")
    yield lambda: read_start(Origin(run, "best", critics=True))
    yield lambda: from_run(Run(run))
    yield lambda: cup("report", run, "--out", home / "report.html")
    yield lambda: cup("table", run)
    yield lambda: cuprl.resume(run, **QUIET)


def with_policy(suffix, home):
    if suffix == ".npz":
        yield lambda: read_start(Origin(home / "policy.npz"))
    yield lambda: act_with(home / f"policy{suffix}")
    yield lambda: cuprl.evaluate(home / f"policy{suffix}", episodes=1, trust=True)


def go_on(folder):
    agent = cuprl.Agent.load(folder)
    if agent.ready:
        agent.update()
    agent.act(np.zeros(11))
    agent.observe(np.ones(11), 1.0, 0.5, False, False)
    agent.save()


def with_agent(home):
    yield lambda: cuprl.load(home / "agent").predict(np.zeros(11))
    yield lambda: go_on(home / "agent")


ATTACKS = {  # what is damaged, how, and who reads it
    "config": ("run", damage_config, with_run),
    "progress": ("run", damage_progress, with_metrics),
    "checkpoint": ("run", damage_checkpoint, with_checkpoint),
    "evaluations": ("further", partial(damage_progress, name="evaluations.csv"), with_further),
    "further config": ("further", damage_config, with_further),
    "further checkpoint": ("further", damage_checkpoint, with_further),
    "result": ("results", damage_result, with_result),
    **{
        f"policy{suffix}": (f"policy{suffix}", damage, partial(with_policy, suffix))
        for suffix, damage in ((".npz", damage_archive), (".onnx", damage_onnx), (".jax", damage_archive))
    },
    "certificate": ("run", damage_certificate, with_certificate),
    "agent's config": ("agent", damage_config, with_agent),
    "agent's progress": ("agent", damage_progress, with_agent),
    "agent's checkpoint": ("agent", damage_checkpoint, with_agent),
}


def attack(home, random, name):
    """Damage a copy and use it."""
    what, damage, users = ATTACKS[name]
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(home, Path(scratch, "home")))
        damage(copy / what, random)
        for use in users(copy):
            with contextlib.suppress(UserError, RunStopped), np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use()


def test_what_is_not_damaged_is_used(home, tmp_path):
    """Otherwise a sentence would say nothing of the damage."""
    copy = Path(shutil.copytree(home, tmp_path / "home"))
    for _, _, users in ATTACKS.values():
        for use in users(copy):
            use()


@pytest.mark.parametrize("name", ATTACKS)
@settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(random=st.randoms(use_true_random=False))
def test_damage_gets_a_sentence(home, name, random):
    attack(home, random, name)


@pytest.mark.slow
def test_damage_gets_a_sentence_for_long(home, capsys):
    """As long as CUPRL_FUZZ_SECONDS says; a seed that failed is told, and gives the same damage again."""
    end = time.monotonic() + float(os.environ.get("CUPRL_FUZZ_SECONDS", "60"))
    seed = random.SystemRandom().randrange(2**32)
    tries, failed = Counter(), []
    while time.monotonic() < end:
        seed += 1
        for name in ATTACKS:
            tries[name] += 1
            try:
                attack(home, random.Random(seed), name)
            except Exception:
                failed.append(f"{name} with the seed {seed}\n{traceback.format_exc()}")
    with capsys.disabled():
        print(f"\n\n{'damaged':<20} {'tries':>7}")
        for name, count in tries.items():
            print(f"{name:<20} {count:>7}")
        print(f"{'all':<20} {tries.total():>7}, {len(failed)} with a traceback")
    assert not failed, "\n".join(failed)
