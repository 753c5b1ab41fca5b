"""Cards of answers, the table of every comparison, and what a page says about its origin."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.effects import VERDICT_WORDS, Effect, Verdict
from chorus.analysis.figures.style import DARK, DASHES, LIGHT, LineStyle
from chorus.analysis.findings import Finding
from chorus.analysis.loading import load_runs
from chorus.analysis.report import provenance
from chorus.analysis.report.cards import comparison_table, make_cards
from chorus.analysis.report.document import swatch, unbroken
from chorus.analysis.results import Results

CSS = (Path(provenance.__file__).parent / "page" / "report.css").read_text(encoding="utf-8")


def finding(
    question: str = "Is it?",
    verdict: Verdict = "yes",
    difference: IntervalEstimate | None = None,
    unit: str = "",
    **fields: Any,
) -> Finding:
    effect = Effect((), ("env",), difference, 0.01, unit, "mean", (), None) if difference else None
    return Finding(question, verdict, "It is.", effect=effect, **fields)


def difference(value: float, half: float, runs: int = 5) -> IntervalEstimate:
    return IntervalEstimate(value, value - half, value + half, runs)


def test_only_main_findings_are_cards_and_the_table_has_every_one() -> None:
    findings = [
        finding("first", difference=difference(-0.3, 0.1), unit="return", adjusted_p=0.0004),
        finding("second", "unsettled", difference=difference(0.1, 0.2), unit="return", main=False, adjusted_p=0.3),
        finding("third", "missing", main=False),
    ]
    assert [card.question for card in make_cards(findings)] == ["first"]
    table = comparison_table(findings)
    texts = [[cell.text for cell in row.cells] for row in table.rows]
    assert table.columns[2] == "Difference (return)"
    assert texts == [
        ["first", "yes", "-0.30", "-0.40 to -0.20", "5", "below 0.001"],
        ["second", "not settled", "+0.10", "-0.10 to +0.30", "5", "0.3"],
        ["third", "not run", "", "", "", ""],
    ]


def test_units_that_differ_are_in_the_rows() -> None:
    findings = [finding(difference=difference(1, 0.5), unit=unit) for unit in ("return", "nats")]
    assert [row.cells[2].text for row in comparison_table(findings).rows] == ["+1.00 return", "+1.00 nats"]


def test_a_card_holds_the_difference_its_interval_and_the_seeds() -> None:
    (card,) = make_cards([finding(difference=difference(-0.31, 0.07), unit="of Double DQN's score")])
    assert card.measured == "-0.31 of Double DQN's score (95 % interval -0.38 to -0.24), 5 seeds"
    alone = IntervalEstimate(-0.31, np.nan, np.nan, 1)
    (card,) = make_cards([finding(difference=alone, unit="return")])
    assert card.measured == "-0.31 return, 1 seed" and card.bar is None
    (card,) = make_cards([finding(verdict="missing")])
    assert card.measured == "" and card.bar is None and card.word == "not run"


def test_bars_of_one_unit_have_one_scale_around_zero() -> None:
    long, short, other = make_cards(
        [
            finding(difference=difference(-0.3, 0.1), unit="return"),  # -0.4 to -0.2
            finding(difference=difference(0.0, 0.1), unit="return"),  # -0.1 to 0.1
            finding(difference=difference(9.0, 1.0), unit="nats"),
        ]
    )
    # 48 % of the width is the largest end of the unit: 0.4.
    assert (long.bar.left, long.bar.width, long.bar.at) == (2, 24, 14)
    assert (short.bar.left, short.bar.width, short.bar.at) == (38, 24, 50)
    assert other.bar.left + other.bar.width == 98
    assert [card.bar.clear for card in (long, short, other)] == [True, False, True]


def test_every_verdict_has_a_word_and_no_colour_of_an_algorithm() -> None:
    assert list(VERDICT_WORDS.values()) == ["yes", "no", "too small to matter", "not settled", "not run"]
    rules = [
        line for line in CSS.splitlines() if line.startswith((".finding", ".interval", ".conclusion", ".warnings"))
    ]
    assert rules and not any("var(--c" in rule.replace("var(--card)", "") for rule in rules)
    assert not any(colour in CSS for colour in (*LIGHT, *DARK))


def test_the_cost_is_the_sum_of_steps_and_of_recorded_times(tmp_path: Path) -> None:
    paths = [SyntheticRun(seed=seed, iterations=3, iteration_steps=20_000).write(tmp_path) for seed in range(2)]
    assert provenance.cost(load_runs([tmp_path])) == "120k agent steps; no timings were recorded"
    times = [
        (1, "time/train_seconds", 3_000.0),
        (2, "time/train_seconds", 1.0),
        (2, "time/train_seconds", 3_000.0),  # a resumed run wrote the iteration again
        (2, "time/evaluate_seconds", 1_200.0),
        (2, "charts/SPS", 99.0),
    ]
    lines = [json.dumps({"iteration": i, "step": 1, "metric": m, "value": v}) for i, m, v in times]
    (paths[0] / "timings.jsonl").write_text("\n".join([*lines, '{"half a line']))
    assert (
        provenance.cost(load_runs([tmp_path]))
        == "120k agent steps, 2.0 hours (sum over runs, recorded for 1 of 2 runs)"
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "1 second"), (89, "89 seconds"), (600, "10 minutes"), (7_200, "2.0 hours")]
)
def test_durations(seconds: float, text: str) -> None:
    assert provenance.duration(seconds) == text


def test_commands_are_written_as_they_are_typed(tmp_path: Path) -> None:
    for seed, command in enumerate((["/somewhere/chorus/__main__.py", "demo", "--out", "my runs"], ["chorus"], None)):
        path = SyntheticRun(seed=seed).write(tmp_path)
        (path / "meta.json").write_text(json.dumps(json.loads((path / "meta.json").read_text()) | {"command": command}))
    table = provenance.command_table(load_runs([tmp_path]))
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["chorus demo --out 'my runs'", "1"],
        ["chorus", "1"],
    ]


def test_words_that_do_not_occur_are_not_explained(tmp_path: Path) -> None:
    levels = {"individual": 1.0, "aggregate": 1.0}
    SyntheticRun(preset="ensemble-sac", env="Hopper-v4", level=levels).write(tmp_path)
    terms = provenance.terms(Results(load_runs([tmp_path])).series)
    assert [term.word for term in terms] == ["indiv.", "agg."]
    assert "mean of their actions" in terms[1].meaning


def test_percent_signs_stay_with_their_numbers() -> None:
    assert unbroken("34 % below (95 % interval)") == "34\N{NO-BREAK SPACE}% below (95\N{NO-BREAK SPACE}% interval)"


def test_the_sample_of_a_dotted_line_is_dotted() -> None:
    """Dashes are in line widths: 2 pixels here."""
    style = LineStyle(colour=1, policy="passive")
    lengths = " ".join(f"{2 * length:.3g}" for length in DASHES["passive"][1])
    assert f'stroke-dasharray="{lengths}"' in swatch(style)
