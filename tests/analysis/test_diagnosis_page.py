"""The page of a diagnosis: whole, escaped, repeatable; on a phone and on a desk, in a real browser."""

import re
from pathlib import Path

import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.diagnosis import write_diagnosis

ENV = "my_package:<b>My</b>Env-v0"
LEVELS = {
    "double-dqn": {"individual": 100.0},
    "bootstrapped-dqn": {"individual": 70.0, "aggregate": 110.0},
    "tandem": {"active": 98.0, "passive": 50.0},
    "cerl": {"individual": 94.0, "aggregate": 130.0},
}


def write_runs(folder: Path) -> Path:
    for preset, level in LEVELS.items():
        for seed in range(3):
            entropy = None if preset == "double-dqn" else 0.4 + 0.01 * seed
            run = SyntheticRun(preset=preset, env=ENV, seed=seed, level=level, noise=3.0, entropy=entropy)
            run.name = f"{preset}-{seed}"
            run.write(folder)
    return folder


@pytest.mark.slow
def test_the_page_says_what_the_terminal_says(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "runs")
    summary = write_diagnosis([runs], ENV, tmp_path / "page.html", actions=3)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert summary.out == tmp_path / "page.html" and summary.conclusion[0] in text
    assert "Chorus diagnosis" in text and "&lt;b&gt;My&lt;/b&gt;Env" in text and "<b>My</b>" not in text
    for finding in summary.findings:
        assert finding.question.replace("'", "&#39;") in text
    panels = re.findall(r'<figure class="panel[^"]*" id="([^"]+)"', text)
    assert panels[0].startswith("questions-0") and "vote-entropy" in panels
    assert "http://" not in text.replace("http://www.w3.org", "") and "src=" not in text


@pytest.mark.slow
def test_the_same_runs_give_the_same_page(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "runs")
    pages = [tmp_path / name for name in ("first.html", "second.html")]
    for page in pages:
        write_diagnosis([runs], ENV, page)
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_it_fits_a_phone_and_a_desk(tmp_path: Path, width: int, theme: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    from test_report_in_browser import HOW_TO_GET_ONE, QUIET, Watched, find_chromium

    page = write_diagnosis([write_runs(tmp_path / "runs")], ENV, tmp_path / "page.html").out
    with playwright.sync_playwright() as driver:
        path = find_chromium(driver)
        if path is None:
            pytest.skip(HOW_TO_GET_ONE)
        browser = driver.chromium.launch(executable_path=path, args=QUIET)
        opened = Watched(browser, page, viewport={"width": width, "height": 844}, color_scheme=theme)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.page.locator(".conclusion .headline").is_visible()
        assert opened.page.locator(".finding").count() == 8
        first, second = (opened.page.locator(".finding").nth(number).bounding_box() for number in range(2))
        assert (first["x"] < second["x"]) == (width > 1000)  # side by side where there is room
        browser.close()
    assert opened.trouble == [] and opened.requests == [page.as_uri()]
