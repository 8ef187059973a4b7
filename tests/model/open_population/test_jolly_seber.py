"""Jolly's estimates of population, births and survival."""

import numpy as np
import pytest

from crawlgauge.model.histories.cormack_jolly_seber import fit_cormack_jolly_seber
from crawlgauge.model.histories.data import HistoryData, Recaptures, count_recaptures, history_data
from crawlgauge.model.histories.jolly_seber import fit_jolly_seber
from crawlgauge.simulate.urn_settings import DatePlan, UrnSettings
from crawlgauge.simulate.urn_table import draw_table

# Jolly (1965): insects in 13 samples; a row for each sample from the second on, of when those
# caught in it were caught last. Published in Seber (1982), tables 5.1 to 5.3.
LAST_CAUGHT = (
    (10,),
    (3, 34),
    (5, 18, 33),
    (2, 8, 13, 30),
    (2, 4, 8, 20, 43),
    (1, 6, 5, 10, 34, 56),
    (0, 4, 0, 3, 14, 19, 46),
    (0, 2, 4, 2, 11, 12, 28, 51),
    (0, 0, 1, 2, 3, 5, 17, 22, 34),
    (1, 2, 3, 1, 0, 4, 8, 12, 16, 30),
    (0, 1, 3, 1, 1, 2, 7, 4, 11, 16, 26),
    (0, 1, 0, 2, 3, 3, 2, 10, 9, 12, 18, 35),
)
CAUGHT = (54, 146, 169, 209, 220, 209, 250, 176, 172, 127, 123, 120, 142)
RELEASED = (54, 143, 164, 202, 214, 207, 243, 175, 169, 126, 120, 120, 0)
MARKED = (35.02, 170.54, 258, 227.73, 324.99, 359.50, 319.33, 402.13, 316.45, 317, 277.71)
POPULATION = (511.2, 779.1, 963.0, 945.3, 882.2, 802.5, 653.6, 628.8, 478.5, 506.4, 462.8)
SURVIVAL = (0.649, 1.015, 0.867, 0.564, 0.836, 0.790, 0.651, 0.985, 0.686, 0.884, 0.771)
BIRTHS = (263.2, 291.8, 406.4, 96.9, 107.0, 135.7, -13.8, 49.0, 84.1, 74.5)


def make_data(urls, years):
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    bits = np.uint64(1) << np.arange(urls.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=histories,
        masks=np.where(histories, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
        counts=counts.astype(np.float64),
        years=np.array(years, dtype=np.float64),
    )


def draw_living(rng, years, survival, cover, n_alive=1500):
    """Draw histories from a population with births; return them, its sizes and the births."""
    alive, urls = np.ones(n_alive, dtype=bool), np.zeros((n_alive, 0), dtype=bool)
    sizes, births = [], []
    for crawl in range(len(years)):
        if crawl:
            alive &= rng.random(alive.size) < survival[crawl - 1]
            births.append(rng.poisson(n_alive / 4))
            alive = np.concatenate([alive, np.ones(births[-1], dtype=bool)])
            urls = np.concatenate([urls, np.zeros((births[-1], crawl), dtype=bool)])
        sizes.append(alive.sum())
        urls = np.column_stack([urls, alive & (rng.random(alive.size) < cover[crawl])])
    return make_data(urls, years), np.array(sizes), np.array(births)


@pytest.fixture(scope="module")
def insects():
    n_next = np.zeros((13, 13))
    for sample, numbers in enumerate(LAST_CAUGHT, start=1):
        n_next[: len(numbers), sample] = numbers
    return Recaptures(
        n_captured=np.array(CAUGHT, dtype=np.float64),
        n_released=np.array(RELEASED, dtype=np.float64),
        n_next=n_next,
        years=np.arange(13.0),
    )


def test_jollys_published_insects(insects):
    fit = fit_jolly_seber(insects)
    assert fit.n_marked[1:-1] == pytest.approx(np.array(MARKED), abs=0.011)
    assert fit.survival[:-1] == pytest.approx(np.array(SURVIVAL), abs=0.0006)
    # The published numbers were computed by hand from rounded proportions.
    assert fit.population[1:-1] == pytest.approx(np.array(POPULATION), abs=0.25)
    assert fit.births[1:-1] == pytest.approx(np.array(BIRTHS), abs=0.25)


def test_estimates_and_errors_of_coverage_and_survival_are_those_of_the_likelihood():
    rng = np.random.default_rng(1)
    data, _, _ = draw_living(
        rng, [0, 0.5, 1.5, 2, 4, 5], [0.9, 0.6, 0.8, 0.5, 0.7], [0.5, 0.3, 0.6, 0.4, 0.5, 0.3]
    )
    recaptures = count_recaptures(data)
    closed = fit_jolly_seber(recaptures)
    searched = fit_cormack_jolly_seber(recaptures, persistence="by-interval")
    assert closed.coverage == pytest.approx(searched.coverage, rel=1e-7, nan_ok=True)
    assert closed.coverage_se == pytest.approx(searched.coverage_se, rel=1e-6, nan_ok=True)
    assert closed.persistence == pytest.approx(searched.persistence, rel=1e-7, nan_ok=True)
    assert closed.persistence_se == pytest.approx(searched.persistence_se, rel=1e-6, nan_ok=True)


def test_standard_errors_are_the_spread_around_the_truth():
    rng = np.random.default_rng(2)
    years, survival, cover = [0, 0.5, 1.5, 2, 3], [0.8, 0.7, 0.75, 0.7], [0.4, 0.3, 0.5, 0.35, 0.4]
    misses, errors = [], []
    for _ in range(300):
        data, sizes, births = draw_living(rng, years, survival, cover)
        fit = fit_jolly_seber(count_recaptures(data))
        per_year = np.array(survival) ** (1 / np.diff(years))
        misses.append(
            np.concatenate(
                [fit.population - sizes, fit.births - births, fit.persistence - per_year]
            )
        )
        errors.append(np.concatenate([fit.population_se, fit.births_se, fit.persistence_se]))
    known = ~np.isnan(misses[0])
    ratio = np.std(misses, axis=0)[known] / np.sqrt(np.mean(np.square(errors), axis=0)[known])
    assert known.sum() == 3 + 2 + 3
    # The spread of 300 values is itself known to 4 %.
    assert np.all(np.abs(np.log(ratio)) < 0.16)


def test_an_urn_whose_population_grows_is_recovered():
    settings = UrnSettings(
        population=(100_000, 110_000, 130_000, 120_000, 150_000, 160_000),
        dates=DatePlan(n_crawls=6, months_between=4),
        coverage=0.4,
    )
    table = draw_table(settings, seed=3, with_histories=True)
    fit = fit_jolly_seber(count_recaptures(history_data(table)))
    z = (fit.population - np.array(settings.population))[1:-1] / fit.population_se[1:-1]
    assert np.max(np.abs(z)) < 4
    assert fit.coverage[1:-1] == pytest.approx(np.full(4, 0.4), abs=0.02)


def test_ends_are_not_identifiable_and_say_so():
    data, _, _ = draw_living(np.random.default_rng(4), [0, 1, 2, 3], [0.8] * 3, [0.5] * 4)
    fit = fit_jolly_seber(count_recaptures(data))
    assert fit.crawl_reasons == (
        "not identifiable: first crawl",
        None,
        None,
        "not identifiable: last crawl",
    )
    assert np.isnan(fit.population[[0, -1]]).all()
    assert fit.survival_reasons[:2] == (None, None)
    assert "not identifiable" in fit.survival_reasons[2]
    assert [reason is None for reason in fit.births_reasons] == [False, True, False]


def test_a_crawl_that_missed_nothing_has_coverage_one_and_no_error():
    lives = np.repeat(np.arange(1, 6), 200)
    data = make_data(np.arange(5) < lives[:, None], np.arange(5))
    fit = fit_jolly_seber(count_recaptures(data))
    assert fit.coverage[1:-1].tolist() == [1, 1, 1]
    assert fit.coverage_se[1:-1].tolist() == [0, 0, 0]
    assert fit.population[1:-1].tolist() == [800, 600, 400]
    assert fit.population_se[1:-1].tolist() == [0, 0, 0]


def test_crawls_that_share_nothing_leave_reasons_instead_of_numbers():
    urls = np.array([[1, 0, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 1]], dtype=bool)
    fit = fit_jolly_seber(count_recaptures(make_data(urls, np.arange(4))))
    assert fit.crawl_reasons[1] == "not identifiable: it shares nothing with any earlier crawl"
    assert np.isnan(fit.population[1])
    urls = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]], dtype=bool)
    fit = fit_jolly_seber(count_recaptures(make_data(urls, np.arange(4))))
    assert fit.crawl_reasons[1] == "not identifiable: none of its URLs is seen again later"


def test_survival_over_no_time_has_no_value_per_year():
    data, _, _ = draw_living(np.random.default_rng(5), [0, 1, 1, 2], [0.8, 1, 0.8], [0.5] * 4)
    fit = fit_jolly_seber(count_recaptures(data))
    assert fit.survival[1] == pytest.approx(1, abs=0.15)
    assert np.isnan(fit.persistence[1])
    assert fit.persistence_reasons[1] == "no time passes: the survival has no value per year"
