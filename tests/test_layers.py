"""The folders of the package are layers: each imports only what lies below it, wherever the import stands."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import cuprl

ROOT = Path(cuprl.__file__).parent

# Each line may import those above it; what stands on one line are strangers to each other.
LAYERS = [
    ["errors", "backend"],
    ["core"],
    ["theory"],
    ["envs"],
    ["learn"],
    ["algorithms"],
    ["runs"],
    ["policies"],
    ["training"],
    ["measure", "film"],
    ["experiments.grid"],
    ["experiments.store"],
    ["experiments.engines", "experiments.report"],
    ["experiments.tuning"],
    ["pages"],
    ["cli"],
    ["__init__", "__main__"],
]
# Some lines are narrower than that.
NOT = {
    "core": ["backend"],
    "theory": ["backend"],
    "envs": ["backend"],
    "learn": ["theory", "envs"],
    "algorithms": ["theory", "envs"],
}
# Packages of others that a layer may import beside the standard library; the other layers are free.
OUTSIDE = {
    "errors": [],
    "core": ["numpy"],
    "core.registration": ["gymnasium"],  # `import cuprl` runs it
    "theory": ["numpy", "scipy"],
}


def module_of(path):
    """'envs.mujoco.env'; of a package itself 'envs', of cuprl itself '__init__'."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


SOURCES = {module_of(path): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}


def imports(tree):
    """Every module that a source names in an import, lazy and type-only ones too; ours without the 'cuprl.' in front."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            while top == "cuprl" and rest not in SOURCES and rest:  # a function, or a class: of the module before it
                rest = rest.rpartition(".")[0]
            yield (top, (rest or "__init__") if top == "cuprl" else rest)


def ours(module):
    return {name for top, name in imports(SOURCES[module]) if top == "cuprl"}


def layer(module):
    """Where in LAYERS a module lies: (line, name)."""
    for line, names in enumerate(LAYERS):
        for name in names:
            if f"{module}.".startswith(f"{name}."):
                return line, name
    raise AssertionError(f"{module} lies in no layer")


def test_imports_go_down():
    wrong = []
    for module in SOURCES:
        for imported in ours(module) - {"__init__"}:  # of cuprl itself: its version
            (line, name), (below, other) = layer(module), layer(imported)
            if not (below < line or other == name) or other in NOT.get(name, []):
                wrong.append(f"{module} imports {imported}")
    assert not wrong


def test_no_module_imports_itself_by_a_detour():
    inner = {module: ours(module) - {"__init__"} for module in SOURCES if module != "__init__"}
    try:
        TopologicalSorter(inner).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_lower_layers_need_few_packages():
    wrong = []
    for module in SOURCES:
        allowed = OUTSIDE.get(module, OUTSIDE.get(module.partition(".")[0]))
        outside = {top for top, _ in imports(SOURCES[module])} - {"cuprl"} - sys.stdlib_module_names
        if allowed is not None and not outside <= set(allowed):
            wrong.append(f"{module} imports {', '.join(sorted(outside))}")
    assert not wrong


def test_only_these_are_loose():
    loose = {path.stem for path in ROOT.glob("*.py")}
    assert loose == {"errors", "backend", "__init__", "__main__"}


def loaded_by(code):
    script = f"import sys; {code}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split())


def test_an_algorithm_needs_no_physics():
    assert not loaded_by("import cuprl.algorithms.cup") & {"mujoco", "cuprl.envs"}


def test_importing_cuprl_is_light():
    assert not loaded_by("import cuprl, cuprl.cli") & {"jax", "mujoco", "scipy", "matplotlib", "rich"}
