"""Famous studies of animals and lists give the published numbers."""

import csv
import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special

from crawlgauge.model.histories.closed_population import (
    estimate_chao,
    estimate_schnabel,
    fit_loglinear,
)
from crawlgauge.model.histories.data import HistoryData, count_recaptures
from crawlgauge.model.histories.latent_class import fit_latent_class
from crawlgauge.model.histories.open_population import fit_cormack_jolly_seber, fit_jolly_seber

pytestmark = pytest.mark.real

VOLE_DAYS = (35, 28, 35, 28, 34)


def search(data, n_lost, n_survivals, survival_of):
    """Maximise the likelihood of all histories; return the parameters of survival and coverage.

    `survival_of` gives the survival of each interval from the logits before those of coverage.
    """
    n_ends = data.n_crawls - 1

    def loss(theta):
        survival = survival_of(theta[:-n_ends])
        cover = np.concatenate([[0], special.expit(theta[-n_ends:])])
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

    best = optimize.minimize(loss, np.zeros(n_survivals + n_ends), method="BFGS", jac="3-point")
    return best.x[:-n_ends], special.expit(best.x[-n_ends:])


def released(data, n_lost):
    """Count when those that were released after their last capture are seen again."""
    lost = np.bincount(data.last, weights=n_lost, minlength=data.n_crawls)
    recaptures = count_recaptures(data)
    return replace(recaptures, n_released=recaptures.n_released - lost)


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
    return read("dipper.csv")


DIPPERS_BY_YEAR = [0.7850809, 0.8905191, 0.8750974, 0.9083167, 0.9405547, 0.9639315]


def test_dippers_with_capture_by_year(dippers):
    coverage, persistence = fit_cormack_jolly_seber(count_recaptures(dippers[0]))
    assert coverage[1:] == pytest.approx(np.array(DIPPERS_BY_YEAR), abs=1e-6)
    assert persistence == pytest.approx(0.5530901, abs=1e-6)


def test_one_class_gives_what_program_mark_gives(dippers):
    """Two would vanish in some years, and are not believed."""
    fit = fit_latent_class(dippers[0], trap_lags=0)
    assert fit.n_classes == 1
    assert np.exp(fit.log_persistence) == pytest.approx(0.5530901, abs=2e-5)
    assert np.exp(fit.log_coverage[1:]) == pytest.approx(DIPPERS_BY_YEAR, abs=1e-4)


def test_dippers_by_year_in_both_have_the_closed_form(dippers):
    coverage, survival, _ = fit_jolly_seber(count_recaptures(dippers[0]))
    logits, cover = search(*dippers, 6, special.expit)
    assert coverage[1:-1] == pytest.approx(cover[:-1], abs=1e-4)
    assert survival[:-1] == pytest.approx(special.expit(logits)[:-1], abs=1e-4)


def test_hares_that_differ_in_the_poisson_form(read):
    assert round(fit_loglinear(read("snowshoe_hare.csv")[0], "poisson")[0], 1) == 81.1


@pytest.mark.parametrize("name", ["snowshoe_hare.csv", "mse_kosovo.csv"])
@pytest.mark.parametrize("form", ["poisson", "darroch"])
def test_uneven_capture_has_the_population_of_a_general_search(read, name, form):
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
    found, _ = fit_loglinear(data, form)
    assert found == pytest.approx(data.n_urls + np.exp(best.x[0]), rel=1e-5)


def test_cottontails_by_how_often_they_were_caught(read):
    """Edwards and Eberhardt (1967) had 135 rabbits, and caught 76 of them in 18 nights."""
    data, _ = read("cottontail_edwards_eberhardt.csv")
    often = np.bincount(data.captured.sum(axis=1), weights=data.counts)
    assert often[1:].tolist() == [43, 16, 8, 6, 0, 2, 1]
    assert estimate_chao(data) == pytest.approx(76 + 17 / 18 * 43**2 / 32)
    # Equal capture, which was not so, misses a good part of them.
    assert estimate_schnabel(data) < 100


@pytest.fixture(scope="module")
def voles(read):
    years = np.concatenate([[0], np.cumsum(VOLE_DAYS)]) / 365.25
    data, n_lost = read("microtus_JOLLY_JLYEXMPL.csv", years)
    assert data.n_urls == 311
    assert n_lost.sum() == 14
    return data, n_lost


def test_voles_that_were_not_released_and_unequal_months(voles):
    months = 12 * np.diff(voles[0].years)
    coverage, persistence = fit_cormack_jolly_seber(released(*voles))
    logits, cover = search(*voles, 1, lambda logit: special.expit(logit[0]) ** months)
    assert coverage[1:] == pytest.approx(cover, abs=1e-5)
    assert persistence == pytest.approx(special.expit(logits[0]) ** 12, rel=1e-4)


def test_voles_by_month_have_the_closed_form(voles):
    coverage, survival, _ = fit_jolly_seber(released(*voles))
    logits, cover = search(*voles, 5, special.expit)
    assert coverage[1:-1] == pytest.approx(cover[:-1], abs=1e-4)
    assert survival[:-1] == pytest.approx(special.expit(logits)[:-1], abs=1e-4)
