"""The page as text: self-contained, escaped, repeatable; and the command that writes it."""

import argparse
import html.parser
import re
from pathlib import Path

import pytest
from synthetic_runs import SyntheticRun, write_study

from chorus.analysis.report import write_report
from chorus.cli import report as command
from chorus.errors import ChorusError

NASTY = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("study")
    write_study(folder / "runs", seeds=2)
    return write_report([folder / "runs"], folder / "report.html").out.read_text()


class Outline(html.parser.HTMLParser):
    """Collects tags, ids and what would make a browser fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.fetches: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "action", "data") and not (value or "").startswith("#"):
                self.fetches.append(f"{tag} {name}={value}")


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    return found


@pytest.mark.slow
def test_the_page_fetches_nothing(page: str) -> None:
    found = outline(page)
    assert found.fetches == []
    assert "link" not in found.tags and "img" not in found.tags and "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    assert "default-src 'none'" in page


@pytest.mark.slow
def test_ids_are_unique(page: str) -> None:
    ids = outline(page).ids
    assert len(ids) == len(set(ids))


def test_the_aggregate_comes_first_then_the_answers_and_everything_is_there(page: str) -> None:
    order = ["overall", "summary", "environments", "contrasts", "inside", "diagrams", "comparisons", "scores"]
    order += ["claims", "how"]
    places = [page.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    stated = "Student-t intervals over seeds (measured coverage"
    for words in ("IQM", "95 %", stated, "2 seeds", "Bootstrap seed 0", "jax", "Download as CSV"):
        assert words in page


def test_the_page_names_paper_command_and_cost_and_explains_its_words_first(page: str) -> None:
    header = page[page.index("<header") : page.index("</header>")]
    assert "The Curse of Diversity in Ensemble-Based Exploration" in header
    assert "<code>chorus train</code>" in header and "11.52M agent steps" in header  # 24 runs of 480k steps
    for word in ("indiv.", "agg.", "p%-tandem", "CERL"):
        assert f"<dt>{word}</dt>" in header
    assert page.index("<dt>indiv.</dt>") < page.index("(indiv.)")


@pytest.mark.slow
def test_the_same_runs_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    write_study(tmp_path / "runs", seeds=2, envs=("CartPole-v1",), presets=("double-dqn", "cerl"))
    texts = [
        write_report([tmp_path / "runs"], tmp_path / f"{n}.html", seed=seed).out.read_bytes()
        for n, seed in enumerate((3, 3, 4))
    ]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.slow
def test_text_from_runs_stays_text(tmp_path: Path) -> None:
    for seed in range(2):
        SyntheticRun(
            preset=NASTY,
            env=f"Evil{NASTY}-v0",
            identity={"title": NASTY, "group": NASTY, "settings": {NASTY: {"value": seed, "label": f"{NASTY}{seed}"}}},
            seed=seed,
            state="failed",
            reason=f'{NASTY} & "quotes"',
            name=f"<script>-{seed}",
            level={"individual": 3.0, f"p{NASTY.replace('/', '')}": 2.0},
        ).write(tmp_path)
    text = write_report([tmp_path], tmp_path / "report.html", title=NASTY).out.read_text()
    assert NASTY not in text and "<script>-0" not in text
    assert "&lt;script&gt;alert" in text
    # one script of the page and one data block per figure
    assert text.count("<script>") == 1
    assert outline(text).tags.count("script") == 1 + text.count('<script type="application/json">')


def test_one_seed_one_environment_one_algorithm_still_makes_a_report(tmp_path: Path) -> None:
    SyntheticRun(iterations=1, state="running").write(tmp_path / "runs")
    summary = write_report([tmp_path / "runs"], tmp_path / "deep" / "report.html")
    assert summary.out.exists() and summary.runs == 1


@pytest.mark.slow
def test_odd_characters_do_not_break_figures(tmp_path: Path) -> None:
    for seed in range(2):
        SyntheticRun(preset=f"$x^2$-😀-\x07-{'long' * 20}", env="_$env$", seed=seed).write(tmp_path / "runs")
    text = write_report([tmp_path / "runs"], tmp_path / "report.html").out.read_text()
    assert "\x07" not in text and "😀" in text


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.configure(parser, ())
    return parser.parse_args(words)


@pytest.mark.slow
def test_the_command_writes_a_report_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(tmp_path / "runs", seeds=2, envs=("ALE/Breakout-v5",), presets=("double-dqn", "bootstrapped-dqn"))
    published = tmp_path / "breakout.json"
    published.write_text('[{"Iteration": 0, "Value": 3.0, "Agent": "DQN"}]')
    out = tmp_path / "page.html"
    code = command.run(
        parse(
            str(tmp_path / "runs"),
            "-o",
            str(out),
            "--beside",
            str(published),
            "--export",
            str(tmp_path / "data"),
        )
    )
    printed = capsys.readouterr().out
    assert code == 0 and f"\nreport: {out}\nnext: open {out} in a browser" in printed
    assert "Is there a curse of diversity?" in printed
    assert "DQN, published" in out.read_text() and (tmp_path / "data" / "long.csv").exists()


def test_wrong_input_is_one_sentence_and_touches_nothing(tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ChorusError, match=r"absent is not a folder\. Pass a run directory"):
        command.run(parse(str(tmp_path / "absent"), "-o", str(tmp_path / "x.html")))
    assert sorted(tmp_path.iterdir()) == before
    SyntheticRun().write(tmp_path / "runs")
    with pytest.raises(ChorusError, match="is a folder; give the name of a file"):
        command.run(parse(str(tmp_path / "runs"), "-o", str(tmp_path)))


def test_help_explains_every_option() -> None:
    parser = argparse.ArgumentParser()
    command.configure(parser, ())
    assert all(action.help for action in parser._actions)
    assert parser.description.endswith(".")


@pytest.mark.slow
def test_control_characters_do_not_reach_a_title(tmp_path):
    write_study(tmp_path / "runs", seeds=1)
    summary = write_report([tmp_path / "runs"], tmp_path / "report.html", title="A \x1b[31mred\x00 title")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "\x1b" not in page and "\x00" not in page
    assert not {"\x1b", "\x00"} & set(summary.title)
