"""The page as a file: one element of each kind, nothing from elsewhere, small enough to send."""

import base64
import hashlib
import html.parser
import json
import re
import struct
import zlib
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.errors import CrawlgaugeError
from crawlgauge.report.charts.chart import MAX_DRAWN_ROWS, Chart, NoChart, to_inline_svg
from crawlgauge.report.charts.figures import try_charts
from crawlgauge.report.page.document import draw_still, render_page, to_live
from crawlgauge.simulate.fitted_urn import find_panels


class Reader(html.parser.HTMLParser):
    """Collects ids, links and the contents of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.addresses, self.contents, self.attributes = [], [], [], []
        self._open = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.attributes += found
        self.ids += [found["id"]] if "id" in found else []
        self.addresses += [found[key] for key in ("src", "href") if key in found]
        if tag in {"script", "style"}:
            self._open = (tag, found.get("type"))
            self.contents.append([*self._open, ""])

    def handle_endtag(self, tag):
        if tag in {"script", "style"}:
            self._open = None

    def handle_data(self, data):
        if self._open:
            self.contents[-1][2] += data


@pytest.fixture(scope="module")
def fit():
    return cg.estimate(cg.simulate_table(n_crawls=5, population=5_000, seed=2))


@pytest.fixture(scope="module")
def estimates(fit):
    return fit.estimates


@pytest.fixture(scope="module")
def charts(estimates):
    return try_charts(estimates, find_panels(estimates))


@pytest.fixture(scope="module")
def page(estimates, charts):
    return render_page(estimates, charts)


def test_every_id_is_there_once_and_every_link_stays_in_the_page(page):
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids))
    for address in reader.addresses:
        assert address.startswith(("#", "data:"))
        if address.startswith("#"):
            assert address[1:] in reader.ids
    references = re.findall(r"url\(#([^)]+)\)", page.partition("<script")[0])
    assert set(references) <= set(reader.ids)


def test_there_are_no_styles_or_handlers_that_the_policy_would_refuse(page):
    attributes = Reader(page).attributes
    assert "style" not in attributes
    assert not any(name.startswith("on") for name in attributes)


def test_the_policy_allows_just_what_is_in_the_page(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1].replace("&#39;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "unsafe" not in policy
    for tag, kind, content in Reader(page).contents:
        if kind != "application/json":
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in rules[f"{tag}-src"]


def test_the_page_holds_the_whole_estimate_and_each_row_of_each_chart_once(page, estimates, charts):
    contents = [content for _, kind, content in Reader(page).contents if kind == "application/json"]
    assert json.loads(contents[0]) == cg.Fit(table=None, estimates=estimates).to_dict()
    live = json.loads(contents[1])["charts"]
    drawn = [chart for chart in charts if isinstance(chart, Chart)]
    assert [chart["name"] for chart in live] == [chart.name for chart in drawn]
    for shown, chart in zip(live, drawn, strict=True):
        assert shown["rows"] == [list(row) for row in chart.rows]
        assert shown["datasets"] == ["rows"]
        assert "rows" not in shown["specification"]["datasets"]


def test_a_figure_that_cannot_be_drawn_says_why(estimates, charts):
    missing = NoChart(name="decay", title="Nothing to see", reason="there is no line")
    others = [chart for chart in charts if chart.name != "decay"]
    text = render_page(estimates, [*others, missing])
    assert "Not drawn: Nothing to see, as there is no line." in text


def test_a_report_can_be_made_where_next_to_nothing_is_known(two_crawls, three_crawls, full):
    for estimates in (two_crawls, three_crawls, full):
        text = render_page(estimates, ())
        assert estimates.headline.statement.split(":")[0] in text.replace("\u00a0", " ")
        assert 'id="limits"' in text


def test_thirty_crawls_stay_below_three_megabytes():
    table = cg.simulate_table(n_crawls=30, seed=1)
    fit = cg.estimate(table)
    assert len(fit.to_html().encode()) < 3_000_000


def test_a_dense_chart_becomes_a_picture_without_data(charts):
    chart = next(chart for chart in charts if chart.name == "decay")
    many = MAX_DRAWN_ROWS // len(chart.rows) + 1
    rows = chart.rows * many
    values = [dict(zip(chart.columns, row, strict=True)) for row in rows]
    dense = replace(
        chart, rows=rows, specification={**chart.specification, "datasets": {"rows": values}}
    )
    assert dense.is_dense
    still = draw_still(dense)
    png = base64.b64decode(still.png.removeprefix("data:image/png;base64,"))
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (2 * round(still.width), 2 * round(still.height))
    place, kinds = 8, []
    while place < len(png):
        n, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 4 : place + 8 + n]
        assert struct.unpack(">I", png[place + 8 + n : place + 12 + n])[0] == zlib.crc32(body)
        kinds.append(kind)
        place += 12 + n
    assert kinds.count(b"IDAT") == 1
    assert kinds[-1] == b"IEND"


def test_two_drawings_in_one_page_share_no_id(charts):
    svgs = [draw_still(chart).svg for chart in charts if isinstance(chart, Chart)]
    ids = [name for svg in svgs for name in re.findall(r'\sid="([^"]+)"', svg)]
    assert len(ids) == len(set(ids))


def test_a_drawing_loses_weight_but_no_mark():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" viewBox="0 0 10 10">'
        '<rect width="10" height="10" fill="#ffffff"/>'
        '<g class="marks"><path d="M1.23456789,2" fill="#123456" role="x" aria-label="y"/>'
        '<path d="M3,4" fill="#123456" clip-path="url(#clip1)"/>'
        '<path d="" display="none"/></g><defs><clipPath id="clip1"/></defs></svg>'
    )
    inline = to_inline_svg(svg, "one")
    assert inline.count("<path") == 2
    assert "M1.23,2" in inline
    assert inline.count("#123456") == 1
    assert 'clip-path="url(#one-clip1)"' in inline
    assert 'id="one-clip1"' in inline
    assert "aria-label" not in inline
    assert "#ffffff" not in inline


def test_the_script_gets_other_data_sets_as_they_are(charts):
    chart = next(chart for chart in charts if chart.name == "decay")
    specification = {**chart.specification}
    specification["datasets"] = {**specification["datasets"], "more": [{"x": 1}]}
    live = to_live(replace(chart, specification=specification))
    assert live["specification"]["datasets"] == {"more": [{"x": 1}]}


def test_a_report_is_written_whole_or_not_at_all(tmp_path, fit):
    written = cg.write_report(fit, tmp_path / "report.html")
    content = (tmp_path / "report.html").read_bytes()
    assert written.to_dict() == {
        "path": str(tmp_path / "report.html"),
        "n_bytes": len(content),
        "n_charts": content.count(b"<figure "),
    }
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(CrawlgaugeError, match="its folder does not exist"):
        cg.write_report(fit, tmp_path / "missing" / "report.html")
    with pytest.raises(CrawlgaugeError, match="Is a directory"):
        cg.write_report(fit, tmp_path)
