"""Single options: what there are, their place in the configuration tree, and to which presets they apply."""

from typing import Any

from chorus.config.presets import PRESETS, Preset
from chorus.errors import ChorusError, did_you_mean

# Option -> its place in the tree. Names follow the ecosystem; the tree says what they mean.
OPTIONS: dict[str, str] = {
    "num_envs": "env.num_envs",
    "max_episode_steps": "env.max_episode_steps",
    "sticky_actions": "env.atari.sticky_actions",
    "noop_max": "env.atari.noop_max",
    "terminal_on_life_loss": "env.atari.terminal_on_life_loss",
    "redraw_on_life_loss": "env.atari.redraw_on_life_loss",
    "members": "agent.members",
    "shared_layers": "agent.shared_layers",
    "learning_rate": "agent.optimizer.learning_rate",
    "optimizer_epsilon": "agent.optimizer.epsilon",
    "discount": "agent.discount",
    "prior_scale": "agent.prior_scale",
    "mico_weight": "agent.auxiliary.weight",
    "target_period": "agent.target_period_updates",
    "target_rate": "agent.target_rate",
    "huber_threshold": "agent.loss.auxiliary.threshold",
    "passive_share": "acting.passive_share",
    "epsilon": "exploration.final",
    "epsilon_decay": "exploration.decay_steps",
    "buffer_size": "replay.capacity",
    "batch_size": "replay.batch_size",
    "n_step": "replay.n_step",
    "own_probability": "replay.sampler.own_probability",
    "joint_coin": "replay.sampler.joint_coin",
    "keep_probability": "replay.sampler.keep_probability",
    "total_steps": "schedule.total_steps",
    "iteration_steps": "schedule.iteration_steps",
    "learning_starts": "schedule.learning_starts",
    "update_period": "schedule.update_period_steps",
    "eval_episodes": "evaluation.episodes",
    "eval_steps": "evaluation.steps",
    "eval_envs": "evaluation.slots",
    "eval_epsilon": "evaluation.epsilon",
    "threads": "runtime.threads",
    "device": "runtime.device",
}
_OF_THE_ALGORITHM = frozenset(
    {"members", "shared_layers", "passive_share", "prior_scale", "mico_weight", "own_probability", "joint_coin",
     "keep_probability", "huber_threshold"}
)  # fmt: skip


def option_applies(name: str, preset: Preset) -> bool:
    """Options of the algorithm itself belong to the presets that name them, all others to every preset."""
    return name not in _OF_THE_ALGORITHM - preset.options


def option_tree(options: dict[str, Any], preset: Preset) -> dict[str, Any]:
    """The options as a part of the configuration tree; raises a sentence for one that the preset does not have."""
    tree: dict[str, Any] = {}
    for name, value in options.items():
        if name not in OPTIONS:
            raise ChorusError(f"the option '{name}' is not known{did_you_mean(name, OPTIONS)}")
        if not option_applies(name, preset):
            others = ", ".join(other.name for other in PRESETS.values() if name in other.options)
            raise ChorusError(
                f"--{name.replace('_', '-')} {value} does not apply to {preset.name}; it belongs to {others}"
            )
        *path, leaf = OPTIONS[name].split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[leaf] = value
    if "learning_starts" in options:
        # As in the authors' schedule, epsilon starts to fall when learning starts.
        tree.setdefault("exploration", {})["warmup_steps"] = options["learning_starts"]
    return tree
