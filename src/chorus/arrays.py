"""Arrays of the host and of JAX, where either will do."""

import jax
import numpy as np

AnyArray = jax.Array | np.ndarray
