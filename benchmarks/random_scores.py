"""Scores of a uniformly random policy in the environments that reports normalise.

`python -m benchmarks.random_scores` plays 1,000 whole episodes per environment, with the environment's own episode
limit (MinAtar: 5,000 steps, as in training), and writes `src/chorus/data/random_scores.csv`. It takes a few minutes.
The same seed and the same versions of the environments give the same file.

Every slot plays the same number of episodes. Taking whichever episodes end first would favour short ones.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

GYMNASIUM = (
    "HalfCheetah-v4",
    "Hopper-v4",
    "Walker2d-v4",
    "Ant-v4",
    "Humanoid-v4",
    "InvertedPendulum-v4",
    "Pendulum-v1",
    "CartPole-v1",
    "Acrobot-v1",
    "MountainCar-v0",
)
COLUMNS = ("env", "random", "episodes", "standard_error", "seed")
TABLE = Path(__file__).parents[1] / "src/chorus/data/random_scores.csv"
SLOTS = 20


def minatar_returns(env: str, episodes: int, seed: int) -> np.ndarray:
    """Returns of episodes of a MinAtar game, one per slot, all played at once."""
    import jax
    import jax.numpy as jnp

    from chorus.envs.minatar import EPISODE_LIMIT_STEPS, GAMES, MinAtar

    game = MinAtar(env, None)

    def unfinished(carry):
        step, _, _, ended, _ = carry
        return (step < EPISODE_LIMIT_STEPS) & ~ended.all()

    def advance(carry):
        step, states, returns, ended, key = carry
        key, of_actions, of_games = jax.random.split(key, 3)
        actions = jax.random.randint(of_actions, (episodes,), 0, GAMES[env].actions)
        states, _, rewards, terminated = jax.vmap(game.step)(states, actions, jax.random.split(of_games, episodes))
        return step + 1, states, returns + jnp.where(ended, 0.0, rewards), ended | terminated, key

    key, of_games = jax.random.split(jax.random.key(seed))
    states, _ = jax.vmap(game.reset)(jax.random.split(of_games, episodes))
    start = (0, states, jnp.zeros(episodes), jnp.zeros(episodes, bool), key)
    return np.asarray(jax.jit(lambda carry: jax.lax.while_loop(unfinished, advance, carry))(start)[2], np.float64)


def gymnasium_returns(env: str, episodes: int, seed: int) -> np.ndarray:
    """Returns of episodes of a Gymnasium environment, equally many per slot."""
    from gymnasium.vector import SyncVectorEnv

    from chorus.envs.gym import make

    slots = min(SLOTS, episodes)
    each = -(-episodes // slots)
    envs = SyncVectorEnv([lambda: make(env, None, None)] * slots)
    envs.reset(seed=seed)
    envs.action_space.seed(seed)
    totals, found = np.zeros(slots), [[] for _ in range(slots)]
    while min(map(len, found)) < each:
        _, rewards, terminated, truncated, _ = envs.step(envs.action_space.sample())
        totals += rewards  # the step that resets a slot has a reward of 0
        for slot in np.flatnonzero(terminated | truncated):
            found[slot].append(float(totals[slot]))
            totals[slot] = 0.0
    envs.close()
    return np.array([returns[:each] for returns in found]).ravel()[:episodes]


def measure(env: str, episodes: int, seed: int) -> tuple[str, str, int, str, int]:
    """One row of the table."""
    play = minatar_returns if env.startswith("MinAtar/") else gymnasium_returns
    returns = play(env, episodes, seed)
    error = returns.std(ddof=1) / np.sqrt(len(returns)) if len(returns) > 1 else float("nan")
    return env, f"{returns.mean():.6g}", len(returns), f"{error:.3g}", seed


def main(arguments: Sequence[str] | None = None) -> None:
    from chorus.envs.minatar import GAMES

    parser = argparse.ArgumentParser(prog="python -m benchmarks.random_scores", description=__doc__)
    parser.add_argument("--env", nargs="+", default=[*GAMES, *GYMNASIUM], help="environments (default: all)")
    parser.add_argument("--episodes", type=int, default=1_000, help="episodes per environment (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of environments and actions (default: 0)")
    parser.add_argument("--out", type=Path, default=TABLE, help="the file to write (default: the package's table)")
    args = parser.parse_args(arguments)
    rows = []
    for env in args.env:
        rows.append(measure(env, args.episodes, args.seed))
        print("  ".join(map(str, rows[-1])), flush=True)
    with args.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
