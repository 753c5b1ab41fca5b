"""The identity that a run writes into its meta.json when it starts, for run directories that no run has written."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from chorus.files import flatten

PLAIN = {
    "double-dqn": "single",
    "qr-dqn": "single",
    "sac": "single",
    "bootstrapped-dqn": "ensemble",
    "bootstrapped-qr-dqn": "ensemble",
    "ensemble-sac": "ensemble",
    "tandem": "tandem",
    "sac-tandem": "tandem",
    "cerl": "cerl",
    "ensemble-sac-cerl": "cerl",
}
AXES = {
    "agent.members": {"title": "ensemble size N", "log": True},
    "agent.shared_layers": {"title": "shared layers L", "log": False},
    "replay.capacity": {"title": "replay capacity (transitions)", "log": True},
    "acting.passive_share": {"title": "passive share p of the tandem", "log": False},
}
# What names a run, or the machine it runs on, is no setting of the algorithm.
NO_SETTING = ("preset", "scale", "hyperparameters", "seed", "env.id", "runtime.threads", "runtime.device")


def identity_of(config: dict[str, Any], swept: Sequence[str] = ()) -> dict[str, Any]:
    preset = config["preset"]
    share = config["acting"].get("passive_share")
    title = PRESETS[preset].title if preset in PRESETS else preset
    values = flatten(config)
    default = default_of(preset, config["env"]["id"], config["scale"], config["hyperparameters"])
    changed = [path for path in values if path not in NO_SETTING and values[path] != default.get(path)]
    return {
        "title": title if share is None else title.replace("p%", f"{100 * share:g}%"),
        "preset": preset,
        "role": PLAIN.get(preset, "ablation"),
        "group": "sac" if "sac" in preset else "qr-dqn" if "qr" in preset else "dqn",
        "settings": {
            path: {"value": values[path], "label": label(path, values[path])}
            for path in dict.fromkeys([*swept, *changed])
        },
        "swept": list(swept),
        "axes": {path: AXES.get(path, {"title": path.rsplit(".", 1)[-1], "log": False}) for path in swept},
        "arm": preset,
        "study": None,
    }


@cache
def default_of(preset: str, env: str, scale: Any, hyperparameters: Any) -> dict[str, Any]:
    try:
        request = Request(preset=preset, env=env, scale=scale, hyperparameters=hyperparameters)
        return flatten(resolve(request).config.to_json())
    except ChorusError:
        return {}


def label(path: str, value: Any) -> str:
    last = path.rsplit(".", 1)[-1]
    labels = {
        "agent.members": f"N={value}",
        "agent.shared_layers": f"L={value}",
        "replay.capacity": f"{value // 1000}k buffer" if last == "capacity" else "",
        "schedule.total_steps": f"{value // 1000}k steps" if last == "total_steps" else "",
        "acting.passive_share": "",  # the title says it
    }
    return labels.get(path, f"{last}={value}")
