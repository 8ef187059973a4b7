"""Simulated archives: windows find a coverage they were not told, and the crawler's memory."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.histories.known_alive import (
    N_GROUPS,
    WindowModel,
    capture_table,
    count_alive,
    count_windows,
    fit_known_alive,
    fit_windows,
    state_shares,
    vectors_without_groups,
)


def typical(fit):
    return float(np.nanmean(fit.log_coverage[1:-1]))


@pytest.mark.parametrize("seed", [61, 62, 63])
def test_even_capture_is_found_within_3_percent(make_archive, seed):
    archive = make_archive(seed, n_crawls=7 + seed % 3)
    fit = fit_known_alive(archive.data)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.03)
    assert fit.log_coverage[1:-1] == pytest.approx(np.log(archive.coverage[1:-1]), abs=0.06)
    assert np.isnan(fit.log_coverage[[0, -1]]).all()
    assert fit.revisits == ()
    assert (fit.is_uneven, fit.avoids, fit.attracts) == (False, False, False)
    assert fit.misfit < 0.001


@pytest.mark.parametrize("seed", [64, 65])
def test_uneven_capture_is_seen_and_corrected(make_archive, seed):
    archive = make_archive(seed, sigma=0.8)
    fit = fit_known_alive(archive.data)
    assert fit.is_uneven
    # Even capture would overstate coverage by nearly a half.
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.2)


@pytest.mark.parametrize("seed", [66, 67])
def test_avoidance_is_seen_measured_and_corrected(make_archive, seed):
    archive = make_archive(seed, coverage=0.25, avoidance=(0.9,))
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 1
    assert fit.avoids
    assert not fit.attracts
    assert fit.revisits == pytest.approx([0.1], abs=0.03)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.1)


def test_avoidance_of_two_crawls_is_told_from_that_of_one(make_archive):
    archive = make_archive(68, coverage=0.25, avoidance=(0.9, 0.9))
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 2
    assert fit.revisits == pytest.approx([0.1, 0.1], abs=0.05)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.1)


@pytest.mark.parametrize("lags", [3, 4])
def test_a_longer_avoidance_is_taken_where_it_reproduces_the_windows(make_archive, lags):
    archive = make_archive(82, n_crawls=9, coverage=0.3, avoidance=(0.95,) * lags, survival=0.93)
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == lags
    assert fit.avoids
    assert fit.misfit <= 0.0015
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.15)


def test_crawls_in_rotation_are_no_long_memory(count_histories):
    """Each URL is due every third crawl: no memory reproduces that, and none is claimed."""
    rng = np.random.default_rng(83)
    turn = rng.integers(0, 3, 20_000)
    due = turn[:, None] == np.arange(9) % 3
    seen = rng.random(due.shape) < np.where(due, 0.9, 0.1)
    fit = fit_known_alive(count_histories(seen))
    assert fit.trap_lags <= 2
    assert fit.misfit > 0.02


@pytest.mark.parametrize("seed", [69, 70])
def test_reseeding_is_seen_and_corrected(make_archive, seed):
    archive = make_archive(seed, reseeding=0.2)
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 1
    assert fit.attracts
    assert not fit.avoids
    assert fit.revisits[0] > 1.1
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.05)


def test_survival_that_changes_in_bulk_does_not_matter(make_archive):
    archive = make_archive(71, n_crawls=7, survival=[0.97, 0.95, 0.5, 0.97, 0.6, 0.9])
    fit = fit_known_alive(archive.data)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.03)
    assert fit.log_coverage[1:-1] == pytest.approx(np.log(archive.coverage[1:-1]), abs=0.06)


def test_perfect_avoidance_leaves_an_estimate(make_archive):
    archive = make_archive(72, coverage=0.3, avoidance=(1.0,))
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 1
    assert fit.revisits[0] < 0.02
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.15)


@pytest.mark.parametrize("coverage", [0.99, 1.0])
def test_coverage_next_to_1_is_no_obstacle(make_archive, coverage):
    fit = fit_known_alive(make_archive(73, n_alive=3000, coverage=coverage).data)
    assert math.exp(typical(fit)) == pytest.approx(coverage, abs=0.01)


def test_urls_that_go_absent_for_a_while_look_like_attraction(make_archive, count_histories):
    """All that is alive is captured; a hundredth of it is away for some crawls on end."""
    rng = np.random.default_rng(81)
    archive = make_archive(81, n_alive=8000, n_crawls=9, coverage=1.0, survival=0.95)
    rows = np.repeat(archive.data.captured, archive.data.counts.astype(int), axis=0)
    rows = rows[rng.permutation(len(rows))]
    for row, start in zip(rows[:150], rng.integers(1, 5, 150), strict=True):
        row[start : start + 3] = False
    assert fit_known_alive(count_histories(rows, archive.data.years)).attracts


def test_equal_histories_are_full_coverage(make_data):
    fit = fit_known_alive(make_data({"111111": 5000}))
    assert math.exp(typical(fit)) == pytest.approx(1, abs=0.001)
    assert not fit.is_uneven


def test_crawls_of_one_date_are_allowed(make_archive):
    archive = make_archive(75, n_crawls=6, survival=1.0)
    for years in ([0, 0, 0, 0, 0, 0], [0, 0.5, 0.5, 1.0, 1.0, 1.0]):
        fit = fit_known_alive(replace(archive.data, years=np.array(years, dtype=float)))
        assert typical(fit) == pytest.approx(archive.log_typical, abs=0.05)


def test_a_handful_of_urls_breaks_nothing(make_data):
    fit = fit_known_alive(make_data({"11011": 2, "10101": 1, "01110": 3}))
    assert 0 <= fit.sampling_sd <= 0.6


def test_crawls_that_share_nothing_have_no_window(make_data):
    alone = {"0" * j + "1" + "0" * (5 - j): 100 for j in range(6)}
    assert np.isnan(fit_known_alive(make_data(alone)).log_coverage).all()


def test_the_same_histories_give_the_same_estimate(make_archive):
    data = make_archive(78, n_alive=2000, n_crawls=6).data
    once, twice = (fit_known_alive(data) for _ in range(2))
    assert np.array_equal(once.log_coverage, twice.log_coverage, equal_nan=True)
    assert once.sampling_sd == twice.sampling_sd


def test_a_sample_of_the_urls_gives_the_same_coverage(make_archive):
    data = make_archive(79, n_alive=40_000).data
    kept = np.random.default_rng(79).binomial(data.counts.astype(np.int64), 0.25)
    sample = replace(
        data,
        captured=data.captured[kept > 0],
        masks=data.masks[kept > 0],
        counts=kept[kept > 0].astype(np.float64),
        sample_rate=0.25,
    )
    whole, part = fit_known_alive(data), fit_known_alive(sample)
    assert typical(part) == pytest.approx(typical(whole), abs=0.03)
    assert part.sampling_sd > 1.4 * whole.sampling_sd


def group_by_host(seen, group_of_url):
    """Count the histories of all URLs, and of each group of hosts."""
    bits = np.uint64(1) << np.arange(seen.shape[1], dtype=np.uint64)
    words = (seen * bits).sum(axis=1, dtype=np.uint64)
    masks, row = np.unique(words[words > 0], return_inverse=True)
    by_group = np.zeros((masks.size, N_GROUPS))
    np.add.at(by_group, (row, group_of_url[words > 0]), 1)
    return by_group


def test_hosts_that_are_captured_together_widen_the_sampling_error(count_histories):
    rng = np.random.default_rng(84)
    n_hosts, per_host, n_crawls = 200, 40, 6
    host = np.repeat(np.arange(n_hosts), per_host)
    favour = np.clip(0.4 * np.exp(0.6 * rng.standard_normal((n_hosts, n_crawls))), 0, 0.95)
    for chance, is_wider in ((favour, True), (np.full_like(favour, 0.4), False)):
        seen = rng.random((host.size, n_crawls)) < chance[host]
        data = count_histories(seen)
        grouped = replace(data, by_host_group=group_by_host(seen, host % N_GROUPS))
        ratio = fit_known_alive(grouped).sampling_sd / fit_known_alive(data).sampling_sd
        assert (ratio > 1.5) == is_wider


@pytest.mark.slow
def test_sixty_four_crawls_are_done_within_two_minutes(make_archive):
    archive = make_archive(80, n_alive=4000, n_crawls=64, survival=0.93)
    assert typical(fit_known_alive(archive.data)) == pytest.approx(archive.log_typical, abs=0.05)


# ------------------------------------------------------------------------------- fits of one model


@pytest.fixture(scope="module")
def uneven(make_archive):
    return count_windows(make_archive(21, n_alive=4000, sigma=0.8, n_crawls=7).data)


def even_model(counts):
    return WindowModel(counts, trap_lags=0, is_uneven=False)


@pytest.mark.parametrize("lags", [0, 1, 3])
@pytest.mark.parametrize("is_uneven", [False, True])
def test_no_other_optimiser_finds_a_better_fit(uneven, is_uneven, lags):
    model = WindowModel(uneven, trap_lags=lags, is_uneven=is_uneven)
    fit = fit_windows(model)

    def loss(vector):
        interiors = model.interiors(vector[None], fit.tilt)
        (prior,), slopes = model.log_prior(vector[None])
        return -model.log_likelihood(interiors) - prior, -(model.score(interiors) + slopes)[0]

    bounds = optimize.Bounds(*model.bounds)
    other = optimize.minimize(loss, model.start(), jac=True, method="L-BFGS-B", bounds=bounds)
    assert loss(fit.vector)[0] <= float(other.fun) + 1e-3


def test_even_capture_without_a_trap_gives_each_crawl_its_share_of_the_windows(make_archive):
    """Where all URLs are alike, the fit is a share of successes, as Manly and Parr have it."""
    archive = make_archive(22, n_alive=100_000, n_crawls=6, coverage=[0.3, 0.5, 0.2, 0.6, 0.4, 0.5])
    counts = count_windows(archive.data)
    chance = capture_table(fit_windows(even_model(counts)).vector, "logit").hit
    hits, trials = np.zeros(6), np.zeros(6)
    for length, table in enumerate(counts.interiors, start=2):
        n = table[..., 0]
        for inside in range(length - 1):
            held = (np.arange(len(n)) >> inside & 1) == 1
            for first in range(n.shape[1]):
                hits[first + 1 + inside] += n[held, first].sum()
                trials[first + 1 + inside] += n[:, first].sum()
    assert chance == pytest.approx(hits[1:-1] / trials[1:-1], rel=1e-3)
    assert chance == pytest.approx(counts.n_held[1:-1] / counts.n_known[1:-1], rel=0.02)
    assert chance == pytest.approx(archive.coverage[1:-1], rel=0.03)


def test_the_effective_number_of_parameters_counts_overlapping_windows_once(make_archive):
    even = fit_windows(even_model(count_windows(make_archive(23).data)))
    # Each capture stands in several windows: the penalty exceeds the count of parameters.
    assert 1 < even.redundancy < 10


def test_jackknife_errors_are_those_of_repeated_archives(make_archive):
    """Twenty archives of one kind vary as much as the groups of one of them say."""
    fits, errors = [], []
    for seed in range(20):
        counts = count_windows(make_archive(100 + seed, n_alive=2000, n_crawls=6).data)
        fit = fit_windows(even_model(counts))
        fits.append(fit.vector)
        without = vectors_without_groups(fit, counts.group_kinds[0])
        errors.append(np.std(without, axis=0) * np.sqrt(N_GROUPS - 1))
    spread = np.std(fits, axis=0, ddof=1).mean()
    assert np.mean(errors) == pytest.approx(spread, rel=0.3)


def test_a_hundred_times_the_urls_give_the_same_fit(make_archive):
    data = make_archive(25, n_alive=3000, n_crawls=6).data
    once, again = (
        fit_windows(WindowModel(count_windows(some), trap_lags=1, is_uneven=False)).vector
        for some in (data, replace(data, counts=100 * data.counts))
    )
    assert once[:4] == pytest.approx(again[:4], abs=0.05)


# ------------------------------------------------------------------------- URLs alive at each crawl

N_CRAWLS = 5


def state_of(course, crawl, lags):
    """Return the crawls since the last capture; 0 if it was longer ago."""
    earlier = [j for j in range(crawl) if course[j]]
    gap = crawl - earlier[-1] if earlier else lags + 1
    return gap if gap <= lags else 0


def chance_of(course, chances, lags):
    value = np.ones(chances.shape[2])
    for crawl, mark in enumerate(course):
        p = chances[crawl, state_of(course, crawl, lags)]
        value = value * (p if mark else 1 - p)
    return value


@pytest.mark.parametrize("lags", [0, 1, 2, 4])
def test_states_are_those_of_all_courses(lags):
    chances = np.random.default_rng(31).uniform(0.1, 0.8, (N_CRAWLS, lags + 1, 2))
    shares = state_shares(chances[:, :, None], np.zeros((N_CRAWLS, 1)))[:, :, 0]
    by_hand = np.zeros_like(shares)
    for course in itertools.product([False, True], repeat=N_CRAWLS):
        for crawl in range(N_CRAWLS):
            by_hand[crawl, state_of(course, crawl, lags)] += chance_of(course, chances, lags)
    assert shares == pytest.approx(by_hand)


def test_newborn_urls_are_in_no_state_of_the_trap():
    chances = np.random.default_rng(31).uniform(0.1, 0.8, (N_CRAWLS, 3, 2))
    shares = state_shares(chances[:, :, None], np.full((N_CRAWLS, 1), 0.3))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.all(shares[1:, 0] >= 0.3)


@pytest.mark.parametrize("lags", [0, 1, 2])
@pytest.mark.parametrize("is_uneven", [False, True])
def test_expected_captures_of_all_courses_give_back_the_population(make_archive, is_uneven, lags):
    """Nobody is born or dies; the captures expected by the model are counted without noise."""
    n_alive = 50_000
    counts = count_windows(make_archive(35, n_alive=3000, n_crawls=N_CRAWLS, survival=1.0).data)
    model = WindowModel(counts, trap_lags=lags, is_uneven=is_uneven)
    vector = fit_windows(model).vector
    chances = model.chances(vector[None]).hit[:, :, 0]
    by_state, shared = np.zeros((N_CRAWLS, lags + 1)), np.zeros((N_CRAWLS, N_CRAWLS))
    for course in itertools.product([False, True], repeat=N_CRAWLS):
        number = n_alive * chance_of(course, chances, lags) @ model.share
        held = np.flatnonzero(course)
        shared[np.ix_(held, held)] += number
        for crawl in held:
            by_state[crawl, state_of(course, crawl, lags)] += number
    alive = count_alive(model, vector[None], by_state[..., None], shared[..., None])
    assert alive[1:-1] == pytest.approx(n_alive, rel=0.01)
    assert np.isnan(alive[[0, -1]]).all()


@pytest.mark.parametrize("is_uneven", [False, True])
def test_populations_that_turn_over_are_found(make_archive, is_uneven):
    archive = make_archive(32, n_alive=20_000, survival=0.85)
    counts = count_windows(archive.data)
    model = WindowModel(counts, trap_lags=0, is_uneven=is_uneven)
    alive = count_alive(model, fit_windows(model).vector[None], *counts.tallies(0))
    assert alive[1:-1] == pytest.approx(20_000, rel=0.05)


def test_urls_that_are_never_taken_again_are_counted_all_the_same(make_archive):
    archive = make_archive(33, avoidance=(1.0,), coverage=0.3, survival=0.9)
    counts = count_windows(archive.data)
    model = WindowModel(counts, trap_lags=1, is_uneven=False)
    alive = count_alive(model, fit_windows(model).vector[None], *counts.tallies(1))
    assert counts.shared[2, 3, 0] == 0
    # Nothing that the last but one captures is captured by the last: only its size speaks for it.
    assert alive[2:-2] == pytest.approx(20_000, rel=0.1)
