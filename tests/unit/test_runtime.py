"""Threads and device of a process, chosen before JAX computes anything."""

import subprocess
import sys

import pytest

from running import environment

# There is no GPU here: JAX's answer is what one would make it, and the rest is real.
WITH_A_GPU = """
import jax
jax.default_backend = lambda: "gpu"
from chorus.config.schema import Runtime
from chorus.runs.runtime import prepare
prepare(Runtime(threads=1, device="gpu"))
print(repr(jax.config.jax_platforms))
"""


@pytest.mark.slow
def test_of_a_gpu_no_brand_is_asked_for():
    """JAX refuses a list of platforms of which one is not installed, and nobody has all of them."""
    done = subprocess.run(
        [sys.executable, "-c", WITH_A_GPU], capture_output=True, text=True, env=environment(JAX_PLATFORMS="cpu")
    )
    assert (done.stdout.strip(), done.returncode) == ("''", 0), done.stderr


@pytest.mark.slow
def test_freed_memory_that_the_heap_keeps_is_given_back():
    """300 MB that were written and freed; in a process of its own, because the heap's settings cannot be set back."""
    code = """
import gc, numpy as np
from pathlib import Path
from chorus.runs.runtime import keep_heap, trim_heap
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
keep_heap()
arrays = [np.ones(2**17) for _ in range(300)]
del arrays
gc.collect()
kept = resident()
trim_heap()
print(kept - resident())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 250
