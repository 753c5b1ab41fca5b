"""Single claims, agreed with and contradicted by synthetic runs."""

from pathlib import Path

import pytest
from ledger_entries import judged
from synthetic_runs import MINATAR, SyntheticRun

from chorus.envs.atari_games import games, named_sets, reference_scores


def levels(parent: Path, single: dict[str, float], ensemble: dict[str, dict[str, float]]) -> None:
    """Runs of five seeds with these levels of single agent and ensemble in each environment."""
    for env, level in single.items():
        for seed in range(5):
            noise = 0.1 * (seed - 2)
            SyntheticRun(env=env, seed=seed, level={"individual": level + noise}).write(parent)
            own = {policy: value + noise for policy, value in ensemble[env].items()}
            SyntheticRun(preset="bootstrapped-dqn", env=env, seed=seed, level=own).write(parent)


def test_environments_that_disagree_settle_a_claim_about_most_of_them(tmp_path: Path) -> None:
    """Where the vote is better, the members are so too in two of two games, although over all games it is even."""
    better, worse = {"individual": 15.0, "aggregate": 16.0}, {"individual": 5.0, "aggregate": 6.0}
    single = dict.fromkeys((*MINATAR, "MinAtar/Freeway-v1"), 10.0)
    levels(tmp_path, single, {env: better if number % 2 else worse for number, env in enumerate(single)})
    found = judged(tmp_path, 4)
    assert found.outcomes[0].note == "in 0 of 2 environments where it applies"
    assert found.words == "disagrees"


def test_settings_that_change_nothing_contradict_that_they_matter(tmp_path: Path) -> None:
    """Claim 44: the curse is the same with every value, so that its change has no small p-value."""
    options = ({}, {"epsilon_decay": 16_000}, {"optimizer_epsilon": 1.5e-2})
    for number, option in enumerate(options):
        for seed in range(5):
            wiggle = 0.02 * ((seed * (number + 2)) % 5)
            name = f"{number}-{seed}"
            level = {"individual": 10.0 + wiggle}
            SyntheticRun(seed=seed, level=level, options=option, name=f"single-{name}").write(tmp_path)
            SyntheticRun(
                preset="bootstrapped-dqn", seed=seed, level=level, options=option, name=f"ensemble-{name}"
            ).write(tmp_path)
    assert judged(tmp_path, 44).words == "disagrees"


def test_a_gap_that_never_was_is_not_given_back(tmp_path: Path) -> None:
    """Claim 18: members with CERL are the best of all, but plain members did not lose anything."""
    for preset, level in (("sac", 10.0), ("ensemble-sac", 11.0), ("ensemble-sac-cerl", 15.0)):
        for seed in range(5):
            one = SyntheticRun(preset=preset, env="Hopper-v4", seed=seed, level={"individual": level + 0.1 * seed})
            one.write(tmp_path)
    assert judged(tmp_path, 18).words == "disagrees"


@pytest.mark.slow
def test_gaps_are_ranked_in_multiples_of_the_single_agent(tmp_path: Path) -> None:
    """The gaps rise together from 0.1 to 0.6 of scores between 10 and 1,000; the last passive member scores nothing."""
    envs = [f"Custom/Game{number}-v0" for number in range(1, 7)]
    for number, env in enumerate(envs, 1):
        top = (10.0, 1_000.0)[number % 2]
        low = top * (1 - number / 10)
        for seed in range(3):
            for preset, level in (
                ("double-dqn", {"individual": top}),
                ("bootstrapped-dqn", {"individual": low}),
                ("tandem", {"active": top, "passive": low if number < 6 else -top}),
            ):
                SyntheticRun(preset=preset, env=env, seed=seed, level=level).write(tmp_path)
    found = judged(tmp_path, 8)
    assert found.words == "agrees" and found.outcomes[0].estimate is not None
    assert found.outcomes[0].estimate.value == pytest.approx(1.0)


@pytest.mark.parametrize(("members", "status"), [(7.0, "agrees"), (13.0, "disagrees")])
def test_the_curse_with_lost_lives(tmp_path: Path, members: float, status: str) -> None:
    """Claim 27: the single agent at 10, members below or above it, all with a terminal at each lost life."""
    runs = {"double-dqn": {"individual": 10.0}, "life-loss": {"individual": members, "aggregate": 12.0}}
    for preset, level in runs.items():
        for seed in range(5):
            options = {"terminal_on_life_loss": True} if preset == "double-dqn" else {}
            SyntheticRun(
                preset=preset, env="ALE/Breakout-v5", seed=seed, level=level, noise=0.2, options=options
            ).write(tmp_path)
    assert judged(tmp_path, 27).status == status


@pytest.mark.parametrize(("huber", "status"), [(990.0, "agrees"), (300.0, "disagrees")])
def test_a_bystander_of_a_diverging_member(tmp_path: Path, huber: float, status: str) -> None:
    """Claim 38: 1,000 without a fault, 400 with squared errors; with Huber as without a fault, or worse than both."""
    fault, squared = {"kind": "diverging_member"}, {"kind": "squared"}
    for number, (loss, level) in enumerate(
        [({}, 1_000.0), ({"agent.loss": fault}, huber), ({"agent.loss": {**fault, "auxiliary": squared}}, 400.0)]
    ):
        for seed in range(5):
            SyntheticRun(
                preset="ensemble-sac-cerl",
                env="Hopper-v4",
                seed=seed,
                level={"individual": level, "aggregate": level, "bystander": level},
                noise=5.0,
                options=loss,
                name=f"{number}-{seed}",
            ).write(tmp_path)
    SyntheticRun(preset="sac", env="Hopper-v4", level={"individual": 1_000.0}).write(tmp_path)
    assert judged(tmp_path, 38).status == status


@pytest.mark.slow
@pytest.mark.parametrize(("hard", "status"), [(8, "agrees"), (30, "disagrees")])
def test_the_share_of_games_that_a_single_agent_hardly_plays(tmp_path: Path, hard: int, status: str) -> None:
    """Claim 41: a random policy's score in `hard` of the 55 games, a human's in the others."""
    for number, env in enumerate(named_sets()["atari55"]):
        random, human = reference_scores()[games()[env]]
        level = {"individual": random if number < hard else human}
        SyntheticRun(env=env, level=level).write(tmp_path)
    assert judged(tmp_path, 41).status == status


def test_one_game_in_which_the_vote_is_better_says_nothing_of_most(tmp_path: Path) -> None:
    """Claim 4: members are worse in the only game in which the vote gains."""
    games_ = MINATAR[:2]
    levels(
        tmp_path,
        dict.fromkeys(games_, 10.0),
        {games_[0]: {"individual": 5.0, "aggregate": 16.0}, games_[1]: {"individual": 9.0, "aggregate": 6.0}},
    )
    (outcome,) = judged(tmp_path, 4).outcomes
    assert outcome.status == "unsettled" and outcome.envs == games_[:1]
    assert outcome.note == "in 1 of 1 environment where it applies; it takes at least 2"
    assert outcome.estimate is not None and outcome.estimate.value == pytest.approx(-5.0)


@pytest.mark.parametrize(("passive", "status"), [(4.0, "agrees"), (10.0, "unsettled")])
def test_a_gap_within_the_tandem_must_be_there_to_be_larger(tmp_path: Path, passive: float, status: str) -> None:
    """Claim 10: members are better than SAC, so any passive member leaves the larger gap; 10 against 10 is none."""
    for preset, level in (("sac", {"individual": 10.0}), ("ensemble-sac", {"individual": 15.0})):
        for seed in range(5):
            SyntheticRun(preset, "Hopper-v4", seed, {**level, "aggregate": 15.0}, noise=0.1).write(tmp_path)
    for seed in range(5):
        noise = 0.2 * (seed - 2)
        level = {"active": 10.0 + noise, "passive": passive - noise}
        SyntheticRun("sac-tandem", "Hopper-v4", seed, level).write(tmp_path)
    gap, gaps = judged(tmp_path, 10).outcomes
    assert (gap.what, gap.status) == ("active − passive", status) and gaps.status == "agrees"
    assert judged(tmp_path, 10).status == status


def test_a_setting_with_which_nothing_is_learnt_says_nothing_of_the_curse(tmp_path: Path) -> None:
    """Claim 44: with the larger epsilon of the optimizer the curse is gone, because the single agent is at 4 of 10."""
    for option, single, members in (({}, 10.0, 6.0), ({"optimizer_epsilon": 1.5e-2}, 4.0, 4.0)):
        for seed in range(5):
            for preset, level in (("double-dqn", single), ("bootstrapped-dqn", members)):
                name = f"{preset}-{single}-{seed}"
                own = {"individual": level + 0.01 * seed, "aggregate": level}
                SyntheticRun(preset, seed=seed, level=own, options=option, name=name).write(tmp_path)
    outcomes = {outcome.what.rpartition(" the ")[2]: outcome for outcome in judged(tmp_path, 44).outcomes}
    found = outcomes["optimizer's epsilon"]
    assert found.status == "unsettled" and "less than half as much" in found.note
    assert found.estimate is not None and found.estimate.low > 0


def test_an_answer_that_disagrees_at_another_scale_is_named(tmp_path: Path) -> None:
    """Claim 3: the vote gains in whole runs of one game, and loses in shortened ones of another."""
    for env, iterations, vote in ((MINATAR[0], 12, 15.0), (MINATAR[1], 5, 5.0)):
        for seed in range(4):
            own = {"individual": 10.0 + 0.1 * seed, "aggregate": vote}
            SyntheticRun(
                "bootstrapped-dqn", env, seed, own, iterations=iterations, iteration_steps=480_000 // 12
            ).write(tmp_path)
    outcome, *_ = judged(tmp_path, 3).outcomes
    assert outcome.status == "agrees" and outcome.scale == "laptop"
    assert outcome.note.startswith(f"disagrees in {MINATAR[1]} (laptop, shortened runs): -5.")
