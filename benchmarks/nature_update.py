"""One N = 10 Nature-CNN update: against plain `vmap`, against the matrix-product rate, and CERL against it."""

import flax.linen as nn
import jax
import numpy as np

from benchmarks import harness
from chorus.agents.optimizers import CentredRMSProp
from chorus.agents.q import Agent, QLearner, q_agent
from chorus.config.schema import Runtime
from chorus.ensemble.auxiliaries import NoAuxiliary
from chorus.ensemble.estimates import Online, Scalar
from chorus.ensemble.losses import Huber
from chorus.ensemble.value_map import Cross, Members, ValueMapRule
from chorus.networks.forked import Forked
from chorus.networks.layers import DEFAULT_INITIALIZATION, Dense
from chorus.networks.lifting import batched, best_for_backend
from chorus.networks.torsos import nature
from chorus.replay.batch import Batch
from chorus.runs.runtime import prepare

MEMBERS, BATCH, ACTIONS, SHAPE = 10, 32, 18, (84, 84, 4)


class PlainConv(nn.Module):
    """XLA's own convolution: under `vmap` over members, what published ensemble code does."""

    features: int
    kernel: int
    stride: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        init = DEFAULT_INITIALIZATION.weight(self.kernel**2 * x.shape[-1])
        weight = self.param("kernel", init, (self.kernel, self.kernel, x.shape[-1], self.features))
        y = jax.lax.conv_general_dilated(
            x, weight, (self.stride, self.stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return nn.relu(y + self.param("bias", init, (self.features,)))


def build(rule: ValueMapRule, members: int = MEMBERS, shared: int = 0, plain: bool = False) -> Agent:
    layers = nature().layers()
    if plain:
        convolutions = [PlainConv(features=c.features, kernel=c.kernel, stride=c.stride) for c in nature().convolutions]
        layers = (*convolutions, Dense(features=512))
    lift = batched if plain else best_for_backend
    learner = QLearner(
        members=members,
        torso=nature(),
        value_map=rule,
        loss=Huber(),
        auxiliary=NoAuxiliary(),
        initialization=DEFAULT_INITIALIZATION,
        optimizer=CentredRMSProp(),
        discount=0.99,
        target_period_updates=7_500,
        target_rate=1.0,
        reward_clip=1.0,
        shared_layers=shared,
        estimate=Scalar(),
        selection=Online(),
        prior_scale=0.0,
    )
    network = Forked(layers, members, shared, learner.tables.heads, ACTIONS, lift=lift)
    return q_agent(learner, network, np.zeros(SHAPE, np.uint8))


def make_batch(shape: tuple[int, ...] = SHAPE, dtype: type = np.uint8, actions: int = ACTIONS) -> Batch:
    rng = np.random.default_rng(0)
    high = 2 if dtype is bool else 256
    first, second = (rng.integers(0, high, (BATCH, 1, *shape)).astype(dtype) for _ in range(2))
    return Batch(
        observation=first,
        action=rng.integers(0, actions, (BATCH, 1)).astype(np.int32),
        rewards=rng.normal(size=(BATCH, 1, 1)).astype(np.float32),
        length=np.ones((BATCH, 1), np.int32),
        terminated=np.zeros((BATCH, 1), bool),
        next_observation=second,
        weight=np.ones((BATCH, 1), np.float32),
    )


def main() -> None:
    prepare(Runtime(threads=2))
    batch = make_batch()
    forms = {
        "Double DQN": harness.Updating(build(Members(), members=1), batch),
        "Bootstrapped DQN, L = 0": harness.Updating(build(Members()), batch),
        "Bootstrapped DQN, L = 3": harness.Updating(build(Members(), shared=3), batch),
        "CERL": harness.Updating(build(Cross()), batch),
    }
    seconds = harness.interleaved({"matmul": harness.matmul(), **forms}, rounds=11)
    plain = harness.interleaved(
        {"plain vmap": harness.Updating(build(Members(), plain=True), batch), "ours": forms["Bootstrapped DQN, L = 0"]},
        rounds=3,
    )
    flop = harness.update_flop(nature(), SHAPE, ACTIONS, MEMBERS, BATCH)
    rate = harness.MATMUL_FLOP / seconds["matmul"]
    ours = seconds["Bootstrapped DQN, L = 0"]
    results = {
        "nature_n10_speedup_over_vmap": plain["plain vmap"] / plain["ours"],
        "nature_n10_share_of_matmul": flop / ours / rate,
        "cerl_over_bootstrapped": seconds["CERL"] / ours,
        **{f"nature_update_ms/{name}": 1e3 * seconds[name] for name in forms},
        "nature_update_ms/plain vmap": 1e3 * plain["plain vmap"],
    }
    facts = {
        "update": f"N = {MEMBERS}, batch {BATCH}, {flop / 1e9:.1f} GFLOP",
        "matmul": f"{harness.MATMUL_SIZE}³ float32, {rate / 1e9:.0f} GFLOP/s, {harness.threads()} threads",
    }
    harness.report("Nature-CNN update", facts, results)
    harness.record(results, "nature_update")


if __name__ == "__main__":
    main()
