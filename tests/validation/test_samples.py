"""Estimates from a sample of the URLs: how far they are from those of all, and what they say."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.known_alive import fit_known_alive
from crawlgauge.model.intervals import find_margins
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Provenance
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import write_keys

SIXTEENTH = WHOLE // 16


def settings_of(n_crawls, size):
    return change_settings(
        find_scenario("pure"), n_crawls=n_crawls, population=round(size / 0.46), coverage=0.46
    )


def write_archive(folder, n_crawls, size, seed):
    """Draw an archive and write a set file for each crawl."""
    archive = draw_sets(settings_of(n_crawls, size), seed=seed)
    n_urls = 1 + max(crawl.url_numbers.max() for crawl in archive.crawls)
    keys = np.random.default_rng(seed).integers(2**64, size=n_urls, dtype=np.uint64)
    written = []
    for crawl in archive.crawls:
        own = folder / crawl.label
        own.mkdir(exist_ok=True)
        described = CrawlSet(
            crawl=Crawl(label=crawl.label, date=crawl.date, n_urls=crawl.url_numbers.size),
            level="url",
            key_rule="raw/1",
            threshold=WHOLE,
            n_captures=crawl.url_numbers.size,
            rejected={},
            excluded={},
            damage=(),
            checksum="",
            provenance=Provenance(),
            folder=own,
        )
        its_keys = np.sort(keys[crawl.url_numbers])
        written.append(write_keys(own, [its_keys], described, n_most=its_keys.size))
    return written


def thin(table, rate, rng, *, with_sizes=True):
    """Keep each URL with the same chance, as a threshold of its key does."""
    counts = rng.binomial(table.histories.counts, rate)
    kept = Histories(
        n_crawls=table.n_crawls,
        masks=table.histories.masks[counts > 0],
        counts=counts[counts > 0],
        sample_rate=rate,
    )
    n_shared = kept.count_pairs()
    crawls = tuple(
        replace(
            crawl,
            n_sampled=int(size),
            n_urls=crawl.n_urls if with_sizes else round(int(size) / rate),
        )
        for crawl, size in zip(table.crawls, n_shared.diagonal(), strict=True)
    )
    return OverlapTable(crawls=crawls, n_shared=n_shared, histories=kept, sample_rate=rate)


@pytest.mark.parametrize(
    ("n_crawls", "coverage", "factor"),
    [(4, 0.46, 1.15), (6, 0.46, 0.73), (8, 0.46, 0.59), (6, 0.1, 2.0), (6, 0.8, 0.4)],
)
def test_the_error_of_a_sample_is_that_of_direct_simulation(n_crawls, coverage, factor):
    """Its standard error is K·√((1−s)/(s·M)); K was found by simulating sketches."""
    size, rate = 1_000_000, 0.1
    settings = change_settings(
        find_scenario("pure"), n_crawls=n_crawls, population=round(size / coverage)
    )
    whole = draw_table(replace(settings, coverage=coverage), seed=1, with_histories=True)
    pairs = pair_data(thin(whole, rate, np.random.default_rng(1)))
    found = find_margins(pairs, fit_two_way(pairs)).sample_alone / 1.96
    assert found == pytest.approx(factor * math.sqrt((1 - rate) / (rate * size)), rel=0.1)


@pytest.mark.slow
def test_estimates_of_a_sixteenth_agree_with_those_of_all_in_twenty_archives(tmp_path):
    """Fifteen crawls of a million URLs each, counted from their sets both ways."""
    held, distance = [], []
    for seed in range(20):
        written = write_archive(tmp_path, 15, 1_000_000, seed)
        exact, sample = (
            count_sets(written, threshold=threshold) for threshold in (WHOLE, SIXTEENTH)
        )
        assert [crawl.n_urls for crawl in sample.crawls] == [1_000_000] * 15
        fits = [fit_two_way(pair_data(table)) for table in (exact, sample)]
        margins = find_margins(pair_data(sample), fits[1])
        off = abs(fits[1].log_typical - fits[0].log_typical)
        assert off < margins.typical.half_width
        assert margins.sample_alone < margins.typical.half_width
        held.append(off < margins.sample_alone)
        distance.append(off / (margins.sample_alone / 1.96))
    # Of twenty, nineteen are expected, and fewer than 17 once in sixty times.
    assert sum(held) >= 17
    assert 0.7 < math.sqrt(np.mean(np.square(distance))) < 1.4


@pytest.mark.slow
@pytest.mark.parametrize("n_crawls", [6, 15])
def test_the_share_of_samples_whose_error_holds_all_is_what_it_promises(n_crawls):
    whole = draw_table(settings_of(n_crawls, 200_000), seed=3, with_histories=True)
    exact = fit_two_way(pair_data(whole)).log_typical
    rng, n_samples = np.random.default_rng(4), 600
    held = []
    for _ in range(n_samples):
        pairs = pair_data(thin(whole, 1 / 16, rng, with_sizes=False))
        fit = fit_two_way(pairs)
        held.append(abs(fit.log_typical - exact) < find_margins(pairs, fit).sample_alone)
    assert np.mean(held) == pytest.approx(0.95, abs=2.6 * math.sqrt(0.95 * 0.05 / n_samples))


@pytest.mark.slow
def test_windows_know_their_error_in_a_sample():
    """What leaving out groups of URLs shows is what samples differ by, but for what all share."""
    whole = draw_table(settings_of(8, 400_000), seed=5, with_histories=True)
    exact, _ = fit_windows(whole)
    rng, rate = np.random.default_rng(6), 1 / 16
    found = [fit_windows(thin(whole, rate, rng)) for _ in range(60)]
    spread = math.sqrt(np.mean([(value - exact) ** 2 for value, _ in found]))
    expected = math.sqrt((1 - rate) * np.mean([error**2 for _, error in found]))
    assert spread == pytest.approx(expected, rel=0.25)


def fit_windows(table):
    fit = fit_known_alive(history_data(table))
    return float(fit.log_coverage[1:-1].mean()), fit.sampling_sd


@pytest.mark.slow
def test_exact_pairs_with_histories_of_a_part_give_the_same_headline():
    """As where histories are too many different ones to be counted of all URLs."""
    whole = draw_table(settings_of(8, 10_000_000), seed=7, with_histories=True)
    part = thin(whole, 1 / 32, np.random.default_rng(8)).histories
    of_all, of_part = (
        estimate_coverage(table) for table in (whole, replace(whole, histories=part))
    )
    assert of_part.headline.estimator == "histories"
    assert of_part.headline.coverage.value == pytest.approx(
        of_all.headline.coverage.value, rel=0.01
    )
    assert of_part.population.value == pytest.approx(of_all.population.value, rel=0.02)
    assert of_part.persistence.value == pytest.approx(of_all.persistence.value, rel=0.01)
