"""Simulated archives: the estimate finds a truth it was not told, or says that it cannot."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.known_alive.results import KnownAliveFit, LatentClassLevel, NoKnownAlive
from crawlgauge.model.known_alive.rule import fit_known_alive


def holds(band, truth):
    return band.low <= truth <= band.high


def repeat(data, years=None, **changes):
    """Return the same histories at other dates."""
    parts = {
        "captured": data.captured,
        "masks": data.masks,
        "counts": data.counts,
        "years": data.years if years is None else np.array(years, dtype=float),
    }
    return HistoryData(**(parts | changes))


@pytest.mark.parametrize("seed", [61, 62, 63])
def test_even_capture_is_found_within_3_percent_and_trusted(make_archive, seed):
    archive = make_archive(seed, n_crawls=7 + seed % 3)
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.03)
    assert fit.log_coverage[1:-1] == pytest.approx(np.log(archive.coverage[1:-1]), abs=0.06)
    assert fit.newest.value == pytest.approx(math.log(archive.coverage[-1]), abs=0.1)
    assert (fit.trap_lags, fit.revisits) == (0, ())
    assert fit.family == "even capture"
    assert fit.grade == "A"
    assert holds(fit.typical, archive.log_typical)


@pytest.mark.parametrize("seed", [64, 65])
def test_uneven_capture_is_seen_and_corrected(make_archive, seed):
    archive = make_archive(seed, sigma=0.8)
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.gain > 6
    # Even capture would overstate coverage by nearly a half.
    assert fit.log_plain - archive.log_typical > 0.3
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.18)
    assert holds(fit.typical, archive.log_typical)


@pytest.mark.parametrize("seed", [66, 67])
def test_avoidance_is_seen_measured_and_corrected(make_archive, seed):
    archive = make_archive(seed, coverage=0.25, avoidance=(0.9,))
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.trap_lags == 1
    assert fit.revisits[0].crawls_since == 1
    assert fit.revisits[0].effect < -1.5
    assert fit.revisits[0].chance_ratio == pytest.approx(0.1, abs=0.03)
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.1)
    assert holds(fit.typical, archive.log_typical)


def test_avoidance_of_two_crawls_is_told_from_that_of_one(make_archive):
    archive = make_archive(68, coverage=0.25, avoidance=(0.9, 0.9))
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.trap_lags == 2
    assert [effect.chance_ratio for effect in fit.revisits] == pytest.approx([0.1, 0.1], abs=0.05)
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.1)
    assert holds(fit.typical, archive.log_typical)


@pytest.mark.parametrize("seed", [69, 70])
def test_reseeding_is_seen_and_corrected(make_archive, seed):
    archive = make_archive(seed, reseeding=0.2)
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.trap_lags == 1
    assert fit.revisits[0].chance_ratio > 1.1
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.05)
    assert holds(fit.typical, archive.log_typical)


def test_survival_that_changes_in_bulk_does_not_matter(make_archive):
    archive = make_archive(71, n_crawls=7, survival=[0.97, 0.95, 0.5, 0.97, 0.6, 0.9])
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.03)
    assert fit.log_coverage[1:-1] == pytest.approx(np.log(archive.coverage[1:-1]), abs=0.06)


def test_perfect_avoidance_leaves_an_estimate(make_archive):
    archive = make_archive(72, coverage=0.3, avoidance=(1.0,))
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.trap_lags == 1
    assert fit.revisits[0].chance_ratio < 0.02
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.15)
    assert holds(fit.typical, archive.log_typical)


@pytest.mark.parametrize("coverage", [0.99, 1.0])
def test_coverage_next_to_1_is_no_obstacle(make_archive, coverage):
    archive = make_archive(73, n_alive=3000, coverage=coverage)
    fit = fit_known_alive(archive.data, latent_class=None)
    assert math.exp(fit.log_typical) == pytest.approx(coverage, abs=0.01)
    assert fit.typical.high <= 0


def test_lists_whose_members_go_absent_for_a_while_are_not_trusted(make_archive, count_histories):
    """All that is alive is captured; a hundredth of it is away for some crawls on end."""
    rng = np.random.default_rng(81)
    archive = make_archive(81, n_alive=8000, n_crawls=9, coverage=1.0, survival=0.95)
    rows = np.repeat(archive.data.captured, archive.data.counts.astype(int), axis=0)
    rows = rows[rng.permutation(len(rows))]
    for row, start in zip(rows[:150], rng.integers(1, 5, 150), strict=True):
        row[start : start + 3] = False
    fit = fit_known_alive(count_histories(rows, archive.data.years), latent_class=None)
    assert fit.trap_lags > 0
    assert fit.run_gap > 0.1
    assert fit.grade == "C"
    assert "long runs" in fit.grade_reason
    assert fit.typical.high == pytest.approx(0, abs=0.02)


def test_equal_histories_are_full_coverage(make_data):
    fit = fit_known_alive(make_data({"111111": 5000}), latent_class=None)
    assert math.exp(fit.log_typical) == pytest.approx(1, abs=0.001)
    assert fit.gain < 6
    assert fit.uneven_effect == pytest.approx(0, abs=0.001)


def test_an_empty_crawl_is_left_out_and_has_no_coverage(make_archive):
    archive = make_archive(74, n_crawls=8, coverage=[0.4, 0.4, 0.4, 0.0, 0.4, 0.4, 0.4, 0.4])
    fit = fit_known_alive(archive.data, latent_class=None)
    assert np.isnan(fit.log_coverage[[0, 3]]).all()
    known = [1, 2, 4, 5, 6]
    assert fit.log_coverage[known] == pytest.approx(np.log(archive.coverage[known]), abs=0.06)


def test_crawls_of_one_date_are_allowed(make_archive):
    archive = make_archive(75, n_crawls=6, survival=1.0)
    for years in ([0, 0, 0, 0, 0, 0], [0, 0.5, 0.5, 1.0, 1.0, 1.0]):
        fit = fit_known_alive(repeat(archive.data, years), latent_class=None)
        assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.05)


def test_small_archives_are_graded_c(make_archive):
    archive = make_archive(76, n_alive=300, n_crawls=6)
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.grade == "C"
    assert "distinct URLs" in fit.grade_reason
    assert holds(fit.typical, archive.log_typical)


def test_a_handful_of_urls_breaks_nothing(make_data):
    fit = fit_known_alive(make_data({"11011": 2, "10101": 1, "01110": 3}), latent_class=None)
    assert isinstance(fit, NoKnownAlive) or fit.grade == "C"


def test_four_crawls_are_too_few(make_data):
    found = fit_known_alive(make_data({"1111": 50, "1011": 9, "1101": 8}), latent_class=None)
    assert isinstance(found, NoKnownAlive)
    assert "4 crawls" in found.reason


def test_crawls_that_share_nothing_have_no_window(make_data):
    alone = {"0" * j + "1" + "0" * (5 - j): 100 for j in range(6)}
    found = fit_known_alive(make_data(alone), latent_class=None)
    assert isinstance(found, NoKnownAlive)
    assert "no URL is captured by two crawls" in found.reason


def test_the_other_model_is_asked_with_the_traps_length_and_shifts_the_level(make_archive):
    archive = make_archive(77, n_alive=6000, coverage=0.3, avoidance=(0.8,))
    alone = fit_known_alive(archive.data, latent_class=None)
    asked = []

    def other(lags):
        asked.append(lags)
        return LatentClassLevel(log_coverage=alone.log_coverage - 0.1, rmsea=0.0)

    fit = fit_known_alive(archive.data, latent_class=other)
    assert isinstance(fit, KnownAliveFit)
    assert alone.consistency > -1
    assert asked == [1]
    assert fit.latent_difference == pytest.approx(-0.1)
    assert fit.latent_weight == pytest.approx(min(0.35 + alone.consistency / 4, 1.0))
    shift = fit.log_coverage - alone.log_coverage
    assert shift[1:] == pytest.approx(-0.1 * fit.latent_weight)


def test_the_same_histories_give_the_same_estimate(make_archive):
    data = make_archive(78, n_alive=2000, n_crawls=6).data
    once, twice = (fit_known_alive(data, latent_class=None) for _ in range(2))
    assert once.typical == twice.typical
    assert np.array_equal(once.log_coverage, twice.log_coverage, equal_nan=True)


def test_a_sample_of_the_urls_gives_the_same_coverage(make_archive):
    data = make_archive(79, n_alive=40_000).data
    rng = np.random.default_rng(79)
    kept = rng.binomial(data.counts.astype(np.int64), 0.25)
    sample = replace(
        data,
        captured=data.captured[kept > 0],
        masks=data.masks[kept > 0],
        counts=kept[kept > 0].astype(np.float64),
        sample_rate=0.25,
    )
    whole, part = (fit_known_alive(item, latent_class=None) for item in (data, sample))
    assert part.log_typical == pytest.approx(whole.log_typical, abs=0.03)


@pytest.mark.slow
def test_sixty_four_crawls_are_done_within_two_minutes(make_archive):
    archive = make_archive(80, n_alive=4000, n_crawls=64, survival=0.93)
    fit = fit_known_alive(archive.data, latent_class=None)
    assert fit.log_typical == pytest.approx(archive.log_typical, abs=0.05)
    assert holds(fit.typical, archive.log_typical)
