"""What holds for every chart: its data, its words, its specification and the chosen crawl."""

import json
import re
from dataclasses import replace

import pytest

from crawlgauge.report.charts import figures as of_charts
from crawlgauge.report.charts.chart import COLUMN_WIDTH, PAGE_WIDTH, Chart, NoChart, themed
from crawlgauge.report.charts.figures import CHARTS
from crawlgauge.simulate.fitted_urn import find_panels


def try_charts(estimates):
    return of_charts.try_charts(estimates, find_panels(estimates))


SERIES = ("nine", "three", "two", "pairs_only", "impossible")
ORDER = [
    "coverage",
    "population",
    "containment",
    "decay",
    "regression",
    "simulated-regression",
    "start-lines",
    "start-intercepts",
    "residuals",
    "decay-shapes",
    "union",
    "plan-by-size",
    "plan-by-frequency",
    "estimators",
    "agreement",
    "capture-frequencies",
]


@pytest.fixture(scope="module", params=SERIES)
def figures(request):
    return try_charts(request.getfixturevalue(request.param))


@pytest.fixture(scope="module")
def charts(nine):
    return drawn(nine)


@pytest.fixture(scope="module")
def missing(two):
    return try_charts(two)


def drawn(estimates):
    return [chart for chart in try_charts(estimates) if isinstance(chart, Chart)]


def walk(node):
    """Yield every dictionary within a specification, apart from its data."""
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key != "datasets":
                yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def test_a_full_series_gives_every_chart_in_the_order_of_the_report(charts):
    assert [chart.name for chart in charts] == ORDER
    assert len(CHARTS) == len(ORDER)


def test_two_crawls_give_what_two_crawls_allow_and_reasons_for_the_rest(missing):
    assert [figure.name for figure in missing if isinstance(figure, Chart)] == [
        "containment",
        "decay",
    ]
    for figure in missing:
        if isinstance(figure, NoChart):
            assert figure.reason
            assert not figure.reason.endswith(".")


def test_names_of_missing_figures_are_those_of_the_drawn_ones(missing):
    assert [figure.name for figure in missing] == ORDER


def test_the_rows_are_the_data_that_the_specification_draws(figures):
    for chart in figures:
        if isinstance(chart, Chart):
            drawn = chart.specification["datasets"]["rows"]
            assert [tuple(row[name] for name in chart.columns) for row in drawn] == list(chart.rows)
            assert len(chart.rows) > 0


def test_a_specification_is_valid_json_without_title_and_theme(figures):
    for chart in figures:
        if isinstance(chart, Chart):
            text = json.dumps(chart.specification, allow_nan=False)
            assert {"title", "config", "background"}.isdisjoint(json.loads(text))
            assert chart.specification["width"] in (COLUMN_WIDTH, PAGE_WIDTH)


def test_titles_captions_and_alternatives_are_whole_sentences_with_numbers(figures):
    for chart in figures:
        assert chart.title[0].isupper()
        assert not chart.title.endswith(".")
        if isinstance(chart, Chart):
            for text in (chart.caption, chart.alternative):
                assert text.endswith(".")
                assert re.search(r"\d", text)
                assert not re.search(r"  |\bNone\b|\bnan\b|\.\.|\b1 (pairs|crawls|lines)\b", text)


def test_every_chart_reacts_to_the_chosen_crawl_where_its_marks_belong_to_crawls(charts):
    whole_series = {"plan-by-size", "plan-by-frequency", "estimators", "capture-frequencies"}
    for chart in charts:
        parameters = {each["name"]: each for each in chart.specification["params"]}
        assert parameters["chosen"] == {"name": "chosen", "value": None}
        tests = [node["test"] for node in walk(chart.specification) if "test" in node]
        lit = [test for test in tests if "chosen" in test]
        if chart.name in whole_series:
            assert not lit
            continue
        fields = ["a", "b"] if "b" in chart.columns and "a" in chart.columns else ["crawl"]
        assert set(fields) <= set(chart.columns)
        assert parameters["pick"]["select"] == {"type": "point", "fields": fields, "on": "click"}
        assert any(f"datum.{fields[0]} === chosen" in test for test in lit)


def test_the_chosen_crawl_is_lit_by_more_than_opacity(charts):
    for chart in charts:
        channels = {
            channel
            for node in walk(chart.specification)
            for channel, value in node.items()
            if isinstance(value, dict) and "chosen" in json.dumps(value.get("condition", ""))
        }
        if channels:
            assert "opacity" in channels
            assert channels & {"strokeWidth", "size"}


def test_a_theme_is_only_a_configuration_and_both_have_the_same_parts(charts):
    for chart in charts:
        light, dark = (themed(chart.specification, dark=dark) for dark in (False, True))
        assert light["config"] != dark["config"]
        assert light["config"]["style"].keys() == dark["config"]["style"].keys()
        assert {**light, "config": None} == {**dark, "config": None}
        styles = {node["style"] for node in walk(chart.specification) if "style" in node}
        assert styles <= light["config"]["style"].keys()


def test_a_title_is_broken_into_lines_that_fit(charts):
    for chart in charts:
        lines = themed(chart.specification, title=chart.title)["title"]["text"]
        assert " ".join(lines) == chart.title
        assert max(map(len, lines)) * 5.5 < chart.specification["width"]


def test_only_charts_with_more_marks_than_a_page_can_carry_are_dense(charts):
    assert not any(chart.is_dense for chart in charts)
    chart = charts[0]
    assert replace(chart, rows=chart.rows * 200).is_dense


def test_a_failed_check_is_named_wherever_coverage_is_stated(pairs_only):
    check = replace(pairs_only.checks[0], id="short-lag", status="fail")
    failed = replace(pairs_only, checks=(check,))
    captions = {chart.name: chart.caption for chart in drawn(failed)}
    for name in ("coverage", "population", "regression"):
        assert "Do not trust these numbers: the check short-lag failed." in captions[name]


def test_what_pairs_cannot_test_is_said_where_pairs_are_all_there_is(pairs_only, charts):
    said = "overlaps of pairs cannot test"
    assert said in drawn(pairs_only)[0].caption
    assert said not in charts[0].caption
