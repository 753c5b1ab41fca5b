"""`chorus list studies` and `chorus reproduce`: cost and progress, refusals, and a figure at the end."""

import re

import pytest

from chorus.analysis.context import make_context
from chorus.analysis.loading import load_runs
from chorus.analysis.paper import draw_panels
from chorus.cli.main import main
from chorus.scheduling.jobs import jobs_of
from chorus.studies.table import STUDIES, find_study
from running import chorus, listing
from small_jobs import write_finished


@pytest.mark.slow
def test_one_plain_line_a_study_when_not_a_terminal(tmp_path, capsys):
    assert main(["list", "studies", "--scale", "smoke", "--out", str(tmp_path)]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert re.split(r" {2,}", head) == ["study", "what it shows", "runs ended", "shipped", "cost of the rest"]
    assert [line.split()[0] for line in lines[: len(STUDIES)]] == list(STUDIES)
    assert re.search(r"figure3 .*tandem.* 0 of 6 +- +.*(s|min)$", lines[1])
    assert "next: chorus reproduce" in lines[-1]
    assert listing(tmp_path) == {}


@pytest.mark.slow
def test_columns_are_aligned_and_short_marks_what_shortened_runs_judge(tmp_path, capsys, monkeypatch):
    """All words of a column start at one place, and `of one core` is said once for all rows."""
    monkeypatch.setattr("chorus.analysis.shortened.shortened_studies", lambda: {"figure14", "figure16"})
    assert main(["list", "studies", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    head, *lines = said.splitlines()[: len(STUDIES) + 1]
    starts = [match.end() for match in re.finditer(r"(^| {2,})(?=\S)", head)]
    for line in lines:
        assert [match.end() for match in re.finditer(r"(^| {2,})(?=\S)", line)] == starts
    shipped = {line.split()[0]: re.split(r" {2,}", line)[3] for line in lines}
    assert shipped["figure16"] == "short" and shipped["figure14"].endswith(" + short")
    assert "short" not in shipped["figure15"] and said.count("of one core") == 1


@pytest.mark.slow
def test_the_paper_scale_is_priced_in_gpu_days(tmp_path, capsys):
    assert main(["reproduce", "figure3", "--scale", "paper", "--dry-run", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    # 275 Double DQNs of 2 days, 275 Bootstrapped DQNs of 3.5 and 275 tandems of 2 + 1.5 / 9.
    (days,) = re.findall(r"about ([\d,.]+) GPU-days \(assumed: .*RTX 8000\)", said)
    assert float(days.replace(",", "")) == pytest.approx(275 * (2 + 3.5 + 2 + 1.5 / 9), rel=2e-3)
    assert listing(tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["figure1"], ("'figure1'", "diagrams", "chorus list studies")),
        (["figure99"], ("'figure99'", "chorus list studies")),
        (["figure3", "--part", "continuous"], ("no part 'continuous'", "it has discrete")),
        (["figure3", "--seeds", "0"], ("--seeds is 0", "at least 1")),
        (["figure3", "--engine", "rey"], ("'rey'", "did you mean 'ray'?")),
        (["figure3", "--scale", "paper"], ("none is visible here", "--device cpu")),
        ([], ("STUDY", "chorus reproduce --help")),
    ],
    ids=lambda case: " ".join(case) or "nothing",
)
def test_wrong_studies_are_refused_before_anything_is_touched(tmp_path, capsys, monkeypatch, arguments, parts):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main(["reproduce", *arguments, "--quiet", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    for part in parts:
        assert part in said.err
    assert listing(tmp_path) == {}


@pytest.mark.slow
def test_fewer_seeds_are_the_first_of_the_study_and_more_add_to_them(tmp_path):
    """Also of arms that have a number of their own: figure 8's tandem has 10 seeds where the others have 30."""
    (part,) = find_study("figure8").parts
    jobs = {
        seeds: {job.path.name for job in jobs_of(part.with_seeds(seeds), "paper", tmp_path, "gpu")}
        for seeds in (2, 10, 12)
    }
    # 3 presets in 4 tasks.
    assert {seeds: len(names) for seeds, names in jobs.items()} == {2: 24, 10: 120, 12: 144}
    study = {job.path.name for job in jobs_of(part, "paper", tmp_path, "gpu")}
    assert jobs[2] < jobs[10] < study and len(jobs[12] - study) == 4 * 2


@pytest.mark.slow
def test_a_study_whose_runs_are_there_is_only_drawn(tmp_path, capsys):
    """Finished runs are not run again, nor is a cluster started for them; the figure and the report come out."""
    for job in jobs_of(find_study("figure5").parts[0], "smoke", tmp_path):
        write_finished(job)
    assert main(["reproduce", "figure5", "--scale", "smoke", "--out", str(tmp_path), "--engine", "ray"]) == 0
    said = capsys.readouterr().out
    assert "8 runs, 8 already ended: nothing is left to do" in said
    folder = tmp_path / "reports" / "figure5-smoke"
    panels = {"figure5-sweep-agent-members", "figure5-sweep-agent-shared_layers"}
    assert {path.name for path in folder.iterdir()} == {"report.html"} | {
        f"{panel}.{ending}" for panel in panels for ending in ("svg", "png")
    }
    assert f"report: {folder / 'report.html'}" in said
    assert f"next: chorus reproduce figure5 --out {tmp_path} " in said


@pytest.mark.slow
def test_a_first_look_with_fewer_seeds_has_a_report_of_its_own(tmp_path, capsys):
    for job in jobs_of(find_study("figure12").parts[0].with_seeds(1), "smoke", tmp_path):
        write_finished(job)
    assert main(["reproduce", "figure12", "--scale", "smoke", "--seeds", "1", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "1 of each configuration" in said and "2 of 2 runs have ended" in said
    (folder,) = (tmp_path / "reports").iterdir()
    assert folder.name == "figure12-smoke-1-seeds"
    assert "smoke scale, --seeds 1" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_tables_hyperparameters_have_a_report_of_their_own(tmp_path, capsys):
    """With runs of the paper's scale that nobody trained."""
    part = find_study("figure14").parts[0].with_seeds(1)
    for job in jobs_of(part, "paper", tmp_path, "gpu", hyperparameters="table"):
        write_finished(job)
    study = ["reproduce", "figure14", "--scale", "paper", "--seeds", "1", "--out", str(tmp_path)]
    assert main([*study, "--hyperparameters", "table"]) == 0
    assert "12 runs, 12 already ended" in capsys.readouterr().out
    (folder,) = (tmp_path / "reports").iterdir()
    assert folder.name == "figure14-paper-table-1-seeds"
    assert "paper scale, --hyperparameters table, --seeds 1" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_table_is_refused_where_there_is_none(tmp_path, capsys):
    assert main(["reproduce", "figure14", "--hyperparameters", "table", "--dry-run", "--out", str(tmp_path)]) == 2
    assert "--hyperparameters table is the paper's table for Atari" in capsys.readouterr().err


@pytest.mark.slow
def test_a_study_beside_the_figures_is_found_by_its_name(tmp_path, capsys):
    assert main(["reproduce", "cost", "--scale", "smoke", "--dry-run", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("training time per step, smoke scale\n") and "14 runs" in said


@pytest.mark.slow
def test_progress_and_the_next_command_are_those_of_the_device_and_the_folder(tmp_path, capsys):
    for job in jobs_of(find_study("figure12").parts[0], "smoke", tmp_path, "gpu"):
        write_finished(job)
    counts = []
    for device in ("gpu", "cpu"):
        assert main(["list", "studies", "--scale", "smoke", "--out", str(tmp_path), "--device", device]) == 0
        said = capsys.readouterr().out
        counts.append(re.search(r"figure12 .* (\d) of 4 ", said)[1])
        assert f"next: chorus reproduce figure2 --scale smoke --device {device} --out {tmp_path}" in said
    assert counts == ["4", "0"]


def test_what_a_cluster_will_take_is_priced_as_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("chorus.scheduling.costs.measured_processor", lambda: "AMD EPYC")
    assert main(["reproduce", "figure12", "--engine", "ray", "--dry-run", "--out", str(tmp_path)]) == 0
    assert re.search(r"about 10 h \d\d min of one core \(", capsys.readouterr().out)


@pytest.mark.long
@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_every_study_has_the_runs_of_its_figure(tmp_path, study):
    """Its own runs; commands that draw and report them are those of other tests."""
    for part in study.parts:
        jobs = jobs_of(part, "smoke", tmp_path / part.name)
        for job in jobs:
            write_finished(job)
        panels = draw_panels(make_context(load_runs([job.path for job in jobs])), study.panels)
        assert panels and all(drawing.rows for drawing in panels.values())


@pytest.mark.long
def test_diversity_is_drawn_by_the_measure_of_each_kind_of_actions(tmp_path, capsys):
    for part in find_study("figure7").parts:
        for job in jobs_of(part, "smoke", tmp_path):
            write_finished(job)
    assert main(["reproduce", "figure7", "--scale", "smoke", "--out", str(tmp_path)]) == 0
    assert "no figure" not in capsys.readouterr().out
    folder = tmp_path / "reports" / "figure7-smoke"
    for part in ("discrete", "continuous"):
        assert (folder / f"report-{part}.html").exists() and list(folder.glob(f"figure7-{part}-*.png"))
    panels = {path.stem for path in folder.glob("*.svg") if "curves" not in path.stem and "sweep" not in path.stem}
    assert panels == {"figure7-discrete-vote-entropy", "figure7-continuous-action-distance"}


def test_modes_are_told_apart_in_reports_and_left_out_of_the_papers_figures(tmp_path):
    for job in jobs_of(find_study("figure8").parts[0], "smoke", tmp_path):
        write_finished(job)
    context = make_context(load_runs([tmp_path]))
    dashes = [
        context.style(series).dash for series in context.results.series if series.variant.preset == "ensemble-sac"
    ]
    assert len(dashes) == len(set(dashes)) == 4
    single = [context.style(s).dash for s in context.results.series if s.variant.preset == "sac"]
    assert len(single) == len(set(single)) == 2
    drawn = {row[1] for row in draw_panels(context, find_study("figure8").panels)["environments"].rows}
    assert drawn == {"SAC", "Ensemble SAC (indiv.)", "SAC 10%-tandem (active)", "SAC 10%-tandem (passive)"}


@pytest.mark.long
def test_a_smoke_study_runs_and_is_drawn(tmp_path):
    study = "figure12"
    asked = ("reproduce", study, "--scale", "smoke", "--seeds", "1", "--out", tmp_path)
    done = chorus(*asked, "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(\d+) of \1 runs have ended \(0 of them before", done.stdout)
    folder = tmp_path / "reports" / f"{study}-smoke-1-seeds"
    assert (folder / "report.html").stat().st_size > 10_000
    assert list(folder.glob(f"{study}-*.svg")) and list(folder.glob(f"{study}-*.png"))
    again = chorus(*asked)
    assert again.returncode == 0 and "nothing is left to do" in again.stdout
