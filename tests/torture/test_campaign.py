"""The campaign of `make torture` in a short form with a fixed seed, and its counting."""

import json
import random
import time

import pytest
from campaign import ATTACKS, Tally, markdown, run, table, write_into
from cases import ENVS, PLAIN, Workshop, every_case
from trying import Try

from chorus.cli.main import main
from chorus.config.identity import run_name
from chorus.config.presets import PRESETS
from chorus.config.resolution import resolve


@pytest.mark.slow
def test_a_short_campaign_finds_nothing():
    """One case, so that every attack shares its undisturbed and its killed run."""
    shop, said = Workshop(random.Random(20_240_507), [PLAIN], brief=True), []
    tallies = [Tally(attack, 1) for attack in ATTACKS]
    run(shop, tallies, said.append)
    shop.close()
    assert not [one for tally in tallies for one in tally.failures], said
    assert [tally.tries for tally in tallies] == [1] * len(ATTACKS)
    assert table(tallies).endswith(f"{len(ATTACKS)} passed, 0 failed")


def two_of_three(shop):
    """Fails twice."""
    for problem in ("first", None, "third"):
        yield Try("something", problem)


def breaks(shop):
    """Ends as nobody foresaw."""
    yield Try("something", None)
    raise ValueError("what?")


def is_interrupted(shop):
    """Stopped by Ctrl-C."""
    yield Try("something", None)
    raise KeyboardInterrupt


def attacked(*wanted: tuple, deadline: float = float("inf")) -> tuple[list[Tally], list[str]]:
    said: list[str] = []
    tallies = [Tally(attack, count) for attack, count in wanted]
    shop = Workshop(random.Random(0), [])
    run(shop, tallies, said.append, deadline)
    shop.close()
    return tallies, said


def test_failures_are_counted_and_named():
    tallies, said = attacked((two_of_three, 3))
    assert (tallies[0].tries, len(tallies[0].failures)) == (3, 2)
    assert said == ["  FAILED two of three: something: first", "  FAILED two of three: something: third"]
    assert table(tallies).endswith("1 passed, 2 failed")


def test_an_attack_that_breaks_is_a_failure_and_the_others_go_on():
    tallies, said = attacked((breaks, 3), (two_of_three, 3))
    assert [(tally.tries, len(tally.failures)) for tally in tallies] == [(3, 1), (3, 2)]
    assert "  FAILED breaks: the attack itself: ValueError: what?" in said


def test_an_interrupted_campaign_keeps_what_it_counted():
    tallies, said = attacked((is_interrupted, 5), (two_of_three, 3))
    assert said[-1] == "interrupted" and [tally.tries for tally in tallies] == [1, 1]
    assert table(tallies).endswith("1 passed, 1 failed")
    assert attacked((two_of_three, 3), deadline=time.monotonic() - 1)[1] == ["the time is over"]


def test_the_table_goes_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- campaign -->\nold\n<!-- end of campaign -->\nafter\n")
    tallies, _ = attacked((two_of_three, 3))
    write_into(page, markdown(tallies, seed=5))
    lines = page.read_text().splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and "old" not in lines
    assert "| two of three: Fails twice | 3 | 2 |" in lines and lines[2].startswith("Seed 5, ")
    page.write_text("no marks")
    with pytest.raises(ValueError, match="lacks the lines"):
        write_into(page, "")


@pytest.mark.slow
def test_every_preset_and_environment_is_attacked_and_few_cases_have_many_of_both():
    own = {name for name, one in PRESETS.items() if one.change.__module__.startswith("chorus.")}
    cases = every_case()
    assert {case.preset for case in cases} == own and {case.env for case in cases} == set(ENVS)
    drawn = Workshop(random.Random(0), cases, most_drawn=len(ENVS)).drawn
    assert {case.env for case in drawn} == set(ENVS)
    assert len({case.preset for case in drawn}) == len(ENVS)


@pytest.mark.slow
def test_command_line_sweep_and_python_ask_for_the_same_run(tmp_path, capsys):
    """Otherwise a sweep over the folder of a damaged run would train another one beside it."""
    for case in Workshop(random.Random(0), every_case(), most_drawn=len(ENVS)).drawn:
        resolved = resolve(case.request)
        assert main([*case.sweep(tmp_path), "--dry-run"]) == 0
        assert run_name(resolved) in capsys.readouterr().out
        assert main(["show", *case.arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == resolved.config.to_json()
