"""The README is short, in its order, and says what the package says."""

import re
import tomllib
from pathlib import Path

import yaml

from builders import load_example
from chorus.analysis.context import make_context
from chorus.analysis.findings import find_findings
from chorus.analysis.loading import load_runs, select_runs
from chorus.studies.evidence import FIRST_GAME

results = load_example("readme_results")
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_what_comes_first_comes_first() -> None:
    order = [
        *("# Chorus", "arxiv.org/abs/2405.04342", "demo.svg", "## Install and run", "report.png", "## Five commands"),
        *("## Results", "<!-- results:begin -->", "<!-- results:end -->", "it is not", "## Citation", "@inproceedings"),
    ]
    places = [README.index(words) for words in order]
    assert places == sorted(places)


def test_there_are_five_commands() -> None:
    block = README.split("## Five commands")[1].split("```")[1]
    assert len(re.findall(r"^chorus ", block, re.MULTILINE)) == len(block.strip().splitlines()) == 5


def test_what_is_said_of_cerl_is_what_its_runs_say() -> None:
    said = " ".join(README.split())
    assert "**CERL helps the members and does not close the gap**; on two other games a gain is not settled" in said
    assert "**on Breakout members are better than Double DQN**" in said and "the vote is worse with it" in said
    asterix = answers_in("minatar", env=FIRST_GAME)
    assert asterix["Does CERL help the members?"] == "yes"
    assert asterix["Is Bootstrapped DQN + CERL (indiv.) better than Double DQN?"] == "no"
    breakout, invaders = (answers_in("minatar", env=f"MinAtar/{game}-v1") for game in ("Breakout", "SpaceInvaders"))
    assert breakout["Is there a curse of diversity?"] == "no"
    assert {found["Does CERL help the members?"] for found in (breakout, invaders)} == {"unsettled"}
    assert answers_in("demo", "short")["Does CERL help the ensemble acting together? (Bootstrapped DQN)"] == "no"


def answers_in(*folders: str, env: str | None = None) -> dict[str, str]:
    """The verdicts of the runs in these folders of results/, or of those in one environment, by their questions."""
    dataset = load_runs([ROOT / "results" / folder for folder in folders])
    if env:
        dataset = select_runs(dataset, lambda run: run.env == env)
    return {finding.question: finding.verdict for finding in find_findings(make_context(dataset))}


def test_the_screenshot_is_small() -> None:
    picture = ROOT / "docs" / "figures" / "report.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and picture.stat().st_size < 300_000


def test_the_citation_is_that_of_the_paper_and_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    paper = citation["preferred-citation"]
    assert paper["url"] == PROJECT["urls"]["Paper"] and paper["title"] in README
    assert all(author["family-names"] in README for author in paper["authors"])


def test_the_results_are_those_of_the_runs_that_ship() -> None:
    block = README.split("<!-- results:begin -->\n")[1].split("<!-- results:end -->")[0]
    assert block == results.results(), "run `python examples/readme_results.py`"
