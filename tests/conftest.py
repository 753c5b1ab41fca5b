"""What holds for every test: one CPU thread, shapes checked at run time, and few examples of random tests."""

import os

# XLA reads both once, when it starts: before anything imports jax.
os.environ["NPROC"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# Every array annotation of these packages becomes an assertion, for every call any test makes.
CHECKED = ("ensemble", "networks", "agents", "replay", "training")
install_import_hook([f"chorus.{package}" for package in CHECKED], "beartype.beartype")

# Derandomised: a red test is red again tomorrow. Without a deadline: the first example may compile.
settings.register_profile(
    "chorus",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("chorus")
