"""Recall beside estimated coverage: Wilson's intervals, time between, queues, and what it means."""

import datetime as dt
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.crawl import Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.ranges import find_carrying
from crawlgauge.model.ranges import share as share_of_sample
from crawlgauge.model.recall import (
    CrawlRecall,
    bound_by_frontier,
    carry_recall,
    check_uniform,
    recall_reference,
)
from crawlgauge.overlaps.table import HeldCounts, Reference

YEAR = 365.25
UNIONS = (Estimate.unknown("not asked"),) * 2


def interval(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def crawl(label, date, n_urls=1000):
    return Crawl(label=label, date=dt.date.fromisoformat(date), n_urls=n_urls)


def wilson_share(n_held, n_all):
    return share_of_sample(n_held, n_all, 0.0)


@pytest.mark.parametrize(
    ("n_held", "n_all", "low", "high"),
    [
        # Newcombe (1998), Two-sided confidence intervals for the single proportion, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilsons_intervals_are_the_published_ones(n_held, n_all, low, high):
    share = wilson_share(n_held, n_all)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)


def test_nothing_to_look_for_has_no_share():
    assert wilson_share(0, 0).value is None


def test_a_later_crawl_has_lost_what_died_and_an_earlier_one_lacks_what_was_born():
    decay = find_carrying([], 0.8, Estimate(value=0.25))
    share = wilson_share(300, 1000)
    after = carry_recall(share, 365, decay)
    before = carry_recall(share, -365, decay)
    assert after.value == pytest.approx(0.3 / 0.8, rel=0.001)
    assert before.value == pytest.approx(0.3 / (0.8 / 1.25), rel=0.001)
    assert carry_recall(share, 0, decay) is share
    assert after.low < 0.3 / 0.8 < after.high


def test_a_carried_recall_is_as_uncertain_as_the_persistence():
    exact = find_carrying([], 0.6)
    doubtful = find_carrying([interval(0.6, 0.4, 0.9)])
    share = wilson_share(300, 1000)
    assert carry_recall(share, 365, doubtful).low < carry_recall(share, 365, exact).low
    nothing = carry_recall(wilson_share(0, 100), 365, doubtful)
    assert (nothing.value, nothing.low) == (0.0, 0.0)
    assert nothing.high > wilson_share(0, 100).high
    assert carry_recall(wilson_share(99, 100), 700, exact).value == 1.0


def test_a_recall_carried_back_is_as_uncertain_as_the_growth():
    share = wilson_share(300, 1000)
    known = find_carrying([], 0.6, Estimate(value=0.1))
    doubtful = find_carrying([], 0.6, interval(0.1, -0.1, 0.3))
    assert carry_recall(share, -365, known).value == carry_recall(share, -365, doubtful).value
    assert carry_recall(share, -365, doubtful).low < carry_recall(share, -365, known).low
    assert carry_recall(share, 365, doubtful) == carry_recall(share, 365, known)
    assert find_carrying([], 0.6, Estimate.unknown("two crawls")).log_growth == 0


def test_without_a_persistence_nothing_is_carried():
    unknown = find_carrying([Estimate.unknown("one crawl")])
    assert "--persistence" in carry_recall(wilson_share(3, 10), 30, unknown).reason
    no_range = find_carrying([Estimate(value=0.5)])
    carried = carry_recall(wilson_share(3, 10), 30, no_range)
    assert (carried.basis, carried.value is None) == ("none", False)


@pytest.mark.parametrize(
    ("by_series", "words"),
    [
        (interval(0.5, 0.45, 0.55), "agree within their ranges"),
        (interval(0.7, 0.65, 0.75), "more than the reference"),
        (interval(0.3, 0.28, 0.32), "less than the reference"),
        (Estimate(value=0.7, reason="two crawls"), "Without a range"),
        (Estimate.unknown("one crawl"), "cannot be compared"),
    ],
)
def test_what_a_difference_means_is_said(by_series, words):
    row = CrawlRecall(
        crawl=crawl("c", "2020-01-01"),
        n_looked_for=1000,
        n_held=500,
        recall=wilson_share(500, 1000),
        is_least=False,
        coverage=by_series,
        by_reference=wilson_share(500, 1000),
    )
    check = check_uniform(row, 0, by_series, UNIONS)
    assert words in check.verdict


def test_the_series_typical_coverage_stands_in_for_a_crawl_that_has_none():
    row = CrawlRecall(
        crawl=crawl("c", "2020-01-01"),
        n_looked_for=10,
        n_held=5,
        recall=wilson_share(5, 10),
        is_least=False,
        coverage=Estimate.unknown("first crawl"),
        by_reference=wilson_share(5, 10),
    )
    assert check_uniform(row, 0, interval(0.4, 0.3, 0.5), UNIONS).by_series.value == 0.4


@pytest.mark.parametrize(
    ("by_series", "words"),
    [
        (interval(0.4, 0.3, 0.5), "does not contradict"),
        (interval(0.6, 0.45, 0.7), "within the range"),
        (interval(0.8, 0.7, 0.9), "less than the 80 % of the series"),
        (Estimate.unknown("one crawl"), "in scope and exists"),
    ],
)
def test_queues_bound_the_coverage_and_say_whether_the_series_agrees(by_series, words):
    bound = bound_by_frontier(crawl("c", "2020-01-01", 500), 500, by_series)
    assert bound.most == 0.5
    assert words in bound.verdict


def test_queues_cannot_be_negative():
    with pytest.raises(FitError):
        bound_by_frontier(crawl("c", "2020-01-01"), -1, Estimate(value=0.5))


def test_the_nearest_crawl_is_held_against_a_uniform_reference():
    crawls = [crawl("a", "2020-01-01"), crawl("b", "2021-01-01"), crawl("c", "2022-01-01")]
    held = [HeldCounts(n_looked_for=100, n_held=n) for n in (20, 40, 30)]
    found = recall_reference(
        crawls,
        "not estimated",
        key_rule="surt/1",
        reference=Reference(
            name="r", kind="url", n_entries=100, n_distinct=100, date=dt.date(2021, 2, 1)
        ),
        held=held,
        held_by_any=HeldCounts(n_looked_for=100, n_held=70),
        is_uniform=True,
        persistence=0.5,
    )
    assert (found.uniform.label, found.uniform.gap_days) == ("b", -31)
    assert found.uniform.by_reference.value == pytest.approx(0.4 * 2 ** (31 / YEAR))
    assert [row.by_reference.value > row.recall.value for row in found.per_crawl] == [True] * 3
    assert found.union.value == 0.7
    assert "older than the newest crawl" in found.uniform.union_by_reference.reason


def test_the_union_is_carried_back_to_the_newest_crawl():
    found = recall_reference(
        [crawl("a", "2020-01-01")],
        "not estimated",
        key_rule="surt/1",
        reference=Reference(
            name="r", kind="url", n_entries=1000, n_distinct=1000, date=dt.date(2021, 1, 1)
        ),
        held=[HeldCounts(n_looked_for=1000, n_held=600)],
        held_by_any=HeldCounts(n_looked_for=1000, n_held=600),
        is_uniform=True,
        persistence=0.8,
    )
    assert found.uniform.union_by_reference.value == pytest.approx(0.6 / 0.8, rel=0.001)


def test_the_series_is_that_of_the_estimates_within_what_is_possible():
    estimates = cg.estimate(cg.simulate_table(n_crawls=6, seed=2, with_histories=True)).estimates
    rows = list(estimates.per_crawl)
    rows[2] = replace(rows[2], coverage=interval(1.04, 0.97, 1.1))
    rows[3] = replace(rows[3], coverage=interval(2.7, 1.5, 4.8))
    unsure = replace(
        estimates,
        per_crawl=tuple(rows),
        agreement=replace(estimates.agreement, grade="C"),
    )
    found = recall_reference(
        estimates.crawls,
        unsure,
        key_rule="k",
        reference=Reference(name="r", kind="url", n_entries=10, n_distinct=10),
        held=[HeldCounts(n_looked_for=10, n_held=5)] * 6,
    )
    coverages = [row.coverage for row in found.per_crawl]
    assert coverages[-1] == estimates.newest.coverage
    assert (coverages[2].value, coverages[2].low) == (1, 0.97)
    assert coverages[3].value is None
    assert found.warnings[-1].startswith("The coverage by the series has grade C")
