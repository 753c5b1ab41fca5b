"""MuJoCo leaves no file in the current folder, and each kind of warning is printed once."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from chorus.envs import mujoco_setup
from chorus.envs.registry import make_host


def test_warnings_go_to_stderr_once_and_not_into_a_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    mujoco_setup._printed.clear()
    envs = make_host("Hopper-v4", 1)
    envs.reset(np.array([0]))
    simulation = envs._envs[0].unwrapped
    for _ in range(2):
        simulation.data.qvel[:] = 1e12
        simulation.do_simulation(np.zeros(3), 1)
    envs.close()
    said = [line for line in capfd.readouterr().err.splitlines() if "unstable" in line]
    assert len(said) == 1 and said[0].startswith("MuJoCo: Nan, Inf or huge value")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_constructor_that_makes_a_mujoco_environment_leaves_no_file(tmp_path):
    """In a new process that has not imported MuJoCo; loading HalfCheetah's model causes a warning."""
    program = textwrap.dedent("""
        import sys
        import gymnasium

        def build(**given):
            return gymnasium.wrappers.RescaleAction(gymnasium.make("HalfCheetah-v4"), -1.0, 1.0)

        gymnasium.register("Wrapped-v0", build)
        from chorus.envs.registry import describe
        assert "mujoco" not in sys.modules
        print(describe("Wrapped-v0").actions.shape, "mujoco" in sys.modules)
    """)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["(6,)", "True"], done.stderr
    assert list(tmp_path.iterdir()) == []


def test_steps_are_those_of_gymnasium():
    """The same actions and seed, by hand and through the adapter; Humanoid's bounds are ±0.4."""
    import gymnasium

    envs = make_host("Humanoid-v5", 1)
    plain = gymnasium.make("Humanoid-v5")
    first = envs.reset(np.array([5]))
    np.testing.assert_allclose(first[0], plain.reset(seed=5)[0], rtol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(3):
        action = rng.uniform(-1, 1, (1, 17)).astype(np.float32)
        moved = envs.step(action)
        observation, reward, terminated, *_ = plain.step(np.float32(0.4) * action[0])
        np.testing.assert_allclose(moved.observation[0], observation, rtol=1e-4, atol=1e-4)
        assert float(moved.reward[0]) == np.float32(reward)
        assert bool(moved.terminated[0]) == terminated
    plain.close()
    envs.close()
