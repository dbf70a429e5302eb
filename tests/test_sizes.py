"""Small files that would fill the memory: each is refused in a sentence, and before it is unpacked."""

import gzip
import hashlib
import io
import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.experiments.store.results import LARGEST, read
from cuprl.runs.checkpoint import read_checkpoint
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run

MEGABYTE = 2**20


@pytest.fixture
def little_memory():
    """What a test takes at most, of what Python and NumPy count: far less than the bomb would."""
    tracemalloc.start()
    yield
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5 * LARGEST


def zeros_packed(megabytes):
    """Gzip of so many megabytes of zeros, a thousandth of the size: members of one file, one after the other."""
    return gzip.compress(bytes(MEGABYTE), 9) * megabytes


def test_a_result_that_unpacks_without_end(tmp_path, little_memory):
    path = tmp_path / "hopper-speed-cup-seed0-0123456789abcdef.json.gz"
    path.write_bytes(zeros_packed(6000))
    assert path.stat().st_size < 7 * MEGABYTE
    with pytest.raises(UserError, match=r"more than the 33,554,432 of any such file"):
        read(path)


def npy(shape, content=b""):
    """An array's file whose header promises a shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + content


def test_a_policy_whose_array_promises_a_terabyte(tmp_path, little_memory):
    path = tmp_path / "policy.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weight0.npy", npy((2**37,)))
    with pytest.raises(UserError, match=r"weight0.npy says it has \[137438953472\] numbers, and has not"):
        cuprl.load(path)


def test_a_policy_that_unpacks_to_more_than_any(tmp_path, monkeypatch):
    monkeypatch.setattr("cuprl.policies.checks.LARGEST_FILE", 16 * MEGABYTE)  # a gigabyte takes seconds to pack
    path = tmp_path / "policy.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive, archive.open("a.npy", "w") as member:
        member.write(npy((20 * MEGABYTE // 8,), bytes(20 * MEGABYTE)))
    assert path.stat().st_size < MEGABYTE / 10
    with pytest.raises(UserError, match=r"it would take 20,971,648 bytes, more than the 16,777,216 of any policy"):
        cuprl.load(path)


@pytest.mark.parametrize(
    "header, length",
    [
        ({"x": {"dtype": "F64", "shape": [2**37], "data_offsets": [0, 2**40]}}, None),
        ({}, 2**40),
    ],
)
def test_a_checkpoint_whose_header_promises_a_terabyte(header, length, tmp_path, little_memory):
    text = json.dumps(header).encode()
    content = (length or len(text)).to_bytes(8, "little") + text
    path = tmp_path / f"00000001-{hashlib.sha256(content).hexdigest()[:16]}.safetensors"
    path.write_bytes(content)
    with pytest.raises(UserError, match="is damaged"):
        read_checkpoint(path)


@pytest.mark.parametrize("name", ["config.json", "progress.csv", "checkpoints/00000003-0123456789abcdef.safetensors"])
def test_a_file_of_a_run_that_is_too_large(name, tmp_path, little_memory):
    run = Run.create(tmp_path / "r", RunConfig("x", "y", steps=1, limits={}, settings={"batch_size": 1}))
    (run.path / name).touch()
    os.truncate(run.path / name, 2**40)  # takes no room on the disk
    reader = {"config.json": lambda: Run(run.path), "progress.csv": run.progress}.get(name, run.latest)
    with pytest.raises(UserError, match=r"would take 1,099,511,627,776 bytes, more than"):
        reader()


def test_an_onnx_file_that_is_too_large(tmp_path, little_memory):
    (tmp_path / "policy.onnx").touch()
    os.truncate(tmp_path / "policy.onnx", 2**40)
    with pytest.raises(UserError, match=r"would take 1,099,511,627,776 bytes, more than"):
        cuprl.load(tmp_path / "policy.onnx")
