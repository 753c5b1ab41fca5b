"""Configurations as JSON: the round trip is the identity, and every mistake is reported at once."""

import json
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from chorus.agents.optimizers import Adam, CentredRMSProp
from chorus.agents.q import QLearner
from chorus.agents.sac import SacLearner
from chorus.config.codec import merge
from chorus.config.schema import EnvSettings, RunConfig, Runtime
from chorus.ensemble.auxiliaries import Mico, NoAuxiliary
from chorus.ensemble.estimates import Online, Quantile, Scalar, Target
from chorus.ensemble.losses import Huber, MainAndAuxiliary, QuantileHuber, Squared, TwiceHuber
from chorus.ensemble.value_map import Beside, Cross, CrossOwn, Horizons, Members
from chorus.errors import ChorusError
from chorus.files import flatten
from chorus.networks.layers import FanInUniform, Orthogonal, VarianceScaled
from chorus.networks.torsos import ConvLayer, ConvTorso, CustomTorso, MLPTorso
from chorus.training.acting import LinearEpsilon, Tandem, Uniform, UniformEachStep
from chorus.training.policies import MeanAction, Member, RandomMember, Vote
from chorus.training.settings import EvaluationSettings, ReplaySettings, Schedule


def built(cls, **fields):
    """A class and what it is made of. Made in the test itself: run-time type checks draw random numbers, which
    hypothesis does not allow inside a strategy."""
    return st.tuples(st.just(cls), st.fixed_dictionaries(fields))


def make(recipe):
    if isinstance(recipe, tuple):
        cls, fields = recipe
        return cls(**{name: make(value) for name, value in fields.items()})
    if isinstance(recipe, list):
        return tuple(make(item) for item in recipe)
    if isinstance(recipe, dict):
        return {name: make(item) for name, item in recipe.items()}
    return recipe


sizes = st.integers(0, 10**9)
shares = st.floats(0, 1)
widths = st.lists(st.integers(1, 512), max_size=3)
texts = st.text(max_size=12)
convolutions = built(ConvLayer, features=sizes, kernel=sizes, stride=sizes)
torsos = st.one_of(
    built(MLPTorso, dense=widths),
    built(
        ConvTorso,
        convolutions=st.lists(convolutions, max_size=3),
        dense=widths,
        padding=st.sampled_from(["valid", "same"]),
    ),
    built(CustomTorso, description=texts),
)
policies = st.one_of(
    built(RandomMember, mode=st.booleans()),
    built(Vote),
    built(MeanAction, mode=st.booleans()),
    built(Member, index=sizes),
)
horizons = built(Horizons, horizons=st.lists(st.integers(1, 200), min_size=1, max_size=4))
value_maps = st.one_of(
    built(Members),
    built(Cross),
    built(CrossOwn),
    horizons,
    built(Beside, first=st.one_of(built(Members), built(Cross), built(CrossOwn)), second=horizons),
)
estimates = st.one_of(built(Scalar), built(Quantile, quantiles=sizes))
selections = st.one_of(built(Online), built(Target))
learner = {
    "members": sizes,
    "torso": torsos,
    "value_map": value_maps,
    "loss": st.one_of(
        built(Squared),
        built(Huber, threshold=shares),
        built(QuantileHuber, kappa=shares),
        built(MainAndAuxiliary, main=built(Squared), auxiliary=built(TwiceHuber, threshold=shares)),
    ),
    "auxiliary": st.one_of(built(NoAuxiliary), built(Mico, weight=shares, beta=shares)),
    "initialization": st.one_of(
        built(FanInUniform), built(VarianceScaled, scale=shares), built(Orthogonal, scale=shares)
    ),
    "optimizer": st.one_of(
        built(Adam, learning_rate=shares, epsilon=shares),
        built(CentredRMSProp, learning_rate=shares, decay=shares, epsilon=shares),
    ),
    "discount": shares,
    "target_period_updates": sizes,
    "target_rate": shares,
    "reward_clip": st.none() | shares,
}
recipes = built(
    RunConfig,
    preset=texts,
    scale=st.sampled_from(["smoke", "laptop", "paper"]),
    hyperparameters=st.sampled_from(["code", "table"]),
    seed=sizes,
    env=built(EnvSettings, id=texts, num_envs=sizes, max_episode_steps=st.none() | sizes),
    agent=st.one_of(
        built(QLearner, **learner, shared_layers=sizes, estimate=estimates, selection=selections, prior_scale=shares),
        built(SacLearner, **learner, critics=sizes, initial_temperature=shares, target_entropy=shares),
    ),
    acting=st.one_of(built(Uniform), built(UniformEachStep), built(Tandem, passive_share=shares)),
    exploration=built(LinearEpsilon, final=shares, decay_steps=sizes, warmup_steps=sizes),
    replay=built(ReplaySettings, capacity=sizes, batch_size=sizes, n_step=sizes),
    schedule=built(
        Schedule, total_steps=sizes, iteration_steps=sizes, learning_starts=sizes, update_period_steps=sizes
    ),
    evaluation=built(
        EvaluationSettings,
        episodes=sizes,
        slots=sizes,
        epsilon=shares,
        policies=st.dictionaries(texts, policies, max_size=3),
    ),
    runtime=built(Runtime, threads=sizes, device=st.sampled_from(["cpu", "gpu"])),
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.just("kind"), inner, max_size=3),
    max_leaves=5,
)


def in_a_file(config):
    return json.loads(json.dumps(config.to_json(), allow_nan=False))


@pytest.mark.slow
@given(recipes)
def test_the_round_trip_is_the_identity(recipe):
    config = make(recipe)
    again = RunConfig.from_json(in_a_file(config), "a file")
    assert again == config
    assert again.to_json() == config.to_json()
    assert again.digest() == config.digest()


@pytest.mark.slow
@given(recipes, st.integers(1, 10**6))
def test_the_digest_names_everything_but_the_seed(recipe, more):
    config = make(recipe)
    assert replace(config, seed=config.seed + more).digest() == config.digest()
    longer = replace(config.schedule, total_steps=config.schedule.total_steps + more)
    assert replace(config, schedule=longer).digest() != config.digest()


def nodes(tree, path=()):
    """The path of every object and leaf of a JSON tree."""
    for name, value in tree.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from nodes(value, (*path, name))


def at(tree, path):
    for name in path:
        tree = tree[name]
    return tree


@pytest.mark.slow
@settings(max_examples=200)
@given(recipes, st.data())
def test_whatever_stands_in_a_file_is_a_configuration_or_one_sentence(recipe, data):
    config = make(recipe)
    tree = in_a_file(config)
    path = data.draw(st.sampled_from(list(nodes(tree))))
    at(tree, path[:-1])[path[-1]] = data.draw(json_values)
    try:
        assert isinstance(RunConfig.from_json(tree, "a file"), RunConfig)
    except ChorusError as problem:
        assert str(problem).startswith("a file cannot be used: config")


@pytest.mark.slow
@given(recipes, st.sets(st.sampled_from(["seed", "preset", "env.num_envs", "agent.members", "schedule.total_steps"])))
def test_every_misspelt_name_is_reported_with_a_suggestion(recipe, names):
    config = make(recipe)
    tree = in_a_file(config)
    for name in names:
        *path, leaf = name.split(".")
        node = at(tree, path)
        node[f"{leaf}x"] = node.pop(leaf)
    if not names:
        assert RunConfig.from_json(tree, "a file") == config
        return
    with pytest.raises(ChorusError) as caught:
        RunConfig.from_json(tree, "a file")
    for name in names:
        leaf = name.split(".")[-1]
        assert f"config.{name}x is not known; did you mean '{leaf}'?" in str(caught.value)
        assert f"config.{name} is missing" in str(caught.value)


@pytest.mark.slow
@given(recipes)
def test_all_kinds_of_mistakes_are_reported_at_once(recipe):
    config = make(recipe)
    tree = in_a_file(config)
    tree["seed"] = "seven"
    tree["scale"] = "huge"
    tree["agent"]["members"] = True
    tree["agent"]["value_map"] = {"kind": "crosss"}
    tree["replay"] = 5
    del tree["runtime"]
    with pytest.raises(ChorusError) as caught:
        RunConfig.from_json(tree, "a file")
    for sentence in (
        "config.seed is 'seven'; it must be of type int",
        "config.scale is 'huge'; it must be one of smoke, laptop, paper",
        "config.agent.members is True; it must be of type int",
        "config.agent.value_map.kind is 'crosss'; it must be one of beside, cross, cross_own, horizons, members",
        "config.replay is 5; it must be an object",
        "config.runtime is missing",
    ):
        assert sentence in str(caught.value)


@pytest.mark.slow
@given(recipes, recipes)
def test_a_whole_configuration_laid_over_another_replaces_it(recipe, other_recipe):
    config, other = make(recipe), make(other_recipe)
    assert merge(in_a_file(config), {}) == in_a_file(config)
    merged = merge(in_a_file(other), in_a_file(config))
    # Policies are named by the user: those of both remain.
    merged["evaluation"]["policies"] = in_a_file(config)["evaluation"]["policies"]
    assert RunConfig.from_json(merged, "a file") == config


@given(recipes)
def test_flattening_loses_no_leaf(recipe):
    config = make(recipe)
    tree = in_a_file(config)
    for path, value in flatten({key: value for key, value in tree.items() if key != "evaluation"}).items():
        assert at(tree, path.split(".")) == value
