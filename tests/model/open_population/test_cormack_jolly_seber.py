"""The model of Cormack, Jolly and Seber."""

import itertools

import numpy as np
import pytest
from scipy import optimize, special

from crawlgauge.model.histories.cormack_jolly_seber import (
    CjsLikelihood,
    fit_cormack_jolly_seber,
    number_parameters,
)
from crawlgauge.model.histories.data import HistoryData, count_recaptures, history_data
from crawlgauge.simulate.urn_settings import DatePlan, UrnSettings
from crawlgauge.simulate.urn_table import draw_table

YEARS = [0.0, 0.4, 1.5, 1.9, 3.0]
FORMS = list(itertools.product(("common", "by-interval"), ("common", "by-crawl")))


def make_data(captured, counts, years):
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=np.where(captured, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
        counts=np.array(counts, dtype=np.float64),
        years=np.array(years, dtype=np.float64),
    )


def draw_data(seed, years=YEARS, n=3000, alpha=0.6):
    """Draw URLs that are born at any time, die at one rate, and are captured independently."""
    rng = np.random.default_rng(seed)
    years = np.array(years)
    cover = rng.uniform(0.3, 0.8, years.size)
    birth = rng.uniform(-3, years[-1], n)
    death = birth + rng.exponential(-1 / np.log(alpha), n)
    alive = (birth[:, None] <= years) & (death[:, None] > years)
    urls = alive & (rng.random(alive.shape) < cover)
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    return make_data(histories, counts, years)


def brute_log_likelihood(data, survival, cover, n_lost=None):
    """Sum over every history, and in it over every time of death, given the first capture."""
    total = 0.0
    lost = np.zeros(data.counts.size) if n_lost is None else n_lost
    for history, count, n_removed in zip(data.captured, data.counts, lost, strict=True):
        first, last = np.flatnonzero(history)[[0, -1]]
        for n, is_removed in ((count - n_removed, False), (n_removed, True)):
            chance = 0.0
            for end in [last] if is_removed else range(last, data.n_crawls):
                path = 1.0
                for k in range(first + 1, end + 1):
                    path *= survival[k - 1] * (cover[k] if history[k] else 1 - cover[k])
                if end < data.n_crawls - 1 and not is_removed:
                    path *= 1 - survival[end]
                chance += path
            total += n * np.log(chance) if n else 0.0
    return total


@pytest.mark.parametrize(("persistence", "coverage"), FORMS)
def test_the_likelihood_is_that_of_all_histories_and_all_times_of_death(persistence, coverage):
    data = draw_data(1)
    n_lost = np.where(np.arange(data.counts.size) % 3 == 0, np.floor(data.counts / 2), 0.0)
    recaptures = count_recaptures(data, n_lost=n_lost)
    likelihood = CjsLikelihood(
        recaptures=recaptures, parameters=number_parameters(recaptures, persistence, coverage)
    )
    numbers = likelihood.parameters
    logits = np.random.default_rng(2).normal(size=numbers.n_parameters)
    shares = special.expit(logits)
    powers = np.diff(data.years) / numbers.unit_years
    expected = brute_log_likelihood(
        data,
        shares[numbers.survival] ** powers,
        np.concatenate([[np.nan], shares[numbers.coverage]]),
        n_lost,
    )
    assert likelihood.evaluate(logits).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("persistence", "coverage"), FORMS)
def test_derivatives_are_those_of_the_value(persistence, coverage):
    recaptures = count_recaptures(draw_data(3))
    likelihood = CjsLikelihood(
        recaptures=recaptures, parameters=number_parameters(recaptures, persistence, coverage)
    )
    logits = np.random.default_rng(4).normal(size=likelihood.parameters.n_parameters)
    here = likelihood.evaluate(logits)
    step = 1e-5 * np.eye(logits.size)
    ahead = [likelihood.evaluate(logits + move) for move in step]
    behind = [likelihood.evaluate(logits - move) for move in step]
    slopes = [(a.value - b.value) / 2e-5 for a, b in zip(ahead, behind, strict=True)]
    bends = [(a.gradient - b.gradient) / 2e-5 for a, b in zip(ahead, behind, strict=True)]
    assert here.gradient == pytest.approx(np.array(slopes), rel=1e-6, abs=1e-3)
    assert here.hessian == pytest.approx(np.array(bends), rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_the_fit_is_the_maximum_that_a_general_search_finds(seed):
    data = draw_data(seed)
    fit = fit_cormack_jolly_seber(count_recaptures(data))

    def loss(theta):
        survival = np.exp(-np.exp(theta[0]) * np.diff(data.years))
        return -brute_log_likelihood(
            data, survival, np.concatenate([[0], special.expit(theta[1:])])
        )

    best = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-2})
    assert fit.minus_two_log_likelihood == pytest.approx(2 * best.fun, abs=1e-5)
    assert fit.coverage[1:] == pytest.approx(special.expit(best.x[1:]), abs=1e-4)
    assert fit.persistence == pytest.approx(np.full(4, np.exp(-np.exp(best.x[0]))), abs=1e-4)


def test_with_three_crawls_the_fit_is_the_closed_form():
    data = draw_data(8, years=[0, 1, 2])
    recaptures = count_recaptures(data)
    fit = fit_cormack_jolly_seber(recaptures)
    n, again, missed = recaptures.n_captured, recaptures.n_seen_again, recaptures.n_missed
    seen = recaptures.n_seen_before
    known_alive = seen[1] + n[1] * missed[1] / again[1]
    assert fit.coverage[1] == pytest.approx(seen[1] / known_alive, rel=1e-9)
    assert fit.persistence[0] == pytest.approx(known_alive / n[0], rel=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_urn_is_recovered_within_its_standard_errors(seed):
    settings = UrnSettings(
        population=200_000,
        dates=DatePlan(n_crawls=8, irregular=True),
        coverage=(0.3, 0.46, 0.2, 0.6, 0.46, 0.1, 0.5, 0.4),
    )
    table = draw_table(settings, seed=seed, with_histories=True)
    fit = fit_cormack_jolly_seber(count_recaptures(history_data(table)))
    truth = np.array(settings.coverage)
    z = (fit.coverage[1:] - truth[1:]) / fit.coverage_se[1:]
    assert np.max(np.abs(z)) < 4
    assert abs(fit.persistence[0] - 0.73) / fit.persistence_se[0] < 4
    assert np.all(fit.coverage_se[1:] < 0.01)


def test_standard_errors_are_the_spread_over_repetitions():
    fits = [fit_cormack_jolly_seber(count_recaptures(draw_same(seed))) for seed in range(200)]
    values = np.array([[*fit.coverage[1:], fit.persistence[0]] for fit in fits])
    errors = np.array([[*fit.coverage_se[1:], fit.persistence_se[0]] for fit in fits])
    ratio = values.std(axis=0) / np.sqrt(np.mean(errors**2, axis=0))
    # The spread of 200 values is itself known to 5 %.
    assert np.all(np.abs(np.log(ratio)) < 0.2)


def draw_same(seed):
    rng = np.random.default_rng(100 + seed)
    years = np.array(YEARS)
    death = rng.exponential(2.0, 1500)
    urls = (death[:, None] > years) & (rng.random((1500, 5)) < [0.9, 0.4, 0.6, 0.3, 0.5])
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    return make_data(histories, counts, years)


def test_persistence_is_per_year_whatever_the_unit_of_the_intervals():
    data = draw_data(9)
    fit = fit_cormack_jolly_seber(count_recaptures(data))
    slow = make_data(data.captured, data.counts, 10 * data.years)
    slow_fit = fit_cormack_jolly_seber(count_recaptures(slow))
    assert slow_fit.persistence**10 == pytest.approx(fit.persistence, rel=1e-9)
    relative = fit.persistence_se / fit.persistence
    assert slow_fit.persistence_se / slow_fit.persistence == pytest.approx(relative / 10, rel=1e-6)


def test_a_free_survival_leaves_the_last_coverage_unknown_and_says_why():
    fit = fit_cormack_jolly_seber(count_recaptures(draw_data(10)), persistence="by-interval")
    assert np.isnan(fit.coverage[-1])
    assert np.isnan(fit.persistence[-1])
    assert "coverage cannot be told from survival" in fit.coverage_reasons[-1]
    assert "coverage cannot be told from survival" in fit.persistence_reasons[-1]
    assert fit.n_parameters == 7
    assert not np.isnan(fit.coverage_se[1:-1]).any()


def test_of_two_crawls_nothing_is_known():
    fit = fit_cormack_jolly_seber(count_recaptures(draw_data(11, years=[0, 1])))
    assert np.isnan(fit.coverage).all()
    assert np.isnan(fit.persistence).all()
    assert "coverage cannot be told from survival" in fit.coverage_reasons[1]


def test_crawls_without_any_overlap_tell_nothing():
    data = make_data(np.eye(4, dtype=bool), [5, 6, 7, 8], [0, 1, 2, 3])
    fit = fit_cormack_jolly_seber(count_recaptures(data))
    assert np.isnan(fit.coverage).all()
    assert set(fit.persistence_reasons) == {"not identifiable: no URL is captured twice"}


def test_crawls_of_one_date_need_no_persistence():
    rng = np.random.default_rng(12)
    urls = rng.random((4000, 3)) < [0.5, 0.3, 0.7]
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    fit = fit_cormack_jolly_seber(count_recaptures(make_data(histories, counts, [0, 0, 0])))
    assert fit.coverage[1:] == pytest.approx([0.3, 0.7], abs=0.04)
    assert set(fit.persistence_reasons) == {
        "not identifiable: no time passes between the two crawls"
    }


def test_a_crawl_without_urls_leaves_the_others_as_they_are():
    data = draw_data(13)
    blind = data.captured.copy()
    blind[:, 2] = False
    seen = blind.any(axis=1)
    blind, counts = blind[seen], data.counts[seen]
    fit = fit_cormack_jolly_seber(count_recaptures(make_data(blind, counts, YEARS)))
    rest = make_data(blind[:, [0, 1, 3, 4]], counts, np.delete(YEARS, 2))
    without = fit_cormack_jolly_seber(count_recaptures(rest))
    assert fit.coverage_reasons[2] == "not identifiable: it shares nothing with any earlier crawl"
    assert fit.coverage[[1, 3, 4]] == pytest.approx(without.coverage[1:], rel=1e-6)
    assert fit.persistence[0] == pytest.approx(without.persistence[0], rel=1e-6)


def test_complete_crawls_have_a_coverage_of_one_without_a_standard_error():
    rng = np.random.default_rng(14)
    alive = rng.exponential(3, 2000)[:, None] > np.arange(5)
    histories, counts = np.unique(alive, axis=0, return_counts=True)
    fit = fit_cormack_jolly_seber(count_recaptures(make_data(histories, counts, np.arange(5))))
    assert fit.coverage[1:4] == pytest.approx(np.ones(3), abs=1e-6)
    assert fit.coverage_reasons[1] == "the estimate lies at its limit: no standard error"
    assert np.isnan(fit.coverage_se[1])
    assert fit.persistence[0] == pytest.approx(np.exp(-1 / 3), abs=0.02)


def test_total_avoidance_of_the_crawl_before_gives_numbers_where_it_can():
    rng = np.random.default_rng(15)
    urls = np.zeros((20_000, 6), dtype=bool)
    for crawl in range(6):
        free = ~urls[:, crawl - 1] if crawl else np.ones(20_000, dtype=bool)
        urls[:, crawl] = free & (rng.random(20_000) < 0.3)
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    fit = fit_cormack_jolly_seber(count_recaptures(make_data(histories, counts, np.arange(6))))
    assert fit.coverage_reasons[1] == "not identifiable: it shares nothing with any earlier crawl"
    assert np.isfinite(fit.coverage[2:]).all()


def test_crawls_a_day_apart_with_a_vast_turnover_have_no_value_per_year():
    rng = np.random.default_rng(16)
    alive = rng.exponential(0.4, 50_000)[:, None] > np.arange(4)
    urls = alive & (rng.random(alive.shape) < 0.6)
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    data = make_data(histories, counts, np.arange(4) / 365.25)
    fit = fit_cormack_jolly_seber(count_recaptures(data))
    assert "too close in time" in fit.persistence_reasons[0]
    assert fit.coverage[1] == pytest.approx(0.6, abs=0.05)
