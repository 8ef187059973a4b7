"""Figures as files, in notebooks and on the command line."""

import csv
import io
import json
import re
import struct
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.report.charts import figures
from crawlgauge.report.charts.chart import COLUMN_WIDTH, render_chart, render_svg
from crawlgauge.report.charts.figures import CHARTS, Figures
from crawlgauge.simulate.fitted_urn import find_panels


def try_chart(name, estimates):
    return figures.try_chart(name, estimates, find_panels(estimates))


SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe",
    "=cmd()",
    "]]><b>&amp;",
    "javascript:alert(1)",
    "'+datum+'",
    "\\u0022};alert(1)//",
    "@SUM(1)",
)


@pytest.fixture(scope="module")
def chart(pairs_only):
    return try_chart("decay", pairs_only)


def parse(svg):
    return ET.fromstring(svg)  # noqa: S314 - drawn by this program


def texts(svg):
    return ["".join(element.itertext()) for element in parse(svg).iter(f"{SVG}text")]


def test_an_svg_has_the_width_of_a_column_and_names_what_it_shows(chart):
    root = parse(render_svg(chart))
    assert root.get("width") == str(COLUMN_WIDTH)
    assert root.get("role") == "img"
    assert root.get("aria-label") == f"{chart.title}. {chart.alternative}"
    assert chart.title.replace(" ", "") in [
        text.replace(" ", "") for text in texts(render_svg(chart))
    ]


def test_the_title_can_be_left_to_the_page(chart):
    drawn = "".join(texts(render_svg(chart, has_title=False)))
    assert chart.title.partition(" ")[0] not in drawn


def test_a_point_is_drawn_for_each_pair(chart):
    root = parse(render_svg(chart))
    (marks,) = (g for g in root.iter(f"{SVG}g") if "mark-symbol" in g.get("class", ""))
    assert len(list(marks)) == len(chart.rows)


def test_a_png_has_84_millimetres_at_its_resolution(chart):
    content = render_chart(chart, "png")
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, _ = struct.unpack(">II", content[16:24])
    per_metre, _, unit = struct.unpack(">IIB", content[content.index(b"pHYs") + 4 :][:9])
    assert unit == 1
    assert width / per_metre == pytest.approx(0.084, abs=0.0005)


def test_a_pdf_has_84_millimetres(chart):
    content = render_chart(chart, "pdf")
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    box = content[content.index(b"/MediaBox") :].split(b"]")[0].split(b"[")[1].split()
    assert float(box[2]) / 72 * 25.4 == pytest.approx(84, abs=0.5)


def test_hostile_labels_are_inert_in_pictures(nine, relabel):
    hostile = relabel(nine, HOSTILE)
    for name in ("containment", "start-intercepts"):
        svg = render_svg(try_chart(name, hostile))
        root = parse(svg)
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags.isdisjoint({"script", "b", "foreignObject", "a", "image"})
        names = {name for element in root.iter() for name in element.attrib}
        assert not any(name.startswith("on") for name in names)
    drawn = texts(render_svg(try_chart("containment", hostile)))
    assert "=cmd()" in drawn
    assert '"onload="alert(1)' in drawn


def test_no_label_becomes_code_of_the_specification(nine, relabel):
    plain, hostile = (try_chart("containment", each) for each in (nine, relabel(nine, HOSTILE)))

    def strip(chart):
        text = json.dumps({**chart.specification, "datasets": None})
        for crawl in HOSTILE:
            text = text.replace(json.dumps(crawl), '"label"')
        for crawl in nine.crawls:
            text = text.replace(json.dumps(crawl.label), '"label"')
        return text

    def expressions(chart):
        return [part for part in strip(chart).split('"') if "datum." in part]

    assert expressions(plain) == expressions(hostile)


def test_a_spreadsheet_takes_no_label_for_a_formula(nine, relabel):
    text = try_chart("start-intercepts", relabel(nine, HOSTILE)).to_csv()
    labels = [row["crawl"] for row in csv.DictReader(io.StringIO(text))]
    assert "'=cmd()" in labels
    assert not any(label.startswith(("=", "+", "-", "@", "\t")) for label in labels)


def test_the_data_as_csv_are_those_of_the_json(chart):
    rows = list(csv.DictReader(io.StringIO(chart.to_csv())))
    drawn = json.loads(chart.to_json())["datasets"]["rows"]
    assert len(rows) == len(drawn)
    for row, values in zip(rows, drawn, strict=True):
        assert row == {name: "" if v is None else str(v) for name, v in values.items()}


def test_a_saved_specification_draws_by_itself(chart):
    document = json.loads(chart.to_json())
    assert document["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert " ".join(document["title"]["text"]) == chart.title
    assert document["config"]["background"] == "#ffffff"


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("csv", b"a,date_a"), ("json", b"{")],
)
def test_a_chart_is_saved_in_the_format_that_its_name_has(chart, tmp_path, suffix, start):
    path = tmp_path / f"figure.{suffix.upper()}"
    chart.save(path)
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]


def test_other_suffixes_and_places_are_refused(chart, tmp_path):
    with pytest.raises(CrawlgaugeError, match=r"possible are \.svg, \.png, \.pdf, \.csv, \.json"):
        chart.save(tmp_path / "figure.gif")
    with pytest.raises(CrawlgaugeError, match="cannot be written: No such file or directory"):
        chart.save(tmp_path / "nowhere" / "figure.svg")


def test_notebooks_get_a_live_chart_a_picture_and_words(chart):
    bundle = chart._repr_mimebundle_(include=None, exclude=None)
    assert list(bundle) == ["application/vnd.vegalite.v6+json", "image/svg+xml", "text/plain"]
    assert bundle["application/vnd.vegalite.v6+json"]["config"]
    assert bundle["image/svg+xml"].startswith("<svg")
    assert chart.caption in bundle["text/plain"]


def test_all_figures_are_written_with_data_and_captions(two, tmp_path):
    folder = tmp_path / "new" / "figures"
    written = Figures(two, find_panels(two)).save(folder, ("svg", "png"))
    names = sorted(path.name for path in written)
    assert names == sorted(path.name for path in folder.iterdir())
    assert names == [
        "captions.md",
        "containment.csv",
        "containment.png",
        "containment.svg",
        "decay.csv",
        "decay.png",
        "decay.svg",
        "plate.png",
        "plate.svg",
    ]
    captions = (folder / "captions.md").read_text(encoding="utf-8")
    assert try_chart("decay", two).caption in captions
    assert "Not drawn: a line needs pairs" in captions


PANELS = [
    "containment",
    "decay",
    "regression",
    "simulated-regression",
    "start-lines",
    "start-intercepts",
]


@pytest.fixture(scope="module")
def sizes(nine, tmp_path_factory):
    """Width and height of every picture, by the width that was asked for."""
    found = {}
    for width in (84, 174):
        folder = tmp_path_factory.mktemp(str(width))
        Figures(nine, find_panels(nine)).save(folder, width=width, titles=False)
        roots = {path.stem: parse(path.read_text("utf-8")) for path in folder.glob("*.svg")}
        found[width] = {
            name: (float(root.get("width")), float(root.get("height")))
            for name, root in roots.items()
        }
    return found


@pytest.mark.parametrize(("width", "pixels"), [(84, 317), (174, 658)])
def test_figures_are_as_wide_as_asked_and_all_panels_of_one_height(sizes, width, pixels):
    singles = {size for name, size in sizes[width].items() if name in PANELS}
    assert len(singles) == 1
    assert singles.pop()[0] == pixels
    assert sizes[width]["plate"][0] == 658


def test_the_plate_holds_all_panels_with_their_letters_and_no_id_twice(nine, tmp_path):
    Figures(nine, find_panels(nine)).save(tmp_path, ("svg", "pdf"), titles=False)
    root = parse((tmp_path / "plate.svg").read_text("utf-8"))
    letters = [text.text for text in root.findall(f"{SVG}text")]
    assert letters == ["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"]
    assert len(root.findall(f"{SVG}svg")) == 6
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert (tmp_path / "plate.pdf").read_bytes().startswith(b"%PDF")


def test_without_titles_no_picture_has_one(chart, tmp_path, pairs_only):
    Figures(pairs_only, find_panels(pairs_only)).save(tmp_path, titles=False)
    drawn = "".join(texts((tmp_path / "decay.svg").read_text("utf-8")))
    assert chart.title[:12] not in drawn
    assert chart.title in (tmp_path / "captions.md").read_text("utf-8")


def test_a_width_that_no_paper_has_is_refused(two, tmp_path):
    with pytest.raises(CrawlgaugeError, match="84 or 174 mm wide, not 100"):
        Figures(two, find_panels(two)).save(tmp_path / "figures", width=100)


def test_shares_are_written_as_everywhere_else(nine):
    drawn = texts(render_svg(try_chart("coverage", nine)))
    assert any(text.endswith("\N{NO-BREAK SPACE}%") for text in drawn)
    assert not any(re.search(r"\d%", text) for text in drawn)


def test_an_unknown_format_is_refused_before_anything_is_written(two, tmp_path):
    for formats in (("svg", "gif"), ()):
        with pytest.raises(CrawlgaugeError, match="possible are svg, png, pdf"):
            Figures(two, find_panels(two)).save(tmp_path / "figures", formats)
    assert not (tmp_path / "figures").exists()


def test_a_folder_that_cannot_be_made_is_named(two, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CrawlgaugeError, match="file is a file; name a folder"):
        Figures(two, find_panels(two)).save(tmp_path / "file")
    with pytest.raises(CrawlgaugeError, match=r"the folder .* cannot be made.*name another"):
        Figures(two, find_panels(two)).save(tmp_path / "file" / "inside")


def test_figures_are_found_by_name_and_missing_ones_say_why(two, tmp_path):
    found = Figures(two, find_panels(two))
    assert found.decay() == try_chart("decay", two)
    with pytest.raises(FitError, match="there is no figure regression: a line needs pairs"):
        found.regression()
    assert len(found.save(tmp_path)) == 6


def test_there_is_a_method_for_every_figure(nine):
    for name in CHARTS:
        assert callable(getattr(Figures(nine, find_panels(nine)), name.replace("-", "_")))


def test_texts_of_other_levels_are_called_by_their_name(pairs_only):
    assert "contents" in try_chart("decay", replace(pairs_only, level="content")).caption
