import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

from cuprl import backend  # noqa: F401  (JAX set up as the package does, before a test imports it)
