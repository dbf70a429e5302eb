"""Files of the repository that are no part of the package, as modules: tools and examples."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def script(path):
    """The module of a file, run anew: script("tools/zoo.py")."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
