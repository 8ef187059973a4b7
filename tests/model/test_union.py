"""What all crawls hold together: by hand, and of simulated archives whose truth is known."""

import datetime as dt
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.histories.data import count_holdings
from crawlgauge.model.plan import plan_crawls
from crawlgauge.model.union import estimate_union
from crawlgauge.model.window import keep_crawls
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

N_ARCHIVES = 60
BY_PAIRS = {
    "urn": {},
    "growth": {"growth": 0.15},
    "varying sizes": {"coverage_noise": 0.25},
    "passing preferences for hosts": {"n_hosts": 50},
    "sample": {"population": 60_000, "sample_rate": 0.1},
}
BY_WINDOWS = {
    "urn": {},
    "readily captured core": {"classes": ((0.3, 8.0, 0.73), (0.7, 1.0, 0.73)), "coverage": 0.3},
    "long-lived core": {"classes": ((0.3, 5.0, 0.9), (0.7, 1.0, 0.5)), "coverage": 0.3},
    "continuous weights": {"weight_cv": 0.5},
    "avoidance": {"avoided": 0.9, "coverage": 0.25},
}
STEP_DAYS = 183
STEP_YEARS = STEP_DAYS / 365.25


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true of the archive: after each crawl, and in the end."""

    coverage: np.ndarray
    population: np.ndarray
    union: np.ndarray
    n_alive: int
    n_distinct: int
    n_unseen: int


@dataclass(frozen=True, kw_only=True)
class Web:
    """A population that turns over, in classes of (share, weight, persistence)."""

    n_crawls: int = 4
    population: int = 20_000
    coverage: float = 0.4
    growth: float = 0.0
    classes: tuple = ((1.0, 1.0, 0.73),)
    weight_cv: float = 0.0
    coverage_noise: float = 0.0
    n_hosts: int = 0
    host_sd: float = 0.3
    avoided: float = 0.0
    sample_rate: float = 1.0


class _Urls:
    """Every URL that ever lived: its class, weight and host, whether it lives, what it was in."""

    def __init__(self, web, rng):
        self.web, self.rng = web, rng
        self.kind = np.zeros(0, dtype=int)
        self.weight = np.zeros(0)
        self.host = np.zeros(0, dtype=int)
        self.alive = np.zeros(0, dtype=bool)
        self.captured = np.zeros((web.n_crawls, 0), dtype=bool)

    def turn_over(self, population, years):
        persistence = np.array([kind[2] for kind in self.web.classes])
        self.alive &= self.rng.random(self.alive.size) < persistence[self.kind] ** years
        for number, (share, weight, _) in enumerate(self.web.classes):
            living = np.count_nonzero(self.alive & (self.kind == number))
            self._add(number, weight, max(0, round(share * population) - living))

    def _add(self, number, weight, n):
        weights = np.full(n, float(weight))
        if self.web.weight_cv:
            weights *= self.rng.gamma(self.web.weight_cv**-2, self.web.weight_cv**2, n)
        self.kind = np.concatenate([self.kind, np.full(n, number)])
        self.weight = np.concatenate([self.weight, weights])
        self.host = np.concatenate([self.host, self.rng.integers(0, max(1, self.web.n_hosts), n)])
        self.alive = np.concatenate([self.alive, np.ones(n, dtype=bool)])
        self.captured = np.hstack([self.captured, np.zeros((self.web.n_crawls, n), dtype=bool)])

    def crawl(self, number):
        web, living = self.web, np.flatnonzero(self.alive)
        coverage = web.coverage * np.exp(web.coverage_noise * self.rng.standard_normal())
        size = round(min(0.95, coverage) * living.size)
        weight = self.weight[living].copy()
        if web.n_hosts:
            weight *= np.exp(web.host_sd * self.rng.standard_normal(web.n_hosts))[self.host[living]]
        if number and web.avoided:
            weight *= np.where(self.captured[number - 1, living], 1 - web.avoided, 1.0)
        # Exponential races draw without replacement, in proportion to the weights.
        first = np.argsort(self.rng.exponential(size=living.size) / weight)[:size]
        self.captured[number, living[first]] = True
        return size / living.size, living.size


def _histories(captured, rate):
    masks = np.zeros(captured.shape[1], dtype=np.uint64)
    for number, row in enumerate(captured):
        masks |= row.astype(np.uint64) << np.uint64(number)
    distinct, counts = np.unique(masks[masks > 0], return_counts=True)
    return Histories(n_crawls=len(captured), masks=distinct, counts=counts, sample_rate=rate)


def _table(captured, rate, rng):
    kept = captured[:, rng.random(captured.shape[1]) < rate]
    histories = _histories(kept, rate)
    shared = histories.count_pairs()
    crawls = tuple(
        Crawl(
            label=f"c{k:02}",
            date=dt.date(2014, 1, 1) + dt.timedelta(days=STEP_DAYS * k),
            n_urls=round(size / rate),
            n_sampled=None if rate == 1 else int(size),
        )
        for k, size in enumerate(np.diag(shared))
    )
    return OverlapTable(crawls=crawls, n_shared=shared, histories=histories, sample_rate=rate)


def simulate(seed, **how):
    """Return the overlap table of a simulated archive, and what is true of it."""
    web, rng = Web(**how), np.random.default_rng(seed)
    urls, coverage, population, union = _Urls(web, rng), [], [], []
    # From the second crawl on, as the union counts.
    lived = np.zeros(0, dtype=bool)
    for number in range(web.n_crawls):
        years = STEP_DAYS / 365.25
        urls.turn_over(web.population * (1 + web.growth) ** (number * years), years)
        lived = np.concatenate([lived, np.zeros(urls.alive.size - lived.size, dtype=bool)])
        lived |= urls.alive & (number > 0)
        share, living = urls.crawl(number)
        held = urls.captured.any(axis=0)
        coverage.append(share)
        population.append(living)
        union.append(np.mean(held[urls.alive]))
    truth = Truth(
        coverage=np.array(coverage),
        population=np.array(population),
        union=np.array(union),
        n_alive=int(np.sum(held & urls.alive)),
        n_distinct=int(held.sum()),
        n_unseen=int(np.sum(lived & ~held)),
    )
    return _table(urls.captured, web.sample_rate, rng), truth


@pytest.fixture(scope="module")
def uneven():
    """Three in ten URLs are long-lived and captured readily, the others hardly at all."""
    classes = ((0.3, 8.0, 0.9), (0.7, 1.0, 0.6))
    table, truth = simulate(7, n_crawls=8, classes=classes, coverage=0.3)
    return table, truth, estimate_coverage(table)


@pytest.fixture(scope="module")
def avoiding():
    table, truth = simulate(8, n_crawls=8, avoided=0.9, coverage=0.25)
    return table, truth, estimate_coverage(table)


def test_the_union_of_an_urn_is_found_with_all_that_follows():
    table, truth = simulate(11, population=200_000, growth=0.1)
    union = estimate_coverage(table).union
    assert union.n_distinct == truth.n_distinct
    assert union.coverage.value == pytest.approx(truth.union[-1], rel=0.01)
    assert union.n_alive.value == pytest.approx(truth.n_alive, rel=0.01)
    assert union.dead_share.value == pytest.approx(1 - truth.n_alive / truth.n_distinct, rel=0.03)
    assert union.n_unseen.value == pytest.approx(truth.n_unseen, rel=0.03)
    for estimate in (union.coverage, union.n_alive, union.dead_share):
        assert estimate.low < estimate.value < estimate.high
        assert estimate.basis == "interval"


def test_each_crawl_has_its_union_except_the_first():
    table, truth = simulate(12, population=100_000)
    union = estimate_coverage(table).union
    assert union.per_crawl[0].value is None
    assert "first crawl" in union.per_crawl[0].reason
    found = [estimate.value for estimate in union.per_crawl[1:]]
    assert found == pytest.approx(truth.union[1:], rel=0.02)
    assert union.per_crawl[-1] == union.coverage


def test_it_is_the_recursion_of_coverage_and_seniority():
    """U_j = c_j + (1 − c_j)·γ_j·U_(j−1), by the true numbers."""
    table, truth = simulate(13, n_crawls=4, population=400_000, growth=0.15)
    union = truth.coverage[0]
    for crawl in range(1, 4):
        ratio = truth.population[crawl - 1] / truth.population[crawl]
        seniority = 0.73 ** (183 / 365.25) * ratio
        union = truth.coverage[crawl] + (1 - truth.coverage[crawl]) * seniority * union
    assert estimate_coverage(table).union.coverage.value == pytest.approx(union, rel=0.01)


def test_mixed_lifetimes_spoil_it_far_less_than_the_coverage_it_rests_on():
    table, truth = simulate(14, population=100_000, classes=((0.5, 1, 0.95), (0.5, 1, 0.3)))
    estimates = estimate_coverage(table)
    coverage_error = abs(estimates.newest.coverage.value - truth.coverage[-1])
    assert coverage_error > 0.03
    assert abs(estimates.union.coverage.value - truth.union[-1]) < 0.6 * coverage_error


def test_a_small_set_of_archives_lies_within_the_intervals():
    held = []
    for seed in range(20):
        table, truth = simulate(seed, n_hosts=50, coverage_noise=0.2)
        union = estimate_coverage(table).union
        held.append(union.coverage.low <= truth.union[-1] <= union.coverage.high)
        held.append(union.n_alive.low <= truth.n_alive <= union.n_alive.high)
    assert sum(held) >= 38


def with_newest(value, low, high):
    """Return an archive of eight crawls, with another coverage of the newest one."""
    table, _ = simulate(17, n_crawls=8, population=3000)
    estimates = estimate_coverage(table)
    coverage = Estimate(value=value, low=low, high=high, level=0.95, basis="empirical-band")
    newest = replace(estimates.per_crawl[-1], coverage=coverage)
    return table, replace(estimates, per_crawl=(*estimates.per_crawl[:-1], newest))


@pytest.mark.parametrize("chance", [0.35, 0.6, 0.9])
def test_the_union_lies_between_even_capture_and_the_chance_of_a_recapture(chance):
    table, estimates = with_newest(0.4, 0.3, 0.5)
    recapture = np.full(8, chance)
    union = estimate_union(estimates, table, first=0, recapture=recapture, memory_factor=None)
    holdings = count_holdings(table)
    known, error = holdings.known_share[-1], 1.959964 * holdings.known_error[-1]

    def most(c, share):
        return 1 - (1 - share) * (1 - c)

    def least(c, share):
        return c * (share / max(chance, c) + 1 - share)

    value = math.sqrt(most(0.4, known) * least(0.4, known))
    assert union.coverage.value == pytest.approx(value)
    low = least(0.3, known - error) * math.exp(-0.03)
    high = min(1, most(0.5, known + error) * math.exp(0.03))
    assert union.coverage.low == pytest.approx(low, rel=0.02)
    assert union.coverage.high == pytest.approx(high, rel=1e-6)
    assert union.held_ratio == pytest.approx(max(chance, 0.4) / 0.4)
    size = table.crawls[-1].n_urls
    assert union.n_alive.value == pytest.approx(min(size * value / 0.4, holdings.n_distinct))
    assert union.coverage.basis == "empirical-band"


@pytest.mark.parametrize("recapture", [None, np.full(8, np.nan)])
def test_where_the_chance_of_a_recapture_is_not_known_capture_is_taken_to_be_even(recapture):
    table, estimates = with_newest(0.4, 0.3, 0.5)
    union = estimate_union(estimates, table, first=0, recapture=recapture, memory_factor=None)
    known = count_holdings(table).known_share[-1]
    assert union.coverage.value == pytest.approx(1 - (1 - known) * 0.6)
    assert union.held_ratio == 1


def test_where_urls_are_captured_unevenly_the_range_holds_the_union(uneven):
    table, truth, estimates = uneven
    union, newest = estimates.union, estimates.newest.coverage.value
    assert 1 - (1 - count_holdings(table).known_share[-1]) * (1 - newest) > truth.union[-1] + 0.15
    assert estimates.agreement.grade == "C"
    assert union.coverage.basis == "empirical-band"
    assert union.coverage.low <= truth.union[-1] <= union.coverage.high
    assert union.n_alive.low <= truth.n_alive <= union.n_alive.high
    assert union.n_unseen.low <= truth.n_unseen <= union.n_unseen.high


def test_mildly_uneven_capture_hardly_spoils_it():
    table, truth = simulate(6, n_crawls=8, weight_cv=0.5)
    union = estimate_coverage(table).union
    assert union.held_ratio > 1
    assert union.coverage.value == pytest.approx(truth.union[-1], abs=0.04)
    assert union.coverage.low <= truth.union[-1] <= union.coverage.high


def test_avoidance_of_the_last_crawl_does_not_deflate_it(avoiding):
    _, truth, estimates = avoiding
    union = estimates.union.coverage
    assert union.low <= truth.union[-1] <= union.high
    assert union.value == pytest.approx(truth.union[-1], abs=0.03)


def test_under_avoidance_the_number_of_living_urls_that_are_held_lies_in_its_range(avoiding):
    _, truth, estimates = avoiding
    assert estimates.union.n_alive.low <= truth.n_alive <= estimates.union.n_alive.high


def test_without_histories_there_is_no_union_but_of_two_crawls(make_table):
    table, _ = simulate(16)
    assert estimate_coverage(replace(table, histories=None)).union is None
    two = estimate_coverage(make_table([0, 365], [1000, 900], {(0, 1): 300}), persistence=0.8)
    survival = 0.8 ** (365 / 365.25)
    coverage = 0.3 / survival
    living = 900 + (1 - coverage) * survival * 1000
    assert two.union.n_distinct == 1600
    assert two.union.n_alive.value == pytest.approx(living)
    assert two.union.coverage.value == pytest.approx(living * coverage / 900)
    assert two.union.coverage.low is None
    assert two.union.coverage.reason


def test_two_crawls_without_persistence_have_a_count_and_reasons(make_table):
    union = estimate_coverage(make_table([0, 365], [1000, 900], {(0, 1): 300})).union
    assert union.n_distinct == 1600
    for estimate in (union.coverage, union.n_alive, union.dead_share, union.n_unseen):
        assert estimate.value is None
        assert "not identifiable" in estimate.reason


def test_crawls_that_seem_to_hold_more_than_there_is_have_no_union(make_table):
    overlaps = {(0, 1): 500, (0, 2): 450, (1, 2): 0}
    estimates = estimate_coverage(make_table([0, 10, 400], [600, 600, 600], overlaps))
    union = estimates.union
    assert all(
        math.isfinite(estimate.value) and estimate.value <= 1
        for estimate in union.per_crawl
        if estimate.value is not None
    )


def test_after_a_change_of_scope_the_union_is_that_of_the_present_one():
    settings = change_settings(find_scenario("scope-change"), n_crawls=10, population=40_000)
    table = draw_table(settings, seed=5, with_histories=True)
    estimates = estimate_coverage(table)
    (change,) = (check for check in estimates.checks if check.id == "change-point")
    assert change.status == "warn"
    union = estimates.union
    assert union.dead_share.value is None
    assert "scope changed" in union.dead_share.reason
    assert union.coverage.value > estimates.newest.coverage.value
    unknown = [k for k, estimate in enumerate(union.per_crawl) if estimate.value is None]
    assert unknown == [0, 5]


@given(data=st.data(), n=st.integers(2, 4))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_any_histories_give_ordered_ranges_or_reasons(make_table, data, n):
    """Counts without any order: nothing may fail, and every gap must say why."""
    days = sorted(data.draw(st.lists(st.integers(0, 3000), min_size=n, max_size=n)))
    masks = np.arange(1, 2**n, dtype=np.uint64)
    counts = np.array([data.draw(st.sampled_from([1, 5, 200, 10**5, 10**8])) for _ in masks])
    histories = Histories(n_crawls=n, masks=masks, counts=counts)
    shared = histories.count_pairs()
    table = make_table(days, np.diag(shared), {})
    table = OverlapTable(crawls=table.crawls, n_shared=shared, histories=histories)
    estimates = estimate_coverage(table)
    union = estimates.union
    assert union.n_distinct == counts.sum()
    parts = (union.coverage, union.n_alive, union.dead_share, union.n_unseen, *union.per_crawl)
    for estimate in parts:
        if estimate.low is not None and estimate.high is not None:
            assert 0 <= estimate.low <= estimate.value <= estimate.high < math.inf
        else:
            assert estimate.reason


# ------------------------------------------------------------------------ in as many cases as said


def are_held(union, truth):
    truths = (
        (union.coverage, truth.union[-1]),
        (union.n_alive, truth.n_alive),
        (union.dead_share, 1 - truth.n_alive / truth.n_distinct),
        (union.n_unseen, truth.n_unseen),
    )
    return [
        estimate.low <= value <= estimate.high if estimate.low is not None else np.nan
        for estimate, value in truths
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_PAIRS)
def test_intervals_from_pairs_hold_the_truth(name):
    held = []
    for seed in range(N_ARCHIVES):
        table, truth = simulate(5000 + seed, **BY_PAIRS[name])
        held.append(are_held(estimate_coverage(table).union, truth)[:3])
    least = 0.95 - 2 * np.sqrt(0.95 * 0.05 / N_ARCHIVES)
    assert np.mean(held, axis=0).min() >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    BY_WINDOWS,
)
def test_ranges_from_histories_hold_the_truth(name):
    held = []
    for seed in range(6):
        table, truth = simulate(6000 + seed, n_crawls=6 + seed % 3, **BY_WINDOWS[name])
        held.append(are_held(estimate_coverage(table).union, truth))
    assert np.nansum(held, axis=0).min() >= 5


def compare(seed, **how):
    """Plan from all crawls but the last, and return the plan's ranges with what came true."""
    table, truth = simulate(seed, n_crawls=5, **how)
    often, size = 1 / STEP_YEARS, table.crawls[-1].n_urls
    plan = plan_crawls(
        estimate_coverage(keep_crawls(table, [0, 1, 2, 3])),
        crawls_per_year=often,
        budget=size * often,
    )
    captured, counts = table.histories.to_matrix(), table.histories.counts
    n_new = counts[captured[:, 4] & ~captured[:, :4].any(axis=1)].sum()
    crawl = plan.next_crawl
    return [
        crawl.n_new.low <= n_new <= crawl.n_new.high,
        crawl.union_after.low <= truth.union[-1] <= crawl.union_after.high,
    ]


def test_what_the_next_crawl_adds_comes_true():
    held = [compare(seed, growth=0.05) for seed in range(10)]
    assert sum(map(sum, held)) >= 19


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [{}, {"growth": 0.15}, {"coverage_noise": 0.2}, {"n_hosts": 50}],
    ids=["urn", "growth", "varying sizes", "hosts"],
)
def test_what_the_next_crawl_adds_comes_true_in_as_many_cases_as_it_says(how):
    held = [compare(7000 + seed, **how) for seed in range(50)]
    assert min(sum(column) for column in zip(*held, strict=True)) >= 44
