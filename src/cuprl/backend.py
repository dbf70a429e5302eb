"""How JAX is set up before it starts: one thread, and compiled programs kept on disk.

Import JAX through this module first. Networks this small gain nothing from threads, and one thread gives the same bits
on every machine size; several runs on one machine then share its cores without getting in each other's way.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ours = "jax" not in sys.modules  # a program that set JAX up itself keeps its own choice
threads = os.environ.get("NPROC")
if ours:
    flags = (*os.environ.get("XLA_FLAGS", "").split(), "--xla_cpu_multi_thread_eigen=false")
    os.environ["XLA_FLAGS"] = " ".join(dict.fromkeys(flags))  # each once, in child processes too: the cache goes by them
    os.environ["NPROC"] = "1"  # all that sets the size of XLA's thread pool: by it sums over a whole batch are cut up
    os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402

if ours:
    jax.devices()  # makes the pool; nothing that is started later need inherit NPROC
    if threads is None:
        del os.environ["NPROC"]
    else:
        os.environ["NPROC"] = threads

if not getattr(jax.config, "jax_compilation_cache_dir", None):
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "cuprl" / "xla"
    jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)  # small ones add up: a second of each start
    jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
