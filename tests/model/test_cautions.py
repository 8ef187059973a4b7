import datetime as dt
import re

import numpy as np
import pytest

from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.phrases import percent

DAYS = [0, 183, 366, 549, 732, 915]
SIZES = [10**6] * 6
EVEN = [0.46] * 6


def warnings_of(table):
    return estimate_coverage(table).warnings


def only(found, part):
    matching = [text for text in found if part in text]
    assert len(matching) == 1, found
    return matching[0]


def test_a_well_behaved_series_carries_only_what_pairs_cannot_see(make_urn):
    found = warnings_of(make_urn(DAYS, SIZES, EVEN, 0.73))
    assert len(found) == 1
    assert "true coverage is lower and the population larger" in found[0]


def test_a_zero_where_many_were_expected_points_to_a_crawler_that_skips_pages(make_urn):
    table = make_urn(DAYS, SIZES, EVEN, 0.73, factors={(2, 3): 0})
    text = only(warnings_of(table), "shares nothing")
    assert text.startswith("1 pair of crawls shares nothing and was left out, although")
    expected = 10**6 * 0.46 * 0.73 ** (183 / 365.25)
    assert f"of c3 and c4 about {round(expected, -3):,.0f}" in text
    assert "skip pages of the previous crawl" in text


def test_a_zero_where_few_were_expected_is_put_down_to_chance(make_urn):
    small = [100, *[10**6] * 5]
    table = make_urn(DAYS, small, EVEN, 0.3, factors={(0, 5): 0})
    text = only(warnings_of(table), "nothing")
    assert text.startswith("1 pair of crawls shares nothing")
    assert "chance explains it" in text


def test_a_zero_in_between_is_left_open(make_urn):
    table = make_urn(DAYS, [60, *[10**6] * 5], EVEN, 0.73, factors={(0, 5): 0, (0, 4): 0})
    assert only(warnings_of(table), "cannot be told").startswith("2 pairs of crawls share nothing")


def test_zeros_are_dropped_and_do_not_move_the_estimates(make_urn):
    result = estimate_coverage(make_urn(DAYS, [10**15] * 6, EVEN, 0.73, factors={(2, 3): 0}))
    assert result.headline.coverage.value == pytest.approx(0.46, rel=1e-12)
    assert result.paper.n_pairs == 14
    zero = next(r for r in result.residuals if (r.a, r.b) == ("c3", "c4"))
    assert (zero.n_shared, zero.containment) == (0, 0)
    assert (zero.log_r, zero.log_r_two_way) == (None, None)


def test_a_fifth_of_zeros_is_accepted_and_more_is_refused(make_urn):
    three = {(0, 1): 0, (0, 2): 0, (0, 3): 0}
    accepted = estimate_coverage(make_urn(DAYS, SIZES, EVEN, 0.73, factors=three))
    assert accepted.headline.coverage.value == pytest.approx(0.46, rel=1e-4)
    refused = estimate_coverage(make_urn(DAYS, SIZES, EVEN, 0.73, factors={**three, (0, 4): 0}))
    reason = "more than a fifth of the pairs share nothing: capture histories are needed"
    for estimate in (
        refused.headline.coverage,
        refused.persistence,
        refused.half_life_years,
        refused.population,
        refused.growth_per_year,
        *(crawl.coverage for crawl in refused.per_crawl),
    ):
        assert estimate.value is None
        assert estimate.reason == reason
    assert [row.name for row in refused.estimators] == ["paper-forward", "paper-backward"]
    assert all(residual.log_r_two_way is None for residual in refused.residuals)
    only(refused.warnings, "4 of 15 pairs of crawls share nothing, too many")
    assert reason in refused.headline.statement


def test_persistence_above_one_is_none(make_urn):
    result = estimate_coverage(make_urn(DAYS, SIZES, [0.2] * 6, 1.1))
    assert result.persistence.value is None
    assert "do not shrink with time" in result.persistence.reason
    assert result.half_life_years.value is None
    text = only(result.warnings, "do not shrink with time")
    assert "110" not in text
    assert "skips pages captured recently" in text


def test_coverage_above_one_is_reported_unclipped_and_called_impossible(make_urn):
    """The newest crawl is compared at long lags only, so that its overlaps remain possible."""
    days = [0, 183, 366, 549, 1600]
    result = estimate_coverage(make_urn(days, [10**6] * 5, [0.4, 0.4, 0.4, 0.4, 1.3], 0.73))
    assert result.newest.coverage.value == pytest.approx(1.3, rel=1e-3)
    assert result.newest.population.value < 10**6
    assert "above 100 %" in result.per_crawl[-1].note
    text = only(result.warnings, "above 100 %")
    assert "above 100 % for c5" in text
    assert "a crawl cannot hold more than there is" in text
    assert "could have reached about" not in result.headline.statement


def test_lags_longer_than_a_half_life_are_said_to_extrapolate(make_urn):
    table = make_urn([0, 400, 800, 1200, 1600], [10**9] * 5, [0.4] * 5, 0.3)
    text = only(warnings_of(table), "extrapolated over more than a half-life")
    assert "1.1 years apart, in which 73 %" in text


def test_crawls_that_run_long_beside_their_distance_are_named(make_urn):
    begin = dt.datetime(2014, 7, 1, tzinfo=dt.UTC)
    options = {
        1: {"first_capture": begin, "last_capture": begin + dt.timedelta(days=60)},
        2: {"first_capture": begin, "last_capture": begin + dt.timedelta(days=20)},
    }
    found = warnings_of(make_urn(DAYS, SIZES, EVEN, 0.73, crawl_options=options))
    text = only(found, "Capturing took long")
    assert "c2 (2 months)" in text
    assert "6 months" in text
    assert "c3" not in text


def test_three_crawls_are_said_to_be_saturated_with_the_sampling_error_alone(make_urn):
    """In 12,000 archives of such crawls, drawn as sets, it is 3.6 per cent."""
    found = warnings_of(make_urn(DAYS[:3], [10_000] * 3, EVEN[:3], 0.73))
    text = only(found, "Three crawls determine coverage and persistence without remainder")
    found = re.search(r"the sampling error alone is ±(.*) % of the coverage", text)
    assert float(found[1]) == pytest.approx(3.6, abs=0.15)
    huge = warnings_of(make_urn(DAYS[:3], [10**12] * 3, EVEN[:3], 0.73))
    assert "the sampling error alone is below 0.01 %" in only(huge, "Three crawls")


def test_four_crawls_with_little_noise_are_said_to_have_wide_intervals(make_urn):
    found = warnings_of(make_urn(DAYS[:4], SIZES[:4], EVEN[:4], 0.73))
    text = only(found, "With four crawls")
    assert "two degrees of freedom and are wide for what the data show" in text


def test_four_crawls_with_noise_are_an_order_of_magnitude(make_urn):
    table = make_urn(DAYS[:4], SIZES[:4], EVEN[:4], 0.73, factors={(0, 1): 1.1, (1, 3): 0.9})
    headline = estimate_coverage(table).headline.coverage
    assert headline.high > 2 * headline.low
    text = only(warnings_of(table), "With four crawls")
    assert f"anywhere from {percent(headline.low)} to {percent(headline.high)}" in text
    assert "an order of magnitude only" in text


def test_coverage_above_one_whose_interval_reaches_below_counts_by_its_lower_end(make_urn):
    """Noise of the long lags that the newest crawl alone has makes its interval wide."""
    days = [0, 183, 366, 549, 732, 1600]
    noise = {(1, 3): 1.1, (0, 4): 0.9, (2, 4): 1.05}
    coverage = [0.4, 0.4, 0.4, 0.4, 0.4, 1.1]
    result = estimate_coverage(make_urn(days, [10**6] * 6, coverage, 0.73, factors=noise))
    newest = result.newest.coverage
    assert newest.low < 1 < newest.value
    assert result.per_crawl[-1].note == f"above 100 %, so at least {percent(newest.low)}"
    text = only(result.warnings, "above 100 %")
    assert f"c6 (at least {percent(newest.low)})" in text
    assert "only their lower ends count" in text


def test_without_intervals_the_last_warning_does_not_speak_of_them(make_urn):
    assert "intervals included" in warnings_of(make_urn(DAYS, SIZES, EVEN, 0.73))[-1]
    assert "intervals" not in warnings_of(make_urn(DAYS[:3], SIZES[:3], EVEN[:3], 0.73))[-1]


def test_missing_pairs_are_counted(make_urn):
    found = warnings_of(make_urn(DAYS, SIZES, EVEN, 0.73, factors={(0, 1): None, (0, 5): None}))
    only(found, "The overlap of 2 of 15 pairs of crawls is not known")


def test_too_few_pairs_for_an_interval_are_said_to_be_so(make_urn):
    result = estimate_coverage(
        make_urn(DAYS[:4], SIZES[:4], EVEN[:4], 0.73, factors={(0, 2): None, (1, 3): None})
    )
    assert result.persistence.reason == "0 degrees of freedom: no interval is possible"
    text = only(result.warnings, "nothing is left to judge the error by")
    assert "the sampling error alone is ±" in text


def test_damaged_crawls_are_named(make_urn):
    result = estimate_coverage(
        make_urn(DAYS, SIZES, EVEN, 0.73, crawl_options={3: {"damaged": True}})
    )
    assert "c4 was damaged" in only(result.warnings, "damaged")
    assert "damaged" in result.per_crawl[3].note


def test_a_sample_is_said_with_its_rate(make_urn):
    sampled = {k: {"n_sampled": 15_625} for k in range(6)}
    factors = {(i, j): 1 / 64 for j in range(6) for i in range(j)}
    table = make_urn(
        DAYS, SIZES, EVEN, 0.73, factors=factors, crawl_options=sampled, sample_rate=1 / 64
    )
    result = estimate_coverage(table)
    assert "a sample of 1.6 % of the URLs" in only(result.warnings, "sample")
    assert result.newest.population.value == pytest.approx(10**6 / 0.46, rel=1e-3)


def test_every_warning_is_made_of_whole_sentences(make_urn):
    factors = {(2, 3): 0, (0, 4): None}
    options = {1: {"damaged": True}}
    table = make_urn(DAYS, SIZES, [0.2] * 6, 1.1, factors=factors, crawl_options=options)
    found = warnings_of(table)
    assert len(found) == 5
    assert all(text[0].isupper() or text[0].isdigit() for text in found)
    assert all(text.endswith(".") and "nan" not in text for text in found)
    assert len(set(found)) == len(found)
    assert np.all([text.count(". ") <= 2 for text in found])


def test_three_crawls_without_estimate_are_not_called_saturated(make_table):
    table = make_table([0, 100, 200], [1000] * 3, {(0, 1): 300, (0, 2): 0, (1, 2): 300})
    found = warnings_of(table)
    only(found, "1 of 3 pairs of crawls share nothing, too many")
    assert not any("Three crawls determine" in text for text in found)
