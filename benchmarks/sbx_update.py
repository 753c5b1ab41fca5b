"""Our SAC update against that of SBX, in one process; run by `make bench-peers`, which installs SBX beside Chorus."""

import gymnasium
import jax
import numpy as np
from gymnasium import spaces

from benchmarks import harness
from benchmarks.sac_update import ACTIONS, BATCH, HIDDEN, MEMBERS, OBSERVED, build, make_batch, update_flop
from chorus.config.schema import Runtime
from chorus.ensemble.value_map import Members
from chorus.runs.runtime import prepare


class Sizes(gymnasium.Env):
    """Humanoid's spaces and nothing else: only updates are timed."""

    observation_space = spaces.Box(-np.inf, np.inf, (OBSERVED,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (ACTIONS,), np.float32)


class SBXUpdating:
    """SBX's own jitted gradient step, on the numpy batch its replay would hand over."""

    def __init__(self) -> None:
        from sbx import SAC
        from sbx.common.type_aliases import ReplayBufferSamplesNp

        self._model = SAC("MlpPolicy", Sizes(), policy_kwargs={"net_arch": list(HIDDEN)}, batch_size=BATCH)
        batch = make_batch()
        self._data = ReplayBufferSamplesNp(
            batch.observation[:, 0],
            batch.action[:, 0],
            batch.next_observation[:, 0],
            batch.terminated[:, 0].astype(np.float32),
            batch.rewards[:, 0, 0],
            np.full(BATCH, 0.99, np.float32),
        )

    def __call__(self) -> object:
        model = self._model
        policy = model.policy
        policy.qf_state, policy.actor_state, model.ent_coef_state, model.key, losses = model._train(
            model.tau, model.target_entropy, 1, self._data, 1, 0, policy.qf_state, policy.actor_state,
            model.ent_coef_state, model.key,
        )  # fmt: skip
        return losses, policy.qf_state.params


def main() -> None:
    prepare(Runtime(threads=1))
    batch = make_batch()
    forms = {
        "matmul": harness.matmul(),
        "SBX": SBXUpdating(),
        "SAC": harness.Updating(build(Members(), members=1), batch),
        "Ensemble SAC": harness.Updating(build(Members()), batch),
    }
    seconds = harness.interleaved(forms, rounds=15)
    rate = harness.MATMUL_FLOP / seconds.pop("matmul")
    results = {
        "sac_over_sbx": seconds["SAC"] / seconds["SBX"],
        "ensemble_sac_n10_over_ten_sbx": seconds["Ensemble SAC"] / (MEMBERS * seconds["SBX"]),
        "sbx_share_of_matmul": update_flop(1) / seconds["SBX"] / rate,
        **{f"sbx_update_ms/{name}": 1e3 * value for name, value in seconds.items()},
    }
    facts = {"update": f"batch {BATCH}, Humanoid's sizes, {harness.threads()} thread, jax {jax.__version__}"}
    harness.report("SAC update against SBX", facts, results)
    harness.record(results, "sbx_update")


if __name__ == "__main__":
    main()
