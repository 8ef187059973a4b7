"""Simulated archives: windows find a coverage they were not told, and the crawler's memory."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.histories.known_alive import fit_known_alive
from crawlgauge.model.histories.window_model import N_GROUPS


def typical(fit):
    return float(np.nanmean(fit.log_coverage[1:-1]))


@pytest.mark.parametrize("seed", [61, 62, 63])
def test_even_capture_is_found_within_3_percent(make_archive, seed):
    archive = make_archive(seed, n_crawls=7 + seed % 3)
    fit = fit_known_alive(archive.data)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.03)
    assert fit.log_coverage[1:-1] == pytest.approx(np.log(archive.coverage[1:-1]), abs=0.06)
    assert np.isnan(fit.log_coverage[[0, -1]]).all()
    assert (fit.trap_lags, fit.revisits) == (0, ())
    assert (fit.is_uneven, fit.avoids, fit.attracts) == (False, False, False)
    assert fit.misfit < 0.001


@pytest.mark.parametrize("seed", [64, 65])
def test_uneven_capture_is_seen_and_corrected(make_archive, seed):
    archive = make_archive(seed, sigma=0.8)
    fit = fit_known_alive(archive.data)
    assert fit.is_uneven
    assert fit.gain > 6
    # Even capture would overstate coverage by nearly a half.
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.2)


@pytest.mark.parametrize("seed", [66, 67])
def test_avoidance_is_seen_measured_and_corrected(make_archive, seed):
    archive = make_archive(seed, coverage=0.25, avoidance=(0.9,))
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 1
    assert fit.avoids
    assert not fit.attracts
    assert fit.revisits[0].crawls_since == 1
    assert fit.revisits[0].effect < -1.5
    assert fit.revisits[0].chance_ratio == pytest.approx(0.1, abs=0.03)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.1)


def test_avoidance_of_two_crawls_is_told_from_that_of_one(make_archive):
    archive = make_archive(68, coverage=0.25, avoidance=(0.9, 0.9))
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 2
    assert [effect.chance_ratio for effect in fit.revisits] == pytest.approx([0.1, 0.1], abs=0.05)
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.1)


@pytest.mark.parametrize("lags", [3, 4])
def test_a_longer_avoidance_is_taken_where_it_reproduces_the_windows(make_archive, lags):
    archive = make_archive(82, n_crawls=9, coverage=0.3, avoidance=(0.95,) * lags, survival=0.93)
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == lags
    assert fit.avoids
    assert len(fit.revisits) == lags
    assert fit.misfit <= 0.0015
    assert typical(fit) == pytest.approx(archive.log_typical, abs=0.15)


def test_crawls_in_rotation_are_no_long_memory(count_histories):
    """Each URL is due every third crawl: no memory reproduces that, and none is claimed."""
    rng = np.random.default_rng(83)
    turn = rng.integers(0, 3, 20_000)
    due = turn[:, None] == np.arange(9) % 3
    seen = rng.random(due.shape) < np.where(due, 0.9, 0.1)
    fit = fit_known_alive(count_histories(seen, np.arange(9) / 2))
    assert fit.trap_lags <= 2
    assert fit.misfit > 0.02


@pytest.mark.parametrize("seed", [69, 70])
def test_reseeding_is_seen_and_corrected(make_archive, seed):
    archive = make_archive(seed, reseeding=0.2)
    fit = fit_known_alive(archive.data)
    assert fit.trap_lags == 1
    assert fit.attracts
    assert not fit.avoids
    assert fit.revisits[0].chance_ratio > 1.1
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
    assert fit.revisits[0].chance_ratio < 0.02
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
    assert fit is None or 0 <= fit.sampling_sd <= 0.6


def test_crawls_that_share_nothing_have_no_window(make_data):
    alone = {"0" * j + "1" + "0" * (5 - j): 100 for j in range(6)}
    assert fit_known_alive(make_data(alone)) is None


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
        data = count_histories(seen, np.arange(n_crawls) / 2)
        grouped = replace(data, by_host_group=group_by_host(seen, host % N_GROUPS))
        ratio = fit_known_alive(grouped).sampling_sd / fit_known_alive(data).sampling_sd
        assert (ratio > 1.5) == is_wider


@pytest.mark.slow
def test_sixty_four_crawls_are_done_within_two_minutes(make_archive):
    archive = make_archive(80, n_alive=4000, n_crawls=64, survival=0.93)
    assert typical(fit_known_alive(archive.data)) == pytest.approx(archive.log_typical, abs=0.05)
