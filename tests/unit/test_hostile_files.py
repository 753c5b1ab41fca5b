"""Damaged or hostile files are skipped or refused with a sentence; they never become a traceback."""

import json
import os

import pytest

from chorus.analysis.exchange import _write_csv, load_curves
from chorus.cli.main import main
from chorus.config.resolution import Request, read_file, resolve
from chorus.errors import ChorusError
from chorus.runs.logs import MetricNames, read_metrics, read_run, read_visits
from chorus.runs.run_directory import RunDirectory
from chorus.runs.timings import disk_use, recorded_seconds, training_seconds_per_step
from chorus.training import checkpoint

DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "9" * 400
NO_OBJECTS = ["[]", "null", "3", '"text"', "{", "", DEEP]


@pytest.mark.parametrize(
    "content", [*NO_OBJECTS, '{"state": [], "iteration": "x", "diverged_members": 5, "reason": {}}']
)
def test_one_damaged_status_does_not_hide_the_other_runs(tmp_path, capsys, content):
    for name in ("first", "second"):
        RunDirectory(tmp_path / name).create({}, {})
        RunDirectory(tmp_path / name).write_status("finished", iteration=3)
    (tmp_path / "first" / "status.json").write_text(content)
    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["stopped", "finished"]


@pytest.mark.parametrize("name", ["config.json", "meta.json"])
@pytest.mark.parametrize("content", NO_OBJECTS)
def test_a_configuration_or_origin_that_is_no_object_is_refused(tmp_path, capsys, name, content):
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})
    (directory.path / name).write_text(content)
    assert main(["resume", str(directory.path)]) == 2
    said = capsys.readouterr().err
    assert name in said and len(said.splitlines()) == 1


def test_damaged_timings_are_left_out(tmp_path):
    sound = [{"iteration": i, "metric": "charts/SPS", "value": 10.0} for i in (1, 2)]
    sound += [{"iteration": 1, "metric": f"system/{name}_megabytes", "value": 2.0} for name in ("disk", "checkpoint")]
    sound += [{"iteration": 1, "metric": "time/train_seconds", "value": 5}]
    damaged = [
        *(f'{{"iteration": {i}, "metric": "charts/SPS", "value": 3}}' for i in ("[1]", "{}", '"x"', "null")),
        *(f'{{"iteration": 3, "metric": "time/x", "value": {value}}}' for value in (DIGITS, "1e999", "[]", '"x"')),
        '{"iteration": 3, "metric": ["charts/SPS"], "value": 3}',
        DEEP,
        "{",
    ]
    lines = [*damaged, *map(json.dumps, sound), *damaged]
    (tmp_path / "timings.jsonl").write_text("\n".join(lines))
    assert disk_use(tmp_path) == (2.0, 2.0)
    assert training_seconds_per_step(tmp_path) == 0.1
    assert recorded_seconds(tmp_path) == 5.0


def test_files_links_and_odd_digits_in_place_of_checkpoints_are_no_obstacle(tmp_path):
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (directory / "000001").write_text("a file")
    (directory / "000002").symlink_to(tmp_path / "elsewhere")
    (directory / "000003").symlink_to(tmp_path / "nowhere")
    (directory / "\N{SUPERSCRIPT TWO}").mkdir()
    found = checkpoint.find(directory)
    assert not found.intact and len(found.complaints) == 3
    checkpoint.prune(directory, 9)
    for name in ("000001", "000002", "000003"):
        checkpoint._remove(directory / name)
    assert [path.name for path in directory.iterdir()] == ["\N{SUPERSCRIPT TWO}"]
    assert (tmp_path / "elsewhere" / "kept").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", DEEP),
        ("objects.json", '{"a":' * 100_000 + "1" + "}" * 100_000),
        ("deep.yaml", DEEP),
        ("seed.json", f'{{"seed": {DIGITS}}}'),
        ("seed.yaml", f"seed: {DIGITS}"),
        ("discount.json", f'{{"agent": {{"discount": {DIGITS}}}}}'),
        ("steps.json", '{"schedule": {"total_steps": 1e400}}'),
    ],
)
def test_configuration_files_that_nobody_would_write_are_refused(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(ChorusError):
        read_file(file)
        resolve(Request(preset="cerl", env="Probe/Discount-v0", scale="smoke", file=file))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("curve.csv", "env,algorithm,step,return\nA,B,inf,1\n", "line 2"),
        ("curve.csv", f"env,algorithm,step,return\nA,B,{DIGITS},1\n", "line 2"),
        ("curve.csv", f"env,algorithm,step,return\nA,{'x' * 200_000},1,1\n", "field larger than"),
        ("curve.csv", "env,algorithm,step,return\nA,B,-5,1\n", "not a count"),
        ("curve.csv", "step,return,env,algorithm\n1,2\n", "line 2 names no environment"),
        ("curve.csv", "env,algorithm,step,return\nA,B,1,1e308\n", "too large"),
        ("curve.json", DEEP, "nested too deeply"),
        ("curve.json", '[{"Agent": "A", "Iteration": 1e999, "Value": 1}]', "not a Dopamine"),
        ("curve.json", f'[{{"Agent": "A", "Iteration": {DIGITS}, "Value": 1}}]', "not a Dopamine"),
    ],
)
def test_curves_to_set_beside_that_make_no_sense_are_refused(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(ChorusError, match=words):
        load_curves([tmp_path / name])


WRONG = [3, 1.5, ["a"], {"a": 1}, b"x", object(), (1, 2), float("nan")]


@pytest.mark.parametrize("field", ["preset", "env", "seed", "scale", "hyperparameters", "file", "options", "torso"])
@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_a_request_of_wrong_types_is_refused(field, value):
    if (field, type(value)) in {("seed", int), ("options", dict), ("file", dict)}:
        pytest.skip("the right type")
    with pytest.raises(ChorusError, match=f"{field} is .*; it must be"):
        Request(**{"preset": "cerl", "env": "CartPole-v1", field: value})


@pytest.mark.parametrize("given", [{"out": 3}, {"out": b"x"}, {"out": "a\0b"}, {"config": 3}, {"config": ["x"]},
                                   {"plugins": 3}, {"plugins": [3]}, {"seed": "x"}, {"members": object()}])  # fmt: skip
def test_train_refuses_wrong_types_before_anything_is_written(tmp_path, monkeypatch, given):
    import chorus

    monkeypatch.chdir(tmp_path)
    with pytest.raises(ChorusError):
        chorus.train("cerl", "Probe/Discount-v0", scale="smoke", **given)
    assert not list(tmp_path.iterdir())


def test_cells_that_a_spreadsheet_would_compute_are_quoted_and_numbers_are_not(tmp_path):
    path = _write_csv(tmp_path / "out.csv", ("a", "b"), [("=1+1", -1.5), ("@x", 2), ("+x", "-y"), ("plain", "a=b")])
    assert path.read_text() == "a,b\n'=1+1,-1.5\n'@x,2\n'+x,'-y\nplain,a=b\n"
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("name", ["meta.json", "status.json", "metrics.jsonl", "metrics.jsonl.gz", "visits.json"])
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(tmp_path, capsys, name):
    for run in ("first", "second"):
        RunDirectory(tmp_path / run).create({}, {})
    path = tmp_path / "first" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    read, _ = read_run(tmp_path / "first", MetricNames())
    assert read_visits(tmp_path / "first") is None
    assert name == "visits.json" or any("is a pipe or a device" in problem for problem in read.problems)


def test_a_manifest_that_is_a_pipe_is_damage(tmp_path):
    (tmp_path / "000001").mkdir()
    os.mkfifo(tmp_path / "000001" / "manifest.json")
    assert "manifest.json is a pipe or a device" in checkpoint.find(tmp_path).complaints[0]


def test_a_folder_named_like_a_configuration_does_not_hide_runs(tmp_path, capsys):
    RunDirectory(tmp_path / "run").create({}, {})
    (tmp_path / "odd" / "config.json").mkdir(parents=True)
    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize("env", [5, [], None, {"id": 5}])
def test_a_stored_environment_that_is_none_is_refused_in_python_too(tmp_path, env):
    import chorus

    RunDirectory(tmp_path / "run").create({"env": env}, {})
    with pytest.raises(ChorusError):
        chorus.resume(tmp_path / "run", quiet=True, in_process=True)


def test_a_seed_of_hundreds_of_digits_is_a_problem_of_the_run(tmp_path):
    (tmp_path / "config.json").write_text(f'{{"seed": {DIGITS}}}')
    run, _ = read_run(tmp_path, MetricNames())
    assert run.seed == 0 and any("no usable number as seed (found 999" in problem for problem in run.problems)


@pytest.mark.parametrize("command", [["list", "runs", "--out"], ["report"], ["resume"], ["evaluate"]])
def test_a_name_that_no_file_can_have_is_one_sentence(capsys, command):
    assert main([*command, "x" * 300]) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("value", ["1e308", "-1e308", "9" * 200])
def test_values_whose_sums_overflow_are_damaged_lines(tmp_path, value):
    line = '{{"iteration": {0}, "step": {0}, "frames": {0}, "metric": "m", "value": {1}}}'
    (tmp_path / "metrics.jsonl").write_text("\n".join([line.format(1, value), line.format(2, "3.4e38")]))
    columns, damaged, _ = read_metrics(tmp_path / "metrics.jsonl", MetricNames(), [])
    assert columns.value.tolist() == [3.4e38] and damaged == 1
