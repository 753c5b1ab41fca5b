"""The tables of docs/demo.md come from the runs in results/demo, which give the same answers block by block."""

from builders import load_example
from chorus.scheduling.jobs import jobs_of
from chorus.studies.demo import DEMO

audit = load_example("demo_audit")
SETTLED = {
    "Is there a curse of diversity?",
    "Does acting together help?",
    "Does a passive member fall behind on the same data?",
}


def test_the_tables_are_those_of_the_runs_that_ship() -> None:
    page = audit.PAGE.read_text(encoding="utf-8")
    assert audit.MARKED.search(page)[0] == f"<!-- audit:begin -->\n{audit.audit()}<!-- audit:end -->", "run the script"


def test_the_readme_says_what_one_demo_shows() -> None:
    readme = " ".join((audit.ROOT / "README.md").read_text(encoding="utf-8").split())
    assert all(audit.expected()[question] in readme for question in SETTLED)


def test_every_block_is_a_whole_demo_with_the_same_verdicts(tmp_path) -> None:
    """The demo's seeds begin at 0, those of a block at its first."""
    demo = {tuple(job.name.rsplit("__s", 1)) for job in jobs_of(DEMO, "laptop", tmp_path)}
    blocks = audit.blocks()
    assert len(blocks) >= 3
    for first, runs in blocks.items():
        assert {(name, str(int(seed) - first)) for name, seed in (run.name.rsplit("__s", 1) for run in runs)} == demo
        assert {question for question, answer in audit.answers_of(runs).items() if answer.verdict == "yes"} >= SETTLED
