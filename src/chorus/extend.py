"""Everything that a component, preset or environment of your own needs, in one place (docs/extending.md).

from chorus.extend import ValueMap, ValueMapRule, preset, register, with_agent
"""

from dataclasses import replace

import flax.linen as nn

import chorus.config.catalogue  # noqa: F401 - registers the presets that a child may start from
from chorus.agents.agent import Agent, AgentState, Learner, Proposal, PureUpdate
from chorus.agents.critics import CriticRule
from chorus.agents.optimizers import Optimizer
from chorus.components import (
    ABOVE_0,
    AT_LEAST_1,
    BELOW_1,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    Component,
    Range,
    option,
    register,
)
from chorus.config.env_rows import register_env_row
from chorus.config.presets import PRESETS, Preset, preset, with_agent, with_policies, with_replay
from chorus.config.rows import ScaleRow
from chorus.config.scales import SCALE_ROWS, register_family
from chorus.config.schema import RunConfig
from chorus.ensemble.auxiliaries import Auxiliary, AuxiliaryContext, AuxiliaryInputs
from chorus.ensemble.estimates import Estimate, Selection
from chorus.ensemble.losses import HeadLoss, Loss
from chorus.ensemble.value_map import ValueMap, ValueMapRule
from chorus.envs.registry import register_env
from chorus.envs.spec import EnvSpec, JaxEnv
from chorus.networks.layers import Initialization
from chorus.networks.torsos import Torso
from chorus.replay.batch import Batch
from chorus.replay.device import Contents, DeviceRing
from chorus.replay.drawing import CompiledSampler, DevicePlaces, Draw, Sizes
from chorus.replay.samplers import Places, Sample, Sampler, draw_uniform, read_sample
from chorus.spaces import Box, Discrete
from chorus.training.acting import ActingRule
from chorus.training.policies import Policy
from chorus.training.states import StateIndex

__all__ = [
    "ABOVE_0",
    "AT_LEAST_1",
    "BELOW_1",
    "NOT_NEGATIVE",
    "POSITIVE",
    "PRESETS",
    "SCALE_ROWS",
    "SHARE",
    "ActingRule",
    "Agent",
    "AgentState",
    "Auxiliary",
    "AuxiliaryContext",
    "AuxiliaryInputs",
    "Batch",
    "Box",
    "CompiledSampler",
    "Component",
    "Contents",
    "CriticRule",
    "DevicePlaces",
    "DeviceRing",
    "Discrete",
    "Draw",
    "EnvSpec",
    "Estimate",
    "HeadLoss",
    "Initialization",
    "JaxEnv",
    "Learner",
    "Loss",
    "Optimizer",
    "Places",
    "Policy",
    "Preset",
    "Proposal",
    "PureUpdate",
    "Range",
    "RunConfig",
    "Sample",
    "Sampler",
    "ScaleRow",
    "Selection",
    "Sizes",
    "StateIndex",
    "Torso",
    "ValueMap",
    "ValueMapRule",
    "draw_uniform",
    "nn",
    "option",
    "preset",
    "read_sample",
    "register",
    "register_env",
    "register_env_row",
    "register_family",
    "replace",
    "with_agent",
    "with_policies",
    "with_replay",
]
