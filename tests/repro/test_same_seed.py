"""Same seed, same bytes; another seed, other numbers in every stream."""

import itertools
import json
import math
from typing import get_args

import jax
import numpy as np
import pytest

from chorus.cli.main import main
from chorus.envs.registry import describe
from chorus.randomness import Stream, entropy, generator, key_words, stream_key
from chorus.runs.lifecycle import stored_config
from chorus.runs.resources import ring_layout
from chorus.runs.run_directory import RunDirectory
from chorus.runs.training import evaluation_keys, training_keys
from chorus.training import checkpoint
from running import LOGS, RUNS, logs, records, train

STREAMS = get_args(Stream)


@pytest.mark.slow
def test_two_processes_write_the_same_bytes_for_the_same_seed(undisturbed, tmp_path):
    again = train(tmp_path, *RUNS["probe"], "--seed", "3")
    assert logs(again) == logs(undisturbed["probe"])
    assert all(len(content) > 1_000 for content in logs(again).values())


@pytest.mark.long
def test_a_process_that_compiles_everything_itself_writes_the_same_bytes(undisturbed, tmp_path):
    again = train(tmp_path, *RUNS["cartpole"], "--seed", "3", JAX_COMPILATION_CACHE_DIR=None)
    assert logs(again) == logs(undisturbed["cartpole"])


@pytest.mark.slow
def test_another_seed_writes_other_losses_episodes_and_evaluations(undisturbed, tmp_path):
    assert main(["train", *RUNS["probe"], "--seed", "4", "--out", str(tmp_path), "--quiet"]) == 0
    first, (other,) = undisturbed["probe"], tmp_path.iterdir()
    for name in LOGS:
        assert (first / name).read_bytes() != (other / name).read_bytes()
    for metric in ("losses/td_loss", "losses/q_values", "eval/individual/value_bias"):
        values = [
            [record["value"] for record in records(run / "metrics.jsonl") if record["metric"] == metric]
            for run in (first, other)
        ]
        assert len(values[0]) == len(values[1]) >= 7
        assert all(a != b for a, b in zip(*values, strict=True)), metric
    actors = [[r["member"] for r in records(run / "episodes.jsonl")] for run in (first, other)]
    assert actors[0] != actors[1]
    names = [run.name for run in (first, other)]
    assert names[0].endswith("__s3") and names[1].endswith("__s4")
    assert names[0][:-1] == names[1][:-1]


def test_there_are_six_streams():
    assert set(STREAMS) == {"init", "act", "member", "replay", "env", "eval"}


@pytest.mark.parametrize("stream", STREAMS)
def test_a_stream_repeats_itself_and_differs_for_another_seed_or_iteration(stream):
    def numbers(seed: int, iteration: int) -> tuple:
        drawn = generator(seed, stream, iteration).integers(2**63, size=4)
        key = jax.random.key_data(stream_key(seed, stream, iteration))
        return (*drawn.tolist(), *np.asarray(key).tolist())

    assert numbers(7, 2) == numbers(7, 2)
    for other in (numbers(8, 2), numbers(7, 3), numbers(7 + 2**32, 2)):
        assert not set(numbers(7, 2)) & set(other)


def test_streams_never_share_a_key():
    keys = {
        (seed, stream, iteration): tuple(key_words(seed, stream, iteration).tolist())
        for seed, stream, iteration in itertools.product(range(20), STREAMS, range(20))
    }
    assert len(set(keys.values())) == len(keys) == 20 * 6 * 20


def test_training_and_the_evaluation_of_each_policy_use_keys_of_their_own():
    def words(keys) -> set[tuple]:
        jax_keys = {tuple(np.asarray(jax.random.key_data(key)).tolist()) for key in (keys.act, keys.member, keys.env)}
        return jax_keys | {tuple(keys.env_seed.generate_state(2).tolist())}

    # An environment has one stream whether it lives in Python or in JAX, so training has three sets of words.
    sets = [words(training_keys(1, 5)), *(words(evaluation_keys(1, 5, name)) for name in ("individual", "aggregate"))]
    assert [len(found) for found in sets] == [3, 4, 4]
    assert len(set.union(*sets)) == 11


def test_the_seed_of_a_stream_is_all_of_it():
    assert entropy(1, "act", 2).entropy != entropy(1, "act", 2, 0).entropy


def test_metrics_are_flat_strict_json_with_exactly_five_keys_and_no_clock(undisturbed):
    run = undisturbed["probe"]
    lines = (run / "metrics.jsonl").read_text().splitlines()
    for line in lines:
        record = json.loads(line, parse_constant=pytest.fail)
        assert list(record) == ["iteration", "step", "frames", "metric", "value"]
        assert isinstance(record["metric"], str)
        assert all(isinstance(record[name], int) for name in ("iteration", "step", "frames"))
        assert isinstance(record["value"], float) and math.isfinite(record["value"])
        assert record["step"] == record["frames"] == 200 * record["iteration"]
    names = {json.loads(line)["metric"] for line in lines}
    assert not {name for name in names if "SPS" in name or "second" in name or name.startswith(("time/", "system/"))}


def test_what_depends_on_the_clock_is_in_the_timings(undisturbed):
    names = {record["metric"] for record in records(undisturbed["probe"] / "timings.jsonl")}
    assert {"charts/SPS", "charts/updates_per_second", "time/train_seconds", "time/evaluate_seconds"} <= names
    assert "system/train_cpu_seconds" in names


def test_every_iteration_writes_every_policy(undisturbed):
    found = {(r["iteration"], r["metric"]) for r in records(undisturbed["probe"] / "metrics.jsonl")}
    for iteration, policy in itertools.product(range(1, 9), ("individual", "aggregate")):
        assert (iteration, f"eval/{policy}/episodic_return") in found
        assert (iteration, f"diversity/vote_entropy/{policy}") in found


def test_episodes_name_their_member_and_leave_out_what_an_iterations_end_cut_short(undisturbed):
    episodes = records(undisturbed["probe"] / "episodes.jsonl")
    assert {tuple(record) for record in episodes} == {("iteration", "step", "slot", "member", "return", "length")}
    # Probe/Discount lasts two steps and pays 1 at its end; nothing shorter may be logged.
    assert {(record["return"], record["length"]) for record in episodes} == {(1.0, 2)}
    assert {record["member"] for record in episodes} == {0, 1}
    assert len(episodes) == 1_600 // 2


def test_the_replay_of_the_test_runs_wraps_more_than_twice(undisturbed):
    """Otherwise the tests of this folder would not test the ring; read from the newest checkpoint of a run."""
    run = undisturbed["probe"]
    config = stored_config(RunDirectory(run))
    newest = checkpoint.find(run / "checkpoints").intact[-1]
    assert (newest.iteration, newest.step) == (8, 1_600)
    rows = ring_layout(config, describe(config.env.id, config.env.max_episode_steps)).rows
    assert len(newest.cursor.end) == 2
    assert newest.cursor.end.min() > 2 * rows
    assert newest.cursor.transitions.sum() == config.replay.capacity, "the window is full"
