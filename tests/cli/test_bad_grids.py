"""Commands of many runs refuse what cannot be before anything is run, also where they only plan."""

import pytest

from chorus.cli.main import main
from refusals import assert_refused
from running import listing

SWEEP = ["sweep", "--preset", "double-dqn", "--env", "CartPole-v1", "--scale", "smoke"]


@pytest.mark.parametrize("ending", [[], ["--dry-run"]], ids=["run", "plan"])
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ([*SWEEP, "--workers", "-3"], ("--workers is -3", "at least 1")),
        ([*SWEEP, "--workers", "0"], ("--workers is 0", "at least 1")),
        ([*SWEEP, "--engine", "rai"], ("'rai'", "did you mean 'ray'?")),
        ([*SWEEP, "--address", "auto"], ("--address auto", "--engine ray")),
        ([*SWEEP, "--device", "cpu", "--set", "device=gpu"], ("--device cpu", "leave one out")),
        ([*SWEEP, "--set", "scale=smoke"], ("--set scale=smoke", "use --scale")),
        ([*SWEEP, "--set", "seed=1,2"], ("--set seed=1,2", "--seeds in a sweep")),
        ([*SWEEP, "--wandb-project", "mine"], ("--wandb-project means nothing without --track", "add it")),
        ([*SWEEP, "--track", "--wandb-tags", "a", " "], ("--wandb-tags is empty", "leave it out")),
        (["demo", "--scale", "smoke", "--wandb-group", "g"], ("--wandb-group means nothing without --track", "add it")),
        (["reproduce", "figure2", "--wandb-entity", "e"], ("--wandb-entity means nothing without --track", "add it")),
        (["diagnose", "CartPole-v1", "--members", "1"], ("--members is 1", "at least 2")),
    ],
    ids=lambda case: " ".join(case),
)
def test_what_cannot_be_is_refused_before_anything_is_touched(tmp_path, capsys, arguments, parts, ending):
    assert_refused([*arguments, *ending, "--quiet", "--out", str(tmp_path)], capsys, *parts)
    assert listing(tmp_path) == {}


@pytest.mark.parametrize("ending", [[], ["--dry-run"]], ids=["run", "plan"])
def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, capsys, ending):
    (tmp_path / "runs").write_text("mine")
    out = str(tmp_path / "runs" / "here")
    assert_refused([*SWEEP, *ending, "--out", out], capsys, "runs/here cannot be a folder", "choose another")
    assert (tmp_path / "runs").read_text() == "mine"


@pytest.mark.parametrize("ending", [[], ["--dry-run"]], ids=["run", "plan"])
@pytest.mark.parametrize(
    ("out", "part"), [("", "an empty name is no folder"), ("/proc/runs", "--out /proc/runs cannot be written to")]
)
def test_no_folder_and_one_that_only_looks_writable_are_refused(tmp_path, capsys, monkeypatch, ending, out, part):
    monkeypatch.chdir(tmp_path)
    assert_refused([*SWEEP, *ending, "--out", out], capsys, part)
    assert listing(tmp_path) == {}


def test_a_link_to_nowhere_is_refused(tmp_path, capsys):
    (tmp_path / "runs").symlink_to(tmp_path / "gone")
    assert_refused([*SWEEP, "--out", str(tmp_path / "runs")], capsys, "runs cannot be a folder", "choose another")
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(
    "arguments", [[*SWEEP, "--scale", "paper"], ["diagnose", "CartPole-v1", "--scale", "paper"]], ids=lambda a: a[0]
)
def test_the_paper_scale_asks_for_a_graphics_processor(tmp_path, capsys, monkeypatch, arguments):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert_refused([*arguments, "--quiet", "--out", str(tmp_path)], capsys, "none is visible here", "--device cpu")
    assert listing(tmp_path) == {}


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr("chorus.cli.list.run", interrupted)
    assert main(["list", "studies"]) == 130
    assert capsys.readouterr().err == "\nchorus: stopped\n"
