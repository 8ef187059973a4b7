"""Famous studies of animals and lists give the published numbers."""

import csv
import itertools

import numpy as np
import pytest
from scipy import optimize, special

from crawlgauge.model.histories.closed_population import (
    estimate_chao,
    estimate_schnabel,
    fit_loglinear,
)
from crawlgauge.model.histories.cormack_jolly_seber import fit_cormack_jolly_seber
from crawlgauge.model.histories.data import HistoryData, count_recaptures
from crawlgauge.model.histories.jolly_seber import fit_jolly_seber

pytestmark = pytest.mark.real

VOLE_DAYS = (35, 28, 35, 28, 34)


def logit_interval(value, se):
    """Return the interval of a share that is symmetric on the scale of logits."""
    half = special.ndtri(0.975) * se / (value * (1 - value))
    return special.expit(special.logit(value) + np.array([-half, half]))


@pytest.fixture(scope="module")
def read(shared_data):
    """Read a table of histories; return it and how many were not released (a 2)."""

    def read_histories(name, years=None):
        path = shared_data / "capture-recapture" / name
        with path.open(newline="", encoding="utf-8") as lines:
            rows = [(row["ch"], float(row["freq"])) for row in csv.DictReader(lines)]
        captured = np.array([[digit != "0" for digit in history] for history, _ in rows])
        n_crawls = captured.shape[1]
        bits = np.uint64(1) << np.arange(n_crawls, dtype=np.uint64)
        data = HistoryData(
            captured=captured,
            masks=np.where(captured, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
            counts=np.array([count for _, count in rows]),
            years=np.arange(n_crawls, dtype=np.float64) if years is None else years,
        )
        return data, np.array([count if "2" in history else 0.0 for history, count in rows])

    return read_histories


@pytest.fixture(scope="module")
def dippers(read):
    return count_recaptures(read("dipper.csv")[0])


def test_dippers_with_common_survival_and_capture(dippers):
    fit = fit_cormack_jolly_seber(dippers, coverage="common")
    assert fit.persistence == pytest.approx(np.full(6, 0.5602430), abs=1e-6)
    assert fit.persistence_se == pytest.approx(np.full(6, 0.0251330), abs=1e-6)
    assert fit.coverage[1:] == pytest.approx(np.full(6, 0.9025835), abs=1e-6)
    assert fit.coverage_se[1:] == pytest.approx(np.full(6, 0.0285857), abs=1e-6)
    assert fit.minus_two_log_likelihood == pytest.approx(666.83766, abs=1e-5)
    assert logit_interval(fit.persistence[0], fit.persistence_se[0]) == pytest.approx(
        (0.5105493, 0.6087577), abs=1e-5
    )
    assert logit_interval(fit.coverage[1], fit.coverage_se[1]) == pytest.approx(
        (0.8304826, 0.9460113), abs=1e-5
    )


def test_dippers_with_survival_by_year(dippers):
    fit = fit_cormack_jolly_seber(dippers, persistence="by-interval", coverage="common")
    expected = [0.6258351, 0.4541914, 0.4783772, 0.6244043, 0.6079444, 0.5832982]
    assert fit.persistence == pytest.approx(np.array(expected), abs=1e-6)
    assert fit.coverage[1:] == pytest.approx(np.full(6, 0.9020662), abs=1e-6)
    assert fit.minus_two_log_likelihood == pytest.approx(659.7301, abs=1e-4)


def test_dippers_with_capture_by_year(dippers):
    fit = fit_cormack_jolly_seber(dippers)
    expected = [0.7850809, 0.8905191, 0.8750974, 0.9083167, 0.9405547, 0.9639315]
    assert fit.coverage[1:] == pytest.approx(np.array(expected), abs=1e-6)
    assert fit.persistence == pytest.approx(np.full(6, 0.5530901), abs=1e-6)
    assert fit.minus_two_log_likelihood == pytest.approx(664.4802, abs=1e-4)


def test_dippers_by_year_in_both_have_the_closed_form(dippers):
    searched = fit_cormack_jolly_seber(dippers, persistence="by-interval")
    closed = fit_jolly_seber(dippers)
    assert searched.n_parameters == 11
    assert searched.coverage == pytest.approx(closed.coverage, rel=1e-7, nan_ok=True)
    assert searched.coverage_se == pytest.approx(closed.coverage_se, rel=1e-6, nan_ok=True)
    assert searched.persistence_se == pytest.approx(closed.persistence_se, rel=1e-6, nan_ok=True)


def test_hares_without_the_two_that_were_always_caught(read):
    fit = fit_loglinear(read("snowshoe_hare.csv")[0], without=0b111111)
    assert round(fit.estimate.population, 1) == 76.8
    assert round(fit.estimate.standard_error, 1) == 3.9
    # The published criterion counts the history left out, with its own parameter and 2 hares.
    own = -2 * (2 * np.log(2) - 2 - np.log(2)) + 2
    assert round(fit.aic + own) == 146


def test_hares_that_differ_in_the_poisson_form(read):
    fit = fit_loglinear(read("snowshoe_hare.csv")[0], "poisson")
    assert round(fit.estimate.population, 1) == 81.1
    assert round(fit.aic) == 146
    assert fit.n_freedom == 55
    # Published beside them is an error of 5.7. The published formula gives 5.57 here, as a general
    # search confirms below; 5.71 belongs to the same form without effects of the occasions.
    assert fit.estimate.standard_error == pytest.approx(5.5736, abs=1e-4)


@pytest.mark.parametrize("name", ["snowshoe_hare.csv", "mse_kosovo.csv"])
@pytest.mark.parametrize("form", ["poisson", "darroch"])
def test_uneven_capture_has_the_population_and_error_of_a_general_search(read, name, form):
    data, _ = read(name)
    n_crawls = data.n_crawls
    cells = np.array(list(itertools.product((0, 1), repeat=n_crawls))[1:], dtype=float)
    place = {tuple(cell): row for row, cell in enumerate(cells)}
    counts = np.zeros(len(cells))
    for history, count in zip(data.captured, data.counts, strict=True):
        counts[place[tuple(history.astype(float))]] += count
    times = cells.sum(axis=1)
    term = 2**times - 1 if form == "poisson" else times**2 / 2
    design = np.column_stack([np.ones(len(cells)), cells, term])

    def loss(theta):
        mean = np.exp(design @ theta)
        return (mean.sum() - counts @ (design @ theta)) / data.n_urls

    def slope(theta):
        return design.T @ (np.exp(design @ theta) - counts) / data.n_urls

    start = np.concatenate([[np.log(data.n_urls / 10)], np.full(n_crawls, -1.0), [0.0]])
    best = optimize.minimize(loss, start, jac=slope, method="BFGS", options={"gtol": 1e-10})
    never = np.exp(best.x[0])
    information = (design.T * np.exp(design @ best.x)) @ design
    error = np.sqrt(never + never**2 * np.linalg.inv(information)[0, 0])
    found = fit_loglinear(data, form).estimate
    assert found.population == pytest.approx(data.n_urls + never, rel=1e-5)
    assert found.standard_error == pytest.approx(error, rel=1e-4)


def test_cottontails_by_how_often_they_were_caught(read):
    """Edwards and Eberhardt (1967) had 135 rabbits, and caught 76 of them in 18 nights."""
    data, _ = read("cottontail_edwards_eberhardt.csv")
    often = np.bincount(data.captured.sum(axis=1), weights=data.counts)
    assert often[1:].tolist() == [43, 16, 8, 6, 0, 2, 1]
    estimate = estimate_chao(data)
    assert estimate.population == pytest.approx(76 + 17 / 18 * 43**2 / 32)
    assert abs(estimate.population - 135) < estimate.standard_error
    # Equal capture, which was not so, misses a good part of them.
    assert estimate_schnabel(data).population < 100


def test_cottontails_with_equal_capture_have_the_classical_maximum(read):
    data, _ = read("cottontail_edwards_eberhardt.csv")
    expected = optimize.brentq(
        lambda size: np.log1p(-76 / size) - np.log1p(-data.sizes / size).sum(), 76.001, 1000
    )
    found = fit_loglinear(data, n_newest=18).estimate
    assert found.population == pytest.approx(expected, rel=1e-8)


def test_voles_that_were_not_released_and_unequal_months(read):
    """Compare with a search over the likelihood of all histories, death by death."""
    years = np.concatenate([[0], np.cumsum(VOLE_DAYS)]) / 365.25
    data, n_lost = read("microtus_JOLLY_JLYEXMPL.csv", years)
    assert data.n_urls == 311
    assert n_lost.sum() == 14
    fit = fit_cormack_jolly_seber(count_recaptures(data, n_lost=n_lost))

    def loss(theta):
        survival = special.expit(theta[0]) ** (np.diff(years) * 12)
        cover = np.concatenate([[0], special.expit(theta[1:])])
        total = 0.0
        for history, count, lost in zip(data.captured, data.counts, n_lost, strict=True):
            first, last = np.flatnonzero(history)[[0, -1]]
            inside = range(first + 1, last + 1)
            seen = [survival[k - 1] * (cover[k] if history[k] else 1 - cover[k]) for k in inside]
            never = 1.0
            for k in range(data.n_crawls - 1, last, -1):
                never = 1 - survival[k - 1] + survival[k - 1] * (1 - cover[k]) * never
            total += count * np.log(np.prod(seen)) + (count - lost) * np.log(never)
        return -total

    best = optimize.minimize(loss, np.zeros(6), method="BFGS", jac="3-point")
    assert fit.minus_two_log_likelihood == pytest.approx(2 * best.fun, abs=1e-6)
    assert fit.coverage[1:] == pytest.approx(special.expit(best.x[1:]), abs=1e-5)
    assert fit.persistence[0] == pytest.approx(special.expit(best.x[0]) ** 12, rel=1e-4)


def test_voles_by_month_agree_with_jolly(read):
    years = np.concatenate([[0], np.cumsum(VOLE_DAYS)]) / 365.25
    data, n_lost = read("microtus_JOLLY_JLYEXMPL.csv", years)
    recaptures = count_recaptures(data, n_lost=n_lost)
    closed = fit_jolly_seber(recaptures)
    searched = fit_cormack_jolly_seber(recaptures, persistence="by-interval")
    assert closed.coverage == pytest.approx(searched.coverage, rel=1e-6, nan_ok=True)
    assert closed.persistence == pytest.approx(searched.persistence, rel=1e-6, nan_ok=True)
    assert np.all(closed.population[1:-1] > data.sizes[1:-1])
