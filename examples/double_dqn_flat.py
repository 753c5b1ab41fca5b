"""Double DQN in one file: JAX, optax and Gymnasium, and nothing of Chorus.

    python examples/double_dqn_flat.py --env-id CartPole-v1 --total-steps 50000

It is written to be read from top to bottom, and it is a yardstick: a test makes 50 updates with `make_update` and
with the library's ensemble of one, on the same batches, and the parameters agree (law 1).
Left out on purpose: evaluation, checkpoints, parallel environments. The library has them.

Paper: van Hasselt et al., "Deep Reinforcement Learning with Double Q-learning", AAAI 2016.
"""

import argparse
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import optax


def option(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"help": f"{meaning} (default {default})"})


@dataclass(frozen=True)
class Args:
    env_id: str = option("CartPole-v1", "a Gymnasium id with a flat observation and discrete actions")
    seed: int = option(0, "of the weights, the environment, the random actions and the batches")
    total_steps: int = option(50_000, "agent steps")
    learning_rate: float = option(2.5e-4, "of Adam")
    adam_epsilon: float = option(1e-8, "of Adam")
    hidden: int = option(128, "width of both hidden layers")
    discount: float = option(0.99, "γ")
    buffer_size: int = option(50_000, "transitions in the replay")
    batch_size: int = option(64, "transitions in an update")
    learning_starts: int = option(1_000, "agent steps, all random, before the first update")
    update_period: int = option(4, "agent steps for each update")
    target_period: int = option(500, "updates between copies to the target network")
    final_epsilon: float = option(0.02, "chance of a random action once it has decayed")
    epsilon_decay_steps: int = option(20_000, "agent steps in which that chance falls from 1")


class Batch(NamedTuple):
    """Transitions; `terminated` is true only where the environment ended, not where a time limit cut it."""

    observation: Any  # [B, D] float32
    action: Any  # [B] int32
    reward: Any  # [B] float32
    terminated: Any  # [B] bool
    next_observation: Any  # [B, D] float32


class State(NamedTuple):
    """All that learning changes. Parameters are a list of (weight, bias), one pair per layer."""

    params: Any
    target_params: Any
    optimizer: Any
    updates: Any


def init_params(key: jax.Array, sizes: list[int]) -> list[tuple[jax.Array, jax.Array]]:
    """U(-c, c) with c = 1/√fan_in for weights and biases. The last layer has a single bias for all actions."""
    params = []
    for layer, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        key, weight_key, bias_key = jax.random.split(key, 3)
        bound = 1.0 / np.sqrt(fan_in)
        biases = 1 if layer == len(sizes) - 2 else fan_out
        weight = jax.random.uniform(weight_key, (fan_in, fan_out), minval=-bound, maxval=bound)
        params.append((weight, jax.random.uniform(bias_key, (biases,), minval=-bound, maxval=bound)))
    return params


def q_values(params: Any, observation: jax.Array) -> jax.Array:
    """Q(s, ·): [B, D] -> [B, A]."""
    *hidden, (weight, bias) = params
    x = observation
    for hidden_weight, hidden_bias in hidden:
        x = jax.nn.relu(x @ hidden_weight + hidden_bias)
    return x @ weight + bias


def loss(params: Any, target_params: Any, batch: Batch, discount: float) -> jax.Array:
    """The mean Huber distance from y = r + γ (1 - terminated) Q̄(s', a*), where a* = argmax Q(s', ·).

    The online network chooses the next action and the target network says what it is worth: that is what makes it
    *double*. One network doing both would pick the actions it overrates.
    """
    best = jnp.argmax(q_values(params, batch.next_observation), axis=-1)
    worth = jnp.take_along_axis(q_values(target_params, batch.next_observation), best[:, None], axis=-1)[:, 0]
    target = jax.lax.stop_gradient(batch.reward + discount * (1.0 - batch.terminated) * worth)
    taken = jnp.take_along_axis(q_values(params, batch.observation), batch.action[:, None], axis=-1)[:, 0]
    return jnp.mean(optax.losses.huber_loss(taken, target, delta=1.0))


def make_update(optimizer: optax.GradientTransformation, discount: float, target_period: int) -> Any:
    """One gradient step, and a copy to the target network after each `target_period` of them."""

    @jax.jit
    def update(state: State, batch: Batch) -> State:
        gradient = jax.grad(loss)(state.params, state.target_params, batch, discount)
        change, optimizer_state = optimizer.update(gradient, state.optimizer)
        params = optax.apply_updates(state.params, change)
        updates = state.updates + 1
        copy = updates % target_period == 0
        target_params = jax.tree.map(lambda new, old: jnp.where(copy, new, old), params, state.target_params)
        return State(params, target_params, optimizer_state, updates)

    return update


def init_state(params: Any, optimizer: optax.GradientTransformation) -> State:
    return State(params, params, optimizer.init(params), jnp.zeros((), jnp.int32))


class Replay:
    """The newest `size` transitions in arrays; the oldest is overwritten first."""

    def __init__(self, size: int, observation_size: int) -> None:
        self.columns = Batch(
            observation=np.zeros((size, observation_size), np.float32),
            action=np.zeros(size, np.int32),
            reward=np.zeros(size, np.float32),
            terminated=np.zeros(size, bool),
            next_observation=np.zeros((size, observation_size), np.float32),
        )
        self.size, self.added = size, 0

    def add(self, *transition: Any) -> None:
        for column, value in zip(self.columns, transition, strict=True):
            column[self.added % self.size] = value
        self.added += 1

    def sample(self, rng: np.random.Generator, count: int) -> Batch:
        rows = rng.integers(min(self.added, self.size), size=count)
        return Batch(*(column[rows] for column in self.columns))


def train(args: Args) -> list[float]:
    """The returns of all finished episodes."""
    env = gymnasium.make(args.env_id)
    rng = np.random.default_rng(args.seed)
    inputs, actions = int(np.prod(env.observation_space.shape)), int(env.action_space.n)
    optimizer = optax.adam(args.learning_rate, eps=args.adam_epsilon)
    state = init_state(init_params(jax.random.key(args.seed), [inputs, args.hidden, args.hidden, actions]), optimizer)
    update = make_update(optimizer, args.discount, args.target_period)
    greedy = jax.jit(lambda params, observation: jnp.argmax(q_values(params, observation[None])[0]))
    replay = Replay(args.buffer_size, inputs)

    returns, episodic_return = [], 0.0
    observation = env.reset(seed=args.seed)[0].astype(np.float32).ravel()
    for step in range(1, args.total_steps + 1):
        decayed = max(0, step - args.learning_starts) / args.epsilon_decay_steps
        epsilon = max(args.final_epsilon, 1.0 - (1.0 - args.final_epsilon) * decayed)
        explore = rng.random() <= epsilon
        action = int(rng.integers(actions)) if explore else int(greedy(state.params, observation))

        following, reward, terminated, truncated, _ = env.step(action)
        following = following.astype(np.float32).ravel()
        replay.add(observation, action, reward, terminated, following)
        episodic_return += float(reward)
        observation = following
        if terminated or truncated:
            returns.append(episodic_return)
            print(f"step {step:>7,}  episode {len(returns):>4}  return {episodic_return:g}")
            observation, episodic_return = env.reset()[0].astype(np.float32).ravel(), 0.0

        if step > args.learning_starts and step % args.update_period == 0:
            state = update(state, replay.sample(rng, args.batch_size))
    env.close()
    return returns


def parse() -> Args:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for each in fields(Args):
        name = each.name.replace("_", "-")
        parser.add_argument(f"--{name}", type=type(each.default), default=each.default, help=each.metadata["help"])
    return Args(**vars(parser.parse_args()))


if __name__ == "__main__":
    train(parse())
