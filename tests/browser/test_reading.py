"""The page is read with and without scripts, on paper, on any screen, by ear and by keyboard."""

import csv
import io
import itertools
import json
import re

import pytest

import crawlgauge as cg
from crawlgauge.model.phrases import count, percent
from crawlgauge.report.words import with_range

INVISIBLE = str.maketrans({"\u00a0": " ", "\u2060": None})


def text_of(page, selector):
    return page.locator(selector).inner_text().translate(INVISIBLE)


def test_without_scripts_every_chart_and_every_number_is_there(open_page, report):
    opened = open_page(report.path, has_scripts=False)
    page, estimates = opened.page, report.estimates
    for chart in report.charts:
        drawing = page.locator(f"#figure-{chart.name} .still svg")
        assert drawing.is_visible()
        assert drawing.bounding_box()["height"] > 100
    assert text_of(page, ".statement") == estimates.headline.statement
    table = page.locator("#table-crawls tbody").text_content().translate(INVISIBLE)
    for row in estimates.per_crawl:
        assert with_range(row.coverage, percent) in table
        assert with_range(row.population, count) in table
    pairs = page.locator("#table-paper tbody").text_content()
    assert all(f"{pair.n_shared:,}" in pairs for pair in estimates.residuals)
    assert page.locator(".scripted:visible").count() == 0
    assert page.locator("p.unscripted").is_visible()
    explanation = page.locator("details.more", has_text="How to read curvature")
    explanation.locator("summary").click()
    assert explanation.get_by_text("What it means").is_visible()


@pytest.mark.parametrize("width", [360, 1920])
@pytest.mark.parametrize("has_scripts", [True, False])
def test_the_page_fits_narrow_and_wide_screens(open_page, report, width, has_scripts):
    page = open_page(report.path, width=width, has_scripts=has_scripts).page
    page.locator("summary").evaluate_all(
        "all => all.forEach((one) => one.parentElement.open = true)"
    )
    widths = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    for chart in report.charts:
        box = page.locator(f"#figure-{chart.name}").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert (
        page.locator(".figure").evaluate("one => parseFloat(getComputedStyle(one).fontSize)") > 40
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_machine_that_knows_the_guidelines_finds_no_serious_fault(open_page, report, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(report.path, color_scheme=scheme).page
    page.locator("details").evaluate_all("all => all.forEach((one) => one.open = true)")
    violations = Axe().run(page).response["violations"]
    grave = {
        v["id"]: v["nodes"][0]["html"] for v in violations if v["impact"] in {"serious", "critical"}
    }
    assert grave == {}


def test_headings_go_down_one_step_at_a_time_and_the_language_is_named(opened):
    levels = opened.page.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.map((one) => Number(one.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert opened.page.locator("html").get_attribute("lang") == "en"


def test_every_chart_has_a_text_for_those_who_do_not_see_it(opened, report):
    for chart in report.charts:
        drawing = opened.page.locator(f"#figure-{chart.name} .drawing")
        assert drawing.get_attribute("role") == "img"
        described = drawing.get_attribute("aria-describedby")
        assert text_of(opened.page, f"#{described}") == chart.alternative


def test_on_paper_all_is_open_light_and_still(open_page, report):
    page = open_page(report.path, color_scheme="dark", unfolded=False).page
    page.emulate_media(media="print")
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert page.locator(".live:visible").count() == 0
    assert page.locator(".still:visible").count() == len(report.charts)
    assert page.locator("header.bar").is_hidden()
    for name in ("coverage", "containment"):
        figure = page.locator(f"#figure-{name}")
        assert figure.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
    pdf = page.pdf(format="A4")
    n_pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    assert 3 < n_pages <= 10
    # What was opened for paper is closed again on the screen.
    assert page.locator("details[open]").count() == 0


def test_the_first_screen_holds_number_verdict_and_chart(open_page, report):
    page = open_page(report.path, unfolded=False).page
    assert text_of(page, "h1") == "An archive"
    for selector in (".figure", "#answer .verdict", "#figure-coverage .live svg", ".facts"):
        box = page.locator(selector).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    assert page.locator("details.part[open]").count() == 0
    assert page.locator("nav.contents").is_visible()


def test_a_link_unfolds_what_it_leads_to(open_page, report):
    page = open_page(report.path, unfolded=False).page
    page.locator("nav.contents a", has_text="The published method").click()
    page.wait_for_selector("#paper[open]")
    page.locator("#paper a.term").first.click()
    page.wait_for_selector("#glossary[open]")


def numbers_of(page, place):
    """Return the numbers of a line, of all crawls or of those that are left."""
    cells = page.locator(f"#lines td:nth-child({place + 2})")
    return [
        float(text) for text in cells.evaluate_all("all => all.map((one) => one.dataset.value)")
    ]


@pytest.mark.parametrize("left_out", [[2], [0, 4, 6]])
def test_leaving_crawls_out_gives_the_line_that_an_estimate_without_them_gives(
    opened, report, table, left_out
):
    page, labels = opened.page, [crawl.label for crawl in report.estimates.crawls]
    for k in left_out:
        page.click(f"[data-leave='{k}']")
    exclude = [labels[k] for k in left_out]
    found = cg.estimate(cg.choose_window(table, exclude=exclude)).estimates.paper
    for place, paper in enumerate((report.estimates.paper, found)):
        known = [paper.coverage, paper.persistence, paper.half_life_years, paper.r_squared]
        assert numbers_of(page, place) == pytest.approx([*known, paper.n_pairs], rel=1e-9)
    told = page.locator("#left-out").inner_text()
    assert " ".join(f"--exclude {label}" for label in exclude) in told
    assert page.locator("#figure-regression .live .mark-line").count() == 4
    page.click("#take-back")
    assert page.locator("#left-out").inner_text() == "Nothing is left out."
    assert numbers_of(page, 1) == numbers_of(page, 0)


def test_a_range_of_crawls_is_kept_or_left_out(opened):
    page = opened.page
    page.click("[data-leave='1']")
    page.click("[data-leave='4']", modifiers=["Shift"])
    pressed = page.locator("[data-leave][aria-pressed=true]")
    assert pressed.evaluate_all("all => all.map((one) => one.dataset.leave)") == list("1234")
    page.click("#take-back")
    page.select_option("#keep-from", "2")
    page.select_option("#keep-to", "5")
    assert pressed.evaluate_all("all => all.map((one) => one.dataset.leave)") == list("016")


def test_tables_are_sorted_by_value_from_the_keyboard(opened):
    page = opened.page
    button = page.locator("#table-crawls thead button", has_text="Coverage")
    head = page.locator("#table-crawls thead th", has_text="Coverage")

    def values():
        cells = page.locator("#table-crawls tbody tr td:nth-child(4)")
        return cells.evaluate_all("all => all.map((one) => one.dataset.value ?? null)")

    button.focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    known = [float(value) for value in values() if value is not None]
    assert known == sorted(known)
    # What is not known comes last either way.
    assert values()[-1] is None
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    known = [float(value) for value in values() if value is not None]
    assert known == sorted(known, reverse=True)
    assert values()[-1] is None


def test_long_tables_are_filtered(opened, report):
    page, label = opened.page, report.estimates.crawls[0].label
    page.fill("#filter-paper", label)
    assert page.locator("#table-paper tbody tr:visible").count() == 6
    assert "6 of 21 rows" in page.locator("#table-paper").inner_text()
    page.fill("#filter-paper", "")
    assert page.locator("#table-paper tbody tr:visible").count() == 21


def test_words_are_explained_on_hover_and_on_focus(opened):
    page = opened.page
    term = page.locator("a.term", has_text="population").first
    term.focus()
    assert text_of(page, "#tip").startswith("The URLs that a crawl of this configuration")
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    term.hover()
    assert page.locator("#tip").is_visible()
    box = page.locator("#tip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280


def test_the_button_switches_between_light_and_dark_and_nothing_is_kept(opened):
    page = opened.page
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert light != dark
    page.click("#theme")
    assert page.evaluate(ground) == light
    page.click("#theme")
    page.reload()
    assert page.evaluate(ground) == light
    kept = page.evaluate("() => [document.cookie, Object.keys(localStorage).length]")
    assert kept == ["", 0]


def test_the_whole_estimate_can_be_downloaded(opened, report):
    page = opened.page
    with page.expect_download() as download:
        page.click("#methods [data-download=estimate]")
    assert download.value.suggested_filename == "estimate.json"
    assert json.loads(download.value.path().read_text(encoding="utf-8")) == report.document
    with page.expect_download() as download:
        page.click("#methods [data-download=pairs]")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert len(rows) == 21
    for row, pair in zip(rows, report.estimates.residuals, strict=True):
        assert (row["a"], row["b"], int(row["n_shared"])) == (pair.a, pair.b, pair.n_shared)
        assert float(row["containment"]) == pair.containment


def test_the_data_of_each_chart_can_be_downloaded(opened, report):
    page = opened.page
    page.click("#figure-coverage summary")
    for chart in report.charts:
        # Chromium passes over the eleventh download within a second, as nobody clicks so fast.
        page.wait_for_timeout(120)
        with page.expect_download() as download:
            page.click(f"#figure-{chart.name} [data-download]")
        assert download.value.suggested_filename == f"{chart.name}.csv"
        text = download.value.path().read_text(encoding="utf-8")
        downloaded = list(csv.reader(io.StringIO(text)))
        assert downloaded[0] == list(chart.columns)
        for row, expected in zip(downloaded[1:], chart.rows, strict=True):
            for cell, value in zip(row, expected, strict=True):
                if value is None:
                    assert cell == ""
                elif isinstance(value, str):
                    assert cell == value
                else:
                    assert float(cell) == value


def test_the_paragraph_on_methods_is_copied_or_at_least_selected(open_page, report):
    page = open_page(report.path, permissions=["clipboard-read", "clipboard-write"]).page
    page.click("[data-copy=methods-text]")
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("Coverage was estimated with crawlgauge")
    assert copied == copied.translate(INVISIBLE)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    page.click("[data-copy=methods-text]")
    page.wait_for_selector("text=Selected")
    assert page.evaluate("() => String(getSelection())").startswith("Coverage was estimated")
