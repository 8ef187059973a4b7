"""From counts over archives to their comparison, by numbers that can be worked out by hand."""

import datetime as dt
import math

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.comparison import TwoLists, compare_archives, match_crawls
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.ranges import LogRange, find_carrying, typical_value
from crawlgauge.overlaps.table import ArchiveCounts, HostCounts

NOTHING = (Estimate.unknown("none"), Estimate.unknown("none"))


def crawl(label, date, n_urls=1000, n_sampled=None, *, damaged=False):
    return Crawl(
        label=label,
        date=dt.date.fromisoformat(date),
        n_urls=n_urls,
        n_sampled=n_sampled,
        damaged=damaged,
    )


def counts(first, second, n_shared, held=(600, 300, 400), sample_rate=1.0):
    """Return what is counted of two archives of one crawl each."""
    return ArchiveCounts(
        crawls=((first,), (second,)),
        n_shared=np.array(
            [[first.n_counted, n_shared], [n_shared, second.n_counted]], dtype=np.int64
        ),
        masks=np.array([1, 2, 3], dtype=np.uint64),
        counts=np.array(held, dtype=np.int64),
        sample_rate=sample_rate,
        level="url",
        key_rule="surt/1",
    )


def compare(counted, **options):
    return compare_archives(
        counted, names=["ours", "theirs"], series=[NOTHING, NOTHING], max_gap_days=90, **options
    )


def test_crawls_of_one_day_need_no_persistence():
    found = compare(counts(crawl("a", "2020-01-01", 1000), crawl("b", "2020-01-01", 700), 400))
    (matched,) = found.pairs[0].matched
    assert matched.lincoln_petersen == 1000 * 700 / 400
    assert matched.population.value == pytest.approx(1001 * 701 / 401 - 1)
    assert matched.coverage_a.value == pytest.approx(1000 / matched.population.value)
    assert matched.joint_coverage.value == pytest.approx(1300 / matched.population.value)
    assert matched.population.low < 1750 < matched.population.high
    assert found.pairs[0].relative_size.value == pytest.approx(1000 / 700)
    assert found.pairs[0].relative_size.basis == "none"
    assert found.joint.n_distinct.value == 1300
    assert [item.n_only.value for item in found.archives] == [600, 300]


def test_an_overlap_is_carried_over_the_gap_with_the_persistence():
    counted = counts(crawl("a", "2020-01-01"), crawl("b", "2020-03-01"), 400)
    without = compare(counted).pairs[0].matched[0]
    assert without.population.value is None
    assert "--persistence" in without.population.reason
    carried = compare(counted, persistence=0.5).pairs[0].matched[0]
    assert carried.lincoln_petersen == pytest.approx(0.5 ** (60 / 365.25) * 1000 * 1000 / 400)


def test_the_order_of_the_archives_does_not_matter():
    one, other = crawl("a", "2020-01-01", 1000), crawl("b", "2020-03-01", 700)
    there = compare(counts(one, other, 400), persistence=0.6).pairs[0].matched[0]
    back = compare(counts(other, one, 400), persistence=0.6).pairs[0].matched[0]
    assert there.population == back.population
    assert (there.coverage_a, there.coverage_b) == (back.coverage_b, back.coverage_a)
    assert there.gap_days == -back.gap_days == 60


def test_the_error_of_the_persistence_widens_what_is_carried():
    counted = counts(crawl("a", "2020-01-01"), crawl("b", "2020-03-01"), 400)
    exact = compare(counted, persistence=0.6).pairs[0]
    known = Estimate(value=0.6, low=0.3, high=1.2, basis="interval")
    series = (Estimate.unknown("none"), known)
    found = compare_archives(
        counted, names=["ours", "theirs"], series=[series, NOTHING], max_gap_days=90
    )
    assert found.pairs[0].coverage_a.value == pytest.approx(exact.coverage_a.value)
    assert found.pairs[0].coverage_a.low < exact.coverage_a.low
    assert found.persistence.low == pytest.approx(0.3)


def test_a_persistence_without_a_range_gives_numbers_without_ranges():
    counted = counts(crawl("a", "2020-01-01"), crawl("b", "2020-03-01"), 400)
    series = (Estimate.unknown("none"), Estimate(value=0.6))
    found = compare_archives(
        counted, names=["ours", "theirs"], series=[series, NOTHING], max_gap_days=90
    )
    assert found.pairs[0].coverage_a.value is not None
    assert found.pairs[0].coverage_a.basis == "none"
    assert "without a range" in found.pairs[0].coverage_a.reason


def test_nothing_shared_gives_a_bound_in_words_and_a_warning():
    found = compare(counts(crawl("a", "2020-01-01"), crawl("b", "2020-01-01"), 0))
    pair = found.pairs[0]
    assert pair.coverage_a.value is None
    assert "at least" in pair.matched[0].population.reason
    assert "share no URL at all" in found.warnings[0]


def test_one_set_in_two_archives_is_no_evidence():
    found = compare(counts(crawl("a", "2020-01-01"), crawl("b", "2020-01-01"), 1000))
    assert "same set" in found.pairs[0].coverage_a.reason


def test_a_sample_counts_for_the_whole_and_its_sizes_have_an_error():
    counted = counts(
        crawl("a", "2020-01-01", 8000, 1000),
        crawl("b", "2020-01-01", 8000, 1000),
        400,
        sample_rate=1 / 8,
    )
    found = compare(counted)
    matched = found.pairs[0].matched[0]
    assert matched.population.value == pytest.approx(8 * (1001 * 1001 / 401 - 1))
    assert matched.relative_size.low < 1 < matched.relative_size.high
    assert found.joint.n_distinct.value == pytest.approx(8 * 1300)
    assert found.joint.n_distinct.low < 8 * 1300


def test_damaged_crawls_are_named():
    counted = counts(crawl("broken", "2020-01-01", damaged=True), crawl("b", "2020-01-01"), 400)
    assert "broken" in compare(counted).warnings[0]


def test_crawls_are_matched_with_the_nearest_that_is_free():
    ours = [crawl("a", "2020-01-01"), crawl("b", "2020-02-01"), crawl("c", "2021-01-01")]
    theirs = [crawl("x", "2020-01-25"), crawl("y", "2020-03-20")]
    assert match_crawls(ours, theirs, max_gap_days=90) == [(0, 1), (1, 0)]
    assert match_crawls(ours, theirs, max_gap_days=10) == [(1, 0)]


def test_no_more_urls_live_on_than_there_were():
    assert find_carrying([], 1.0).kept(365) == 1
    beyond = find_carrying([Estimate(value=1.1, low=1.0, high=1.2, basis="interval")])
    assert beyond.kept(365) == 1
    half = find_carrying([], 0.25)
    assert half.kept(-183) == pytest.approx(0.5, rel=0.01)


def test_persistences_of_several_series_are_averaged_and_their_errors_too():
    found = find_carrying(
        [
            Estimate(value=0.5, low=0.4, high=0.625, basis="interval"),
            Estimate(value=0.8, low=0.64, high=1.0, basis="interval"),
            Estimate.unknown("two crawls"),
        ]
    )
    assert found.persistence.value == pytest.approx(0.4**0.5)
    assert found.persistence.high / found.persistence.low == pytest.approx(1.25 ** (2 / 2**0.5))


def test_hosts_are_listed_by_what_one_archive_alone_holds():
    hosts = HostCounts(
        hosts=("few.example", "many.example", "shared.example", "gone.example"),
        n_only=np.array([[1, 2], [9, 0], [0, 0], [0, 0]]),
        n_several=np.array([5, 1, 7, 0]),
        n_undisclosed=np.array([0, 4]),
        sample_rate=0.5,
    )
    counted = counts(crawl("a", "2020-01-01"), crawl("b", "2020-01-01"), 400)
    found = compare(counted, hosts=hosts, n_hosts=2).hosts
    assert [row.host for row in found.rows] == ["many.example", "few.example"]
    assert (found.n_hosts, found.n_undisclosed, found.rows[0].n_urls) == (3, (0, 4), 10)


def test_three_archives_give_three_pairs():
    day = "2020-01-01"
    counted = ArchiveCounts(
        crawls=tuple((crawl(label, day, 100),) for label in "abc"),
        n_shared=np.array([[100, 40, 30], [40, 100, 20], [30, 20, 100]]),
        masks=np.array([1, 2, 3, 4, 5, 6, 7], dtype=np.uint64),
        counts=np.array([50, 60, 20, 70, 10, 0, 20]),
        sample_rate=1.0,
        level="url",
        key_rule="surt/1",
    )
    found = compare_archives(counted, names=["a", "b", "c"], series=[NOTHING] * 3, max_gap_days=90)
    assert [(pair.a, pair.b) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.n_shared.value for pair in found.pairs] == [40, 30, 20]
    assert found.joint.n_in_all.value == 20
    assert found.joint.n_in_one.value == 180


# -------------------- two lists against published numbers, and against hypergeometric draws


def test_turtles_of_which_ten_are_marked_have_the_size_that_the_formulas_give():
    # 10 marked, 15 caught later, 5 of them marked.
    turtles = TwoLists(n_a=10, n_b=15, n_shared=5)
    assert turtles.lincoln_petersen() == 30
    assert turtles.chapman() == pytest.approx(11 * 16 / 6 - 1)


def test_a_gap_lowers_the_population_by_what_has_died():
    whole = TwoLists(n_a=4000, n_b=3000, n_shared=900)
    carried = TwoLists(n_a=4000, n_b=3000, n_shared=900, kept=0.9)
    assert carried.lincoln_petersen() == pytest.approx(0.9 * whole.lincoln_petersen())
    assert carried.n_union == pytest.approx(0.9 * 4000 + 3000 - 900)


def test_nothing_shared_has_a_lower_end_and_no_upper_one():
    found = TwoLists(n_a=100, n_b=100, n_shared=0).population()
    assert math.isinf(found.up)
    # Fewer than about 3.84 shared URLs are expected then.
    assert 100 * 100 / math.exp(found.value - found.down) == pytest.approx(3.84, rel=0.1)
    assert TwoLists(n_a=100, n_b=100, n_shared=0).lincoln_petersen() is None


def test_no_population_is_smaller_than_what_the_lists_hold():
    found = TwoLists(n_a=90, n_b=80, n_shared=79).population()
    assert math.exp(found.value - found.down) >= 91 - 1e-9


@pytest.mark.parametrize(
    ("population", "n_a", "n_b"), [(1000, 100, 100), (1000, 800, 500), (300, 40, 40)]
)
def test_intervals_hold_the_population_that_lists_are_drawn_from(population, n_a, n_b):
    rng = np.random.default_rng(3)
    hits = 0
    for n_shared in rng.hypergeometric(n_a, population - n_a, n_b, size=400).tolist():
        found = TwoLists(n_a=n_a, n_b=n_b, n_shared=n_shared).population()
        hits += found.value - found.down <= math.log(population) <= found.value + found.up
    assert 0.92 <= hits / 400 <= 0.99


def test_a_typical_value_is_at_least_as_wide_as_its_own_errors_and_its_scatter():
    alike = [LogRange(value=0.0, down=0.2, up=0.2)] * 4
    assert typical_value(alike).up == pytest.approx(0.1)
    apart = [LogRange(value=value, down=0.2, up=0.2) for value in (-1.0, 0.0, 1.0)]
    # Student's t with 2 degrees of freedom is 4.3027 at 97.5 %.
    assert typical_value(apart).up == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    assert typical_value(alike[:1]) == alike[0]
    assert typical_value(alike, shared_variance=0.1).up == pytest.approx(
        math.hypot(0.1, 1.959964 * math.sqrt(0.1))
    )


def test_ranges_become_estimates_with_reasons_for_what_is_missing():
    exact = LogRange(value=math.log(0.5)).to_estimate()
    assert (exact.value, exact.low, exact.basis) == (pytest.approx(0.5), None, "none")
    open_end = LogRange(value=0.0, down=1.0, up=math.inf).to_estimate()
    assert open_end.high is None
    assert "too few" in open_end.reason
    capped = LogRange(value=math.log(0.9), down=0.1, up=0.5).to_estimate(most=1.0)
    assert capped.high == 1.0
