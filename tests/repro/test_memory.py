"""Resident memory does not grow with training beyond the replay."""

import subprocess
import sys

import pytest

from running import environment

_PROGRAM = """
import resource, sys
from pathlib import Path
from chorus.runs.assembly import Assembly
from chorus.config.resolution import Request, resolve
from chorus.randomness import generator, stream_key
from chorus.replay.ring import Ring
from chorus.runs.resources import ring_layout
from chorus.runs.training import training_keys
from chorus.training.loop import Learned

def resident_kilobytes():
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line).split()[1])

options = dict(total_steps=10_000, iteration_steps=2_000, buffer_size=500, batch_size=8, num_envs=2,
               learning_starts=100, update_period=2)
config = resolve(Request(preset=sys.argv[1], env=sys.argv[2], scale="smoke", options=options)).config
assembly = Assembly.of(config)
loop, ring = assembly.loop(), Ring(ring_layout(assembly.config, assembly.spec))
state = loop.agent.init(stream_key(0, "init"))
for iteration in range(1, 6):
    keys = training_keys(0, iteration)
    for event in loop.run(state, ring, iteration, keys, generator(0, "replay", iteration)):
        if isinstance(event, Learned):
            state, updates = event.state, event.updates
    print(iteration, updates, resident_kilobytes())
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("task", [("bootstrapped-dqn", "Probe/Discount-v0"), ("sac", "Pendulum-v1")], ids="-".join)
def test_thousands_of_updates_leave_the_resident_memory_where_it_was(task):
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *task], capture_output=True, text=True, env=environment(), timeout=300
    )
    assert done.returncode == 0, done.stderr
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert rows[-1][1] - rows[1][1] == 3_000
    # One transition kept by mistake at each update would cost 3,000 x at least 1 kB.
    assert rows[-1][2] - rows[1][2] < 3_000, rows
