"""Which JAX keys a computation uses, to show that no key is used twice."""

from collections import defaultdict

import jax
import numpy as np

DRAWS = ("split", "uniform", "normal", "randint", "bits", "bernoulli", "categorical")


class KeyUses:
    """Records each use of a key while `jax.random` is patched; keys inside `vmap` or `jit` are not seen."""

    def __init__(self, monkeypatch) -> None:
        self.uses: dict[tuple, list[tuple]] = defaultdict(list)
        for name in (*DRAWS, "fold_in"):
            monkeypatch.setattr(jax.random, name, self._recorded(name, getattr(jax.random, name)))

    def _recorded(self, name, function):
        def call(key, *arguments, **named):
            if not isinstance(key, jax.core.Tracer):
                # Any number of different children may be folded out of a key.
                use = (name, *map(int, arguments)) if name == "fold_in" else (name, "consumed")
                self.uses[tuple(np.asarray(jax.random.key_data(key)).ravel().tolist())].append(use)
            return function(key, *arguments, **named)

        return call

    def used_twice(self) -> list[list[tuple]]:
        """The uses of every key that was used again after it was consumed, or folded twice with the same number."""
        return [
            uses
            for uses in self.uses.values()
            if len(uses) > len(set(uses)) or (len(uses) > 1 and any(name != "fold_in" for name, *_ in uses))
        ]
