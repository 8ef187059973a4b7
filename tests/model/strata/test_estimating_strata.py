"""Coverage, population and persistence of strata, and their sum, from overlaps to words."""

import numpy as np
import pytest

from crawlgauge.model.strata.estimating_strata import estimate_strata
from crawlgauge.model.strata.stratum_fits import fit_strata
from crawlgauge.overlaps.table import Stratum


@pytest.fixture(scope="module")
def uneven(simulate):
    """Twelve hosts, from hardly to nearly covered."""
    rng = np.random.default_rng(6)
    return simulate(rng, [4000] * 12, np.linspace(0.08, 0.85, 12), [0.75] * 12, 8)


@pytest.fixture(scope="module")
def estimated(uneven):
    return estimate_strata(uneven.counts)


def by_name(strata):
    return {stratum.name: stratum for stratum in strata.strata}


def test_each_host_has_the_coverage_population_and_persistence_that_is_true(uneven, estimated):
    found = by_name(estimated)
    for number, (coverage, population) in enumerate(
        zip(uneven.coverage[:, -1], uneven.population[:, -1], strict=True)
    ):
        host = found[f"h{number}"]
        assert host.coverage.value == pytest.approx(coverage, rel=0.15)
        assert host.population.value == pytest.approx(population, rel=0.15)
        assert host.missing.value == pytest.approx(host.population.value - host.n_urls)
        assert host.persistence.low < 0.75 < host.persistence.high
        assert host.n_crawls == 8
        assert host.coverage.basis == "interval"


def test_the_typical_coverage_is_that_of_all_crawls_but_the_first(uneven, estimated):
    for number, coverages in enumerate(uneven.coverage[:, 1:]):
        typical = by_name(estimated)[f"h{number}"].typical_coverage
        assert typical.value == pytest.approx(np.exp(np.log(coverages).mean()), rel=0.1)


def test_what_is_missing_most_comes_first(estimated):
    missing = [stratum.missing.value for stratum in estimated.strata]
    assert missing == sorted(missing, reverse=True)


def test_the_sum_of_the_hosts_is_right_where_all_urls_at_once_are_not(uneven, estimated):
    counts = uneven.counts.n_shared
    truth = counts[:, -1, -1].sum() / uneven.population[:, -1].sum()
    total, plain = estimated.post_stratified.coverage, estimated.plain.coverage
    assert total.low < truth < total.high
    assert plain.value > 1.2 * truth
    assert "higher than the sum of the hosts: hosts differ in coverage" in estimated.comparison
    assert total.value * estimated.post_stratified.population.value == pytest.approx(
        counts[:, -1, -1].sum()
    )


def test_hosts_that_are_hardly_covered_are_counted_in_the_answer(estimated):
    low = [stratum for stratum in estimated.strata if stratum.coverage.value < 0.2]
    assert len(low) == 2
    assert estimated.statement.startswith("2 of 12 hosts are covered below 20 % by crawl c07")
    assert "half of the hosts lie between" in estimated.statement
    assert f"Most is missing of {estimated.strata[0].name}" in estimated.statement


def test_small_hosts_that_are_alike_are_better_known_for_being_many(simulate):
    archive = simulate(np.random.default_rng(7), [500] * 40, [0.4] * 40, [0.7] * 40, 6)
    strata = estimate_strata(archive.counts)
    found = by_name(strata)
    truth = np.log(archive.coverage[:, -1])
    alone = fit_strata(archive.counts.n_shared, np.arange(6) * 183 / 365.25).columns.level[:, -1]
    pooled = np.log([found[f"h{k}"].coverage.value for k in range(40)])
    assert np.sqrt(np.mean((pooled - truth) ** 2)) < 0.75 * np.sqrt(np.mean((alone - truth) ** 2))
    assert strata.comparison.startswith("Both agree")


@pytest.mark.parametrize("n_crawls", [1, 2])
def test_fewer_than_three_crawls_give_sizes_and_a_reason(n_crawls, make_counts):
    shared = np.full((2, n_crawls, n_crawls), 40) + 60 * np.eye(n_crawls, dtype=int)
    strata = estimate_strata(make_counts(shared))
    for stratum in strata.strata:
        assert stratum.n_urls == 100
        for number in (stratum.coverage, stratum.missing, stratum.persistence):
            assert number.value is None
            assert "can be told apart from 3 crawls on" in number.reason
    assert strata.post_stratified.coverage.value is None
    assert strata.comparison == ""
    assert strata.statement.startswith("The coverage of no host is known")


def test_three_crawls_give_numbers_without_intervals(simulate):
    archive = simulate(np.random.default_rng(9), [9000] * 5, [0.5] * 5, [0.7] * 5, 3)
    strata = estimate_strata(archive.counts)
    for number in (strata.strata[0].coverage, strata.post_stratified.coverage):
        assert number.value == pytest.approx(0.5, rel=0.1)
        assert number.low is None
        assert "0 degrees of freedom" in number.reason


def test_a_host_that_the_newest_crawl_does_not_hold_is_gone_or_missed(uneven, make_counts):
    shared = uneven.counts.n_shared.copy()
    shared[4, -1], shared[4, :, -1] = 0, 0
    strata = estimate_strata(make_counts(shared))
    host = by_name(strata)["h4"]
    assert host.n_urls == 0
    assert host.coverage.value is None
    assert host.coverage.reason == "the newest crawl holds nothing of it: gone, or missed"
    assert host.typical_coverage.value == pytest.approx(0.36, rel=0.1)
    assert any(text.startswith("h4: in earlier crawls, but not in c07") for text in strata.warnings)


def test_a_host_that_is_new_in_the_newest_crawl_has_no_coverage(uneven, make_counts):
    shared = uneven.counts.n_shared.copy()
    shared[3, :-1, :], shared[3, :, :-1] = 0, 0
    host = by_name(estimate_strata(make_counts(shared)))["h3"]
    assert host.n_urls > 0
    assert host.coverage.value is None
    assert host.persistence.value is None


def test_a_relaunch_makes_a_host_contradict_itself_and_its_range_wide(simulate, make_counts):
    rng = np.random.default_rng(11)
    counts = simulate(rng, [6000] * 15, np.linspace(0.1, 0.8, 15), [0.75] * 15, 9).counts
    shared = counts.n_shared.copy()
    shared[2, :5, 5:] //= 20
    shared[2, 5:, :5] //= 20
    strata = by_name(estimate_strata(make_counts(shared)))
    calm = [s.coverage.high / s.coverage.low for s in strata.values() if s.name != "h2"]
    assert strata["h2"].note.startswith("contradicts itself")
    assert strata["h2"].coverage.high / strata["h2"].coverage.low > 2 * max(calm)


def test_a_sample_is_scaled_up_and_has_wider_ranges(uneven, make_counts):
    whole = estimate_strata(uneven.counts)
    sampled = estimate_strata(make_counts(uneven.counts.n_shared, rate=0.01))
    for one, other in zip(whole.strata, sampled.strata, strict=True):
        assert (one.name, 100 * one.n_urls) == (other.name, other.n_urls)
        assert other.coverage.value == pytest.approx(one.coverage.value, rel=0.02)
        assert other.population.value == pytest.approx(100 * one.population.value, rel=0.02)
        assert other.coverage.high - other.coverage.low > one.coverage.high - one.coverage.low


def test_a_mixture_of_small_hosts_counts_as_less_covered_than_it_looks(uneven, make_counts):
    names = [Stratum(name=f"h{k}") for k in range(11)]
    pooled = (*names, Stratum(name="other hosts", n_pooled=70, mixing=1.3))
    found = by_name(estimate_strata(make_counts(uneven.counts.n_shared, strata=pooled)))
    plain = by_name(estimate_strata(uneven.counts))
    assert found["other hosts"].coverage.value == pytest.approx(plain["h11"].coverage.value / 1.3)
    assert found["h3"].coverage == plain["h3"].coverage


def test_a_coverage_that_is_surely_impossible_is_told(make_counts):
    """Later crawls hold all that earlier ones share, and half as much again."""
    years = np.arange(6)
    lags = np.abs(np.subtract.outer(years, years))
    shared = np.rint(1.25 * 40_000 * 0.7**lags).astype(int)
    np.fill_diagonal(shared, 40_000)
    strata = estimate_strata(make_counts(shared[None], days=365))
    assert strata.strata[0].coverage.low > 1
    assert strata.strata[0].note.startswith("above 100 %, which is impossible")
    assert any("h0: a coverage above 100 % is impossible" in text for text in strata.warnings)


def test_a_crawl_that_is_held_in_full_is_no_impossibility(make_counts):
    strata = estimate_strata(make_counts(np.full((1, 5, 5), 500), damaged=(2,)))
    assert strata.strata[0].coverage.value == pytest.approx(1)
    assert strata.warnings == ("c02: part of the input was damaged and is not counted.",)


def test_crawls_of_one_date_only_have_no_persistence(make_counts):
    shared = np.full((2, 4, 4), 200) + 300 * np.eye(4, dtype=int)
    strata = estimate_strata(make_counts(shared, days=0))
    assert strata.strata[0].persistence.value is None
    assert strata.post_stratified.coverage.value is None


def test_no_overlap_at_all_is_no_coverage(make_counts):
    shared = np.zeros((2, 5, 5), dtype=int) + 300 * np.eye(5, dtype=int)
    strata = estimate_strata(make_counts(shared))
    for stratum in strata.strata:
        assert stratum.coverage.value is None
        assert stratum.coverage.reason == "not identifiable: its crawls share nothing"
    assert strata.plain.coverage.value is None
