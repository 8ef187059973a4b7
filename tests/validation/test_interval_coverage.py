"""A part of the calibration of intervals; benchmarks/interval_coverage.py runs the whole."""

import datetime as dt
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.intervals import find_margins
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.overlaps.table import OverlapTable

N_ARCHIVES = 100
N_SETS = 50


@pytest.fixture(scope="module")
def calibration():
    path = Path(__file__).parents[2] / "benchmarks" / "interval_coverage.py"
    spec = importlib.util.spec_from_file_location("interval_coverage", path)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("n_crawls", [4, 6, 15])
@pytest.mark.parametrize("regime", ["A", "B", "C.3", "D", "E", "F", "G"])
def test_intervals_hold_the_truth_of_simulated_tables(calibration, regime, n_crawls):
    cell = calibration.measure_cell(regime, n_crawls, N_ARCHIVES)
    assert list(calibration.find_failures([cell])) == []


def test_intervals_hold_the_truth_of_simulated_sets_with_passing_host_preferences(calibration):
    cell = calibration.measure_cell("H", 6, N_SETS)
    assert list(calibration.find_failures([cell])) == []


def test_the_published_lines_interval_fails_where_coverage_falls(calibration):
    """What the intervals are for: least squares takes dependent pairs for independent."""
    cell = calibration.measure_cell("G", 15, N_ARCHIVES)
    assert cell.held["paper_persistence"] < 0.05
    assert cell.held["persistence"] > 0.9


def test_intervals_are_as_wide_as_the_noise_asks_for(calibration):
    """Half-widths of a typical coverage known from the spread of ln c: t·sd/√n, crawls 2 to T."""
    cell = calibration.measure_cell("C.3", 15, N_ARCHIVES)
    assert cell.half_width["typical"] == pytest.approx(2.16 * 0.3 / np.sqrt(14), rel=0.15)
    assert cell.half_width["persistence"] < 0.002


def draw_sample(rng, n_crawls, population, sample_rate):
    """Draw crawls of an even urn and keep each URL in all of them or in none."""
    alive, n_born = np.arange(population), population
    held = np.zeros((n_crawls, 3 * population), dtype=np.float32)
    for crawl in range(n_crawls):
        kept = alive[rng.random(population) < 0.73 ** (183 / 365.25)]
        alive = np.concatenate([kept, np.arange(n_born, n_born + population - kept.size)])
        n_born += population - kept.size
        held[crawl, rng.choice(alive, size=round(0.46 * population), replace=False)] = 1
    sample = held[:, rng.random(held.shape[1]) < sample_rate]
    return np.rint(sample @ sample.T).astype(int)


def make_table(n_shared, sample_rate):
    crawls = tuple(
        Crawl(
            label=f"c{k}",
            date=dt.date(2014, 1, 1) + dt.timedelta(days=183 * k),
            n_urls=round(size / sample_rate),
            n_sampled=int(size),
        )
        for k, size in enumerate(np.diag(n_shared))
    )
    return OverlapTable(crawls=crawls, n_shared=n_shared, sample_rate=sample_rate)


def test_intervals_of_sampled_tables_hold_the_truth():
    rng = np.random.default_rng(2)
    n_crawls, population, rate, n_archives = 6, 20_000, 0.1, 300
    held = []
    for _ in range(n_archives):
        pairs = pair_data(make_table(draw_sample(rng, n_crawls, population, rate), rate))
        fit = fit_two_way(pairs)
        margins = find_margins(pairs, fit)
        log_population = np.log(pairs.n_urls[-1]) - fit.log_coverage[-1]
        held.append(
            [
                abs(fit.log_typical - np.log(0.46)) <= margins.typical.half_width,
                abs(fit.log_persistence - np.log(0.73)) <= margins.persistence.half_width,
                abs(fit.log_coverage[-1] - np.log(0.46)) <= margins.coverage[-1].half_width,
                abs(log_population - np.log(population)) <= margins.population[-1].half_width,
            ]
        )
    least = 0.93 - 2 * np.sqrt(0.93 * 0.07 / n_archives)
    assert np.min(np.mean(held, axis=0)) >= least
