"""What each command prints and leaves behind when it is used as it should be."""

import json
import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from chorus.cli.main import main
from chorus.runs.logs import FinalWindow, final_returns
from running import RUNS, SHORT_EPISODES, chorus, command, environment, listing, logs, records, status


def run_of(out: Path) -> Path:
    (run,) = out.iterdir()
    return run


def test_a_run_directory_holds_what_the_design_says(finished):
    names = {path.name for path in finished.iterdir()}
    logs_written = {"metrics.jsonl", "episodes.jsonl", "timings.jsonl"}
    assert names == {"config.json", "meta.json", "status.json", "checkpoints", *logs_written}
    assert re.fullmatch(r"Probe-Discount-v0__bootstrapped-dqn-[0-9a-f]{8}__s3", finished.name)
    assert status(finished) == {"state": "finished", "reason": None, "iteration": 8}
    meta = json.loads((finished / "meta.json").read_text())
    assert {"chorus", "python", "platform", "packages", "command", "commit"} <= meta.keys()
    config = json.loads((finished / "config.json").read_text())
    assert config["env"]["id"] == "Probe/Discount-v0" and config["seed"] == 3 and config["agent"]["members"] == 2


def test_the_report_of_a_run_shows_final_scores_and_what_to_do_next(finished, capsys):
    assert main(["resume", str(finished)]) == 0
    text = capsys.readouterr().out
    assert f"{finished} has ended already" in text
    # Probe/Discount pays 1 an episode whatever one does.
    assert re.search(r"individual +1\.00 +final score: the last of 8 evaluations", text)
    assert re.search(r"aggregate +1\.00", text)
    assert f"next: chorus evaluate {finished}" in text


@pytest.mark.parametrize(("env", "expected"), [("CartPole-v1", (7.5, 10)), ("Hopper-v4", (10.0, 5))])
def test_older_runs_have_final_scores_over_the_last_ten_evaluations_or_five_for_mujoco(tmp_path, env, expected):
    rows = [
        {"iteration": i, "step": i, "frames": i, "metric": "eval/individual/episodic_return", "value": float(i)}
        for i in range(1, 13)
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "config.json").write_text(json.dumps({"env": {"id": env}}))
    # 3 + 4 + ... + 12 = 75, and 8 + 9 + ... + 12 = 50
    assert final_returns(tmp_path) == ({"individual": expected[0]}, FinalWindow(expected[1], 12))
    config = {"env": {"id": env}, "evaluation": {"final_evaluations": 2}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert final_returns(tmp_path) == ({"individual": 11.5}, FinalWindow(2, 12))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["individual", "aggregate", "member_1"])
def test_evaluate_prints_returns_with_an_interval(finished, capsys, policy):
    before = listing(finished)
    assert main(["evaluate", str(finished), "--policy", policy, "--episodes", "6"]) == 0
    text = capsys.readouterr().out
    assert f"policy {policy}, 6 episodes" in text
    assert re.search(r"return +1\.00 +95 % bootstrap interval of the mean 1\.00 to 1\.00", text)
    assert re.search(r"length +2\.0 agent steps", text) and "vote entropy" in text
    assert listing(finished) == before


@pytest.mark.slow
def test_evaluate_films_an_episode(finished, tmp_path, capsys):
    film = tmp_path / "film.mp4"
    assert main(["evaluate", str(finished), "--episodes", "2", "--video", str(film)]) == 0
    assert f"video: {film}" in capsys.readouterr().out
    assert film.read_bytes()[4:8] == b"ftyp"


def test_list_presets(capsys):
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    for preset in ("double-dqn", "bootstrapped-dqn", "cerl", "cerl-self-target", "tandem"):
        assert re.search(rf"^{preset} +\w", text, re.MULTILINE)
    assert main(["list", "presets"]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.slow
def test_list_envs():
    """In a process of its own, with ALE imported and without environments of other tests."""
    done = chorus("list", "envs")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "BreakoutNoFrameskip-v0" not in done.stdout, "another protocol than the paper's"
    assert {f"MinAtar/{game}-v1" for game in ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders")} <= set(
        lines
    )
    assert "CartPole-v1" in lines
    # Below its heading, not beside it: at 80 columns there was room for one name per line.
    (heading,) = (place for place, line in enumerate(lines) if line.startswith("not here ("))
    assert re.match(r"  [A-Z][^,]+, [^,]+, ", lines[heading + 1])


def test_list_scales(capsys):
    assert main(["list", "scales"]) == 0
    text = capsys.readouterr().out
    for family in ("minatar", "flat", "image"):
        for scale in ("smoke", "laptop", "paper"):
            assert re.search(rf"^{family} +{scale} +[\d,]+", text, re.MULTILINE)


def test_a_set_of_games_is_listed_as_ids_one_a_line(capsys):
    assert main(["list", "atari55"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 55 and lines[0] == "ALE/Alien-v5" and "ALE/Surround-v5" not in lines


def test_list_runs(finished, tmp_path, capsys):
    assert main(["list", "runs", "--out", str(finished.parent)]) == 0
    assert re.search(rf"finished +1\.00 individual +1\.6k 100% smoke +\d+ \w+  {finished}", capsys.readouterr().out)
    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    assert "no runs" in capsys.readouterr().out


def test_show_prints_the_diff_from_the_parent_and_the_source_of_every_value(capsys):
    assert main(["show", "cerl"]) == 0
    text = capsys.readouterr().out
    difference = text.split("diff from bootstrapped-dqn")[1].split("configuration on")[0].split("\n")
    assert [line.strip() for line in difference if line.strip()] == [
        '- agent.value_map.kind = "members"',
        '+ agent.value_map.kind = "cross"',
    ]
    rows = [line for line in text.split("configuration on")[1].splitlines() if re.match(r"  [a-z]+[._a-z]* ", line)]
    for row in rows:
        assert len(re.split(r" {1,}", row.strip(), maxsplit=2)) == 3, row
    assert any("agent.value_map.kind" in row and "preset cerl (paper section 5" in row for row in rows)
    assert any("agent.members" in row and "ensemble size" in row for row in rows)
    assert re.search(r"parameters: [\d,]+", text)


def test_show_names_options_and_files_as_sources(tmp_path, capsys):
    (tmp_path / "part.json").write_text(json.dumps({"agent": {"discount": 0.9}}))
    assert main(["show", "tandem", "--config", str(tmp_path / "part.json"), "--batch-size", "32", "--env",
                 "CartPole-v1"]) == 0  # fmt: skip
    rows = capsys.readouterr().out.splitlines()
    assert any(re.search(r"agent\.discount +0\.9 +file .*part\.json", row) for row in rows)
    assert any(re.search(r"replay\.batch_size +32 +given as an option", row) for row in rows)


def test_options_are_no_part_of_the_diff_from_the_parent(capsys):
    assert main(["show", "cerl", "--members", "3", "--batch-size", "8", "--discount", "0.9"]) == 0
    said = capsys.readouterr().out
    diff = said.split("diff from bootstrapped-dqn")[1].split("configuration on")[0]
    assert diff.split("\n")[1:3] == ['  - agent.value_map.kind = "members"', '  + agent.value_map.kind = "cross"']
    assert said.count("given as an option") == 3


def test_show_compares_a_runs_configuration_with_the_parent_on_the_same_environment(finished, capsys):
    assert main(["show", "bootstrapped-dqn", "--config", str(finished / "config.json")]) == 0
    text = capsys.readouterr().out
    difference = text.split("diff from double-dqn")[1].split("configuration on")[0]
    assert "+ agent.members = 3" in difference and "- agent.members = 1" in difference
    assert "env.id" not in difference and "scale" not in difference and "seed" not in difference


@pytest.mark.parametrize("preset", ["double-dqn", "bootstrapped-dqn", "cerl", "cerl-self-target", "tandem"])
def test_shown_json_given_back_as_a_configuration_is_the_same(tmp_path, capsys, preset):
    assert main(["show", preset, "--env", "CartPole-v1", "--scale", "smoke", "--seed", "5", "--json"]) == 0
    text = capsys.readouterr().out
    (tmp_path / "config.json").write_text(text)
    assert main(["show", preset, "--config", str(tmp_path / "config.json"), "--json"]) == 0
    assert capsys.readouterr().out == text


def test_a_seed_keeps_all_its_digits(capsys):
    assert main(["show", "cerl", "--seed", "9007199254740993", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] == 9_007_199_254_740_993


def test_counts_may_be_written_as_people_write_them(capsys):
    assert main(["show", "cerl", "--total-steps", "4e5", "--buffer-size", "50_000", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)
    assert (config["schedule"]["total_steps"], config["replay"]["capacity"]) == (400_000, 50_000)


@pytest.mark.slow
def test_a_runs_configuration_trains_the_same_run_again(finished, tmp_path):
    given = ["--config", str(finished / "config.json"), "--out", str(tmp_path), "--quiet"]
    assert main(["train", *given]) == 0
    assert run_of(tmp_path).name == finished.name
    assert logs(run_of(tmp_path)) == logs(finished)


def test_options_override_a_configuration_and_a_part_of_one_is_enough(finished, tmp_path, capsys):
    stored = ["--config", str(finished / "config.json")]
    assert main(["show", "bootstrapped-dqn", *stored, "--batch-size", "4", "--seed", "9", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)
    expected = json.loads((finished / "config.json").read_text())
    expected["replay"]["batch_size"], expected["seed"] = 4, 9
    assert config == expected
    (tmp_path / "part.json").write_text(json.dumps({"replay": {"batch_size": 4}, "env": {"num_envs": 8}}))
    assert main(["show", "cerl", "--config", str(tmp_path / "part.json"), "--env", "CartPole-v1", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)
    assert (config["replay"]["batch_size"], config["env"]["num_envs"]) == (4, 8)
    assert config["env"]["id"] == "CartPole-v1"


@pytest.mark.slow
def test_quiet_says_only_the_result(finished, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / finished.name))
    done = chorus("resume", run, "--quiet")
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.slow
def test_without_a_terminal_progress_is_plain_lines(tmp_path):
    done = chorus("train", *RUNS["probe"], "--seed", "3", "--out", tmp_path)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert lines[0].startswith("bootstrapped-dqn on Probe/Discount-v0, seed 3, smoke scale: 2 members, 1,600 agent")
    assert lines[1] == f"writing to {run_of(tmp_path)}"
    assert "\x1b" not in done.stderr + done.stdout and "\r" not in done.stderr
    assert "(finished)" in done.stdout


@pytest.mark.slow
def test_in_a_terminal_progress_is_a_bar_with_rate_and_time_left(tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("train", *RUNS["probe"], "--seed", "3", "--out", tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment(TERM="xterm-256color", COLUMNS="200", NO_COLOR=None),
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())
    assert "━" in text
    assert "0% compiling, 0/1,600 steps" in text and re.search(r"100% [\d,]+ steps/s, 1,600/1,600 steps", text)
    assert re.search(r"(training|evaluating|saving), [\w ]+ left, [\d,]+ steps/s, ", text)
    assert re.search(r"return 1\.00, eval individual 1\.00 aggregate 1\.00, epsilon 0\.\d\d", text)


@pytest.mark.long
def test_kept_replays_stay_and_each_member_is_evaluated_on_request(tmp_path):
    arguments = ["train", *RUNS["cartpole"], *SHORT_EPISODES, "--total-steps", "400", "--keep-replay"]
    assert main([*arguments, "--eval-members", "--out", str(tmp_path), "--quiet"]) == 0
    run = run_of(tmp_path)
    assert {path.name for path in (run / "replay").iterdir()} == {
        f"{column}.bin" for column in ("observation", "action", "reward", "flags", "owner")
    }
    names = {record["metric"] for record in records(run / "metrics.jsonl")}
    assert {f"eval/member_{i}/episodic_return" for i in range(2)} <= names


def test_nothing_is_imported_from_the_working_folder(tmp_path):
    for name in ("typing", "difflib", "json", "numpy", "argparse"):
        (tmp_path / f"{name}.py").write_text(f"open('{name}.imported', 'w')\n")
    # A process of its own: one that was forked has imported them before.
    done = chorus("list", cwd=tmp_path, PYTHONUNBUFFERED="1")
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*.imported"))
