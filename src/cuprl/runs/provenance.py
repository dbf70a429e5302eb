"""What made a run: its configuration, the packages, the code it names, the commit, the machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cuprl import algorithms
from cuprl.core.encoder import NO_ENCODER, module_of
from cuprl.errors import UserError
from cuprl.runs import files
from cuprl.runs.config import RunConfig, identity_of
from cuprl.runs.config_checks import KINDS, check_configuration

LARGEST_CONFIG = 2**24  # bytes of a config.json


def facts(config: RunConfig) -> dict[str, Any]:
    """Gather what config.json says beside the configuration itself."""
    made = {"versions": versions(), "machine": machine(), "git": git_commit()}
    return {**made, "hash": fingerprint(config.to_json()), "sources": sources(config.to_json())}


def versions() -> dict[str, str]:
    """Gather the versions that a run's bits may depend on."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("cuprl", "jax", "jaxlib", "optax", "mujoco", "gymnasium", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def git_commit() -> str | None:
    """Find the commit of the source tree cuprl runs from, if it is one; with -dirty where files differ from it."""
    here = Path(__file__)

    def git(*words: str) -> str:
        command = ["git", "-C", str(here.parent), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)  # an installed cuprl may lie in another project's folder
        return git("describe", "--always", "--abbrev=40", "--dirty", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None


def machine() -> dict[str, Any]:
    """Gather what the seconds of a run depend on, and its bits, and nothing that tells whose machine it is."""
    return {"system": f"{platform.system()} {platform.machine()}", "cpu": processor(), "cores": os.cpu_count()}


def processor() -> str:
    """Name the processor; Linux on x86 knows more than its name, which one maker gives to several generations."""
    with suppress(OSError, KeyError):
        pairs = (line.partition(":")[::2] for line in Path("/proc/cpuinfo").read_text().splitlines())
        said = {name.strip(): value.strip() for name, value in pairs}
        return f"{said['model name']} (family {said['cpu family']}, model {said['model']})"
    return platform.processor()


# --- the configuration ------------------------------------------------------------------------------------------------


def fingerprint(config: dict[str, Any]) -> str:
    """Give the 16 hex digits by which a change of a config.json is seen."""
    text = json.dumps(plain(identity_of(config)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(value: Any) -> Any:
    """Turn a value into what JSON has for it, with 2.0 and 2 the same number."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read_config(folder: Path) -> dict[str, Any]:
    """Read the config.json of a run's folder; what is damaged, or no run's, is refused."""
    try:
        config = json.loads(files.read(folder / "config.json", LARGEST_CONFIG))
    except UserError:
        raise
    except (ValueError, RecursionError) as error:  # not JSON, or not text
        raise UserError(f"{folder / 'config.json'} is not readable JSON ({error}); restore it.") from None
    refuse_foreign(folder, config)
    return config


def refuse_foreign(path: Path, config: Any) -> None:
    """Refuse a config.json that is not a run's: some program writes a file of that name nearly everywhere."""
    try:
        check_configuration(config)
        if "versions" not in config:
            raise UserError("has no versions: it is not a run's")
    except UserError as error:
        raise UserError(f"{path / 'config.json'} {error}; restore it, or train the run again.") from None


def refuse_altered(path: Path, config: dict[str, Any]) -> None:
    """Refuse a config.json that was changed: a run's numbers would stand under false settings. Old ones have no hash."""
    if config.get("hash") not in (None, fingerprint(config)):
        raise UserError(
            f"{path / 'config.json'} was changed since the run began: its {', '.join(KINDS)} do not fit its hash; "
            "restore it, or train the run again."
        )


# --- the code it names ------------------------------------------------------------------------------------------------


def modules_of(task: str, algo: str, encoder: str = NO_ENCODER) -> list[str]:
    """Find the modules that these names name: of algorithm and encoder, of costs, those that register an environment."""
    from cuprl.algorithms import OWN
    from cuprl.envs.gymnasium.name import PREFIX, parse_name

    named = [algo.removeprefix(OWN)] if algo.startswith(OWN) else []
    named += [home] if (home := module_of(encoder)) else []
    if task.startswith(PREFIX):
        try:
            arguments = parse_name(task)
        except UserError:  # the name of a task made in Python, which only looks like one
            return named
        sources = [*arguments.get("costs", {}).values(), arguments["env"]]  # an id, too, may be MODULE:ID
        homes = [home for home, colon, _ in (source.partition(":") for source in sources) if colon and home != "info"]
        named += [*arguments["imports"], *homes]
    return list(dict.fromkeys(named))


def sources(config: dict[str, Any]) -> dict[str, str]:
    """Take the sha256 of the source file of each imported module that a config.json, or a policy's info, names."""
    encoder = config.get("encoder") or config.get("settings", {}).get("encoder") or NO_ENCODER
    found = {}
    for name in modules_of(config["task"], config["algo"], encoder):
        file = getattr(sys.modules.get(name), "__file__", None)
        with suppress(OSError):
            if file is not None:
                found[name] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return found


def changed_sources(config: dict[str, Any]) -> list[str]:
    """Find the modules imported here whose source is not the one that a config.json, or a policy's info, recorded."""
    recorded, now = config.get("sources"), sources(config)
    if not isinstance(recorded, dict):  # from before they were recorded
        return []
    return [name for name, source in now.items() if recorded.get(name, source) != source]


def changes(config: dict[str, Any]) -> str | None:
    """Say which packages, own modules and algorithm of a config.json are not what they were when its run began."""
    now, algo = versions(), config["algo"]
    changed = [name for name, old in config["versions"].items() if now.get(name) != old] + changed_sources(config)
    if not processor().startswith(str((config.get("machine") or {}).get("cpu", ""))):  # an old run has its name alone
        changed.append("the processor")  # programs are compiled for it
    if config.get("numerics") != algorithms.numerics(algo):  # old files have none
        changed.append(f"the algorithm {algo}")
    return f"{', '.join(changed)} changed since this run began: it continues, but not bit for bit." if changed else None
