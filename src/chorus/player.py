"""A trained run that acts, with the `predict` signature that Stable-Baselines3's tools expect of a model."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from chorus.agents.agent import Proposal
from chorus.errors import ChorusError
from chorus.extras import require
from chorus.runs.assembly import Assembly
from chorus.runs.training import evaluation_keys
from chorus.training.acting import redraw
from chorus.training.decisions import choose_actions
from chorus.training.episodes import EpisodeRecorder
from chorus.training.evaluate import EpisodeResult, record_steps
from chorus.training.policies import Member, Policy, policies_for
from chorus.training.settings import Amount


class Player:
    """One policy of one run. `predict` takes one observation or a batch, in the environment's own layout."""

    def __init__(self, assembly: Assembly, params: Any, policy_name: str | None, seed: int) -> None:
        self.assembly = assembly
        self.params = params
        self.policy_name = policy_name or default_policy(assembly)
        self.policy = named_policy(assembly, self.policy_name)
        self._key = jax.random.key(seed)
        self._calls = 0
        self._decide = jax.jit(self._redraw_and_choose)

    def observation_example(self) -> np.ndarray:
        """An observation of zeros with the shape and type that `predict` expects."""
        return self.assembly.spec.example()

    def predict(
        self,
        observation: np.ndarray | dict[str, np.ndarray],
        state: tuple[np.ndarray, ...] | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool = False,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The action, and the state to hand in with the next call: which member acts in each environment.

        A member is drawn where `episode_start` is true. `deterministic` takes the modes of the policies and leaves out
        the evaluation's random actions; the draw of a member and of tied votes remains.
        """
        array = np.asarray(observation)
        spec = self.assembly.spec
        single = array.shape == spec.observation_shape
        if not single and array.shape[1:] != spec.observation_shape:
            raise ChorusError(
                f"predict was given an observation of shape {array.shape}; {spec.id} has {spec.observation_shape}, "
                "alone or as a batch with one more axis in front"
            )
        batch = np.asarray(array[None] if single else array, spec.observation_dtype)
        slots = len(batch)
        if state is None:
            member, first = np.zeros(slots, np.int32), np.ones(slots, bool)
        else:
            member = state[0]
            first = np.zeros(slots, bool) if episode_start is None else np.asarray(episode_start, bool)
        epsilon = 0.0 if deterministic else self.assembly.config.evaluation.epsilon
        self._calls += 1
        key = jax.random.fold_in(self._key, self._calls)
        action, member = self._decide(self.params, batch, member, first, key, np.float32(epsilon), deterministic)
        chosen = np.asarray(spec.actions.native(np.asarray(action)))
        return (chosen[0] if single else chosen), (np.asarray(member),)

    def _redraw_and_choose(
        self,
        params: Any,
        observation: Array,
        member: Array,
        first: Array,
        key: PRNGKeyArray,
        epsilon: Array,
        deterministic: Array,
    ) -> tuple[Array, Array]:
        agent, actions = self.assembly.agent, self.assembly.spec.actions
        member_key, choose_key = jax.random.split(key)
        shares = jnp.asarray(self.policy.shares(self.assembly.config.agent.members), jnp.float32)
        member = redraw(member, first, shares, member_key)

        def choose(proposal: Proposal, drawn: Array, key: PRNGKeyArray) -> Array:
            action = jnp.where(deterministic, proposal.mode, proposal.action)
            return self.policy.choose(proposal._replace(action=action), drawn, actions, key)

        action, _ = choose_actions(agent, actions, choose, params, observation, member, choose_key, epsilon)
        return action, member

    def evaluate(self, episodes: int, seed: int) -> list[EpisodeResult]:
        """The evaluation of training with another number of episodes (rounded up to the same number per slot)."""
        slots = min(self.assembly.config.evaluation.slots, episodes)
        evaluator = self.assembly.evaluator({self.policy_name: self.policy}, slots=slots)
        keys = evaluation_keys(seed, 0, self.policy_name)
        return evaluator.evaluate(self.params, self.policy_name, keys, Amount(episodes=-(-episodes // slots)))


@dataclass(frozen=True)
class Evaluation:
    """The episodes of one policy, and what their returns say about it."""

    policy: str
    episodes: list[EpisodeResult]

    @cached_property
    def returns(self) -> np.ndarray:
        return np.array([episode.episodic_return for episode in self.episodes])

    @property
    def mean(self) -> float:
        return float(self.returns.mean())

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The 95 % bootstrap interval of the mean: over episodes of this run, not over runs."""
        rng, count = np.random.default_rng(0), len(self.returns)
        # One sample after the other: all at once would take 1.6 GB for 100,000 episodes.
        resampled = [rng.choice(self.returns, count).mean() for _ in range(2_000)]
        low, high = np.percentile(resampled, [2.5, 97.5])
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{self.policy}: {self.mean:.2f} ({low:.2f} to {high:.2f}), {len(self.episodes)} episodes"


def default_policy(assembly: Assembly) -> str:
    policies = assembly.config.evaluation.policies
    return "aggregate" if "aggregate" in policies else next(iter(policies), "individual")


def named_policy(assembly: Assembly, name: str) -> Policy:
    """One of the run's configured policies, or of those that every ensemble has."""
    members = assembly.config.agent.members
    known: dict[str, Policy] = {
        **assembly.config.evaluation.policies,
        **policies_for(assembly.spec.actions),
        **{f"member_{i}": Member(index=i) for i in range(members)},
    }
    if name not in known:
        raise ChorusError(f"the policy '{name}' is not known for this run; there are {', '.join(known)}")
    return known[name]


_FRAMES_PER_SECOND = 15


def film(player: Player, path: Path, seed: int) -> int:
    """Play one episode and write it as an .mp4 file; returns the number of frames."""
    if path.suffix != ".mp4":
        raise ChorusError(f"--video {path} does not end in .mp4; only that format is written")
    if not path.parent.is_dir():
        raise ChorusError(f"--video {path}: the folder {path.parent} does not exist; make it first")
    # Missed before the episode is played, not after it.
    require("imageio_ffmpeg", f"--video {path}")
    frames = record(player, seed)
    write(path, frames)
    return len(frames)


def record(player: Player, seed: int) -> list[np.ndarray]:
    """The frames of one episode."""
    evaluator = player.assembly.evaluator({player.policy_name: player.policy}, slots=1, render=True)
    recorder = EpisodeRecorder(slots=1)
    rollout = evaluator.stepper.start(evaluation_keys(seed, 0, player.policy_name))
    frames: list[np.ndarray] = []
    try:
        while True:
            rollout, steps = evaluator.advance(player.params, player.policy_name, rollout)
            frames += evaluator.stepper.frames(rollout, steps)
            for episode in record_steps(recorder, steps):
                return frames[: episode.length]
    finally:
        rollout.close()


def write(path: Path, frames: list[np.ndarray]) -> None:
    height, width = frames[0].shape[:2]
    writer = require("imageio_ffmpeg", f"--video {path}").write_frames(
        str(path), (width, height), fps=_FRAMES_PER_SECOND, macro_block_size=2, ffmpeg_log_level="error"
    )
    with warnings.catch_warnings():
        # JAX warns of every fork; this one is followed by exec at once.
        warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)
        writer.send(None)
    for frame in frames:
        writer.send(np.ascontiguousarray(frame))
    writer.close()
