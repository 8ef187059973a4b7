"""The newest crawl is extrapolated from survival and growth, and says how well."""

import numpy as np
import pytest

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.known_alive.candidates import crawl_errors
from crawlgauge.model.known_alive.families import Even
from crawlgauge.model.known_alive.fitting import fit_windows
from crawlgauge.model.known_alive.information import inform
from crawlgauge.model.known_alive.newest import extrapolate_newest
from crawlgauge.model.known_alive.parameters import WindowModel
from crawlgauge.model.known_alive.population import count_alive
from crawlgauge.model.known_alive.windows import count_windows


def extrapolate(data, lags=0):
    counts = count_windows(data)
    model = WindowModel(family=Even(), trap_lags=lags, link="cloglog" if lags else "logit")
    fit = fit_windows(model, counts)
    tallies = counts.tallies(lags)
    population = count_alive(model, counts, fit.vector, tallies)
    errors = crawl_errors(inform(fit, counts), counts)
    return extrapolate_newest(model, counts, fit.vector, tallies, population, errors)


@pytest.mark.parametrize("last", [0.1, 0.4, 0.8])
def test_a_newest_crawl_of_another_size_is_found(make_archive, last):
    archive = make_archive(41, coverage=[0.4] * 7 + [last])
    found = extrapolate(archive.data)
    assert np.exp(found.log_coverage) == pytest.approx(last, rel=0.05)
    assert 0 < found.variance < 0.1**2


@pytest.mark.parametrize("seed", [42, 45, 46, 50])
def test_avoidance_is_allowed_for(make_archive, seed):
    """The crawl before the newest is then known least: it must not carry the extrapolation."""
    archive = make_archive(seed, coverage=0.3, avoidance=(0.9,))
    found = extrapolate(archive.data, lags=1)
    assert np.exp(found.log_coverage) == pytest.approx(archive.coverage[-1], rel=0.1)


def test_a_longer_last_interval_is_less_certain(make_archive):
    data = make_archive(43, n_alive=3000).data
    years = data.years.copy()
    years[-1] += 3
    late = HistoryData(captured=data.captured, masks=data.masks, counts=data.counts, years=years)
    assert extrapolate(late).variance > extrapolate(data).variance


def test_crawls_of_one_date_need_no_extrapolation(make_archive):
    archive = make_archive(44, survival=1.0)
    data = archive.data
    together = HistoryData(
        captured=data.captured,
        masks=data.masks,
        counts=data.counts,
        years=np.array([0, 0.5, 1, 1.5, 2, 2.5, 3, 3]),
    )
    found = extrapolate(together)
    assert found.log_coverage == pytest.approx(np.log(archive.coverage[-1]), abs=0.05)
    assert found.variance < 0.04**2


def test_without_a_past_interval_there_is_no_number(make_archive):
    data = make_archive(45, n_alive=500).data
    together = HistoryData(
        captured=data.captured, masks=data.masks, counts=data.counts, years=np.zeros(8)
    )
    assert np.isnan(extrapolate(together).log_coverage)
