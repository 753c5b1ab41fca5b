"""The website can be read and searched from a folder, and loads nothing from elsewhere."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def test_the_search_works_without_a_server() -> None:
    """Without a worker of our own by this name, the plugin would load one from another host."""
    (worker,) = SITE["extra"]["polyfills"]
    assert "offline" in SITE["plugins"] and SITE["use_directory_urls"] is False
    assert "iframe-worker" in worker and (ROOT / "docs" / worker).is_file()


def test_every_page_is_in_the_navigation() -> None:
    named = yaml.safe_dump(SITE["nav"])
    pages = [page.relative_to(ROOT / "docs").with_suffix(".md") for page in (ROOT / "docs").rglob("*.[mi][dp]*")]
    assert [str(page) for page in pages if str(page) not in named] == []
