"""What capture histories put in the place of the estimates from pairs."""

import datetime as dt
import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.histories.data import count_holdings
from crawlgauge.model.statement import state_histories
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table


def draw(scenario, seed=1, **changes):
    settings = change_settings(find_scenario(scenario), n_crawls=8, population=60_000, **changes)
    return draw_table(settings, seed=seed, with_histories=True)


def check(estimates, check_id):
    (found,) = (item for item in estimates.checks if item.id == check_id)
    return found


@pytest.fixture(scope="module")
def pure():
    table = draw("pure")
    return table, estimate_coverage(table)


@pytest.fixture(scope="module")
def avoiding():
    table = draw("avoid-most")
    return table, estimate_coverage(table)


def test_the_views_lead_where_histories_allow(pure):
    table, estimates = pure
    headline = estimates.headline
    assert headline.estimator == "histories"
    assert headline.coverage.basis == "empirical-band"
    assert headline.coverage.value == pytest.approx(table.truth.coverage, rel=0.03)
    assert headline.coverage.low < table.truth.coverage < headline.coverage.high
    assert estimates.agreement.grade == "A"
    assert estimates.agreement.spread < 0.05
    assert "of the URLs that such crawls can reach" in headline.statement


def test_all_estimators_stand_beside_it_and_the_closed_ones_say_too_little(pure):
    _, estimates = pure
    rows = {row.name: row for row in estimates.estimators}
    assert list(rows) == [
        "histories",
        *("paper-forward", "paper-backward", "two-way", "growth", "known-alive", "cjs"),
        *("jolly-seber", "manly-parr", "rested-manly-parr", "lincoln-petersen", "chapman"),
        *("schnabel", "chao", "loglinear-mt", "loglinear-mth", "latent-class"),
    ]
    for name in ("schnabel", "chao", "loglinear-mt", "loglinear-mth"):
        assert rows[name].coverage < 0.7 * estimates.headline.coverage.value
        assert "too large" in rows[name].assumes
    assert all(len(row.per_crawl) == 8 for row in rows.values())


def test_the_first_crawl_stays_unknown_and_the_newest_is_one_of_the_set(pure):
    table, estimates = pure
    first, *_, last = estimates.per_crawl
    assert first.coverage.value is None
    assert "first crawl" in first.coverage.reason
    assert estimates.newest.coverage == last.coverage
    assert estimates.population == last.population
    inside = [math.log(row.coverage.value) for row in estimates.per_crawl[1:-1]]
    typical = math.log(estimates.headline.coverage.value)
    assert sum(inside) / len(inside) == pytest.approx(typical, abs=1e-9)
    for crawl, row in zip(table.crawls[1:], estimates.per_crawl[1:], strict=True):
        assert row.coverage.low < row.coverage.value < row.coverage.high
        assert row.population.value == pytest.approx(crawl.n_urls / row.coverage.value)
        assert row.population.low == pytest.approx(crawl.n_urls / row.coverage.high)
        assert row.population.high == pytest.approx(crawl.n_urls / row.coverage.low)


def test_what_first_captures_would_change_is_always_said(pure):
    table, estimates = pure
    held, found = estimates.headline.coverage.value, estimates.first_captures
    known = count_holdings(table).known_share[1:-1]
    coverage = np.array([row.coverage.value for row in estimates.per_crawl[1:-1]])
    half = math.exp(np.log(coverage / (2 - known)).mean())
    assert found.half == pytest.approx(half)
    assert found.half < held < found.twice
    assert estimates.readings is None


def test_two_readings_are_given_where_captures_attract_captures():
    estimates = estimate_coverage(draw("reseed"))
    readings = estimates.readings
    assert estimates.agreement.grade in {"B", "C"}
    assert "The crawler repeats URLs of the last crawl" in estimates.agreement.reason
    assert readings.returning < readings.absent
    for reading in (readings.returning, readings.absent):
        assert estimates.headline.coverage.low < reading < estimates.headline.coverage.high


def make_table(seen, days):
    """Make a table with the histories of a row per URL and a column per crawl."""
    n_crawls = seen.shape[1]
    words = (seen.astype(np.uint64) << np.arange(n_crawls, dtype=np.uint64)).sum(axis=1)
    masks, counts = np.unique(words[words > 0], return_counts=True)
    histories = Histories(n_crawls=n_crawls, masks=masks, counts=counts)
    shared = histories.count_pairs()
    crawls = tuple(
        Crawl(label=f"c{j}", date=dt.date(2014, 1, 1) + dt.timedelta(days=day), n_urls=int(size))
        for j, (day, size) in enumerate(zip(days, np.diag(shared), strict=True))
    )
    return OverlapTable(crawls=crawls, n_shared=shared, histories=histories)


DAYS = list(range(0, 1400, 200))


@pytest.mark.parametrize("place", [3, 6])
def test_a_crawl_of_a_few_urls_has_the_population_of_its_neighbours(place):
    coverage = np.full(7, 0.4)
    coverage[place] = 0.002
    seen = np.random.default_rng(1).random((5000, 7)) < coverage
    estimates = estimate_coverage(make_table(seen, DAYS))
    rows = estimates.per_crawl
    populations = [row.population.value for row in rows]
    beside = [populations[place - 1], populations[place + 1] if place < 6 else None]
    expected = math.sqrt(beside[0] * (beside[1] or beside[0]))
    assert populations[place] == pytest.approx(expected)
    assert rows[place].note == "too small to tell; the population is that of its neighbours"
    assert rows[place].coverage.value == pytest.approx(seen[:, place].sum() / expected)
    assert estimates.headline.coverage.value == pytest.approx(0.4, rel=0.03)
    assert all(row.per_crawl[place] is None for row in estimates.estimators if row.name == "cjs")


def test_the_first_of_the_crawls_that_are_large_enough_is_unknown():
    coverage = np.array([0.002, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4])
    seen = np.random.default_rng(2).random((5000, 7)) < coverage
    rows = estimate_coverage(make_table(seen, DAYS)).per_crawl
    assert [row.coverage.value is None for row in rows] == [True, True, *[False] * 5]
    assert all(row.coverage.reason for row in rows[:2])


def test_without_urls_seen_thrice_there_is_no_number():
    seen = np.random.default_rng(3).random((5000, 6)) < 0.03
    estimates = estimate_coverage(make_table(seen, DAYS[:6]))
    n_thrice = int((seen.sum(axis=1) >= 3).sum())
    assert n_thrice < 30
    unknown = (estimates.headline.coverage, estimates.newest.coverage, estimates.population)
    for estimate in (*unknown, *(row.coverage for row in estimates.per_crawl)):
        assert estimate.value is None
        assert f"only {n_thrice} URLs are in three crawls or more" in estimate.reason
    assert estimates.headline.estimator is None
    assert estimates.agreement.grade == "none"
    assert "it takes 30; crawls of one scope would share more." in estimates.headline.statement
    # The published method's line is always given.
    assert estimates.paper.coverage is not None


def test_few_urls_seen_thrice_leave_a_range():
    seen = np.random.default_rng(4).random((200, 6)) < 0.4
    estimates = estimate_coverage(make_table(seen, DAYS[:6]))
    assert estimates.agreement.grade == "C"
    assert "URLs are in three crawls or more" in estimates.agreement.reason
    assert estimates.headline.coverage.low < 0.4 < estimates.headline.coverage.high


def test_crawls_of_one_date_have_a_coverage_and_no_turnover():
    seen = np.random.default_rng(5).random((5000, 6)) < 0.4
    estimates = estimate_coverage(make_table(seen, [0] * 6))
    assert estimates.headline.coverage.value == pytest.approx(0.4, rel=0.03)
    assert estimates.persistence.value is None
    assert estimates.half_life_years.value is None


def test_crawls_of_next_to_nothing_are_no_obstacle():
    seen = np.random.default_rng(6).random((20, 6)) < 0.4
    estimates = estimate_coverage(make_table(seen, DAYS[:6]))
    assert estimates.headline.coverage.value is None
    assert estimates.headline.coverage.reason


def test_a_population_that_falls_faster_than_urls_die_is_noted():
    """A crawl is said to be a third of what its sample would make it."""
    table = make_table(np.random.default_rng(7).random((5000, 7)) < 0.4, DAYS)
    crawls = tuple(
        replace(crawl, n_sampled=crawl.n_urls, n_urls=(1 if place == 3 else 3) * crawl.n_urls)
        for place, crawl in enumerate(table.crawls)
    )
    histories = replace(table.histories, sample_rate=1 / 3)
    sample = replace(table, crawls=crawls, histories=histories, sample_rate=1 / 3)
    notes = [row.note for row in estimate_coverage(sample).per_crawl]
    assert notes[3] == "the population falls faster than URLs die"
    assert not any(notes[1:3] + notes[4:])


def test_whole_hosts_that_are_captured_together_widen_the_range():
    rng = np.random.default_rng(8)
    host = np.repeat(np.arange(60), 80)
    favour = np.clip(0.4 * np.exp(0.6 * rng.standard_normal((60, 7))), 0, 0.95)
    seen = rng.random((host.size, 7)) < favour[host]
    table = make_table(seen, DAYS)
    words = (seen.astype(np.uint64) << np.arange(7, dtype=np.uint64)).sum(axis=1)
    counts = np.zeros((table.histories.masks.size, 20), dtype=np.int64)
    held = words > 0
    row = np.searchsorted(table.histories.masks, words[held])
    np.add.at(counts, (row, host[held] % 20), 1)
    groups = HostGroups(
        n_crawls=7, n_groups=20, masks=table.histories.masks, counts=counts, sample_rate=1.0
    )
    plain = estimate_coverage(table).headline.coverage
    wide = estimate_coverage(replace(table, host_groups=groups)).headline.coverage
    assert wide.value == pytest.approx(plain.value)
    assert wide.low < 0.99 * plain.low
    assert wide.high > 1.01 * plain.high


def test_nothing_is_found_wrong_with_an_urn(pure):
    _, estimates = pure
    assert {item.id for item in estimates.checks} == {
        *("lack-of-fit", "short-lag", "curvature", "change-point", "population-trend"),
        *("heterogeneous-capture", "past-future", "novelty", "overdispersion"),
    }
    assert {item.status for item in estimates.checks} <= {"ok", "na"}


def test_avoidance_that_spoils_the_pairs_is_named_and_allowed_for(avoiding):
    table, estimates = avoiding
    truth = table.truth.coverage
    by_pairs = estimate_coverage(replace(table, histories=None))
    assert by_pairs.headline.coverage.value < 0.8 * truth
    assert "do not trust this number" in by_pairs.headline.statement
    assert estimates.headline.coverage.value == pytest.approx(truth, rel=0.1)
    assert estimates.headline.coverage.low < truth < estimates.headline.coverage.high
    found = check(estimates, "short-lag")
    assert found.status == "fail"
    assert "avoids pages that it fetched recently" in found.message
    assert "; capture histories would settle it" not in found.message
    assert "The crawler avoids URLs of the last crawl" in estimates.agreement.reason


def test_under_avoidance_turnover_does_not_come_from_the_pairs(avoiding):
    table, estimates = avoiding
    assert estimates.persistence.value == pytest.approx(table.truth.persistence, abs=0.03)
    assert estimates.persistence.low < table.truth.persistence < estimates.persistence.high
    assert abs(estimates.growth_per_year.value) < 0.05


def test_with_four_crawls_the_pairs_lead_and_the_reason_is_said():
    table = draw_table(
        change_settings(find_scenario("pure"), n_crawls=4, population=20_000),
        seed=1,
        with_histories=True,
    )
    estimates = estimate_coverage(table)
    assert estimates.headline.estimator == "two-way"
    assert estimates.agreement.grade == "none"
    assert "it takes 5 crawls to test whether estimators agree" in estimates.agreement.reason
    assert "cjs" in {row.name for row in estimates.estimators}


def test_uneven_capture_lowers_the_estimate_below_that_of_pairs():
    table = draw("capture-gamma-strong")
    estimates = estimate_coverage(table)
    truth = table.truth.coverage
    two_way = next(row for row in estimates.estimators if row.name == "two-way")
    coverage = estimates.headline.coverage
    assert two_way.coverage > 1.15 * truth
    assert truth < coverage.value < two_way.coverage
    assert coverage.low < truth
    assert estimates.agreement.grade == "C"
    assert check(estimates, "heterogeneous-capture").status in {"warn", "fail"}


def test_ways_of_reading_that_span_a_factor_of_ten_give_no_number():
    """A core that is always captured, and a periphery that hardly ever is."""
    estimates = estimate_coverage(draw("core-periphery"))
    assert estimates.headline.coverage.value is None
    assert "factor of ten" in estimates.headline.statement
    assert estimates.agreement.grade == "none"


def test_a_sample_of_the_histories_gives_the_population_of_the_whole(pure):
    table, whole = pure
    kept = table.histories.counts // 4
    present = kept > 0
    sampled = replace(
        table,
        histories=Histories(
            n_crawls=8,
            masks=table.histories.masks[present],
            counts=kept[present],
            sample_rate=0.25,
        ),
    )
    estimates = estimate_coverage(sampled)
    assert estimates.population.value == pytest.approx(whole.population.value, rel=0.05)


def statement(grade, value, low, high):
    unknown = Estimate.unknown("none")
    return state_histories(
        coverage=Estimate(value=value, low=low, high=high, basis="empirical-band"),
        grade=grade,
        half_life_years=Estimate(value=2.2),
        newest=Newest(label="x", coverage=unknown, population=unknown),
        level="url",
    )


def test_at_grade_c_only_the_range_is_told():
    text = statement("C", 0.44, 0.31, 0.58)
    assert text.startswith("A typical crawl holds between 31 % and 58 % of the URLs")
    assert "44 %" not in text


@pytest.mark.parametrize("grade", ["A", "B"])
def test_a_better_grade_states_the_number_with_its_range(grade):
    text = statement(grade, 0.44, 0.41, 0.48)
    assert text.startswith("A typical crawl holds about 44 % (41–48 %) of the URLs")
    assert "half of the URLs are gone after 2.2 years" in text
