"""Every chart is drawn live, shows its numbers, and lights up the crawl that was chosen."""

import pytest

MARKS = """(figure) => {
    const live = figure.querySelector(".live");
    return [...live.querySelectorAll(".role-mark > *")]
        .filter((mark) => mark.__data__?.datum)
        .map((mark) => ({
            kind: mark.__data__.mark.marktype,
            // Vega-Lite gives the layer that can be clicked a name of its own.
            isPickable: mark.__data__.mark.name.startsWith("view_"),
            datum: mark.__data__.datum,
            opacity: Number(mark.getAttribute("opacity") ?? 1),
        }));
}"""
FAINT = 0.25


def marks_of(page, name, kind=None):
    found = page.locator(f"#figure-{name}").evaluate(MARKS)
    return [mark for mark in found if kind in {None, mark["kind"]}]


def locate(page, name, kind, place):
    """Return the element of a mark by its place among those of its kind."""
    selector = f"#figure-{name} .live .mark-{kind}.role-mark > path"
    return page.locator(selector).nth(place)


def test_every_chart_is_drawn_live_in_the_place_of_its_picture(opened, report):
    assert len(report.charts) == 16
    names = {chart.name for chart in report.charts}
    drawn = opened.page.locator("figure[data-live=drawn]")
    assert set(drawn.evaluate_all("all => all.map((one) => one.dataset.name)")) == names
    for name in names:
        assert opened.page.locator(f"#figure-{name} .live svg").is_visible()
        assert opened.page.locator(f"#figure-{name} .still").is_hidden()


@pytest.mark.parametrize(
    ("name", "kind"), [("containment", "rect"), ("decay", "symbol"), ("residuals", "rect")]
)
def test_a_chart_of_pairs_has_a_mark_for_each_row(opened, report, name, kind):
    rows = report.chart(name).rows
    assert len(rows) == {"containment": 7 * 7, "decay": 21, "residuals": 21}[name]
    marks = [mark for mark in marks_of(opened.page, name, kind) if "a" in mark["datum"]]
    cells = {(mark["datum"]["a"], mark["datum"]["b"]) for mark in marks}
    a, b = (report.chart(name).columns.index(column) for column in "ab")
    assert cells == {(row[a], row[b]) for row in rows}
    if kind == "symbol":
        assert len(marks) == len(rows)


def test_a_chart_of_crawls_has_a_point_for_each_crawl_that_is_known(opened, report):
    known = [row.label for row in report.estimates.per_crawl if row.coverage.value is not None]
    for name in ("coverage", "population"):
        points = marks_of(opened.page, name, "symbol")
        drawn = [mark["datum"]["crawl"] for mark in points if mark["datum"][name] is not None]
        assert sorted(drawn) == sorted(known)


def test_the_live_charts_have_the_size_of_their_pictures(open_page, report):
    """Nothing jumps when the scripts have run."""
    live, still = open_page(report.path).page, open_page(report.path, has_scripts=False).page
    for chart in report.charts:
        sizes = [
            page.locator(f"#figure-{chart.name} .drawing").bounding_box() for page in (live, still)
        ]
        assert sizes[0]["height"] == pytest.approx(sizes[1]["height"], rel=0.06)


def in_percent(share):
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def test_a_cell_of_the_heatmap_shows_both_crawls_and_all_their_numbers(opened, report):
    pair = report.estimates.residuals[4]
    crawls = {crawl.label: crawl for crawl in report.estimates.crawls}
    marks = marks_of(opened.page, "containment", "rect")
    place = next(
        k
        for k, mark in enumerate(marks)
        if (mark["datum"]["a"], mark["datum"]["b"]) == (pair.a, pair.b)
    )
    cell = locate(opened.page, "containment", "rect", place)
    cell.scroll_into_view_if_needed()
    opened.page.wait_for_timeout(500)
    cell.hover()
    opened.page.locator("#tip tr").first.wait_for()
    shown = dict(row.split("\t") for row in opened.page.locator("#tip tr").all_inner_texts())
    paper = report.estimates.paper
    expected = paper.coverage * paper.persistence**pair.lag_years
    assert shown["crawl a"] == pair.a
    assert shown["crawl b"] == pair.b
    assert shown["date of a"] == crawls[pair.a].date.isoformat()
    assert shown["date of b"] == crawls[pair.b].date.isoformat()
    assert shown["URLs of a"] == f"{crawls[pair.a].n_urls:,}"
    assert shown["shared URLs"] == f"{pair.n_shared:,}"
    assert shown["share of a found in b"] == in_percent(pair.containment)
    assert shown["share of b found in a"] == in_percent(pair.containment_backward)
    assert shown["expected by the published line"] == in_percent(expected)
    assert float(shown["R, found over expected"]) == pytest.approx(
        pair.containment / expected, abs=2e-3
    )
    opened.page.mouse.move(2, 2)
    opened.page.locator("#tip").wait_for(state="hidden")


def wait_until(page, predicate):
    """Wait for what a chart draws by itself; the page forbids waiting within it."""
    for _ in range(1200):
        if predicate():
            return
        page.wait_for_timeout(50)
    pytest.fail("nothing happened for a minute")


def pickable_marks(page, name):
    return [mark for mark in marks_of(page, name) if mark["isPickable"]]


def opacities(page, name):
    return {mark["opacity"] for mark in pickable_marks(page, name)}


def test_choosing_a_crawl_lights_it_up_in_every_chart_and_table(opened, report):
    page, chosen = opened.page, report.estimates.crawls[3].label
    of_crawls = [chart.name for chart in report.charts if {"a", "crawl"} & set(chart.columns)]
    assert len(of_crawls) == 12
    page.select_option("#choice", chosen)
    for name in of_crawls:
        wait_until(page, lambda name=name: opacities(page, name) == {1, FAINT})
        for mark in pickable_marks(page, name):
            labels = {mark["datum"].get(column) for column in ("a", "b", "crawl")}
            assert mark["opacity"] == FAINT or chosen in labels
            if name != "start-lines":
                assert mark["opacity"] == 1 or chosen not in labels
    assert page.locator("#table-crawls tr.chosen th").inner_text().endswith(chosen)
    n_rows = {"crawls": 1, "paper": 6}
    for name, n in n_rows.items():
        assert opened.count(f"#table-{name} tr.chosen") == n
        assert opened.count(f"#table-{name} tr[aria-current=true]") == n
    assert chosen in page.locator("#status").inner_text()
    page.keyboard.press("Escape")
    assert opened.count("tr.chosen") == 0
    assert page.locator("#choice").input_value() == ""
    for name in of_crawls:
        wait_until(page, lambda name=name: FAINT not in opacities(page, name))


def test_a_click_on_a_mark_chooses_its_crawl_and_then_the_other_of_a_pair(opened):
    page = opened.page
    points = marks_of(page, "coverage", "symbol")
    place = next(k for k, mark in enumerate(points) if mark["datum"]["coverage"] is not None)
    locate(page, "coverage", "symbol", place).click()
    crawl = points[place]["datum"]["crawl"]
    wait_until(page, lambda: page.locator("#choice").input_value() == crawl)
    pairs = pickable_marks(page, "containment")
    place = next(k for k, mark in enumerate(pairs) if mark["datum"]["a"] != mark["datum"]["b"])
    a, b = (pairs[place]["datum"][side] for side in "ab")
    cell = page.locator("#figure-containment .live .mark-rect.role-mark > path").nth(place)
    cell.click()
    wait_until(page, lambda: page.locator("#choice").input_value() == a)
    cell.click()
    wait_until(page, lambda: page.locator("#choice").input_value() == b)


def test_a_chart_that_fails_to_draw_leaves_its_picture(open_page, report, tmp_path):
    html = report.path.read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(html.replace('"type":"rect"', '"type":"nonsense"'), encoding="utf-8")
    opened = open_page(broken)
    assert any("containment stays a picture" in complaint for complaint in opened.complaints)
    assert opened.page.locator("#figure-containment .still svg").is_visible()
    assert opened.page.locator("#figure-decay .live svg").is_visible()
