"""The known estimators side by side."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.model.histories.data import count_recaptures, history_data
from crawlgauge.model.histories.fits import HISTORY_ESTIMATORS, list_estimators
from crawlgauge.model.histories.known_alive import fit_known_alive
from crawlgauge.model.histories.latent_class import fit_latent_class
from crawlgauge.model.histories.open_population import fit_cormack_jolly_seber
from crawlgauge.simulate.urn_settings import Avoidance, DatePlan, UrnSettings
from crawlgauge.simulate.urn_table import draw_table

OPEN = ["cjs", "jolly-seber", "manly-parr", "rested-manly-parr"]
CLOSED = ["lincoln-petersen", "chapman", "schnabel", "chao", "loglinear-mt", "loglinear-mth"]


def list_rows(data, n_urls, views=None):
    fitted = {name: fit(data, views) for name, fit in HISTORY_ESTIMATORS.items()}
    return list_estimators(fitted, n_newest=float(n_urls[-1]))


def draw_rows(**options):
    table = draw_table(UrnSettings(**options), seed=1, with_histories=True)
    data = history_data(table)
    return {row.name: row for row in list_rows(data, data.sizes)}, table


@pytest.fixture(scope="module")
def urn():
    rows, _ = draw_rows(population=10**6, dates=DatePlan(n_crawls=8), coverage=0.46)
    return rows


def test_all_rows_are_there_in_order(urn):
    assert list(urn) == OPEN + CLOSED


def test_latent_classes_and_windows_have_rows_where_they_were_fitted(make_archive):
    archive = make_archive(68, coverage=0.25, avoidance=(0.9, 0.9))
    data, windows = archive.data, fit_known_alive(archive.data)
    classes = fit_latent_class(data, trap_lags=2)
    views = SimpleNamespace(
        levels={
            "known-alive": np.nanmean(windows.log_coverage),
            "latent-class": np.nanmean(classes.log_coverage[1:-1]),
        },
        windows=windows,
        classes=classes,
        cjs=fit_cormack_jolly_seber(count_recaptures(data)),
    )
    first, *others, last = list_rows(data, 10 * data.sizes, views)
    assert (first.name, last.name) == ("known-alive", "latent-class")
    assert [row.name for row in others] == OPEN + CLOSED
    assert first.population is None
    assert first.coverage == pytest.approx(np.exp(np.nanmean(windows.log_coverage)))
    known = [value is not None for value in last.per_crawl]
    assert known == np.isfinite(classes.log_coverage).tolist()
    assert last.coverage == pytest.approx(np.exp(np.nanmean(classes.log_coverage[1:-1])))
    assert last.population == pytest.approx(10 * data.sizes[-1] / last.per_crawl[-1])
    assert last.persistence == pytest.approx(np.exp(classes.log_persistence))
    assert "the chance of the next in the 2 following crawls; no URLs" in last.assumes


def test_estimators_of_open_populations_find_the_truth(urn):
    for name in OPEN:
        assert urn[name].coverage == pytest.approx(0.46, rel=0.01)
    for name in ("cjs", "jolly-seber"):
        assert urn[name].persistence == pytest.approx(0.73, rel=0.01)
    assert urn["cjs"].population == pytest.approx(10**6, rel=0.01)


def test_estimators_of_closed_populations_understate_coverage_and_say_why(urn):
    for name in CLOSED:
        assert urn[name].coverage < 0.9 * 0.46
        assert urn[name].population > 1.1 * 10**6
        assert urn[name].persistence is None
        assert "the coverage too small" in urn[name].assumes
    assert all("too small" not in urn[name].assumes for name in OPEN)


def test_adjacent_crawls_overstate_the_population_by_the_turnover_between_them(urn):
    assert urn["lincoln-petersen"].population == pytest.approx(10**6 / 0.73**0.5, rel=0.01)


def test_what_the_ends_hold_is_not_claimed(urn):
    assert urn["cjs"].per_crawl[0] is None
    assert urn["cjs"].per_crawl[-1] is not None
    for name in ("jolly-seber", "manly-parr"):
        assert [value is None for value in urn[name].per_crawl] == [True, *[False] * 6, True]
        assert urn[name].population is None
    assert [value is None for value in urn["rested-manly-parr"].per_crawl] == [
        *[True] * 2,
        *[False] * 4,
        *[True] * 2,
    ]
    assert [value is None for value in urn["chapman"].per_crawl] == [*[True] * 6, False, False]


def test_typical_coverage_is_the_geometric_mean_of_the_known(urn):
    for row in urn.values():
        logs = [np.log(value) for value in row.per_crawl if value is not None]
        assert row.coverage == pytest.approx(np.exp(np.mean(logs)), rel=1e-12)


def test_both_forms_of_uneven_capture_are_told(urn):
    text = urn["loglinear-mth"].assumes
    assert "Poisson form" in text
    assert "Darroch" in text
    assert "the coverage would be" in text


def test_a_sample_tells_the_whole_population(urn, make_data):
    table = draw_table(
        UrnSettings(population=10**6, dates=DatePlan(n_crawls=8)), seed=1, with_histories=True
    )
    data = history_data(table)
    rng = np.random.default_rng(1)
    counts = rng.binomial(data.counts.astype(int), 1 / 16)
    some = counts > 0
    sample = make_data(data.captured[some], counts[some], data.years)
    for row in list_rows(sample, data.sizes):
        assert row.coverage == pytest.approx(urn[row.name].coverage, rel=0.05)
        if row.population is not None:
            assert row.population == pytest.approx(urn[row.name].population, rel=0.05)


def test_avoidance_misleads_all_but_the_rested_form():
    rows, table = draw_rows(
        population=300_000,
        dates=DatePlan(n_crawls=8),
        coverage=0.25,
        avoidance=Avoidance(probability=0.9, n_crawls=1),
    )
    truth = np.exp(np.mean(np.log(np.diag(table.n_shared)[2:-2] / 300_000)))
    assert rows["rested-manly-parr"].coverage == pytest.approx(truth, rel=0.15)
    for name in ("cjs", "jolly-seber", "manly-parr"):
        assert rows[name].coverage < 0.75 * truth


@pytest.mark.parametrize(("n_crawls", "n_rows"), [(2, 5), (3, 9), (4, 9), (5, 10)])
def test_few_crawls_leave_fewer_rows(n_crawls, n_rows):
    rows, _ = draw_rows(population=50_000, dates=DatePlan(n_crawls=n_crawls))
    assert len(rows) == n_rows
    assert all(row.coverage > 0 for row in rows.values())


def test_without_any_overlap_there_are_no_rows(make_data):
    data = make_data(np.eye(5), [4, 5, 6, 7, 8])
    assert list_rows(data, data.sizes) == ()


def test_total_avoidance_between_neighbours_leaves_the_rows_that_can_be(count_histories):
    rng = np.random.default_rng(2)
    urls = np.zeros((30_000, 6), dtype=bool)
    for crawl in range(6):
        free = ~urls[:, crawl - 1] if crawl else np.ones(30_000, dtype=bool)
        urls[:, crawl] = free & (rng.random(30_000) < 0.3)
    data = count_histories(urls)
    names = [row.name for row in list_rows(data, data.sizes)]
    assert {"cjs", "jolly-seber", "manly-parr", "schnabel"} <= set(names)
    assert not {"lincoln-petersen", "chapman", "rested-manly-parr"} & set(names)


def test_nearly_complete_crawls_of_one_date_hold_nearly_all(count_histories):
    rng = np.random.default_rng(3)
    urls = rng.random((20_000, 5)) < 0.999
    data = count_histories(urls, np.zeros(5))
    for row in list_rows(data, data.sizes):
        assert row.coverage == pytest.approx(0.999, abs=0.001)
        assert row.persistence is None
        assert row.population is None or row.population == pytest.approx(20_000, rel=0.001)


def test_many_crawls_with_many_histories_are_estimated(count_histories):
    rng = np.random.default_rng(4)
    birth = rng.integers(-64, 64, 150_000)
    death = birth + rng.geometric(0.05, 150_000)
    crawl = np.arange(64)
    alive = (birth[:, None] <= crawl) & (death[:, None] > crawl)
    data = count_histories(alive & (rng.random(alive.shape) < 0.3), crawl / 10)
    assert data.counts.size > 40_000
    rows = {row.name: row for row in list_rows(data, data.sizes)}
    for name in OPEN:
        assert rows[name].coverage == pytest.approx(0.3, rel=0.02)
    assert "10 newest crawls only" in rows["loglinear-mt"].assumes


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_crawls=st.integers(2, 9),
    n_urls=st.sampled_from([1, 3, 20, 400]),
    density=st.sampled_from([0.03, 0.3, 0.7, 0.98, 1.0]),
    scale=st.sampled_from([1, 10**4, 10**8]),
)
def test_any_histories_give_finite_rows_or_none(make_data, seed, n_crawls, n_urls, density, scale):
    rng = np.random.default_rng(seed)
    urls = rng.random((n_urls, n_crawls)) < density * rng.random(n_crawls)
    urls[0, 0] = True
    distinct = np.unique(urls[urls.any(axis=1)], axis=0)
    years = np.concatenate([[0], np.cumsum(rng.choice([0, 1 / 365.25, 0.5, 10], n_crawls - 1))])
    counts = rng.integers(1, 1 + scale, len(distinct))
    data = make_data(distinct, counts, years)
    for row in list_rows(data, 3 * data.sizes):
        assert 0 < row.coverage < 1 + 1e-9
        assert row.persistence is None or 0 <= row.persistence < np.inf
        assert row.population is None or row.population >= 3 * data.sizes[-1] * (1 - 1e-9)
