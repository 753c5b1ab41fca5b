"""Seeds as ranges, short names of options, completion, and the question before long work."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.cli import consent
from chorus.cli.main import main

ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "started"), [("y\n", True), ("yes\n", True), ("\n", False), ("", False)])
def test_more_than_an_hour_is_asked_for_at_a_terminal(monkeypatch, capsys, answer, started):
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    if started:
        consent.ask_first("about 2 h", 7_200.0, 0.0, yes=False)
    else:
        with pytest.raises(SystemExit):
            consent.ask_first("about 2 h", 7_200.0, 0.0, yes=False)
    said = capsys.readouterr().out
    assert said.startswith("This takes about 2 h. Start? [y/N] ")
    assert said.endswith("nothing was started\n") != started


def test_short_work_an_option_and_a_pipe_are_not_asked(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    consent.ask_first("about 59 min", 3_540.0, 0.0, yes=False)
    consent.ask_first("about 2 h", 7_200.0, 0.0, yes=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    consent.ask_first("about 2 GPU-days", 0.0, 2.0, yes=False)
    assert capsys.readouterr().out == ""


def test_a_long_sweep_is_asked_for_before_anything_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    words = [
        "sweep",
        "--preset",
        "double-dqn",
        "--env",
        "MinAtar/Breakout-v1",
        "--seeds",
        "0-29",
        "--out",
        str(tmp_path),
    ]
    with pytest.raises(SystemExit):
        main([*words, "--workers", "1", "--quiet"])
    assert "nothing was started" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_seeds_of_a_sweep_are_those_that_were_given(tmp_path, capsys):
    words = [
        "sweep",
        "--preset",
        "double-dqn",
        "--env",
        "Probe/Discount-v0",
        "--scale",
        "smoke",
        "--out",
        str(tmp_path),
    ]
    assert main([*words, "--seeds", "3,5,8", "--dry-run"]) == 0
    assert "3 missing" in capsys.readouterr().out
    assert main([*words, "--seeds", "five", "--dry-run"]) == 2
    assert "--seeds is 'five'; give a number of seeds (5)" in capsys.readouterr().err


def test_runs_are_listed_with_score_steps_scale_settings_and_age_and_sorted(finished, tmp_path, capsys):
    for name, score in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
        run = Path(shutil.copytree(finished, tmp_path / name))
        lines = (run / "metrics.jsonl").read_text().splitlines()
        record = json.loads(next(line for line in lines if "eval/individual/episodic_return" in line))
        (run / "metrics.jsonl").write_text(json.dumps({**record, "iteration": 8, "step": 1600, "value": score}) + "\n")
    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(str(tmp_path))[1][1] for line in said] == ["a", "b", "c"]
    words = said[1].split()
    assert words[:5] == ["finished", "3.00", "individual", "1.6k", "100%"] and words[5:8] == ["smoke", words[6], "s"]
    assert "[N=2, " in said[1]
    assert main(["list", "runs", "--out", str(tmp_path), "--sort", "score"]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["3.00", "2.00", "1.00"]


def test_runs_are_listed_below_their_folders_where_a_terminal_is_narrow(finished, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    assert main(["list", "runs", "--out", str(finished.parent)]) == 0
    folder, numbers, *settings = capsys.readouterr().out.splitlines()
    assert folder == str(finished) and numbers.startswith("  finished ") and numbers.split()[4] == "100%"
    assert settings[0].startswith("  [N=2, ") and all(len(line) <= 80 for line in (numbers, *settings))


def test_lr_is_the_learning_rate(capsys):
    shown = []
    for words in (["--lr", "0.01"], ["--learning-rate", "0.01"], ["--set", "lr=0.01"]):
        assert main(["show", "cerl", *words, "--json"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] == shown[2] and '"learning_rate": 0.01' in shown[0]


def test_show_ends_with_the_command_that_trains_what_it_shows(capsys):
    words = ["--scale", "smoke", "--lr", "0.01"]
    assert main(["show", "cerl", *words]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"next: chorus train cerl {' '.join(words)} --env MinAtar/Breakout-v1"


def test_bash_completes_commands_options_and_values(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def complete(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in ("chorus", *words))
        program = f"{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words)}\n_chorus\necho ${{COMPREPLY[@]}}"
        return subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert complete("tr") == ["train"]
    assert complete("train", "tan") == ["tandem"]
    assert complete("train", "cerl", "--sca") == ["--scale"]
    assert complete("train", "cerl", "--scale", "") == ["smoke", "laptop", "paper"]
    assert complete("sweep", "--env", "MinAtar/B") == ["MinAtar/Breakout-v1"]
    assert complete("train", "cerl", "--eval-m") == ["--eval-members"]
    assert complete("train", "cerl", "--eval-members", "--see") == ["--seed"]
    assert "figure5" in complete("reproduce", "fig")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(capsys, shell):
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert "MinAtar/Breakout-v1" in said and "chorus" in said.splitlines()[-1]
    assert main(["completion", "tcsh"]) == 2


def test_the_tuning_example_names_what_it_needs():
    try:
        import optuna  # noqa: F401
    except ImportError:
        done = subprocess.run(
            [sys.executable, ROOT / "examples" / "tune.py", "cerl", "CartPole-v1"], capture_output=True, text=True
        )
        assert done.returncode == 2 and "install it with `pip install optuna`" in done.stderr


@pytest.mark.slow
def test_the_tuning_example_tunes(tmp_path, monkeypatch, capsys):
    pytest.importorskip("optuna")
    import runpy

    words = ["double-dqn", "Probe/Discount-v0", "--scale", "smoke", "--trials", "2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["tune.py", *words])
    module = runpy.run_path(str(ROOT / "examples" / "tune.py"))
    module["objective"].__globals__["propose"] = lambda trial: {
        "lr": trial.suggest_float("lr", 1e-4, 1e-3), "total_steps": 400, "iteration_steps": 200,
    }  # fmt: skip
    assert module["main"]() == 0
    assert "best: 1.00 with lr=" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (
            ("sweep", "--preset", "cerl", "--env", "CartPole-v1", "--lr", "1"),
            "for `chorus sweep` write `--set learning_rate=VALUE`",
        ),
        (("list", "runs", "my runs"), "'my runs' has no option before it; if it is the folder of the runs, write"),
    ],
)
def test_options_of_other_commands_are_translated(typed, sentence, capsys):
    assert main(list(typed)) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_seeds_with_gaps_are_listed_one_by_one(tmp_path, capsys):
    command = ["sweep", "--preset", "double-dqn", "--env", "Probe/Discount-v0", "--dry-run", "--out", str(tmp_path)]
    assert main([*command, "--seeds", "3,5,8"]) == 0
    assert "double-dqn__s{3,5,8}\n" in capsys.readouterr().out
