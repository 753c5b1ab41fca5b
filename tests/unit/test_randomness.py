"""One seed, named streams: each has its own numbers, and another seed changes all of them."""

from itertools import product

from chorus.randomness import generator, key_words
from chorus.runs.training import evaluation_keys

STREAMS = ("init", "act", "member", "replay", "env", "eval")


def test_every_seed_stream_and_iteration_has_its_own_numbers():
    places = list(product(range(3), STREAMS, range(3)))
    assert len({tuple(key_words(*place)) for place in places}) == len(places)
    assert len({generator(*place).integers(2**62) for place in places}) == len(places)


def test_the_same_place_gives_the_same_numbers():
    assert key_words(7, "act", 3).tolist() == key_words(7, "act", 3).tolist()


def test_policies_are_evaluated_with_keys_of_their_own():
    keys = [evaluation_keys(0, 1, name) for name in ("individual", "aggregate")]
    drawn = {str(getattr(one, name)) for one in keys for name in ("act", "member", "env")}
    assert len(drawn) == 6
    assert keys[0].env_seed.generate_state(1) != keys[1].env_seed.generate_state(1)
