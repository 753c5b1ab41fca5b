"""What one run shows while it trains: a bar that fits 80 columns and ends at 100 %, or plain lines."""

import io
import re

import pytest
from rich.console import Console

from chorus.runs import progress
from chorus.runs.progress import Bar, Lines, ProgressView

NAME = "MinAtar-SpaceInvaders-v1__bootstrapped-dqn__smoke__members=5__learning_rate=0.001__s0"


def train(view: ProgressView, clock: list[float]) -> None:
    """Ten seconds of compilation, then 100 steps per second, one iteration."""
    view.start(NAME, 0, 2_000)
    view.phase("training")
    clock[0] += 10.0
    for step in range(100, 2_001, 100):
        view.advance(step)
        view.episode({"return": step / 100})
        clock[0] += 1.0
    view.phase("evaluating individual")
    metrics = {f"eval/{name}/episodic_return": 12.5 for name in ("individual", "aggregate", "member_0")}
    view.iteration({"iteration": 1, "step": 2_000, "metrics": {**metrics, "charts/epsilon": 0.05}})
    view.close()


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("width", [80, 120])
def test_the_bar_fits_and_ends_at_100_percent(clock, width):
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    bar = Bar(console)
    train(bar, clock)
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue().replace("\r", "\n")).splitlines()
    assert all(len(line) <= width for line in lines)
    assert any(line.endswith("0% compiling, 0/2,000 steps") for line in map(str.rstrip, lines))
    name, row, scores = (line.rstrip() for line in list(filter(str.strip, lines))[-3:])
    assert name.startswith("MinAtar-SpaceInvaders-v1__bootstrapped-dqn") and name.endswith("s0") == (width == 120)
    # 1,900 steps in the 20 seconds after the first of them.
    assert row.endswith("100% 95 steps/s, 2,000/2,000 steps")
    # 1 + 2 + ... + 20 = 210 over 20 episodes.
    assert scores == "return 10.50, eval individual 12.50 aggregate 12.50, epsilon 0.05"


def test_lines_say_the_same_every_ten_seconds_and_at_the_end(clock):
    said = io.StringIO()
    train(Lines(said), clock)
    first, *_, last = said.getvalue().splitlines()
    assert first.startswith(f"{NAME}: step 100 of 2,000 (5%)")
    assert last == (
        f"{NAME}: step 2,000 of 2,000 (100%), 95 steps/s, return 10.50, eval individual 12.50 aggregate "
        "12.50, epsilon 0.05"
    )


def test_the_first_gradient_step_compiles_and_is_no_part_of_the_rate(clock):
    state = progress._State(NAME, 0, 2_000)
    state.advance(100)
    state.enter(progress.COMPILING)
    clock[0] += 30
    assert state.phase == "compiling" and state.pace() == []
    state.advance(200)
    clock[0] += 2
    state.advance(300)
    assert state.phase == "training" and state.pace()[0] == "50 steps/s"
