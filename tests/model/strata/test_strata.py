"""Coverage, population and persistence of strata, which add up to the estimate of all URLs."""

from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.strata import estimate_strata, fit_strata
from crawlgauge.overlaps.table import Stratum


@pytest.fixture(scope="module")
def uneven(simulate):
    """Twelve hosts, from hardly to nearly covered."""
    rng = np.random.default_rng(6)
    return simulate(rng, [4000] * 12, np.linspace(0.08, 0.85, 12), [0.75] * 12, 8)


@pytest.fixture(scope="module")
def estimated(uneven):
    return estimate_strata(uneven.counts, uneven.estimates)


def by_name(strata):
    return {stratum.name: stratum for stratum in strata.strata}


def graded(estimates, grade, coverage=None, n_urls=None):
    """Set grade and coverage of estimates."""
    newest = estimates.newest
    if coverage is not None:
        newest = replace(
            newest,
            coverage=coverage,
            population=Estimate(
                value=n_urls / coverage.value,
                low=n_urls / coverage.high,
                high=n_urls / coverage.low,
                basis="interval",
            ),
        )
    agreement = replace(estimates.agreement, grade=grade)
    return replace(estimates, newest=newest, agreement=agreement)


def test_the_hosts_add_up_to_the_population_of_the_estimates(uneven, estimated):
    newest = uneven.estimates.newest
    population = sum(stratum.population.value for stratum in estimated.strata)
    assert population == pytest.approx(newest.population.value)
    assert estimated.post_stratified.coverage == newest.coverage
    assert estimated.post_stratified.population == newest.population
    n_urls = sum(stratum.n_urls for stratum in estimated.strata)
    assert n_urls / population == pytest.approx(newest.coverage.value)


def test_what_the_overlaps_of_hosts_alone_add_up_to_is_told(uneven, estimated):
    truth = uneven.counts.n_shared[:, -1, -1].sum() / uneven.population[:, -1].sum()
    assert estimated.own_sum == pytest.approx(truth, rel=0.05)


def test_the_persistences_of_the_hosts_average_to_that_of_the_estimates(uneven, estimated):
    found = [(s.persistence.value, s.n_urls) for s in estimated.strata]
    values, weights = zip(*found, strict=True)
    assert np.average(values, weights=weights) == pytest.approx(
        uneven.estimates.persistence.value, rel=1e-6
    )


def test_each_host_has_the_coverage_and_population_that_is_true(uneven, estimated):
    found = by_name(estimated)
    level = uneven.estimates.newest.coverage.value / (
        uneven.counts.n_shared[:, -1, -1].sum() / uneven.population[:, -1].sum()
    )
    for number, (coverage, population) in enumerate(
        zip(uneven.coverage[:, -1], uneven.population[:, -1], strict=True)
    ):
        host = found[f"h{number}"]
        assert host.coverage.value == pytest.approx(coverage * level, rel=0.15)
        assert host.coverage.low < coverage < host.coverage.high
        assert host.population.low < population < host.population.high
        assert host.missing.value == pytest.approx(host.population.value - host.n_urls, abs=1)
        assert host.n_crawls == 8
        assert host.coverage.basis == uneven.estimates.newest.coverage.basis


def test_the_range_of_a_host_is_that_of_the_crawl_and_its_own_error(uneven, estimated):
    whole = uneven.estimates.newest.coverage
    for stratum in estimated.strata:
        own = stratum.coverage
        assert own.value / own.low > whole.value / whole.low
        assert own.high / own.value > whole.high / whole.value or own.high == 1


def test_what_is_missing_most_comes_first(estimated):
    missing = [stratum.missing.value for stratum in estimated.strata]
    assert missing == sorted(missing, reverse=True)


def test_hosts_that_are_hardly_covered_are_counted_in_the_answer(uneven):
    strata = estimate_strata(uneven.counts, graded(uneven.estimates, "B"))
    low = [stratum for stratum in strata.strata if stratum.coverage.value < 0.2]
    assert strata.statement.startswith(
        f"{len(low)} of 12 hosts are covered below 20 % by crawl c07"
    )
    assert "half of the hosts lie between" in strata.statement
    assert f"Most is missing of {strata.strata[0].name}: about" in strata.statement


def test_at_grade_c_only_the_ends_of_ranges_are_spoken_of(uneven):
    strata = estimate_strata(uneven.counts, graded(uneven.estimates, "C"))
    surely = [s for s in strata.strata if s.coverage.high < 0.2]
    assert strata.statement.startswith(f"{len(surely)} of 12 hosts ")
    assert "about" not in strata.statement
    assert strata.warnings[0].startswith("The coverage has grade C: of all URLs its range is known")


def test_small_hosts_that_are_alike_are_better_known_for_being_many(simulate):
    archive = simulate(np.random.default_rng(7), [500] * 40, [0.4] * 40, [0.7] * 40, 6)
    found = by_name(estimate_strata(archive.counts, archive.estimates))
    truth = np.log(archive.coverage[:, -1])
    alone = fit_strata(archive.counts.n_shared, np.arange(6) * 183 / 365.25).level[:, -1]
    pooled = np.log([found[f"h{k}"].coverage.value for k in range(40)])
    assert np.std(pooled - truth) < 0.75 * np.std(alone - truth)


@pytest.mark.parametrize("n_crawls", [1, 2])
def test_where_the_archive_has_no_coverage_its_hosts_have_sizes_and_a_reason(
    n_crawls, make_counts, uneven
):
    shared = np.full((2, n_crawls, n_crawls), 40) + 60 * np.eye(n_crawls, dtype=int)
    unknown = Estimate.unknown("two crawls give only a product")
    newest = replace(uneven.estimates.newest, coverage=unknown, population=unknown)
    estimates = None if n_crawls == 1 else replace(uneven.estimates, newest=newest)
    strata = estimate_strata(make_counts(shared), estimates)
    reason = "one crawl tells nothing of coverage" if n_crawls == 1 else "only a product"
    for stratum in strata.strata:
        assert stratum.n_urls == 100
        for number in (stratum.coverage, stratum.population, stratum.missing):
            assert number.value is None
            assert reason in number.reason
    assert strata.post_stratified.coverage.value is None
    assert strata.statement.startswith("The coverage of no host is known")


def test_three_crawls_give_numbers_without_intervals(simulate):
    archive = simulate(np.random.default_rng(9), [9000] * 5, [0.5] * 5, [0.7] * 5, 3)
    number = estimate_strata(archive.counts, archive.estimates).strata[0].coverage
    assert number.value == pytest.approx(0.5, rel=0.1)
    assert number.low is None
    assert number.reason == archive.estimates.newest.coverage.reason


def test_a_host_that_the_newest_crawl_does_not_hold_is_gone_or_missed(uneven, make_counts):
    shared = uneven.counts.n_shared.copy()
    shared[4, -1], shared[4, :, -1] = 0, 0
    strata = estimate_strata(make_counts(shared), uneven.estimates)
    host = by_name(strata)["h4"]
    assert host.n_urls == 0
    assert host.coverage.value is None
    assert host.coverage.reason == "the newest crawl holds nothing of it: gone, or missed"
    assert host.typical_coverage.value is not None
    assert any(text.startswith("h4: in earlier crawls, but not in c07") for text in strata.warnings)


def test_a_host_that_is_new_is_taken_to_be_as_the_others_with_a_wide_range(simulate, make_counts):
    chances = np.linspace(0.35, 0.45, 8)
    archive = simulate(np.random.default_rng(3), [3000] * 8, chances, [0.75] * 8, 7)
    shared = archive.counts.n_shared.copy()
    shared[3, :-1, :], shared[3, :, :-1] = 0, 0
    found = by_name(estimate_strata(make_counts(shared), archive.estimates))
    widths = {name: s.coverage.value / s.coverage.low for name, s in found.items()}
    assert found["h3"].note == "taken to be as the others: its overlaps do not tell"
    assert widths.pop("h3") > max(widths.values())


def test_a_range_wider_than_a_factor_of_ten_is_no_number(uneven, make_counts):
    shared = uneven.counts.n_shared.copy()
    shared[3, :-1, :], shared[3, :, :-1] = 0, 0
    host = by_name(estimate_strata(make_counts(shared), uneven.estimates))["h3"]
    for number in (host.coverage, host.population, host.missing):
        assert number.value is None
        assert "wider than a factor of ten" in number.reason


def test_a_relaunch_makes_the_range_of_a_host_wide(simulate, make_counts):
    rng = np.random.default_rng(11)
    archive = simulate(rng, [6000] * 15, np.linspace(0.1, 0.8, 15), [0.75] * 15, 9)
    shared = archive.counts.n_shared.copy()
    shared[2, :5, 5:] //= 20
    shared[2, 5:, :5] //= 20
    strata = by_name(estimate_strata(make_counts(shared), archive.estimates))
    widths = {name: s.coverage.value / s.coverage.low for name, s in strata.items()}
    assert widths.pop("h2") > 1.1 * max(widths.values())


def test_a_sample_is_scaled_up_and_has_wider_ranges(uneven, make_counts):
    whole = estimate_strata(uneven.counts, uneven.estimates)
    part = make_counts(uneven.counts.n_shared, rate=0.01)
    crawls = tuple(replace(crawl, n_urls=100 * crawl.n_urls) for crawl in part.crawls)
    newest = uneven.estimates.newest
    n_urls = crawls[-1].n_urls
    estimates = graded(uneven.estimates, "B", newest.coverage, n_urls)
    sampled = by_name(estimate_strata(replace(part, crawls=crawls), estimates))
    for one in whole.strata:
        other = sampled[one.name]
        assert other.n_urls == pytest.approx(100 * one.n_urls, rel=0.01)
        assert other.coverage.value == pytest.approx(one.coverage.value, rel=0.05)
        assert other.coverage.high - other.coverage.low > one.coverage.high - one.coverage.low


def test_a_mixture_of_small_hosts_counts_as_less_covered_than_it_looks(uneven, make_counts):
    names = [Stratum(name=f"h{k}") for k in range(12)]
    names[5] = Stratum(name="other hosts", n_pooled=70, mixing=1.3)
    pooled = tuple(names)
    counts = make_counts(uneven.counts.n_shared, strata=pooled)
    found = by_name(estimate_strata(counts, uneven.estimates))
    plain = by_name(estimate_strata(uneven.counts, uneven.estimates))
    before = plain["h5"].coverage.value / plain["h3"].coverage.value
    after = found["other hosts"].coverage.value / found["h3"].coverage.value
    assert before / after == pytest.approx(1.3)


def test_a_host_that_may_be_anything_takes_nothing_from_the_others(uneven, make_counts):
    names = [Stratum(name=f"h{k}") for k in range(12)]
    names[5] = Stratum(name="other hosts", n_pooled=70, mixing=20.0)
    counts = make_counts(uneven.counts.n_shared, strata=tuple(names))
    strata = estimate_strata(counts, uneven.estimates)
    plain = by_name(estimate_strata(uneven.counts, uneven.estimates))
    for stratum in strata.strata:
        if stratum.name != "other hosts":
            before = plain[stratum.name].coverage.value
            assert stratum.coverage.value == pytest.approx(before, rel=0.05)
    assert by_name(strata)["other hosts"].note.startswith("taken to be as the others")


@pytest.mark.parametrize("value", [0.97, 1.04])
def test_no_host_is_covered_more_than_fully(uneven, value):
    n_urls = uneven.counts.crawls[-1].n_urls
    ends = {"low": 0.9, "high": 1.1, "basis": "interval"}
    estimates = graded(uneven.estimates, "B", Estimate(value=value, **ends), n_urls)
    strata = estimate_strata(uneven.counts, estimates)
    for stratum in strata.strata:
        assert 0 < stratum.coverage.low <= stratum.coverage.value <= stratum.coverage.high <= 1
        assert stratum.population.low >= stratum.n_urls - 1
    total = sum(stratum.population.value for stratum in strata.strata)
    assert total == pytest.approx(max(n_urls / value, n_urls))


def test_a_coverage_that_is_surely_impossible_gives_no_numbers(uneven):
    impossible = Estimate(value=2.7, low=1.5, high=4.8, basis="interval")
    estimates = graded(uneven.estimates, "none", impossible, uneven.counts.crawls[-1].n_urls)
    strata = estimate_strata(uneven.counts, estimates)
    assert all(stratum.coverage.value is None for stratum in strata.strata)
    assert "the model gives what is impossible" in strata.statement


def test_damaged_input_is_told(uneven, make_counts):
    counts = make_counts(uneven.counts.n_shared, damaged=(2,))
    warnings = estimate_strata(counts, graded(uneven.estimates, "A")).warnings
    assert warnings == ("c02: part of the input was damaged and is not counted.",)


def test_no_overlap_at_all_leaves_every_host_as_the_whole(uneven, make_counts):
    shared = np.zeros((2, 8, 8), dtype=int) + 300 * np.eye(8, dtype=int)
    strata = estimate_strata(make_counts(shared), uneven.estimates)
    for stratum in strata.strata:
        assert stratum.coverage.value == pytest.approx(uneven.estimates.newest.coverage.value)
        assert stratum.coverage.low is None
