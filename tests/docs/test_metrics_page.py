"""docs/metrics.md and what runs write are the same list, in both directions."""

import json
import re
from pathlib import Path

import pytest

import chorus

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
SMALL = {"scale": "smoke", "quiet": True, "total_steps": 400, "iteration_steps": 200, "eval_episodes": 2}
# Long enough to be solved.
SEA = {"learning_rate": 0.003, "total_steps": 2_000, "iteration_steps": 500}
# Together they have every metric: several members, their own data, an auxiliary loss, SAC, counted states.
RUNS = {
    ("self-oversampled", "Probe/Both-v0"): {},
    ("bootstrapped-dqn-mico", "Probe/Discount-v0"): {},
    ("ensemble-sac", "Probe/ContinuousBoth-v0"): {},
    ("bootstrapped-dqn", "DeepSea-5-v0"): SEA,
}


def patterns() -> dict[str, re.Pattern[str]]:
    """The first column of every table of the page. `member_<i>` is any member or the mean, `<policy>` any name."""
    names = re.findall(r"^\| `([a-zA-Z_]+/[^`]+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) == len(set(names)), "a metric is defined twice"
    return {
        name: re.compile(re.escape(name).replace("member_<i>", r"(member_\d+|mean)").replace("<policy>", r"[\w-]+"))
        for name in names
    }


@pytest.mark.long
def test_every_logged_metric_is_defined_and_every_defined_one_is_logged(tmp_path: Path) -> None:
    logged: set[str] = set()
    for (preset, env), options in RUNS.items():
        run = chorus.train(preset, env, out=tmp_path, **{**SMALL, **options})
        for log in ("metrics.jsonl", "timings.jsonl"):
            logged |= {json.loads(line)["metric"] for line in (run / log).read_text(encoding="utf-8").splitlines()}
    known = patterns()
    assert not [name for name in logged if not any(pattern.fullmatch(name) for pattern in known.values())]
    assert not [name for name, pattern in known.items() if not any(map(pattern.fullmatch, logged))]
