"""The charts over time and of estimators: coverage, population, union, plans, agreement."""

from dataclasses import replace

import pytest

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent
from crawlgauge.model.plan import planning_curves
from crawlgauge.report.charts import figures
from crawlgauge.report.charts.chart import NoChart
from crawlgauge.report.words import with_range
from crawlgauge.simulate.fitted_urn import find_panels


def try_chart(name, estimates):
    return figures.try_chart(name, estimates, find_panels(estimates))


def records(chart):
    return [dict(zip(chart.columns, row, strict=True)) for row in chart.rows]


@pytest.mark.parametrize("name", ["coverage", "population"])
def test_each_crawl_has_its_estimate_with_its_range(name, nine):
    chart = try_chart(name, nine)
    for row, crawl, known in zip(records(chart), nine.crawls, nine.per_crawl, strict=True):
        estimate = getattr(known, name)
        assert (row["crawl"], row["date"]) == (crawl.label, crawl.date.isoformat())
        for part, value in (
            (name, estimate.value),
            ("low", estimate.low),
            ("high", estimate.high),
        ):
            assert row[part] == (None if value is None else pytest.approx(value, rel=1e-5))


def test_the_caption_of_coverage_has_the_typical_and_the_extreme_numbers(nine):
    caption = try_chart("coverage", nine).caption
    assert with_range(nine.headline.coverage, percent) in caption
    known = [row for row in nine.per_crawl if row.coverage.value is not None]
    lowest = min(known, key=lambda row: row.coverage.value)
    assert f"Lowest: {lowest.label} with {with_range(lowest.coverage, percent)}" in caption
    assert "no value for 2013-12 (first crawl)" in caption


def test_estimates_without_ranges_have_no_bars_and_say_why(three):
    chart = try_chart("coverage", three)
    assert all(row["low"] is None for row in records(chart))
    assert "No bars: 0 degrees of freedom" in chart.caption


def test_a_coverage_above_100_percent_is_called_impossible(nine):
    above = replace(nine.per_crawl[1], coverage=Estimate(value=1.06, reason="as it came out"))
    chart = try_chart(
        "coverage", replace(nine, per_crawl=(nine.per_crawl[0], above, *nine.per_crawl[2:]))
    )
    assert "One crawl lies above 100 % (dashed), which is impossible" in chart.caption


def test_an_absurdly_wide_range_does_not_flatten_the_others(nine):
    wide = Estimate(value=0.5, low=0.1, high=5000.0, basis="interval")
    rows = (*nine.per_crawl[:-1], replace(nine.per_crawl[-1], coverage=wide))
    chart = try_chart("coverage", replace(nine, per_crawl=rows))
    domains = [
        layer["encoding"]["y"]["scale"]["domain"]
        for layer in chart.specification["layer"]
        if "scale" in layer["encoding"].get("y", {})
    ]
    assert domains
    assert all(high < 1.3 for _, high in domains)


def test_without_any_coverage_the_reasons_are_given(two):
    figure = try_chart("coverage", two)
    assert isinstance(figure, NoChart)
    assert "two crawls give only coverage" in figure.reason


def test_the_union_after_each_crawl_stands_beside_the_crawl_alone(nine):
    chart = try_chart("union", nine)
    for row, union, own in zip(records(chart), nine.union.per_crawl, nine.per_crawl, strict=True):
        for value, column in ((union.value, "union_coverage"), (own.coverage.value, "coverage")):
            assert row[column] == (None if value is None else pytest.approx(value, rel=1e-5))
    assert count(nine.union.n_distinct) in chart.caption
    assert with_range(nine.union.per_crawl[-1], percent) in chart.caption


def test_what_may_make_the_union_too_good_is_in_its_caption(nine):
    careful = replace(nine, union=replace(nine.union, caution="Mind the gap."))
    assert "Mind the gap." in try_chart("union", careful).caption


def test_pairs_alone_give_no_union_and_no_frequencies(pairs_only):
    no_union = try_chart("union", replace(pairs_only, union=None))
    assert "capture histories" in no_union.reason
    assert try_chart("capture-frequencies", pairs_only).reason == "there are no capture histories"


def test_frequencies_are_drawn_as_they_were_counted(nine):
    chart = try_chart("capture-frequencies", nine)
    assert tuple(row["n_urls"] for row in records(chart)) == nine.capture_frequencies
    assert sum(row["share"] for row in records(chart)) == pytest.approx(1, abs=1e-4)
    share = nine.capture_frequencies[0] / sum(nine.capture_frequencies)
    assert f"{percent(share)} of the URLs are in just one crawl" in chart.caption


def test_every_estimator_with_a_coverage_has_a_dot_and_the_headline_a_ring(nine):
    chart = try_chart("estimators", nine)
    known = {row.name: row.coverage for row in nine.estimators if row.coverage is not None}
    drawn = {row["estimator"]: row["coverage"] for row in records(chart)}
    assert drawn == {name: pytest.approx(value, rel=1e-5) for name, value in known.items()}
    ringed = [row["estimator"] for row in records(chart) if row["is_headline"] == "yes"]
    assert ringed == [nine.headline.estimator]
    for name, value in known.items():
        assert f"{name} {percent(value)}" in chart.alternative


def test_estimators_without_a_value_are_named(nine):
    unknown = replace(nine.estimators[0], coverage=None)
    chart = try_chart("estimators", replace(nine, estimators=(unknown, *nine.estimators[1:])))
    assert f"No value: {unknown.name}." in chart.caption


def test_agreement_compares_only_estimators_that_allow_for_turnover(nine):
    chart = try_chart("agreement", nine)
    names = {row["estimator"] for row in records(chart)}
    assert {"two-way", "cjs", "known-alive"} <= names
    assert names.isdisjoint({"chao", "schnabel", "growth", "paper-forward"})
    assert f"Grade {nine.agreement.grade}" in chart.caption


def test_estimators_that_share_all_assumptions_are_no_agreement(pairs_only):
    assert "capture histories are needed" in try_chart("agreement", pairs_only).reason


def test_plans_are_drawn_with_their_ranges(nine):
    curves = planning_curves(nine)
    for chart, points in (
        (try_chart("plan-by-size", nine), curves.coverage_by_size),
        (try_chart("plan-by-frequency", nine), curves.union_by_frequency),
    ):
        assert len(chart.rows) == len(points)
        for row, point in zip(chart.rows, points, strict=True):
            assert row[:2] == (
                pytest.approx(point.x, rel=1e-5),
                pytest.approx(point.value, rel=1e-5),
            )
        assert "if the web and the way of crawling stay as they are" in chart.caption


def test_a_crawl_that_would_hold_all_is_not_given_as_a_percentage(nine):
    small = replace(nine.crawls[-1], n_urls=nine.crawls[-1].n_urls)
    population = Estimate(value=1.2 * small.n_urls)
    newest = replace(nine.newest, population=population)
    chart = try_chart("plan-by-size", replace(nine, newest=newest, population=population))
    assert "one of twice the size would hold all." in chart.caption


def test_a_best_frequency_of_crawls_larger_than_any_is_warned_of(nine):
    curves = planning_curves(nine)
    best = max(curves.union_by_frequency, key=lambda point: point.value)
    largest = max(crawl.n_urls for crawl in nine.crawls)
    assert curves.largest == largest
    assert curves.budget / best.x > 1.5 * largest
    caption = try_chart("plan-by-frequency", nine).caption
    assert "means crawls larger than the largest so far" in caption
    assert "has not been seen" in caption
