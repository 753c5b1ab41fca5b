"""Acting rules that ask all members, from the loop to the metrics of a run."""

from dataclasses import replace

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from scripted import Script, ScriptedStepper, counting_agent, counting_state

from builders import tiny_ring
from chorus.agents.agent import Proposal
from chorus.config.resolution import Request, resolve
from chorus.config.validation import find_problems
from chorus.errors import ChorusError
from chorus.replay.ring import ENSEMBLE, TRANSITION, Ring
from chorus.replay.samplers import SelfOversampled
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from chorus.runs.resources import ring_layout
from chorus.runs.training import EpisodeLog, training_keys
from chorus.spaces import Discrete
from chorus.training.acting import ActingTogether, LinearEpsilon, Uniform, UpperConfidence, VoteActing
from chorus.training.diagnostics import BatchLog, own_shares
from chorus.training.loop import Collected, Loop
from chorus.training.settings import ReplaySettings, Schedule
from running import records

LEVER = "chorus_tests/Lever-v0"
TINY = {
    "members": 3, "num_envs": 2, "total_steps": 600, "iteration_steps": 200, "learning_starts": 40, "buffer_size": 400,
    "batch_size": 16, "eval_episodes": 4, "learning_rate": 0.01,
}  # fmt: skip


class Lever(gymnasium.Env):
    """One step per episode; action 1 pays 1, action 0 costs 1. Like Probe/Action-v0, but in Python."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 2.0 * action - 1.0, True, False, {}


@pytest.fixture(scope="module")
def lever():
    gymnasium.register(LEVER, entry_point=Lever, disable_env_checker=True, max_episode_steps=1)
    yield LEVER
    del gymnasium.registry[LEVER]


def resolved_with(rule, env, **options):
    found = resolve(Request(preset="bootstrapped-dqn", env=env, scale="smoke", options={**TINY, **options}))
    config = replace(found.config, acting=rule, exploration=LinearEpsilon(final=0.1, decay_steps=200, warmup_steps=40))
    return replace(found, config=config)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "env"),
    [
        (VoteActing(), "Probe/Action-v0"),
        (UpperConfidence(beta=0.5), LEVER),
        pytest.param(VoteActing(), LEVER, marks=pytest.mark.long),
        pytest.param(UpperConfidence(beta=0.5), "Probe/Action-v0", marks=pytest.mark.long),
    ],
)
def test_an_ensemble_that_acts_together_learns_in_both_steppers(lever, tmp_path, rule, env):
    assembly, path = create_run(resolved_with(rule, env), tmp_path, keep_replay=True)
    train_run(assembly, path, Silent())
    metrics = {(record["iteration"], record["metric"]): record["value"] for record in records(path / "metrics.jsonl")}
    assert metrics[3, "eval/individual/episodic_return"] == metrics[3, "eval/aggregate/episodic_return"] == 1.0
    # With epsilon 0.1 a greedy ensemble pulls the right lever in 95 % of the episodes.
    assert metrics[3, "charts/episodic_return"] > 0.7
    assert {metrics[3, f"replay/own_{data}/member_{i}"] for data in ("transitions", "episodes", "sampled",
            "sampled_episodes") for i in range(3)} == {0.0}  # fmt: skip
    assert {record["member"] for record in records(path / "episodes.jsonl")} == {None}
    ring = Ring(ring_layout(assembly.config, assembly.spec), path / "replay", existing=True)
    rows = ring.columns.arrays["flags"] & TRANSITION > 0
    assert set(ring.columns.arrays["owner"][rows].tolist()) == {ENSEMBLE}


def counting_calls(assembly, calls):
    """The assembly with an agent that counts which of its functions are traced."""

    def counted(name):
        function = getattr(assembly.agent, name)

        def call(*arguments):
            calls.append(name)
            return function(*arguments)

        return call

    names = ("act", "propose", "value", "inspect")
    return replace(assembly, agent=replace(assembly.agent, **{name: counted(name) for name in names}))


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "traced"), [(Uniform(), {"act"}), (VoteActing(), {"propose"})])
def test_only_rules_that_ask_for_all_members_evaluate_them(rule, traced):
    calls: list[str] = []
    assembly = counting_calls(Assembly.of(resolved_with(rule, "Probe/Action-v0").config), calls)
    stepper = assembly.loop().stepper
    params = assembly.agent.init(jax.random.key(0)).params
    stepper.advance(params, rule.shares(3), stepper.start(training_keys(0, 1)), np.zeros(2, np.float32))
    assert set(calls) == traced


@pytest.mark.slow
def test_random_actions_come_on_top_of_the_ensembles_choice():
    """Members that always propose action 1, in two slots."""

    def propose(params, observation, key):
        ones = jnp.ones((observation.shape[0], 3), int)
        return Proposal(ones, ones)

    assembly = Assembly.of(resolved_with(VoteActing(), "Probe/Action-v0").config)
    assembly = replace(assembly, agent=replace(assembly.agent, propose=propose))
    stepper = assembly.loop().stepper
    actions = {
        epsilon: stepper.advance(
            {}, np.full(3, 1 / 3), stepper.start(training_keys(0, 1)), np.full(400, epsilon, np.float32)
        )[1].action
        for epsilon in (0.0, 0.5)
    }
    assert actions[0.0].mean() == 1.0
    # A quarter of the actions is random and 0; 800 draws have a standard deviation of 0.015.
    assert actions[0.5].mean() == pytest.approx(0.75, abs=0.06)


@pytest.fixture
def collected():
    """A scripted iteration with a rule that uses all members, its events and its ring."""
    loop = Loop(
        agent=counting_agent(), members=4, acting=VoteActing(), epsilon=LinearEpsilon(),
        stepper=ScriptedStepper(Script(slots=2, steps=20)),
        schedule=Schedule(total_steps=40, iteration_steps=40, learning_starts=8),
        replay=ReplaySettings(capacity=100, batch_size=4),
    )  # fmt: skip
    ring = tiny_ring(lanes=2, capacity=400, iteration_steps=40)
    return list(loop.run(counting_state(), ring, 1, training_keys(0, 1), np.random.default_rng(0))), ring


def test_what_the_ensemble_did_is_no_members_own(collected):
    events, ring = collected
    transitions, episodes = own_shares(ring, 4)
    assert transitions.tolist() == episodes.tolist() == [0.0] * 4
    log, batches = EpisodeLog(slots=2), BatchLog(4)
    played = []
    for event in events:
        if isinstance(event, Collected):
            played += log.record(event)
        else:
            batches.record(event.origins)
    assert played and {episode.member for episode in played} == {None}
    metrics = batches.metrics()
    assert metrics["replay/own_sampled/mean"] == metrics["replay/own_sampled_episodes/mean"] == 0.0


def test_self_oversampling_is_refused_where_no_member_owns_data():
    resolved = resolved_with(VoteActing(), "Probe/Action-v0")
    config = replace(resolved.config, replay=replace(resolved.config.replay, sampler=SelfOversampled()))
    assert [problem for problem in find_problems(config, resolved.spec) if "acting rule vote" in problem]


def test_a_rule_that_uses_members_must_say_how():
    class Undecided(ActingTogether):
        pass

    with pytest.raises(
        ChorusError, match="Undecided sets uses_members and chooses no action: define its method `choose`"
    ):
        Undecided().choose(Proposal(jnp.zeros(2), jnp.zeros(2)), jnp.asarray(0), Discrete(2), jax.random.key(0))
