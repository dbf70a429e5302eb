"""JAX runs on one thread, however it is started."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="threads are listed in /proc")
def test_train_runs_jax_on_one_thread_as_resume_does():
    """Settings are read before training begins: reading them must not start JAX another way."""
    code = """if True:
        import glob, os, sys
        from cuprl.cli import main
        main(sys.argv[1:])
        import jax.numpy
        jax.numpy.ones((500, 500)).sum().block_until_ready()
        names = [open(file).read().strip() for file in glob.glob("/proc/self/task/*/comm")]
        print(names.count("tf_XLAEigen"), os.environ.get("NPROC"), os.environ["XLA_FLAGS"])
    """
    command = [sys.executable, "-c", code, "train", "hoper-speed"]
    environment = {**os.environ, "NPROC": "7"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    # XLA's threads; the variable that sets their number, as it was; and the flags of this process, by which the cache goes
    assert shown.split() == ["1", "7", *os.environ["XLA_FLAGS"].split()]
