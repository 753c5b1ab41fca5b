"""A folder with several folders of published runs: a page for each, and an index that links them."""

import re
from pathlib import Path

import pytest
from synthetic_runs import write_study

from chorus.analysis.findings import Summary
from chorus.analysis.loading import load_runs
from chorus.analysis.report import split_by_folder, write_report
from chorus.cli.main import main
from chorus.many_runs import report
from chorus.runs.published import publish, published_folders

GAME, TASK = "MinAtar/Asterix-v1", "CartPole-v1"
SHORT = {"iterations": 5, "iteration_steps": 20_000}
USUAL = {"iterations": 25, "iteration_steps": 20_000}
ODD = "odd & <b>"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seeds of four algorithms in a game, and of single agents in a task under a name that must be escaped."""
    parent = tmp_path_factory.mktemp("folders")
    made = {
        "minatar": write_study(parent / "a", envs=(GAME,), seeds=3, **USUAL),
        ODD: write_study(parent / "b", presets=("double-dqn",), envs=(TASK,), seeds=3, **SHORT),
    }
    for name, runs in made.items():
        for run in sorted(runs.iterdir()):
            publish(run, parent / "shipped" / name)
    return parent / "shipped"


@pytest.fixture(scope="module")
def index(shipped: Path, tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return write_report([shipped], tmp_path_factory.mktemp("pages") / "report.html")


def test_only_published_runs_in_several_folders_are_split(shipped: Path, tmp_path: Path) -> None:
    assert set(split_by_folder(load_runs([shipped]), [shipped])) == {"minatar", ODD}
    one = shipped / "minatar"
    assert split_by_folder(load_runs([one]), [one]) == {}
    both = [one, shipped / ODD]
    assert split_by_folder(load_runs(both), both) == {}
    runs = sorted(shipped.glob("*/*"))
    own = write_study(tmp_path / "own", presets=("double-dqn",), envs=(TASK,), seeds=1)
    assert published_folders(shipped, runs) and not published_folders(shipped, [*runs, *own.iterdir()])


def test_every_folder_has_a_page_of_its_own_runs(index: Summary) -> None:
    assert index.out is not None and index.runs == 15
    pages = {path.name: path.read_text(encoding="utf-8") for path in index.out.parent.iterdir()}
    assert set(pages) == {"report.html", "report-minatar.html", f"report-{ODD}.html"}
    assert TASK not in pages["report-minatar.html"] and GAME not in pages[f"report-{ODD}.html"]
    assert "Asterix" in pages["report-minatar.html"] and "12 runs of 4 algorithms" in pages["report-minatar.html"]


def test_the_index_links_pages_and_says_their_answers_and_the_claims(index: Summary) -> None:
    assert index.out is not None
    text = index.out.read_text(encoding="utf-8")
    links = re.findall(r'<h2><a href="([^"]+)">([^<]+)</a>', text)
    assert links == [
        ("report-minatar.html", "minatar"),
        ("report-odd%20%26%20%3Cb%3E.html", "odd &amp; &lt;b&gt;"),
    ]
    assert "<b>" not in text and "default-src 'none'" in text and not re.search(r'(src|href)="https?:', text)
    assert f"12 runs of 4 algorithms in {GAME}, 3 seeds each, 500k agent steps per run." in text
    assert f"3 runs of 1 algorithm in {TASK}, 3 seeds each, 100k agent steps per run." in text
    minatar = text[text.index("folder-1") : text.index("folder-2")]
    assert re.search(
        r"Is there a curse of diversity\?</td><td[^>]*>yes</td><td[^>]*>-[\d.]+</td><td[^>]*>-[\d.]+ to -", minatar
    )
    assert "No plain ensemble was run beside Double DQN." in text[text.index("folder-2") :]
    assert "Members of Bootstrapped DQN are worse than Double DQN" in text[text.index('id="claims"') :]
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {finding.question.partition(":")[0] for finding in index.findings} == {"minatar", ODD}
    assert index.asked == ""


@pytest.mark.slow
def test_the_command_says_each_page_and_what_to_open(shipped: Path, tmp_path: Path, capsys, index: Summary) -> None:
    out = tmp_path / "all.html"
    assert main(["report", str(shipped), "-o", str(out), "--export", str(tmp_path / "data")]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[:2] == [
        "page 1 of 2: all-minatar.html, 12 runs",
        f"page 2 of 2: all-{ODD}.html, 3 runs",
    ]
    assert said.out.endswith(f"index: {out}\nnext: open {out} in a browser\n")
    assert (tmp_path / "data" / "minatar" / "long.csv").exists() and out.exists()
    summary = report(shipped, tmp_path / "python.html")
    assert (tmp_path / "python-minatar.html").exists() and len(summary.findings) == len(index.findings)


def test_runs_beside_several_pages_are_refused(shipped: Path, tmp_path: Path, capsys) -> None:
    assert main(["report", str(shipped), "--beside", str(shipped), "-o", str(tmp_path / "x.html")]) == 2
    assert f"give one of them, such as {shipped / 'minatar'}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
