"""Damaged files, at random: whoever reads one gets what is there or one sentence, never a traceback.

A few seconds of it run with all tests; `make fuzz` goes on for an hour, with other damage each time.
"""

import contextlib
import copy
import gzip
import hashlib
import io
import json
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
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save

import cuprl
from cuprl.cli import main
from cuprl.cli.certify import print_certificate
from cuprl.errors import RunStopped, UserError
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import checksum, read, store
from cuprl.experiments.store.stored import files
from cuprl.policies.certificate import read_certificate, write_certificate
from cuprl.policies.deployed import KEY
from cuprl.policies.export import SUFFIXES, export_policy
from cuprl.policies.start import Origin, read_start
from cuprl.runs.folder import Run
from cuprl.runs.provenance import fingerprint
from cuprl.training.training import Training
from small import QUIET, SMALL

WORDS = tuple((name, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)) for name, value in SMALL.items())
GRID = Experiment("tiny", "for tests", (Block(("hopper-speed",), ("cup",), (0,), 600, WORDS),))
STRANGE = (
    None,
    True,
    False,
    "",
    "x",
    "1",
    "\ud800\x1b[2J",
    [],
    [None],
    [1, "x"],
    {},
    {"x": {}},
    0,
    1,
    -1,
    2,
    0.5,
    -0.5,
    1e-300,
    1e300,
    10**12,
    10**400,
    -(10**30),
    float("nan"),
    float("inf"),
    -float("inf"),
)


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


# --- damage -----------------------------------------------------------------------------------------------------------


def damage_bytes(content, random):
    """Cut, flip, repeat or swap some of it."""
    if not content:
        return b"\0"
    a, b = sorted(random.randrange(len(content) + 1) for _ in range(2))
    kind = random.choice(("cut", "flip", "drop", "repeat", "lines"))
    if kind == "flip":
        damaged = bytearray(content)
        for _ in range(random.randint(1, 8)):
            damaged[random.randrange(len(content))] = random.randrange(256)
        return bytes(damaged)
    if kind == "lines":
        lines = content.splitlines(keepends=True)
        i, j = random.randrange(len(lines)), random.randrange(len(lines))
        lines[i], lines[j] = lines[j], random.choice((lines[i], b"\n", b"", lines[j]))
        return b"".join(lines)
    return {"cut": content[:a], "drop": content[:a] + content[b:], "repeat": content[:b] + content[a:]}[kind]


def places(value, path=()):
    """Where there is something in a JSON value, however deep."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in entries for place in ((*path, key), *places(part, (*path, key)))]


def damage_json(value, random):
    """Something removed, replaced by what is strange there or by what stands elsewhere, or put in twice."""
    value = json.loads(json.dumps(value))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        where = places(value)
        if not where:
            break
        *path, key = random.choice(where)
        holder = value
        for step in path:
            holder = holder[step]
        kind = random.choice(("remove", "strange", "strange", "strange", "other", "twice"))
        if kind == "remove":
            del holder[key]
        elif kind == "strange":
            holder[key] = copy.deepcopy(random.choice(STRANGE))  # what is damaged further must not be what comes next
        elif kind == "other":
            holder[key] = json.loads(json.dumps(holder[random.choice(list(holder) if isinstance(holder, dict) else [key])]))
        elif isinstance(holder, list):
            holder.insert(key, holder[key])
        else:
            holder[f"{key}2"] = holder[key]
    return value


def damage_array(array, random):
    kind = random.choice(("empty", "scalar", "wrap", "type", "nan", "huge", "longer", "text"))
    real = array.dtype.kind == "f"
    if kind in ("nan", "huge"):
        array = array.copy()
        extreme = np.nan if kind == "nan" and real else (np.finfo if real else np.iinfo)(array.dtype).max
        array.flat[: 1 + random.randrange(max(array.size, 1))] = extreme
        return array
    return {
        "empty": array[:0] if array.ndim else np.zeros(0),
        "scalar": np.zeros((), array.dtype),
        "wrap": array[None],
        "type": array.astype(np.int16 if real else np.float32),
        "longer": np.concatenate((array, array)) if array.ndim else array,
        "text": np.zeros(3, np.uint8),
    }[kind]


def damage_arrays(arrays, random):
    arrays = dict(arrays)
    for _ in range(min(random.choice((1, 1, 3)), len(arrays))):
        name = random.choice(sorted(arrays))
        array = arrays.pop(name)
        if random.random() < 0.8:
            arrays[name if random.random() < 0.9 else name + "2"] = damage_array(array, random)
    return arrays


def damage_config(run, random):
    path = run / "config.json"
    if random.random() < 0.3:
        return path.write_bytes(damage_bytes(path.read_bytes(), random))
    config = damage_json(json.loads(path.read_text()), random)
    if random.random() < 0.8 and isinstance(config, dict):  # so that what is behind the hash is reached
        config["hash"] = fingerprint(config)
    return path.write_text(json.dumps(config))


def damage_progress(run, random, name="progress.csv"):
    path = run / name
    if random.random() < 0.4:
        return path.write_bytes(damage_bytes(path.read_bytes(), random))
    rows = [line.split(",") for line in path.read_text().splitlines()]
    row = random.choice(rows)
    word = str(random.choice((*STRANGE, "9" * 5000, "x" * 200_000, '"', "²", "\0"))).encode(errors="replace").decode()
    row[random.choice((0, random.randrange(len(row))))] = word
    return path.write_text("".join(",".join(row) + "\n" for row in rows))


def damage_checkpoint(run, random):
    path = random.choice(Run(run).checkpoints()[:2])
    content = (
        damage_bytes(path.read_bytes(), random)
        if random.random() < 0.3
        else save({name: np.asarray(x, order="C") for name, x in damage_arrays(load_file(path), random).items()})
    )
    if random.random() < 0.8:  # under a name that fits
        path.unlink()
        number = random.choice((path.name[:8], "00000000", "99999999"))
        path = path.with_name(f"{number}-{hashlib.sha256(content).hexdigest()[:16]}.safetensors")
    path.write_bytes(content)


def damage_result(results, random):
    (path,) = files(results)
    if random.random() < 0.3:
        return path.write_bytes(damage_bytes(path.read_bytes(), random))
    body = damage_json(json.loads(gzip.decompress(path.read_bytes())), random)
    if random.random() < 0.8:
        body = {key: part for key, part in body.items() if key not in ("format", "checksum")}
        body = {"format": 2, "checksum": checksum(body), **body}
    return path.write_bytes(gzip.compress(json.dumps(body).encode()))


def damage_archive(path, random):
    """A .npz or .jax file. The archive's checksums are made to fit, so that what is behind them is reached; but not single
    bytes of a .jax file's program, for that is native code, and whoever runs it has trusted who made it."""
    if random.random() < 0.3:
        return path.write_bytes(damage_bytes(path.read_bytes(), random))
    with np.load(path) as file:
        arrays = dict(file)
    info = json.loads(str(arrays.pop("info")))
    if random.random() < 0.5:
        info = damage_json(info, random)
    else:
        arrays = damage_arrays(arrays, random)
    with path.open("wb") as file:  # a name of any suffix
        np.savez(file, info=np.array(json.dumps(info)), **arrays)


def damage_onnx(path, random):
    """Its metadata, its weights or its nodes: the format has no checksum."""
    if random.random() < 0.3:
        return path.write_bytes(damage_bytes(path.read_bytes(), random))
    model = onnx.load_model_from_string(path.read_bytes())
    graph, kind = model.graph, random.choice(("info", "weights", "nodes"))
    if kind == "info":
        onnx.helper.set_model_props(model, {KEY: json.dumps(damage_json(json.loads(model.metadata_props[0].value), random))})
    elif kind == "weights":
        arrays = damage_arrays({tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}, random)
        del graph.initializer[:]
        graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items())
    else:
        node, other = random.choice(graph.node), random.choice(graph.node)
        part = random.choice(("op_type", "input", "output", "remove", "twice"))
        if part == "remove":
            graph.node.remove(node)
        elif part == "twice":
            graph.node.append(node)
        elif part == "op_type":
            node.op_type = random.choice((other.op_type, "ConstantOfShape", "Unheard"))
        else:
            names = getattr(node, part)
            names[random.randrange(len(names))] = random.choice((*other.input, *other.output, "nothing"))
    return path.write_bytes(model.SerializeToString())


def damage_certificate(run, random):
    path = run / "certificate.json"
    if random.random() < 0.3:
        return path.write_bytes(damage_bytes(path.read_bytes(), random))
    return path.write_text(json.dumps(damage_json(json.loads(path.read_text()), random)))


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
