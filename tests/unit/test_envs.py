"""What Chorus says about environments, and what it refuses."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from chorus.envs.registry import describe, make_host
from chorus.errors import ChorusError
from chorus.spaces import Box, Discrete


class Bare(gymnasium.Env):
    """An environment as people write it: without `render_mode`."""

    def __init__(self, observation_space=None, action_space=None):
        self.observation_space = observation_space or spaces.Box(0, 255, (4,), np.float64)
        self.action_space = action_space or spaces.Discrete(3, start=1)
        self.taken = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        self.taken.append(action)
        return self.observation_space.sample(), 1.0, False, False, {}


@pytest.fixture
def registered():
    """Registers environments with the given spaces for one test."""
    ids = []

    def register(**given):
        ids.append(f"chorus_tests/Bare-v{len(ids)}")
        gymnasium.register(id=ids[-1], entry_point=Bare, kwargs=given, disable_env_checker=True)
        return ids[-1]

    yield register
    for env_id in ids:
        del gymnasium.registry[env_id]


def test_an_environment_that_knows_no_render_mode_can_be_made(registered):
    spec = describe(registered())
    assert (spec.family, spec.observation_shape, spec.actions) == ("flat", (4,), Discrete(3, first=1))
    assert spec.observation_dtype == np.float32, "64-bit floats are stored as 32-bit ones"


@pytest.mark.filterwarnings("ignore:.*render_mode")
def test_an_environment_that_cannot_draw_says_so_in_a_sentence(registered):
    with pytest.raises(ChorusError, match="cannot be filmed"):
        make_host(registered(), 1, render_mode="rgb_array")


def test_actions_are_counted_from_zero_and_handed_over_as_the_environment_counts(registered):
    envs = make_host(registered(), 2)
    envs.reset(np.array([0, 1]))
    envs.step(np.array([0, 1]))
    envs.step(np.array([2, 0]))
    assert [env.unwrapped.taken for env in envs._envs] == [[1, 3], [2, 1]]
    envs.close()


class Reusing(gymnasium.Env):
    """Counts its steps in one array, which it returns again and again; episodes last two steps."""

    observation_space = spaces.Box(0, 255, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self):
        self._array = np.zeros(1, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._array[:] = 0
        return self._array, {}

    def step(self, action):
        self._array += 1
        return self._array, 0.0, bool(self._array[0] == 2), False, {}


def test_observations_are_kept_where_an_environment_writes_the_next_one_into_the_same_array():
    gymnasium.register("chorus_tests/Reusing-v0", entry_point=Reusing, disable_env_checker=True)
    envs = make_host("chorus_tests/Reusing-v0", 1)
    envs.reset(np.array([0]))
    results = [envs.step(np.array([0])) for _ in range(3)]
    del gymnasium.registry["chorus_tests/Reusing-v0"]
    assert [float(result.observation[0, 0]) for result in results] == [1, 2, 1]
    assert [float(result.reset_observation[0, 0]) for result in results] == [1, 0, 1]


def test_box_actions_are_stretched_to_unequal_bounds_and_to_their_shape(registered):
    low, high = np.float32([[-2, 0], [5, -1]]), np.float32([[2, 10], [7, 1]])
    env_id = registered(action_space=spaces.Box(low, high))
    spec = describe(env_id)
    assert (spec.family, spec.actions) == ("control", Box((-2, 0, 5, -1), (2, 10, 7, 1), (2, 2)))
    envs = make_host(env_id, 2)
    envs.reset(np.array([0, 1]))
    envs.step(np.float32([[-1, -1, -1, -1], [1, 0, -0.5, 1]]))
    (first,), (second,) = (env.unwrapped.taken for env in envs._envs)
    np.testing.assert_array_equal(first, low)
    # 5 + 0.25 (7 - 5) = 5.5
    np.testing.assert_array_equal(second, [[2, 5], [5.5, 1]])
    assert envs._envs[0].action_space.contains(first)
    envs.close()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_box_actions_are_of_the_environments_own_type_and_never_leave_its_bounds(registered, dtype):
    """0.1 is no number in binary, and its nearest ones differ from type to type."""
    space = spaces.Box(-0.1, 0.1, (2,), dtype)
    actions = describe(registered(action_space=space)).actions
    for native in actions.native(np.float32([[-1, 1], [0.3, -0.99999994]])):
        assert native.dtype == dtype and space.contains(native)


@pytest.mark.parametrize(
    ("shape", "dtype", "family", "channels_first"),
    [
        ((84, 84, 3), np.uint8, "image", False),
        ((3, 84, 84), np.uint8, "image", True),
        ((10, 10, 6), np.uint8, "minatar", False),
        ((12, 84, 84), np.uint8, "image", True),
        ((84, 84, 12), np.uint8, "image", False),
        ((6, 10, 10), np.uint8, "minatar", True),
        ((12, 210, 160), np.uint8, "image", True),
        ((210, 160, 12), np.uint8, "image", False),
    ],
)
def test_images_keep_their_layout(registered, shape, dtype, family, channels_first):
    spec = describe(registered(observation_space=spaces.Box(0, 255, shape, dtype)))
    assert (spec.family, spec.observation_shape, spec.channels_first) == (family, shape, channels_first)
    assert spec.observation_dtype == dtype


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"observation_space": spaces.Dict(a=spaces.Discrete(2))}, "observation space Dict; Chorus needs a Box"),
        ({"observation_space": spaces.Box(0, 1, (2, 2))}, "arrays of shape"),
        ({"observation_space": spaces.Box(0, 255, (84, 84, 84), np.uint8)}, "which axis holds the channels"),
        ({"action_space": spaces.MultiBinary(2)}, "Discrete spaces and in Boxes of floats"),
        ({"action_space": spaces.Box(0, 3, (2,), np.int32)}, "Discrete spaces and in Boxes of floats"),
        ({"action_space": spaces.Box(-1, 1, ())}, "with at least one axis"),
        ({"action_space": spaces.Box(-3e38, 3e38, (2,))}, "unbounded;"),
        ({"action_space": spaces.Box(-1, np.inf, (2,))}, "unbounded; Chorus stretches actions between finite bounds"),
        (
            {"action_space": spaces.Box(-1, 1, (2,)), "observation_space": spaces.Box(0, 255, (84, 84, 3), np.uint8)},
            "with Box actions Chorus takes flat vectors",
        ),
    ],
)
def test_what_is_not_supported_is_refused_with_a_remedy(registered, given, sentence):
    with pytest.raises(ChorusError, match=sentence):
        describe(registered(**given))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Breakuot", "MinAtar/Breakout-v1"),
        ("CartPole-v9", "CartPole-v1"),
        ("cartpol", "CartPole-v1"),
        ("minatar6", "minatar5"),
        ("MinAtr/Breakout-v1", "MinAtar/Breakout-v1"),
    ],
)
def test_a_slip_of_the_finger_is_answered_with_what_was_meant(name, meant):
    with pytest.raises(ChorusError, match=f"'{name}' is not known; did you mean '{meant}'\\?"):
        describe(name)


def test_several_environments_in_one_name_are_for_a_sweep():
    with pytest.raises(
        ChorusError,
        match="are 2 environments; for several use `chorus sweep --preset PRESET --env Breakout CartPole-v1`",
    ):
        describe("Breakout,CartPole-v1")


@pytest.mark.parametrize("env_id", ["MinAtar/Brekout-v1", "Probe/Nothing-v0", "NoSuchEnv-v0", "no_such_package:Env-v0"])
def test_an_unknown_environment_is_named(env_id):
    with pytest.raises(ChorusError, match=env_id.split(":")[-1].split("/")[-1]):
        describe(env_id)


@pytest.mark.long
def test_the_sizes_of_minatar_are_those_pgx_has():
    import pgx

    from chorus.envs.minatar import GAMES

    for env_id, game in GAMES.items():
        original = pgx.make(game.pgx_name)
        spec = describe(env_id)
        assert spec.observation_shape == tuple(original.observation_shape)
        assert spec.actions == Discrete(original.num_actions)
