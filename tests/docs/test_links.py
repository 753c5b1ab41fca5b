"""Every link in the documentation leads somewhere, and every tag the source cites exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
SOURCES = sorted((ROOT / "src").rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


def test_every_page_can_be_found_from_the_readme() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")))
    reached = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    nested = re.findall(r"\]\(([a-z-]+\.md)\)", "".join(page.read_text(encoding="utf-8") for page in PAGES))
    assert reached <= linked | {f"docs/{name}" for name in nested}


def test_cited_documents_exist() -> None:
    for source in SOURCES:
        for cited in re.findall(r"docs/[a-z-]+\.md", source.read_text(encoding="utf-8")):
            assert (ROOT / cited).exists(), f"{source} cites {cited}"


def test_cited_equations_and_deviations_are_numbered_in_the_documents() -> None:
    text = "".join(source.read_text(encoding="utf-8") for source in SOURCES)
    for tag, document in ((r"\bE\d+\b", "equations.md"), (r"\bD\d+\b", "deviations.md")):
        defined = set(re.findall(rf"\*\*({tag})\*\*", (ROOT / "docs" / document).read_text(encoding="utf-8")))
        cited = set(re.findall(rf"(?:equations?|Deviation|to|,|\() ?({tag})", text))
        assert cited and cited <= defined


def test_every_logged_metric_is_defined() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    training = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/chorus/training").glob("*.py"))
    logged = set(re.findall(r'"((?:charts|losses|replay|members|time|system|diversity)/\w+)"', training))
    logged |= {
        name.replace("{policy_name}", "<policy>") for name in re.findall(r'f"((?:eval|diversity)/[^"]+)"', training)
    }
    assert logged and all(name in page for name in logged)
