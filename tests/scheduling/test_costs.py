"""Estimates: the paper's own times at the paper's own sizes, and forecasts that learn from what they see."""

from dataclasses import replace

import pytest

from chorus.config.resolution import Request, resolve
from chorus.config.schema import RunConfig
from chorus.runs import machine
from chorus.scheduling import costs
from chorus.scheduling.costs import Attempt, Forecast
from chorus.scheduling.jobs import jobs_of
from chorus.studies.demo import DEMO
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


def laptop(preset: str, **options: object) -> float:
    return costs.seconds(config(preset, "laptop", "MinAtar/Breakout-v1", **options))


def test_cost_grows_linearly_with_steps_and_members():
    by_steps = [laptop("double-dqn", total_steps=steps) for steps in (200_000, 300_000, 400_000)]
    assert by_steps[1] - by_steps[0] == pytest.approx(by_steps[2] - by_steps[1]) and by_steps[1] > by_steps[0]
    by_members = [laptop("bootstrapped-dqn", members=members) for members in (1, 5, 9)]
    assert by_members[1] - by_members[0] == pytest.approx(by_members[2] - by_members[1])
    assert by_members[0] == pytest.approx(laptop("double-dqn")), "an ensemble of one is a single agent"


def test_wide_dense_layers_cost_more():
    """A quarter of the units saves more than half of an update: 0.3 + 0.7 / 4."""
    start, usual = laptop("double-dqn", total_steps=100_000), laptop("double-dqn", total_steps=200_000)
    narrow = [laptop("double-dqn", total_steps=steps, **{"agent.torso.dense": [32]}) for steps in (100_000, 200_000)]
    steps = 100_000 * costs._CPU[costs.measured_processor()]["minatar"].step
    assert narrow[1] - narrow[0] - steps == pytest.approx((0.3 + 0.7 / 4) * (usual - start - steps))


def test_sharing_layers_saves_and_variants_add():
    plain = laptop("bootstrapped-dqn")
    assert laptop("double-dqn") < laptop("bootstrapped-dqn", shared_layers=1) < plain == laptop("cerl")
    assert plain < laptop("bootstrapped-dqn-mh") < laptop("bootstrapped-dqn-mico") < 2.5 * plain
    assert plain < laptop("bootstrapped-qr-dqn") < 2.5 * plain


def test_the_demo_is_estimated_at_about_what_it_took(tmp_path):
    """7 min 3 s on two cores of an Intel Xeon, with almost the same runs (docs/demo.md)."""
    jobs = jobs_of(DEMO, "laptop", tmp_path)
    estimated = Forecast().left([(job, 0.0) for job in jobs], (), 2)
    assert 423 / 2 < estimated < 423 * 2


def test_every_family_of_environments_has_a_rate():
    from chorus.config.scales import SCALE_ROWS

    assert all({family for family, _ in SCALE_ROWS} <= rates.keys() for rates in costs._CPU.values())


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ("vendor_id: AuthenticAMD\nmodel name\t: AMD EPYC 7B13\n", "AMD EPYC"),
        ("model name\t: Another Processor\nflags\t: avx2\n", "slow"),
        ("", "slow"),
    ],
)
def test_a_machine_is_estimated_by_the_rates_of_its_processor(tmp_path, monkeypatch, facts, kind):
    usual = costs._CPU["AMD EPYC"]
    slow = {family: costs.Rate(2 * rate.step, 2 * rate.member) for family, rate in usual.items()}
    monkeypatch.setattr(costs, "_CPU", {"AMD EPYC": usual, "slow": slow})
    monkeypatch.setattr(costs, "_USUAL", "slow")
    monkeypatch.setattr(machine, "_CPU_FACTS", tmp_path / "cpuinfo")
    if facts:
        (tmp_path / "cpuinfo").write_text(facts)
    machine.processor.cache_clear()
    try:
        assert costs.measured_processor() == kind
        assert kind in costs.cpu_source()
        found = laptop("double-dqn")
    finally:
        monkeypatch.undo()
        machine.processor.cache_clear()
    monkeypatch.setattr(costs, "measured_processor", lambda: "AMD EPYC")
    started = costs._START_SECONDS
    assert found - started == pytest.approx((laptop("double-dqn") - started) * (2 if kind == "slow" else 1))


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
