"""What holds for every test: one CPU thread, one compilation cache, checked shapes, few examples of random tests."""

import atexit
import gc
import os
import shutil
import tempfile

# XLA reads these once, when it starts: before anything imports jax. Networks here are tiny, so compiling them costs
# more than running them: code is not optimised, which takes a quarter of the time.
FAST_TO_COMPILE = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
os.environ["NPROC"] = "1"
# Threads of numpy's own linear algebra wait by computing, which takes more than the decomposition of a small matrix.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
# `chorus.train` trains here unless a test asks for a process, which would have to import and compile everything.
os.environ["CHORUS_IN_PROCESS"] = "1"
os.environ.setdefault("XLA_FLAGS", FAST_TO_COMPILE)
# Every operation of a program would be told its whole stack of calls, a hundred deep: a tenth of a run's time.
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")
# Ray gives its workers the lowest priority, and so no time while other tests compute.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112

# Every program is compiled once per test session: the workers of pytest-xdist and all processes that tests start
# inherit these variables. Whoever has a cache of their own keeps it, from session to session.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    compiled = os.environ["JAX_COMPILATION_CACHE_DIR"] = tempfile.mkdtemp(prefix="chorus-compiled-")
    atexit.register(shutil.rmtree, compiled, ignore_errors=True)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
# Runs that several tests read are made once per session, too (`running.made_once`).
if "CHORUS_TEST_RUNS" not in os.environ:
    runs = os.environ["CHORUS_TEST_RUNS"] = tempfile.mkdtemp(prefix="chorus-test-runs-")
    atexit.register(shutil.rmtree, runs, ignore_errors=True)
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

import shared_programs  # noqa: E402

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


# Files whose tests take longest, by waiting for processes and clusters: begun last, one of them would be waited for.
LONGEST = (
    "scheduling/test_slurm_cluster.py",
    "scheduling/test_ray_engine.py",
    "scheduling/test_slurm_engine.py",
    "repro/test_atari_killed.py",
    "repro/test_killed.py",
    "torture/test_campaign.py",
)


def pytest_itemcollected(item: pytest.Item) -> None:
    """`make check` leaves out what is slow, and so what is long."""
    if item.get_closest_marker("long"):
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.partition("::")[0].endswith(LONGEST))


def pytest_collection_finish() -> None:
    """Tracing makes many objects that live long: do not look through all modules and tests again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_runtest_setup(item: pytest.Item) -> None:
    # A test about runs with more threads may have set it before JAX started.
    os.environ["NPROC"] = "1"
    shared_programs.share(allowed="monkeypatch" not in getattr(item, "fixturenames", ()))
