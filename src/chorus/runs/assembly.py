"""From a configuration to the objects that run it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
from jaxtyping import Array, PRNGKeyArray

from chorus.agents.agent import Agent, Proposal
from chorus.config.schema import RunConfig
from chorus.envs.atari import AtariSettings
from chorus.envs.registry import describe, is_jax, make_host, make_jax
from chorus.envs.spec import EnvSpec, HostEnvs
from chorus.errors import ChorusError
from chorus.randomness import init_key
from chorus.runs.programs import ProgramCache, SharedParts
from chorus.runs.progress import ProgressView
from chorus.runs.resources import Demand, check_resources, demand_of, ends_with_episode, ring_layout
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.runs.trackers import Trackers
from chorus.runs.training import Training
from chorus.spaces import Box
from chorus.training.compiled import CompiledLoop, obstacle
from chorus.training.decisions import choose_actions, valuing_proposals
from chorus.training.diagnostics import Diagnostics
from chorus.training.evaluate import Evaluator
from chorus.training.exploration import exploration_log
from chorus.training.loop import Loop
from chorus.training.policies import Policy
from chorus.training.stepper import Decide, HostStepper, JaxStepper, LifeLoss, Stepper


@dataclass(frozen=True)
class Assembly:
    """The parts of a run that do not touch the disk."""

    config: RunConfig
    spec: EnvSpec
    agent: Agent
    shared: SharedParts | None = None
    """Parts of this agent that other runs use, too; None if the run has programs of its own."""

    @staticmethod
    def of(config: RunConfig, programs: ProgramCache | None = None) -> "Assembly":
        """With `programs`, runs of one configuration share their traced programs."""
        if programs and (shared := programs.find(config)):
            return Assembly(config, shared.spec, shared.agent, shared)
        spec = describe(config.env.id, config.env.max_episode_steps)
        agent = config.agent.build(spec)
        return Assembly(config, spec, agent, programs.add(config, spec, agent) if programs else None)

    def check_network(self) -> None:
        """Check by shapes alone that the layers fit each other and the observations."""
        try:
            jax.eval_shape(self.agent.init, init_key(0))
        except Exception as problem:
            first_line = next(iter(str(problem).splitlines()), type(problem).__name__)
            raise ChorusError(
                f"the network cannot be built for observations of shape {self.spec.observation_shape} "
                f"({type(problem).__name__}: {first_line}); change agent.torso"
            ) from problem

    def check_resources(self, path: Path, *, resumed: bool = False) -> None:
        """Check that disk and memory suffice for the run."""
        layout = ring_layout(self.config, self.spec)
        check_resources(layout, self.demand(), path, device_memory_bytes(), resumed=resumed)

    def demand(self) -> Demand:
        """The memory that the run takes beside its replay."""
        state = jax.eval_shape(self.agent.init, init_key(0))
        state_bytes = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
        return demand_of(self.config, self.spec, state_bytes, isinstance(self.loop(), CompiledLoop))

    def make_stepper(
        self,
        decide: Decide,
        slots: int,
        *,
        limit: int | None,
        redraw_each_step: bool = False,
        render_mode: str | None = None,
    ) -> Stepper:
        """`limit` is the length at which episodes are cut; None keeps the environment's own limit."""
        env = self.config.env
        if is_jax(env.id):
            return JaxStepper(make_jax(env.id, limit), decide, slots, redraw_each_step)

        def make_envs(count: int) -> HostEnvs:
            return make_host(env.id, count, limit, settings=env.atari, render_mode=render_mode)

        lives = env.atari or AtariSettings()
        life_loss = LifeLoss(terminal=lives.terminal_on_life_loss, redraw=lives.redraw_on_life_loss)
        return HostStepper(make_envs, decide, slots, redraw_each_step, life_loss)

    def loop(self) -> Loop:
        """Compiled where the environment and all components can be; `obstacle` says why not."""
        parts = self._shared_parts()
        if parts is None:
            return self._make_loop()
        parts.loop = parts.loop or self._make_loop()
        return parts.loop

    def _shared_parts(self) -> SharedParts | None:
        """None if the agent was replaced: theirs is another."""
        return self.shared if self.shared and self.shared.agent is self.agent else None

    def _make_loop(self) -> Loop:
        loop = self.host_loop()
        return loop if self.obstacle(loop) or not isinstance(loop.stepper, JaxStepper) else CompiledLoop.of(loop)

    def obstacle(self, loop: Loop) -> str | None:
        return obstacle(loop, ring_layout(self.config, self.spec))

    def host_loop(self) -> Loop:
        config = self.config
        return Loop(
            agent=self.agent,
            members=config.agent.members,
            acting=config.acting,
            epsilon=config.exploration,
            stepper=self.make_stepper(
                self._decide_in_training,
                config.env.num_envs,
                limit=config.env.max_episode_steps,
                redraw_each_step=config.acting.each_step,
            ),
            schedule=config.schedule,
            replay=config.replay,
            whole_episodes=ends_with_episode(config, self.spec),
            shows_visits=config.states is not None,
        )

    def _decide_in_training(
        self, params: Any, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array
    ) -> tuple[Array, Any]:
        """Only a rule that uses all members pays for evaluating them."""
        acting, actions = self.config.acting, self.spec.actions
        if not acting.uses_members:
            return self.agent.act(params, observation, member, key, epsilon), ()

        def choose(proposal: Proposal, drawn: Array, key: PRNGKeyArray) -> Array:
            return acting.choose(proposal, drawn, actions, key)

        agent = valuing_proposals(self.agent) if acting.reads_values and isinstance(actions, Box) else self.agent
        action, _ = choose_actions(agent, actions, choose, params, observation, member, key, epsilon)
        return action, ()

    def evaluator(
        self, policies: Mapping[str, Policy] | None = None, slots: int | None = None, render: bool = False
    ) -> Evaluator:
        """By default for the configured policies and slots; `render` asks environments that live in Python for frames.

        Training cuts endless episodes at an iteration's end; evaluation waits for them, so it has a limit of its own.
        """
        config = self.config
        endless = self.spec.max_episode_steps is None
        limit = config.evaluation.max_episode_steps if endless else config.env.max_episode_steps
        return Evaluator(
            agent=self.agent,
            members=config.agent.members,
            actions=self.spec.actions,
            policies=config.evaluation.policies if policies is None else policies,
            make_stepper=partial(self.make_stepper, limit=limit, render_mode="rgb_array" if render else None),
            slots=slots or config.evaluation.slots,
            epsilon=config.evaluation.epsilon,
            discount=config.agent.discount,
            reward_clip=config.agent.reward_clip,
        )

    def _own_evaluator(self) -> Evaluator:
        """That of training, for the configured policies."""
        parts = self._shared_parts()
        if parts is None:
            return self.evaluator()
        parts.evaluator = parts.evaluator or self.evaluator()
        return parts.evaluator

    def training(
        self,
        directory: RunDirectory,
        progress: ProgressView,
        trackers: Trackers,
        keep_replay: bool,
        stop: StopRequest,
    ) -> Training:
        loop = self.loop()
        if problem := self.obstacle(loop):
            progress.say(problem)
        return Training(
            loop=loop,
            evaluator=self._own_evaluator(),
            evaluation=self.config.evaluation,
            diagnostics=Diagnostics(self.agent, self.config.agent.members),
            exploration=exploration_log(self.config.states, self.spec, self.config.agent.members),
            layout=ring_layout(self.config, self.spec),
            config=self.config.to_json(),
            seed=self.config.seed,
            action_repeat=self.spec.action_repeat,
            directory=directory,
            progress=progress,
            trackers=trackers,
            stop=stop,
            keep_replay=keep_replay,
        )


def device_memory_bytes() -> int | None:
    """The memory of an accelerator; None on a CPU, or if the device does not tell."""
    device = jax.devices()[0]
    statistics = device.memory_stats() if device.platform != "cpu" else None
    return (statistics or {}).get("bytes_limit")


def count_parameters(config: RunConfig, spec: EnvSpec) -> int:
    """Number of parameters that act and learn; target networks are not counted."""
    state = jax.eval_shape(config.agent.build(spec).init, init_key(0))
    return sum(int(leaf.size) for leaf in jax.tree.leaves(state.params))
