"""Learning curves in the terminal."""

import json
from pathlib import Path

from chorus.runs.curves import learning_curves, sparkline


def write(run: Path, returns: dict[str, list[float]]) -> Path:
    rows = [
        {"step": step, "metric": f"eval/{policy}/episodic_return", "value": value}
        for policy, values in returns.items()
        for step, value in enumerate(values)
    ]
    run.mkdir()
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return run


def test_a_block_is_as_high_as_its_value() -> None:
    """Eight heights: 7 * (3 - 0) / 7 is the fourth, counted from 0; what is not finite has none."""
    assert sparkline([0, 3, 7, float("nan")], 0, 7) == "▁▄█·"
    assert sparkline([2, 2], 2, 2) == "▁▁"


def test_the_policies_of_a_run_share_one_scale(tmp_path: Path) -> None:
    run = write(tmp_path / "run", {"individual": [0, 5], "aggregate": [0, 10], "third": [0, 99]})
    # 7 * 5 / 10 = 3.5 is rounded to the even 4, the fifth height.
    assert learning_curves(run) == "individual ▁▅ 0.0 → 5.0, aggregate ▁█ 0.0 → 10.0"


def test_long_curves_keep_their_ends(tmp_path: Path) -> None:
    said = learning_curves(write(tmp_path / "run", {"individual": [float(i) for i in range(200)]}))
    curve = said.split()[1]
    assert (len(curve), curve[0], curve[-1]) == (24, "▁", "█") and said.endswith("0.0 → 199.0")


def test_a_run_without_evaluations_has_no_curve(tmp_path: Path) -> None:
    assert learning_curves(tmp_path / "nothing") == ""
