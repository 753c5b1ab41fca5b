"""Every link in the documentation leads somewhere, and every tag the source cites exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
SOURCES = sorted((ROOT / "src").rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


def defined_in(path: Path) -> set[str]:
    """Every function, class and method of a module, and the module itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return {path.stem, *(node.name for node in nodes)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_code_name_what_is_defined_there(page: Path) -> None:
    links = re.findall(r"\[((?:`\w+`(?:, )?)+)\]\(([^)#]+\.py)\)", page.read_text(encoding="utf-8"))
    wrong = [
        f"{name} in {target}"
        for names, target in links
        for name in re.findall(r"`(\w+)`", names)
        if name not in defined_in(page.parent / target)
    ]
    assert not wrong
    assert links or page.name != "equations.md"


def test_every_page_can_be_found_from_the_readme() -> None:
    """Following links to pages of the documentation, from page to page."""
    found, to_read = set(), [ROOT / "README.md"]
    while to_read:
        page = to_read.pop()
        found.add(page)
        targets = re.findall(r"\]\(([^)#]+\.md)[)#]", page.read_text(encoding="utf-8"))
        linked = {(page.parent / target).resolve() for target in targets if "://" not in target}
        to_read += linked - found - set(to_read)
    assert set((ROOT / "docs").rglob("*.md")) <= found


def test_every_page_has_a_place_in_the_sites_navigation() -> None:
    listed = set(re.findall(r": ([a-z/-]+\.md)$|- ([a-z/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = (ROOT / "docs").rglob("*.md"), (ROOT / "docs").rglob("*.ipynb")
    names = {str(page.relative_to(ROOT / "docs").with_suffix(".md")) for kind in pages for page in kind}
    assert names <= {first or second for first, second in listed}


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
