"""The charts of pairs: containments, decay, regression, starts and residuals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from crawlgauge.model.panels import find_bands, fitted_pairs
from crawlgauge.model.paper import fit_pooled
from crawlgauge.model.phrases import percent, span
from crawlgauge.report.charts import figures
from crawlgauge.report.charts.chart import COLUMN_WIDTH, PAGE_WIDTH, NoChart, render_svg
from crawlgauge.report.charts.drawing import heatmap_size
from crawlgauge.simulate.fitted_urn import find_panels


def try_chart(name, estimates):
    return figures.try_chart(name, estimates, find_panels(estimates))


def records(chart, **wanted):
    rows = [dict(zip(chart.columns, row, strict=True)) for row in chart.rows]
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def test_the_heatmap_has_both_directions_and_the_self_intersections(nine):
    chart = try_chart("containment", nine)
    assert len(chart.rows) == 9 * 9
    cells = {(row["a"], row["b"]): row for row in records(chart)}
    for pair in nine.residuals:
        forward, backward = cells[pair.a, pair.b], cells[pair.b, pair.a]
        assert forward["containment"] == pytest.approx(pair.containment, rel=1e-5)
        assert backward["containment"] == pytest.approx(pair.containment_backward, rel=1e-5)
        assert forward["n_shared"] == backward["n_shared"] == pair.n_shared
        assert forward["r"] == pytest.approx(math.exp(pair.log_r), rel=1e-5)
        assert forward["r"] * forward["expected"] == pytest.approx(pair.containment, rel=1e-4)
        assert (backward["n_a"], backward["date_a"]) == (forward["n_b"], forward["date_b"])
    for crawl, share in zip(nine.crawls, nine.paper.self_intersections, strict=True):
        own = cells[crawl.label, crawl.label]
        assert own["containment"] == pytest.approx(share, rel=1e-5)
        assert own["kind"] == "estimated self-intersection"


def test_pairs_that_are_not_known_are_left_blank_and_counted(nine):
    fewer = replace(nine, residuals=nine.residuals[:-2])
    chart = try_chart("containment", fewer)
    assert len(chart.rows) == 9 * 9 - 4
    assert "2 pairs not known and left blank." in chart.caption


def test_heatmaps_use_the_whole_page_only_where_a_column_is_too_narrow():
    assert heatmap_size(40)["width"] == COLUMN_WIDTH
    assert heatmap_size(41)["width"] == PAGE_WIDTH


def test_the_decay_shows_each_pair_and_says_how_many_have_no_logarithm(nine):
    none = replace(nine.residuals[0], n_shared=0, containment=0.0, containment_backward=0.0)
    chart = try_chart("decay", replace(nine, residuals=(none, *nine.residuals[1:])))
    assert len(chart.rows) == len(nine.residuals) - 1
    assert chart.caption.startswith("35 pairs of crawls")
    assert "1 pair shares nothing and has no place on a logarithmic scale." in chart.caption


def test_without_any_overlap_there_is_no_decay(two):
    none = replace(two.residuals[0], n_shared=0, containment=0.0, containment_backward=0.0)
    figure = try_chart("decay", replace(two, residuals=(none,)))
    assert isinstance(figure, NoChart)
    assert figure.reason == "no two crawls share anything"


def test_the_pairs_of_a_chart_give_the_published_line_again(pairs_only):
    line = fit_pooled(fitted_pairs(pairs_only), "forward")
    assert line.coverage == pytest.approx(pairs_only.paper.coverage, rel=1e-12)
    assert line.persistence == pytest.approx(pairs_only.paper.persistence, rel=1e-12)


def test_the_dotted_band_is_that_of_ordinary_least_squares(pairs_only):
    pairs = fitted_pairs(pairs_only)
    bands = find_bands(pairs_only)
    result = stats.linregress(pairs.lag_years, pairs.log_forward)
    margin = stats.t.ppf(0.975, pairs.n_pairs - 2) * result.intercept_stderr
    low, high = (math.log(band[0]) for band in bands.least_squares)
    assert low == pytest.approx(result.intercept - margin, rel=1e-9)
    assert high == pytest.approx(result.intercept + margin, rel=1e-9)


def test_the_band_comes_from_leaving_out_each_crawl(pairs_only):
    pairs = fitted_pairs(pairs_only)
    bands = find_bands(pairs_only)
    intercepts = []
    for crawl in range(9):
        kept = (pairs.start != crawl) & (pairs.end != crawl)
        fit = stats.linregress(pairs.lag_years[kept], pairs.log_forward[kept])
        intercepts.append(fit.intercept)
    error = math.sqrt(8 / 9 * np.sum((intercepts - np.mean(intercepts)) ** 2))
    margin = stats.t.ppf(0.975, 7) * error
    low, high = (math.log(band[0]) for band in bands.jackknife)
    assert (high - low) / 2 == pytest.approx(margin, rel=1e-9)
    dotted = math.log(bands.least_squares[1][0] / bands.least_squares[0][0])
    assert high - low > dotted


def test_three_crawls_have_a_line_without_a_band(three):
    chart = try_chart("regression", three)
    assert all(row["low"] is None for row in records(chart))
    assert "No band: too few crawls can be left out in turn." in chart.caption


def test_the_caption_of_the_regression_states_the_published_numbers(pairs_only):
    paper, caption = pairs_only.paper, try_chart("regression", pairs_only).caption
    assert f"{percent(paper.coverage)} at time difference zero" in caption
    assert f"{percent(paper.persistence)} live on for a year" in caption
    assert f"half-life {span(paper.half_life_years)}" in caption
    assert "36 pairs" in caption
    assert f"R² {paper.r_squared:.2f}" in caption


def test_r_squared_is_never_rounded_up_to_one(nine):
    assert nine.paper.r_squared > 0.995
    assert f"R² {nine.paper.r_squared:.4f}" in try_chart("regression", nine).caption


def test_a_line_that_begins_above_100_percent_is_called_impossible(impossible):
    assert "More than 100 % is impossible" in try_chart("regression", impossible).caption
    figure = try_chart("simulated-regression", impossible)
    assert isinstance(figure, NoChart)
    assert figure.reason == "no urn has the coverage of the line, 124 %"


def test_a_web_that_loses_nothing_cannot_be_simulated(pairs_only):
    never = replace(pairs_only, paper=replace(pairs_only.paper, persistence=1.02))
    assert "102 % live on for a year" in try_chart("simulated-regression", never).reason


def test_the_simulated_urn_has_the_fitted_numbers_and_the_crawls_names(nine):
    chart = try_chart("simulated-regression", nine)
    assert len(records(chart, series="pair")) == 36
    assert {row["a"] for row in records(chart, series="pair")} == {
        crawl.label for crawl in nine.crawls[:-1]
    }
    at_zero = records(chart, series="line")[0]
    assert at_zero["lag_years"] == 0
    assert at_zero["containment"] == pytest.approx(nine.paper.coverage, rel=0.03)
    assert try_chart("simulated-regression", nine) == chart


def test_of_many_crawls_only_some_are_simulated(nine):
    labels = [*(crawl.label for crawl in nine.crawls), *(f"c{k}" for k in range(130))][:130]
    crawls = tuple(
        replace(nine.crawls[0], label=label, date=nine.crawls[0].date.replace(year=1900 + k))
        for k, label in enumerate(labels)
    )
    chart = try_chart("simulated-regression", replace(nine, crawls=crawls))
    assert len({row["a"] for row in records(chart, series="pair")}) == 39
    assert "at the dates of 40 of the 130 crawls" in chart.caption


def test_each_starting_crawl_has_its_line(nine):
    chart = try_chart("start-lines", nine)
    fits = [fit for fit in nine.paper.per_start if fit.coverage is not None]
    lines = records(chart, series="line")
    assert len(lines) == 2 * len(fits)
    for fit in fits:
        start, end = (row for row in lines if row["crawl"] == fit.label)
        assert (start["lag_years"], start["containment"]) == (0, pytest.approx(fit.coverage, 1e-5))
        slope = math.log(end["containment"] / start["containment"]) / end["lag_years"]
        assert math.exp(slope) == pytest.approx(fit.persistence, rel=1e-4)
    assert len(records(chart, series="pair")) == sum(fit.n_pairs for fit in fits)
    assert "does not contain the starting crawl's own coverage" in chart.caption


def test_intercepts_stand_at_the_dates_of_their_crawls(nine):
    chart = try_chart("start-intercepts", nine)
    dates = {crawl.label: crawl.date.isoformat() for crawl in nine.crawls}
    for row in records(chart):
        assert row["date"] == dates[row["crawl"]]
    assert "Hollow: 1 line through two pairs only." in chart.caption


def test_an_intercept_has_the_interval_of_its_own_line(pairs_only):
    chart, pairs = try_chart("start-intercepts", pairs_only), fitted_pairs(pairs_only)
    for row in records(chart):
        own = pairs.start == [crawl.label for crawl in pairs_only.crawls].index(row["crawl"])
        if row["n_pairs"] == 2:
            assert row["low"] is row["high"] is None
            continue
        line = stats.linregress(pairs.lag_years[own], pairs.log_forward[own])
        margin = stats.t.ppf(0.975, row["n_pairs"] - 2) * line.intercept_stderr
        for end, sign in (("low", -1), ("high", 1)):
            assert row[end] == pytest.approx(math.exp(line.intercept + sign * margin), rel=1e-5)


def test_the_legend_of_dates_is_as_continuous_as_their_scale(nine):
    assert "linearGradient" in render_svg(try_chart("start-lines", nine))


def test_one_starting_crawl_is_told_of_in_the_singular(three):
    assert try_chart("start-lines", three).caption.startswith("1 line, ")
    assert "It begins at" in try_chart("start-intercepts", three).caption


def test_residuals_are_those_of_the_estimates_and_lie_above_the_diagonal(pairs_only):
    chart = try_chart("residuals", pairs_only)
    found = {(row["a"], row["b"]): row["log_r"] for row in records(chart)}
    for pair in pairs_only.residuals:
        assert found[pair.a, pair.b] == pytest.approx(pair.log_r, rel=1e-5)
    most = max(pairs_only.residuals, key=lambda pair: pair.log_r)
    assert f"Largest: {most.a} and {most.b}, R = {math.exp(most.log_r):.2f}" in chart.caption


def test_the_colours_of_residuals_are_centred_on_zero_and_span_at_least_5_percent(three):
    (layer, *_) = try_chart("residuals", three).specification["layer"]
    scale = layer["encoding"]["color"]["scale"]
    assert scale == {"domain": [-0.05, 0.05], "domainMid": 0}


def test_without_a_line_there_are_no_residuals(two):
    assert isinstance(try_chart("residuals", two), NoChart)


def test_every_shape_of_decay_is_drawn_with_its_coverage(pairs_only):
    chart = try_chart("decay-shapes", pairs_only)
    for curve in pairs_only.decay_curves:
        points = records(chart, series=curve.name)
        assert len(points) == len(curve.lags_years)
        assert points[0]["containment"] == pytest.approx(curve.coverage, rel=1e-5)
        assert f"{percent(curve.coverage)} ({curve.name})" in chart.caption


def test_a_single_shape_is_not_called_a_competition(three):
    assert "too few pairs to compare it" in try_chart("decay-shapes", three).caption
