"""The report in a real Chromium: hovering, toggling, sorting, downloading, no errors, no request to
anywhere.
"""

import csv
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.figures.style import DARK, LIGHT
from chorus.analysis.report import write_report

SVG = "{http://www.w3.org/2000/svg}"
pytestmark = pytest.mark.slow
playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed; `pip install -e .[dev]` brings it"
)

HOW_TO_GET_ONE = (
    "no Chromium was found; install one with `apt-get install chromium` or `playwright install chromium`, "
    "or name its path in CHORUS_CHROMIUM"
)
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(driver) -> str | None:
    named = os.environ.get("CHORUS_CHROMIUM")
    found = [
        named,
        shutil.which("chromium"),
        shutil.which("chromium-browser"),
        driver.chromium.executable_path,
    ]
    return next((path for path in found if path and Path(path).exists()), None)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with playwright.sync_playwright() as driver:
        path = find_chromium(driver)
        if path is None:
            pytest.skip(HOW_TO_GET_ONE)
        launched = driver.chromium.launch(executable_path=path, args=QUIET)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    bases = dict(zip(MINATAR, (7.0, 9.0, 31.0), strict=True))
    write_study(folder / "runs", seeds=3, base=bases.__getitem__)
    SyntheticRun(
        preset="<script>document.title='broken'</script>",
        env=MINATAR[0],
        name="<script>",
        reason="<img src=x onerror=alert(1)>",
        state="failed",
    ).write(folder / "runs")
    return write_report([folder / "runs"], folder / "report.html").out


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One environment with a sweep over the ensemble size."""
    folder = tmp_path_factory.mktemp("single")
    write_study(folder / "runs", envs=MINATAR[:1], seeds=3)
    for members in (2, 5):
        for seed in range(3):
            SyntheticRun(
                preset="bootstrapped-dqn",
                env=MINATAR[0],
                seed=seed,
                options={"members": members},
                level={"individual": 7.0, "aggregate": 9.0},
                entropy=0.5,
                noise=0.3,
                name=f"members-{members}-{seed}",
            ).write(folder / "runs")
    return write_report([folder / "runs"], folder / "report.html").out


class Watched:
    """A page together with everything it complained about or asked for."""

    def __init__(self, browser, report: Path, **options: object) -> None:
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append("a dialog opened"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.as_uri())
        self.page.wait_for_load_state("load")


@pytest.fixture
def watched(browser, report: Path) -> Iterator[Watched]:
    opened = Watched(browser, report, viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield opened
    trouble, requests = opened.trouble, opened.requests
    opened.context.close()
    assert trouble == []
    assert requests == [report.as_uri()]


def test_hovering_a_curve_shows_its_values(watched: Watched) -> None:
    page = watched.page
    drawing = page.locator("#aggregate-curves .drawing")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + 0.97 * box["width"], box["y"] + 0.4 * box["height"])
    tip = page.locator("#tip")
    assert tip.is_visible()
    text = tip.inner_text()
    assert "agent steps" in text and "Double DQN" in text and "[" in text and "runs: 3" in text
    assert page.locator("#aggregate-curves circle.dot").count() == 7
    page.mouse.move(0, 0)
    assert tip.is_hidden()


def test_hovering_a_bar_names_the_environment(watched: Watched) -> None:
    page = watched.page
    drawing = page.locator("#gains-0 .drawing")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    text = page.locator("#tip").inner_text()
    assert "environment" in text and "MinAtar/" in text and "-0." in text


def test_arrow_keys_walk_along_a_curve(watched: Watched) -> None:
    page = watched.page
    page.locator("#aggregate-curves .drawing").focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("#tip").inner_text()
    page.keyboard.press("ArrowRight")
    assert first != page.locator("#tip").inner_text() and "40,000" in first
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_an_algorithm_can_be_switched_off_and_on(watched: Watched) -> None:
    page = watched.page
    chip = page.locator(".bar .chip", has_text="Bootstrapped DQN (indiv.)")
    number = chip.get_attribute("data-toggle-series")
    drawn = page.locator(f'#aggregate-curves svg [data-series="{number}"]')
    rows = page.locator(f'#final-scores-table tr[data-series="{number}"]')
    assert drawn.count() == 2 and drawn.first.is_visible() and rows.count() == 3
    chip.click()
    assert chip.get_attribute("aria-pressed") == "false"
    assert not any(drawn.nth(n).is_visible() for n in range(2)) and rows.first.is_hidden()
    box = page.locator("#aggregate-curves .drawing").bounding_box()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.4 * box["height"])
    assert "Bootstrapped DQN (indiv.)" not in page.locator("#tip").inner_text()
    click_key(page, "aggregate-curves", "Bootstrapped DQN (indiv.)")
    assert chip.get_attribute("aria-pressed") == "true" and rows.first.is_visible()


def click_key(page, figure: str, label: str) -> None:
    """Switch a line off or on in the legend of a figure, which is folded if it would take more than one row."""
    legend = page.locator(f"#{figure} .legend")
    if legend.get_attribute("open") is None:
        legend.locator("summary").click()
    legend.locator(".key", has_text=label).click()


def test_environments_can_be_switched_off(watched: Watched) -> None:
    page = watched.page
    page.locator(".menu summary").click()
    page.get_by_role("checkbox", name=MINATAR[1]).uncheck()
    assert page.locator("#curves-1").is_hidden() and page.locator("#curves-0").is_visible()
    page.locator('[data-all-envs="false"]').click()
    assert page.locator("#environments .panel:visible").count() == 0
    page.locator('[data-all-envs="true"]').click()
    assert page.locator("#environments .panel:visible").count() == 3


def test_tables_sort_both_ways_by_number(watched: Watched) -> None:
    page = watched.page
    heading = page.locator("#final-scores-table th", has_text="Mean return")

    def means() -> list[float]:
        cells = page.locator("#final-scores-table tbody tr td:nth-child(3)").all_inner_texts()
        return [float(cell) for cell in cells]

    heading.locator("button").click()
    rising = means()
    assert rising == sorted(rising) and rising != sorted(rising, key=str)  # by value, not by letters
    heading.locator("button").click()
    assert means() == rising[::-1] and heading.get_attribute("aria-sort") == "descending"


def save(page, figure: str, form: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.locator(f'#{figure} [data-save="{form}"]').click()
    assert download.value.suggested_filename == f"{figure}.{form}"
    download.value.save_as(folder / f"{figure}.{form}")
    return folder / f"{figure}.{form}"


def test_a_figure_can_be_saved_as_csv(watched: Watched, tmp_path: Path) -> None:
    saved = save(watched.page, "aggregate-curves", "csv", tmp_path)
    rows = list(csv.DictReader(saved.read_text().splitlines()))
    assert {row["series"] for row in rows} >= {"Double DQN", "Bootstrapped DQN (agg.)"}
    assert len(rows) == 7 * 12 and all(float(row["low"]) <= float(row["high"]) for row in rows)


def test_a_figure_can_be_saved_as_svg_with_its_legend_in_light_colours(watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    page.locator("#theme").click()  # dark: the saved figure is light all the same
    saved = save(page, "aggregate-curves", "svg", tmp_path).read_text(encoding="utf-8")
    texts = [part.text for part in ElementTree.fromstring(saved).iter(f"{SVG}text")]
    assert {"Double DQN", "Bootstrapped DQN (indiv.)", "10%-tandem (passive)"} <= set(texts)
    assert "var(" not in saved and LIGHT[1] in saved and DARK[1] not in saved
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    # A line that is switched off is not saved.
    click_key(page, "aggregate-curves", "Bootstrapped DQN (indiv.)")
    saved = save(page, "aggregate-curves", "svg", tmp_path).read_text(encoding="utf-8")
    assert "Bootstrapped DQN (indiv.)" not in [part.text for part in ElementTree.fromstring(saved).iter(f"{SVG}text")]


def test_every_figure_can_be_saved_as_png(watched: Watched, tmp_path: Path) -> None:
    for figure in ("aggregate-curves", "gains-0", "curves-1", "heads"):
        saved = save(watched.page, figure, "png", tmp_path)
        pixels = matplotlib.image.imread(saved)
        assert pixels.shape[1] > 900  # three pixels per point
        assert pixels[0, 0, :3].tolist() == [1, 1, 1] and pixels[..., :3].std() > 0.02  # paper, and something on it


def test_light_and_dark(watched: Watched) -> None:
    page = watched.page
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(paper)
    page.locator("#theme").click()
    dark = page.evaluate(paper)
    assert light == "rgb(255, 255, 255)" and dark != light
    page.locator("#theme").click()
    assert page.evaluate(paper) == light


def test_a_run_named_script_stays_text(watched: Watched) -> None:
    page = watched.page
    assert page.title() == "Ensembles on 3 environments"
    assert page.locator("#runs-table td", has_text="<script>").count() >= 1
    assert "<img src=x onerror=alert(1)>" in page.locator("#runs-table").inner_text()
    assert page.locator("img").count() == 0


def test_a_phone_needs_no_sideways_scrolling(browser, report: Path) -> None:
    phone = Watched(browser, report, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = phone.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    figure = page.locator("#aggregate-curves .drawing")
    figure.scroll_into_view_if_needed()
    assert figure.bounding_box()["width"] <= 390
    sizes = page.locator("#aggregate-curves svg text").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect().height)"
    )
    assert min(sizes) > 7  # pixels
    box = figure.bounding_box()
    page.touchscreen.tap(box["x"] + 200, box["y"] + 80)
    assert page.locator("#tip").is_visible()
    phone.context.close()
    assert phone.trouble == []


@pytest.mark.parametrize("width", [390, 900, 1440])
@pytest.mark.parametrize("pages", ["report", "single"])
def test_no_label_is_clipped_and_the_legend_takes_one_row(
    browser, request: pytest.FixtureRequest, pages: str, width: int
) -> None:
    opened = Watched(browser, request.getfixturevalue(pages), viewport={"width": width, "height": 900})
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.add_style_tag(content=".panel { content-visibility: visible !important }")
    outside = page.evaluate(
        """() => Array.from(document.querySelectorAll(".drawing > svg")).flatMap(function (svg) {
          const box = svg.getBoundingClientRect();
          return Array.from(svg.querySelectorAll("text")).filter(function (text) {
            const at = text.getBoundingClientRect();
            const wide = at.left < box.left - 2 || at.right > box.right + 2;
            return at.width && (wide || at.top < box.top - 2 || at.bottom > box.bottom + 2);
          }).map((text) => svg.closest("figure").id + ": " + text.textContent);
        })"""
    )
    assert outside == []
    rows = page.evaluate(
        """() => Array.from(document.querySelectorAll("details.legend[open]")).map(
          (legend) => new Set(Array.from(legend.querySelectorAll(".key"), (key) => key.offsetTop)).size)"""
    )
    assert all(count == 1 for count in rows)  # other legends are folded
    chips = page.locator(".bar .chip")
    shown = [chip.bounding_box() for chip in chips.all() if chip.is_visible()]
    edge = page.locator("#chips").bounding_box()
    assert len({box["y"] for box in shown}) == 1 and all(
        b["x"] + b["width"] <= edge["x"] + edge["width"] + 1 for b in shown
    )
    if len(shown) < chips.count():
        page.locator("#more").click()
        assert all(chip.is_visible() for chip in chips.all())
        page.locator("#more").click()
        assert chips.last.is_hidden()
    opened.context.close()


def test_one_environment_starts_with_three_panels_over_the_full_width(browser, single: Path) -> None:
    desk = Watched(browser, single, viewport={"width": 1440, "height": 900})
    first = desk.page.locator("main figure.panel").first
    assert first.get_attribute("id") == "questions-0"
    assert first.bounding_box()["width"] > 0.95 * desk.page.locator("main").bounding_box()["width"]
    assert desk.page.locator("#questions-0-narrow").is_hidden()
    titles = desk.page.locator("#questions-0 svg text").all_text_contents()
    assert {"Members and their vote", "Active and passive", "Members with CERL"} <= set(titles)
    desk.context.close()
    phone = Watched(browser, single, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert phone.page.locator("#questions-0").is_hidden() and phone.page.locator("#questions-0-narrow").is_visible()
    box = phone.page.locator("#questions-0-narrow .drawing").bounding_box()
    assert box["height"] > 1.5 * box["width"]  # one panel below the other
    phone.context.close()
    assert desk.trouble == phone.trouble == []


def test_the_page_prints(browser, report: Path, tmp_path: Path) -> None:
    printer = Watched(browser, report, color_scheme="dark")
    printer.page.emulate_media(media="print")
    assert printer.page.locator(".bar").is_hidden()
    paper = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
    assert printer.page.evaluate(paper) == "#ffffff"
    printer.page.pdf(path=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000
    printer.context.close()
    assert printer.trouble == []
