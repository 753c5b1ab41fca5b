"""Trees packed into one vector per type."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from chorus.training.packing import Packing

LEAVES = st.sampled_from([np.float32, np.int32, np.uint32]).flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=3, max_side=3), elements={"min_value": 0, "max_value": 9}
    )
)


@pytest.mark.slow
@given(st.lists(LEAVES, min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_a_packed_tree_unpacks_to_itself(leaves):
    tree = {f"leaf_{index}": {"array": leaf} for index, leaf in enumerate(leaves)}
    packing = Packing.of(tree)
    vectors = packing.pack(tree)
    assert {name: vector.dtype.name for name, vector in vectors.items()} == {name: name for name in vectors}
    assert all(vector.ndim == 1 for vector in vectors.values())
    again = packing.unpack(vectors)
    assert jax.tree.structure(again) == jax.tree.structure(tree)
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(tree), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_sizes_are_in_bytes():
    assert Packing.of({"a": jnp.zeros((2, 3)), "b": jnp.zeros((), jnp.int32)}).size_in_bytes == 28
