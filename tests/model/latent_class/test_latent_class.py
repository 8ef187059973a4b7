"""Simulated populations whose classes, lifetimes and trap response are known."""

import math

import numpy as np
import pytest

from crawlgauge.model.histories import latent_class
from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.latent_class import fit_latent_class, latent_class_row

HALF_YEARS = np.arange(8) * 0.5
EVEN = ((1.0, 0.73, 0.4),)
TWO_CLASSES = ((0.4, 0.85, 0.6), (0.6, 0.6, 0.15))


def histories(captured, counts, years):
    captured = np.asarray(captured, dtype=bool)
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=(captured * bits).sum(axis=1, dtype=np.uint64),
        counts=np.asarray(counts, dtype=float),
        years=np.asarray(years, dtype=float),
    )


def capture(seed, classes, *, years=HALF_YEARS, n_alive=60_000, levels=None, trap=1.0, lags=0):
    """Capture a population of constant size; return the histories and the true coverage.

    Each class has a share of the living, a persistence per year and a chance of capture. What was
    captured in one of the last crawls has its chance multiplied by `trap`.
    """
    rng = np.random.default_rng(seed)
    share, persistence, chance = np.array(classes).T
    levels = np.ones(len(years)) if levels is None else levels
    kind = rng.choice(len(share), n_alive, p=share)
    seen = np.zeros((n_alive, len(years)), dtype=bool)
    alive = np.arange(n_alive)
    for j in range(len(years)):
        if j and years[j] > years[j - 1]:
            survival = persistence ** (years[j] - years[j - 1])
            alive = alive[rng.random(n_alive) < survival[kind[alive]]]
            n_born = n_alive - alive.size
            # Deaths are made up for in each class: its share of the living stays the same.
            born = share * (1 - survival) + 1e-12
            alive = np.concatenate([alive, np.arange(kind.size, kind.size + n_born)])
            kind = np.concatenate([kind, rng.choice(len(share), n_born, p=born / born.sum())])
            seen = np.concatenate([seen, np.zeros((n_born, len(years)), dtype=bool)])
        p = chance[kind[alive]] * levels[j]
        lately = seen[alive, max(0, j - lags) : j].any(axis=1)
        seen[alive, j] = rng.random(n_alive) < np.where(lately, p * trap, p)
    distinct, counts = np.unique(seen[seen.any(axis=1)], axis=0, return_counts=True)
    return histories(distinct, counts, years), seen.sum(axis=0) / n_alive


def ratios(fit, truth):
    return np.exp(fit.log_coverage) / truth


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_two_classes_are_found_with_their_coverage(seed):
    data, truth = capture(seed, TWO_CLASSES)
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.n_classes == 2
    assert np.isnan(fit.log_coverage[0])
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.07)
    assert fit.class_shares == pytest.approx([0.4, 0.6], abs=0.03)
    assert fit.class_captures == pytest.approx([0.6, 0.15], abs=0.03)
    assert np.exp(fit.class_log_persistence) == pytest.approx([0.85, 0.6], abs=0.04)
    assert math.exp(fit.log_persistence) == pytest.approx(0.4 * 0.85 + 0.6 * 0.6, abs=0.03)
    assert fit.rmsea < 0.004
    assert fit.cohort_shares.shape == (3, 2)
    assert fit.cohort_shares.sum(axis=1) == pytest.approx(np.ones(3))
    # Of the stock's first captures most are of the class that is captured most.
    assert fit.cohort_shares[0, 0] == pytest.approx(0.24 / (0.24 + 0.09), abs=0.03)
    assert fit.cohort_shares[2, 0] < fit.cohort_shares[0, 0] - 0.2


def test_one_class_overstates_the_coverage_of_two(monkeypatch):
    data, truth = capture(1, TWO_CLASSES)
    monkeypatch.setattr(latent_class, "why_rejected", lambda _: "not wanted")
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.n_classes == 1
    assert fit.rejected == ("not wanted",)
    assert math.exp(fit.log_typical) > 1.4 * truth.mean()
    # Far beyond what a model that reproduces the histories leaves.
    assert fit.rmsea > 0.012


@pytest.mark.parametrize("trap_lags", [0, 1, 2])
@pytest.mark.parametrize("seed", [6, 7])
def test_an_even_urn_gives_its_coverage_however_many_classes_are_taken(seed, trap_lags):
    data, truth = capture(seed, EVEN)
    fit = fit_latent_class(data, trap_lags=trap_lags)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.04)
    assert math.exp(fit.log_persistence) == pytest.approx(0.73, abs=0.01)
    assert fit.trap_effects == pytest.approx(np.zeros(trap_lags), abs=0.15)
    assert fit.rmsea < 0.002


@pytest.mark.parametrize("seed", [8, 9])
def test_avoidance_of_the_last_crawl_is_allowed_for(seed):
    data, truth = capture(seed, EVEN, trap=0.2, lags=1)
    fit = fit_latent_class(data, trap_lags=1)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.04)
    odds = math.log(0.08 / 0.92) - math.log(0.4 / 0.6)
    assert fit.trap_effects == pytest.approx([odds], abs=0.1)
    assert math.exp(fit_latent_class(data, trap_lags=0).log_typical) < 0.7 * truth.mean()


def test_classes_and_avoidance_are_told_apart():
    data, truth = capture(10, TWO_CLASSES, trap=0.3, lags=1, n_alive=100_000)
    fit = fit_latent_class(data, trap_lags=1)
    assert fit.n_classes == 2
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.1)


@pytest.mark.parametrize("lags", [1, 2])
def test_perfect_avoidance_hides_the_first_crawls_only(lags):
    data, truth = capture(11, EVEN, trap=0.0, lags=lags)
    fit = fit_latent_class(data, trap_lags=lags)
    assert np.isnan(fit.log_coverage[: 1 + lags]).all()
    assert ratios(fit, truth)[1 + lags :] == pytest.approx(np.ones(7 - lags), abs=0.04)


def test_intervals_may_differ_and_dates_repeat():
    years = np.array([0, 0.1, 0.9, 1.0, 1.0, 2.5, 2.6, 3.2])
    levels = np.array([1, 0.5, 1.2, 0.8, 1, 1.5, 0.7, 1])
    data, truth = capture(12, EVEN, years=years, levels=levels)
    fit = fit_latent_class(data, trap_lags=0)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.03)
    assert math.exp(fit.log_persistence) == pytest.approx(0.73, abs=0.01)


def test_crawls_of_a_day_after_the_other_know_their_turnover():
    years = np.arange(8) / 365.25
    data, truth = capture(13, ((1.0, 1e-40, 0.4),), years=years)
    fit = fit_latent_class(data, trap_lags=0)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.03)
    assert fit.log_persistence == pytest.approx(-40 * math.log(10), rel=0.03)


def test_a_class_that_is_hardly_ever_captured_is_rejected():
    data, _ = capture(9, ((0.2, 0.73, 0.7), (0.8, 0.73, 0.008)), n_alive=100_000)
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.n_classes == 1
    assert "too rarely to tell" in fit.rejected[0]
    # What is left is the coverage of the URLs that can be captured at all.
    assert math.exp(fit.log_typical) == pytest.approx(0.7, abs=0.03)
    assert fit.rmsea > 0.01


def test_a_crawl_that_shares_nothing_is_left_out_of_account():
    data, truth = capture(14, EVEN)
    foreign = np.arange(8) == 4
    captured = np.concatenate([data.captured & ~foreign, [foreign]])
    counts = np.concatenate([data.counts, [20_000]])
    some = captured.any(axis=1)
    distinct, where = np.unique(captured[some], axis=0, return_inverse=True)
    merged = histories(distinct, np.bincount(where.ravel(), counts[some]), data.years)
    fit = fit_latent_class(merged, trap_lags=0)
    assert list(np.isnan(fit.log_coverage)) == [j in (0, 4) for j in range(8)]
    known = [1, 2, 3, 5, 6, 7]
    assert ratios(fit, truth)[known] == pytest.approx(np.ones(6), abs=0.04)


@pytest.mark.parametrize("classes", [((1.0, 0.73, 1.0),), ((1.0, 1.0, 0.4),), ((1.0, 1.0, 1.0),)])
def test_full_coverage_and_eternal_life_are_found(classes):
    data, truth = capture(15, classes)
    fit = fit_latent_class(data, trap_lags=0)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.02)
    assert math.exp(fit.log_persistence) == pytest.approx(classes[0][1], abs=0.01)


def test_with_full_coverage_a_trap_response_cannot_be_known():
    data, _ = capture(15, ((1.0, 0.73, 1.0),))
    assert fit_latent_class(data, trap_lags=1) is None


@pytest.mark.parametrize(("n_crawls", "trap_lags"), [(2, 0), (3, 0), (4, 0), (5, 2)])
def test_too_few_crawls_give_no_fit(n_crawls, trap_lags):
    data, _ = capture(16, EVEN, years=HALF_YEARS[:n_crawls], n_alive=5000)
    assert fit_latent_class(data, trap_lags=trap_lags) is None


def test_without_time_or_recaptures_there_is_no_fit():
    same_date, _ = capture(17, EVEN, years=np.zeros(8), n_alive=5000)
    assert fit_latent_class(same_date, trap_lags=0) is None
    for captured in (np.eye(8), np.eye(8)[:1], np.eye(8)[-1:]):
        alone = histories(captured, np.full(len(captured), 1000), HALF_YEARS)
        assert fit_latent_class(alone, trap_lags=0) is None


def test_few_urls_give_a_fit_without_alarm():
    for seed in range(5):
        data, _ = capture(seed, TWO_CLASSES, n_alive=150)
        fit = fit_latent_class(data, trap_lags=2)
        assert fit is None or np.nanmax(fit.log_coverage) < 0.5


def test_more_trap_lags_than_five_are_refused():
    data, _ = capture(18, EVEN, n_alive=1000)
    with pytest.raises(ValueError, match="trap_lags must be 0 to 5"):
        fit_latent_class(data, trap_lags=6)


def test_avoidance_of_four_crawls_is_allowed_for():
    data, truth = capture(21, EVEN, years=np.arange(10) * 0.5, trap=0.1, lags=4, n_alive=30_000)
    fit = fit_latent_class(data, trap_lags=4)
    assert ratios(fit, truth)[5:] == pytest.approx(np.ones(5), abs=0.1)
    assert np.all(fit.trap_effects < -1.5)
    assert "in the 4 following crawls" in latent_class_row(fit, data.sizes).assumes


def test_too_many_histories_are_sampled_and_the_answer_stays(monkeypatch):
    data, truth = capture(19, TWO_CLASSES, years=np.arange(12) * 0.5)
    whole = fit_latent_class(data, trap_lags=0)
    monkeypatch.setattr(latent_class, "_MAX_HISTORIES", 2500)
    sampled = fit_latent_class(data, trap_lags=0)
    assert whole.sample_rate == 1
    assert sampled.sample_rate < 0.5
    assert sampled.n_urls == pytest.approx(sampled.sample_rate * whole.n_urls, rel=0.02)
    assert sampled.n_classes == 2
    assert sampled.log_typical == pytest.approx(whole.log_typical, abs=0.07)
    assert ratios(sampled, truth)[1:] == pytest.approx(np.ones(11), abs=0.12)


def test_pooling_rare_histories_frees_the_error_of_approximation_from_their_rarity():
    data, _ = capture(20, EVEN, years=np.arange(15) * 0.5, n_alive=10_000)
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.rmsea > 0.008
    assert fit.rmsea_pooled < 0.003
    common, _ = capture(1, TWO_CLASSES)
    fit = fit_latent_class(common, trap_lags=0)
    assert fit.rmsea_pooled == pytest.approx(fit.rmsea, rel=0.1)


def test_the_row_holds_the_numbers_of_the_fit():
    data, _ = capture(1, TWO_CLASSES, n_alive=20_000)
    fit = fit_latent_class(data, trap_lags=1)
    n_urls = 10 * data.sizes
    row = latent_class_row(fit, n_urls)
    assert row.name == "latent-class"
    assert row.per_crawl[0] is None
    assert row.per_crawl[1:] == pytest.approx(np.exp(fit.log_coverage[1:]))
    assert row.coverage == pytest.approx(np.exp(np.mean(fit.log_coverage[1:-1])))
    assert row.population == pytest.approx(n_urls[-1] / row.per_crawl[-1])
    assert row.persistence == pytest.approx(math.exp(fit.log_persistence))
    assert "in the following crawl" in row.assumes


def test_there_is_no_row_without_a_fit():
    assert latent_class_row(None, np.ones(8)) is None
