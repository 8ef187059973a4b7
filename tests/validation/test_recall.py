"""Recall of uniform references, where crawlers favour some URLs and their series cannot tell."""

import datetime as dt
import math
from functools import cache

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.recall import recall_reference
from crawlgauge.overlaps.table import HeldCounts, OverlapTable, Reference

pytestmark = pytest.mark.slow

N_UNEVEN = 200
N_EVEN = 80
N_CRAWLS = 6
POPULATION = 8_000
N_REFERENCE = 600
PERSISTENCE = 0.73
SD_OF_WEIGHTS = 0.9
DAYS = 183
FIRST = dt.date(2015, 1, 15)
MIDDLE = 3


def simulate(seed: int, sd_of_weights: float, growth: float):
    """Return crawls that favour some URLs, their populations, and a uniform reference.

    The reference is drawn when crawl `MIDDLE` is made.
    """
    rng = np.random.default_rng(seed)
    urls, n_born = np.arange(POPULATION), POPULATION
    weights = np.exp(rng.normal(0, sd_of_weights, POPULATION))
    crawls, populations, reference = [], [], None
    for number in range(N_CRAWLS):
        if number:
            n_before = urls.size
            kept = rng.random(n_before) < PERSISTENCE ** (DAYS / 365.25)
            n_wanted = round(n_before * (1 + growth) ** (DAYS / 365.25))
            n_new = n_wanted - int(kept.sum())
            urls = np.append(urls[kept], np.arange(n_born, n_born + n_new))
            weights = np.append(weights[kept], np.exp(rng.normal(0, sd_of_weights, n_new)))
            n_born += n_new
        arrivals = rng.exponential(1, urls.size) / weights
        crawls.append(urls[np.argsort(arrivals)[: round(0.4 * POPULATION)]])
        populations.append(urls.size)
        if number == MIDDLE:
            reference = rng.choice(urls, N_REFERENCE, replace=False)
    return crawls, populations, reference


def table_of(crawls) -> OverlapTable:
    n_born = 1 + max(int(urls.max()) for urls in crawls)
    held = np.array([np.bincount(urls, minlength=n_born) for urls in crawls])
    return OverlapTable(
        crawls=tuple(
            Crawl(
                label=f"c{number}",
                date=FIRST + dt.timedelta(days=DAYS * number),
                n_urls=int(row.sum()),
            )
            for number, row in enumerate(held)
        ),
        n_shared=held @ held.T,
    )


@cache
def recall_many(sd_of_weights: float, growth: float):
    results = []
    for seed in range(N_UNEVEN if sd_of_weights else N_EVEN):
        crawls, populations, reference = simulate(9_000 + seed, sd_of_weights, growth)
        table = table_of(crawls)
        held = [
            HeldCounts(n_looked_for=N_REFERENCE, n_held=int(np.isin(reference, urls).sum()))
            for urls in crawls
        ]
        found = recall_reference(
            table.crawls,
            estimate_coverage(table),
            key_rule="surt/1",
            reference=Reference(
                name="sample",
                kind="url",
                n_entries=N_REFERENCE,
                n_distinct=N_REFERENCE,
                date=table.crawls[MIDDLE].date,
            ),
            held=held,
            held_by_any=held[0],
            is_uniform=True,
        )
        truth = [urls.size / n for urls, n in zip(crawls, populations, strict=True)]
        results.append((found, truth))
    return results


def holds(estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


def test_a_uniform_reference_holds_the_coverage_whatever_the_crawler_favours():
    results = recall_many(SD_OF_WEIGHTS, 0.0)
    of_nearest = np.mean(
        [holds(found.uniform.by_reference, truth[MIDDLE]) for found, truth in results]
    )
    assert 0.90 <= of_nearest <= 0.99
    of_series = np.mean([holds(found.headline, truth[MIDDLE]) for found, truth in results])
    assert of_series < 0.1
    assert all(found.uniform.ratio.value > 1 for found, _ in results)
    verdicts = ["trust the reference" in found.uniform.verdict for found, _ in results]
    assert np.mean(verdicts) > 0.9


@pytest.mark.parametrize("growth", [0.0, 0.2])
def test_recall_is_carried_to_crawls_of_other_dates(growth):
    results = recall_many(0.0, growth)
    for number in range(1, N_CRAWLS):
        hits = np.mean(
            [holds(found.per_crawl[number].by_reference, truth[number]) for found, truth in results]
        )
        assert 0.90 <= hits <= 1, number


def test_even_crawls_agree_with_a_uniform_reference():
    verdicts = ["agree" in found.uniform.verdict for found, _ in recall_many(0.0, 0.0)]
    assert np.mean(verdicts) > 0.9


def test_the_carried_recall_of_uneven_crawls_is_too_high_at_other_dates_no_more_than_by_chance():
    results = recall_many(SD_OF_WEIGHTS, 0.0)
    for number in (MIDDLE - 1, MIDDLE + 1):
        errors = [
            math.log(found.per_crawl[number].by_reference.value / truth[number])
            for found, truth in results
        ]
        assert abs(np.mean(errors)) < 0.02
