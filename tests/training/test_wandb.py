"""Weights & Biases, offline: the real package writes what progress.csv has."""

import json
import struct
import sys
import time

import numpy as np
import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.runs.folder import Run
from cuprl.training.train import resume, train
from small import FLAGS, SMALL

wandb = pytest.importorskip("wandb", reason="pip install 'cuprl[wandb]'")


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    wandb.teardown()  # it keeps the environment that it saw first


def records(content):
    """The records of a .wandb file: LevelDB's log format, blocks of 32 kB, behind seven bytes of its own."""
    at, parts = 7, b""
    while at + 7 <= len(content):
        if 2**15 - at % 2**15 < 7:  # the rest of a block is left empty
            at += 2**15 - at % 2**15
            continue
        _, length, kind = struct.unpack("<IHB", content[at : at + 7])
        parts += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield parts
            parts = b""


def logged(run):
    """The rows in the files of a run, in the order of the files."""
    from wandb.proto import wandb_internal_pb2

    wandb.teardown()  # as at the end of a process: what writes the files has ended
    rows = []
    for file in sorted((run.path / "wandb").glob("offline-run-*/*.wandb")):
        for content in records(file.read_bytes()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(content)
            if record.HasField("history"):
                items = record.history.item
                rows.append({item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


def test_the_same_columns_also_after_a_stop(tmp_path):
    stop = lambda row, view: view.iteration < 2  # noqa: E731
    run = train("hopper-speed", steps=800, out=tmp_path / "r", wandb=True, on_iteration=stop, **SMALL)
    time.sleep(1.0)  # it names its folders by the second
    resume(run)
    rows, progress = logged(run), run.progress()
    assert len(rows) == 4 and set(progress) <= set(rows[0])
    for name, column in progress.items():
        np.testing.assert_array_equal([float(row[name]) for row in rows], column, err_msg=name)  # it writes NaN as a word
    files = list((run.path / "wandb").glob("offline-run-*/*.wandb"))
    assert len(files) == 2 and len({file.name for file in files}) == 1  # two parts of one W&B run


def test_what_is_missing_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "online")
    for name in ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    words = ["train", "hopper-speed", "--wandb", "--steps", "400", "--out", str(tmp_path / "r"), *FLAGS]
    assert main(words) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "run `wandb login`, or set WANDB_MODE=offline" in said and f"cup resume {tmp_path / 'r'}" in said
    wandb.teardown()  # another process, another environment
    monkeypatch.setenv("WANDB_MODE", "offline")
    assert main(["resume", str(tmp_path / "r")]) == 0 and len(logged(Run(tmp_path / "r"))) == 2
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UserError, match=r"pip install 'cuprl\[wandb\]'"):
        train("hopper-speed", steps=400, out=tmp_path / "without", wandb=True, **SMALL)
    assert not (tmp_path / "without").exists()


def test_a_strange_name_is_refused(tmp_path):
    run = train("hopper-speed", steps=200, out=tmp_path / "r", wandb=True, **SMALL)
    (run.path / "wandb-id").write_text("../up")
    with pytest.raises(UserError, match="wandb-id is no name"):
        resume(run)
