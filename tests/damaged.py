"""Damage at random to each kind of file that cuprl keeps: its bytes, or what it says, behind its checksum too."""

import copy
import gzip
import hashlib
import json

import numpy as np
import onnx
from safetensors.numpy import load_file, save

from cuprl.experiments.store.results import checksum
from cuprl.experiments.store.stored import files
from cuprl.policies.deployed import KEY
from cuprl.runs.folder import Run
from cuprl.runs.provenance import fingerprint

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
