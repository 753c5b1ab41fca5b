"""SAC of Stable-Baselines3 or SBX, which share an interface, as a worker of `benchmarks.peers`."""

import sys
import warnings

from benchmarks.peer_tasks import BATCH, HIDDEN, HOPPER_TURN, WARM_UP
from benchmarks.peer_turns import Turns, limit_to_one_thread


def main() -> None:
    limit_to_one_thread()
    turns = Turns()
    import gymnasium
    import torch

    torch.set_num_threads(1)
    if sys.argv[1] == "sbx":
        from sbx import SAC
    else:
        from stable_baselines3 import SAC

    warnings.filterwarnings("ignore", message=r"(?s).*is out of date")
    model = SAC(
        "MlpPolicy",
        gymnasium.make("Hopper-v4"),
        policy_kwargs={"net_arch": list(HIDDEN)},
        batch_size=BATCH,
        buffer_size=20_000,
        learning_starts=1_000,
        train_freq=1,
        gradient_steps=1,
        device="cpu",
    )

    def learn(steps: int) -> None:
        model.learn(steps, log_interval=1_000_000, reset_num_timesteps=False)

    learn(WARM_UP)
    turns.serve(lambda: learn(HOPPER_TURN))


if __name__ == "__main__":
    main()
