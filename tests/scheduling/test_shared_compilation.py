"""Runs of one local engine share what was compiled, in a folder that ends with the engine."""

from pathlib import Path

from chorus.scheduling.engines.local import LocalEngine, _environment
from small_jobs import small_jobs


def test_the_folder_ends_with_the_engine():
    engine = LocalEngine(1)
    folder = Path(engine._compiled.name)
    assert folder.is_dir()
    engine.stop()
    assert not folder.exists()
    engine.stop()  # stopping twice does no harm


def test_who_has_a_cache_keeps_it(tmp_path, monkeypatch):
    (job,) = small_jobs(tmp_path, seeds=1)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    assert _environment(job, None, "shared")["JAX_COMPILATION_CACHE_DIR"] == "shared"
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "mine")
    assert _environment(job, None, "shared")["JAX_COMPILATION_CACHE_DIR"] == "mine"
