"""The page about the shipped runs, the manifest and the package's data are what their script writes from results/."""

import json
import re
import shutil
from pathlib import Path

import pytest

from builders import load_example
from chorus.analysis.loading import load_runs
from chorus.analysis.members import RANK
from chorus.cli.list import covered
from chorus.runs.published import published_runs
from chorus.scheduling.jobs import jobs_for, jobs_of
from chorus.studies.evidence import find_stages
from chorus.studies.table import find_study
from small_jobs import write_finished

page = load_example("results_page")
MOST_BYTES = 25_000_000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the script writes from a copy of results/."""
    folder = tmp_path_factory.mktemp("results_page")
    shutil.copytree(page.RESULTS, folder / "results")
    for name in ("docs/figures", "package"):
        (folder / name).mkdir(parents=True)
    page.write(folder / "results", folder / "docs", folder / "package")
    return folder


@pytest.mark.slow
def test_the_page_the_manifest_and_the_data_come_from_the_runs(written: Path) -> None:
    pairs = {
        written / "docs" / "results.md": page.DOCS / "results.md",
        written / "results" / "manifest.json": page.RESULTS / "manifest.json",
        written / "results" / "README.md": page.RESULTS / "README.md",
        written / "package" / "evidence.json": page.PACKAGE / "evidence.json",
    }
    for made, shipped in pairs.items():
        assert made.read_text() == shipped.read_text(), "run `python examples/results_page.py`"


@pytest.mark.slow
def test_the_figures_of_the_page_come_from_the_runs(written: Path) -> None:
    made, shipped = (
        {path.name: path for path in (folder / "figures").glob("results-*.svg")}
        for folder in (written / "docs", page.DOCS)
    )
    assert sorted(made) == sorted(shipped), "run `python examples/results_page.py`"
    for name, path in made.items():
        # Not byte for byte: fonts and versions of matplotlib differ between machines.
        texts = [re.findall(r"<!-- (.*?) -->", one.read_text()) for one in (path, shipped[name])]
        assert texts[0] == texts[1], "run `python examples/results_page.py`"


def test_what_ships_is_small_and_complete() -> None:
    files = [path for path in page.RESULTS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    runs = published_runs(page.RESULTS)
    assert len(runs) == json.loads((page.RESULTS / "manifest.json").read_text())["runs"]
    for run in runs.values():
        assert {"config.json", "meta.json", "status.json", "metrics.jsonl.gz"} <= {path.name for path in run.iterdir()}


@pytest.mark.slow
def test_the_list_of_studies_counts_what_ships(tmp_path: Path) -> None:
    runs = set(published_runs(page.RESULTS))
    for name in ("exploration", "figure2", "hyperparameters"):
        study, known = find_study(name), {}
        jobs = [job for part in study.parts for job in jobs_of(part, "laptop", tmp_path, known=known)]
        there, total = sum(job.name in runs for job in jobs), len(jobs)
        expected = "-" if not there else "all" if there == total else str(there)
        assert covered(study, tmp_path, "laptop", known) == expected
    assert covered(find_study("exploration"), tmp_path, "laptop", {}) != "-"
    assert covered(find_study("exploration"), tmp_path, "smoke", {}) == "-"


@pytest.mark.slow
def test_a_page_of_a_small_campaign_has_every_part(tmp_path: Path) -> None:
    """Three seeds of the main runs in two games, with members better and worse than the single agent."""
    levels = {"double-dqn": 10.0, "bootstrapped-dqn": 6.0, "cerl": 8.0, "tandem": 9.0}
    (stage,) = find_stages(["games"])
    for job in jobs_for(stage.requests(), tmp_path / "results" / stage.folder):
        config = job.config
        if config.seed < 3 and config.env.id in stage.envs[:2]:
            write_finished(job, levels[config.preset] + 0.1 * config.seed)
            log = job.path / "metrics.jsonl"
            rows = [json.loads(line) for line in log.read_text().splitlines()]
            rank = {**rows[-1], "metric": RANK.metric, "value": 60.0 + levels[config.preset] + 0.1 * config.seed}
            log.write_text("".join(json.dumps(row) + "\n" for row in [*rows, rank]))
    (tmp_path / "docs" / "figures").mkdir(parents=True)
    page.write(tmp_path / "results", tmp_path / "docs", tmp_path)
    text = (tmp_path / "docs" / "results.md").read_text()
    assert "24 runs so far at the **laptop scale**" in text
    assert re.search(r"### Agrees with the paper\n\n- \*\*1\.\*\* Members of Bootstrapped DQN are worse", text)
    compared = "Bootstrapped DQN + CERL (indiv.) − Bootstrapped DQN (indiv.)"
    assert f"| Does CERL help the members? | {compared} | MinAtar/Asterix-v1 | **yes** | +2.00" in text
    assert re.search(
        r"- \*MinAtar/Asterix-v1\*: return of members \*\*higher\*\*, \+2\.00 .*; effective rank rises", text
    )
    assert "| games | effective rank | CERL − plain, members | **rises** | 68.1 | 66.1 |" in text
    assert "![" in text and (tmp_path / "docs" / "figures" / "results-dqn-environments.svg").exists()
    assert text.count("not run**") > 20
    answers = json.loads((tmp_path / "evidence.json").read_text())["answers"]
    assert {tuple(answer["environments"]) for answer in answers} >= {("MinAtar/Asterix-v1",), tuple(stage.envs[:2])}
    assert len(load_runs([tmp_path / "results"]).runs) == 24


def test_settings_are_written_as_readers_expect_them() -> None:
    assert [page.shown(value) for value in (36_000, [32, 16], 2.5e-4, "adam")] == [
        "36,000",
        "32, 16",
        "0.00025",
        "adam",
    ]
