"""Estimates: the paper's own times at the paper's own sizes, and forecasts that learn from what they see."""

from dataclasses import replace

import pytest

from chorus.config.resolution import Request, resolve
from chorus.config.schema import RunConfig
from chorus.scheduling import costs
from chorus.scheduling.costs import Attempt, Forecast
from small_jobs import small_jobs

DAY = 86_400.0


def config(preset: str, scale: str, env: str, **options: object) -> RunConfig:
    return resolve(Request(preset=preset, env=env, seed=0, scale=scale, options=options)).config


@pytest.mark.parametrize(
    ("preset", "options", "days"),
    [("double-dqn", {}, 2.0), ("bootstrapped-dqn", {}, 3.5), ("bootstrapped-dqn", {"shared_layers": 3}, 3.0)],
)
def test_the_papers_runs_take_the_days_that_the_paper_states(preset, options, days):
    # Its times are for all 50M steps; ours leave out the updates of the first 50,000, a thousandth of the members'.
    found = costs.seconds(config(preset, "paper", "ALE/Breakout-v5", device="gpu", **options))
    assert found / DAY == pytest.approx(days, rel=2e-3)


def test_cost_is_a_start_and_a_line_in_steps_and_members():
    single = config("double-dqn", "laptop", "MinAtar/Breakout-v1")
    steps, updates = 500_000, (500_000 - 5_000) / 4
    rate = costs._CPU["minatar"]
    assert costs.seconds(single) == pytest.approx(8 + steps * rate.step + updates * rate.member)
    ten = config("bootstrapped-dqn", "laptop", "MinAtar/Breakout-v1")
    assert costs.seconds(ten) - costs.seconds(single) == pytest.approx(9 * updates * rate.member)
    shared = config("bootstrapped-dqn", "laptop", "MinAtar/Breakout-v1", shared_layers=1)
    assert costs.seconds(shared) - costs.seconds(single) == pytest.approx(9 * 0.35 * updates * rate.member)


def test_what_a_variant_adds_to_an_update():
    def of_ten(preset: str) -> float:
        return costs.seconds(config(preset, "laptop", "MinAtar/Breakout-v1"))

    plain, member_updates = of_ten("bootstrapped-dqn"), 10 * (500_000 - 5_000) / 4
    # 50 x 50 pairs of quantiles instead of one; 0.5 and 0.09 ms.
    assert of_ten("bootstrapped-qr-dqn") - plain == pytest.approx(member_updates * 2_499 * 2.6e-7)
    assert of_ten("bootstrapped-dqn-mico") - plain == pytest.approx(member_updates * 5.0e-4)
    assert of_ten("bootstrapped-dqn-mh") - plain == pytest.approx(member_updates * 0.9e-4)
    assert of_ten("cerl") == plain


def test_every_family_of_environments_has_a_rate():
    from chorus.config.scales import TABLE

    assert {family for family, _ in TABLE} <= costs._CPU.keys()


def test_a_forecast_corrects_its_estimate_by_what_was_seen(tmp_path, monkeypatch):
    first, second, third = small_jobs(tmp_path, seeds=3)
    monkeypatch.setattr("chorus.scheduling.costs.seconds", lambda config: 600.0)
    forecast = Forecast()
    # Nothing seen: 600 + 600 of work for two workers.
    assert forecast.left([(first, 0.0), (second, 0.0)], (), workers=2) == 600.0
    # A whole run, estimated at 600 seconds, took 1,260: everything takes (1260 + 60) / (600 + 60) = 2 times as long.
    forecast.note(Attempt(first, 0.0, 1.0, seconds=1_260.0))
    assert forecast.left([(second, 0.5), (third, 0.0)], (), workers=1) == 2 * (300 + 600)
    # However many workers there are, the longest run takes its time.
    assert forecast.left([(second, 0.5), (third, 0.0)], (), workers=9) == 2 * 600
    # Half of the second run under way in 690 seconds: (1260 + 690 + 60) / (600 + 300 + 60) times the other half.
    half = Attempt(second, 0.0, 0.5, seconds=690.0)
    assert forecast.left((), [half], workers=1) == pytest.approx(2_010 / 960 * 300)
    assert forecast.left((), (), workers=2) == 0.0


def test_a_gpu_is_asked_for_by_the_configuration():
    plain = config("double-dqn", "smoke", "MinAtar/Breakout-v1")
    assert not costs.on_gpu(plain)
    assert costs.on_gpu(replace(plain, runtime=replace(plain.runtime, device="gpu")))
