"""One SAC update at Humanoid's sizes: N = 10 against ten single ones and the matrix-product rate, CERL against it."""

from itertools import pairwise

import numpy as np

from benchmarks import harness
from chorus.agents.agent import Agent
from chorus.agents.optimizers import Adam
from chorus.agents.sac import SacLearner, sac_agent
from chorus.agents.sac_networks import Networks
from chorus.config.schema import Runtime
from chorus.ensemble.auxiliaries import NoAuxiliary
from chorus.ensemble.losses import Loss, MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross, Members, ValueMapRule
from chorus.networks.layers import Orthogonal
from chorus.networks.torsos import MLPTorso
from chorus.replay.batch import Batch
from chorus.runs.runtime import prepare
from chorus.spaces import Box

MEMBERS, BATCH, OBSERVED, ACTIONS, HIDDEN, CRITICS = 10, 256, 376, 17, (256, 256), 2


def build(kind: ValueMapRule, members: int = MEMBERS, loss: Loss | None = None, at_once: int | None = None) -> Agent:
    actions = Box((-0.4,) * ACTIONS, (0.4,) * ACTIONS, (ACTIONS,))
    learner = SacLearner(
        members=members,
        torso=MLPTorso(dense=HIDDEN),
        value_map=kind,
        loss=loss or Squared(),
        auxiliary=NoAuxiliary(),
        initialization=Orthogonal(),
        discount=0.99,
        critics=CRITICS,
        optimizer=Adam(learning_rate=3e-4, epsilon=1e-8),
        target_period_updates=1,
        target_rate=0.005,
        reward_clip=None,
    )
    networks = Networks.build(learner.torso, learner.initialization, learner.tables, actions)
    return sac_agent(learner, networks, np.zeros(OBSERVED, np.float32), actions, at_once)


def make_batch() -> Batch:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    return Batch(
        observation=normal(BATCH, 1, OBSERVED),
        action=np.tanh(normal(BATCH, 1, ACTIONS)),
        rewards=normal(BATCH, 1, 1),
        length=np.ones((BATCH, 1), np.int32),
        terminated=np.zeros((BATCH, 1), bool),
        next_observation=normal(BATCH, 1, OBSERVED),
        weight=np.ones((BATCH, 1), np.float32),
    )


def update_flop(members: int) -> int:
    """Multiplications and additions of one update, of main heads only.

    The policy runs on s' and on s, where it also learns; each critic runs as target, learns, and is differentiated by
    its input for the policy. A backward pass costs twice a forward one, or once where only the input's or only the
    parameters' gradient is needed.
    """

    def layers(inputs: int, outputs: int) -> list[int]:
        widths = (inputs, *HIDDEN, outputs)
        return [inward * outward for inward, outward in pairwise(widths)]

    critic, policy = layers(OBSERVED + ACTIONS, 1), layers(OBSERVED, 2 * ACTIONS)
    of_policy = sum(policy) + 3 * sum(policy) - policy[0]
    of_critic = sum(critic) + (3 * sum(critic) - critic[0]) + 2 * sum(critic)
    return 2 * BATCH * members * (of_policy + CRITICS * of_critic)


def main() -> None:
    prepare(Runtime(threads=1))
    batch = make_batch()
    cerl = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber())
    forms = {
        "SAC": harness.Updating(build(Members(), members=1), batch),
        "Ensemble SAC": harness.Updating(build(Members()), batch),
        "Ensemble SAC, all members at once": harness.Updating(build(Members(), at_once=MEMBERS), batch),
        "Ensemble SAC + CERL": harness.Updating(build(Cross(), loss=cerl), batch),
    }
    seconds = harness.interleaved({"matmul": harness.matmul(), **forms}, rounds=11)
    rate = harness.MATMUL_FLOP / seconds["matmul"]
    single, ensemble = seconds["SAC"], seconds["Ensemble SAC"]
    results = {
        "ensemble_sac_n10_over_ten_singles": ensemble / (MEMBERS * single),
        "cerl_sac_over_ensemble_sac": seconds["Ensemble SAC + CERL"] / ensemble,
        "sac_n10_share_of_matmul": update_flop(MEMBERS) / ensemble / rate,
        **{f"sac_update_ms/{name}": 1e3 * seconds[name] for name in forms},
    }
    facts = {
        "update": f"N = {MEMBERS}, batch {BATCH}, Humanoid's sizes, {update_flop(MEMBERS) / 1e9:.1f} GFLOP",
        "matmul": f"{harness.MATMUL_SIZE}³ float32, {rate / 1e9:.0f} GFLOP/s, {harness.threads()} thread",
    }
    harness.report("SAC update", facts, results)
    harness.record(results, "sac_update")


if __name__ == "__main__":
    main()
