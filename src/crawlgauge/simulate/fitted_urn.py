"""The urn that the published line describes: simulated, and estimated from like the crawls."""

from dataclasses import replace

import numpy as np

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.panels import FittedUrn, Panels, find_bands, find_intercepts, published_line
from crawlgauge.model.plan import planning_curves
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.simulate.urn_settings import UrnSettings
from crawlgauge.simulate.urn_table import draw_table

_SEED = 1
# 780 pairs show all there is to see, and are drawn within a second.
_MAX_SIMULATED = 40


def find_panels(estimates: Estimates) -> Panels:
    """Return all that figures show beyond the estimates."""
    return Panels(
        bands=find_bands(estimates),
        intercepts=find_intercepts(estimates),
        urn=_simulate_fitted(estimates),
        curves=planning_curves(estimates),
    )


def _simulate_fitted(estimates: Estimates) -> FittedUrn | None:
    """Draw the paper's urn: one size and one population, at the dates of the crawls."""
    line, crawls = published_line(estimates), _choose_crawls(estimates)
    if line is None or max(line.log_coverage, line.log_persistence) > 0:
        return None
    size = round(float(np.median([crawl.n_urls for crawl in crawls])))
    population = max(size, round(size / line.coverage))
    settings = UrnSettings(
        dates=tuple(crawl.date for crawl in crawls),
        population=population,
        size=size,
        persistence=line.persistence,
    )
    table = draw_table(settings, seed=_SEED, with_histories=False)
    # Under the labels of the crawls that they stand for, so that these can be chosen.
    named = tuple(
        replace(crawl, n_urls=drawn.n_urls, n_sampled=None)
        for drawn, crawl in zip(table.crawls, crawls, strict=True)
    )
    simulated = estimate_coverage(
        OverlapTable(crawls=named, n_shared=table.n_shared, level=estimates.level)
    )
    bands = find_bands(simulated)
    if bands is None:
        return None
    return FittedUrn(
        estimates=simulated,
        bands=bands,
        population=population,
        persistence=line.persistence,
        seed=_SEED,
    )


def _choose_crawls(estimates: Estimates) -> list[Crawl]:
    """Return all crawls, or as many as are simulated, at equal distances in the series."""
    n_crawls = len(estimates.crawls)
    places = np.linspace(0, n_crawls - 1, min(n_crawls, _MAX_SIMULATED)).round().astype(int)
    return [estimates.crawls[place] for place in places]
