"""From fitted classes to the living URLs of each crawl."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.latent_class.model import (
    ClassModel,
    ClassParameters,
    StepChances,
    step_chances,
)
from crawlgauge.model.latent_class.paths import HistoryPaths, PathCounts
from crawlgauge.model.latent_class.starts import Optimum

__all__ = ["count_living", "has_recaptures", "is_identifiable"]

_FEWEST_RECAPTURES = 10
"""With fewer URLs seen before, a crawl's coverage is a guess: its relative error is a third."""


def has_recaptures(totals: PathCounts) -> NDArray[np.bool_]:
    """Tell for each crawl whether it holds enough URLs of earlier crawls to know its coverage.

    The first crawl never does; nor do those that follow it within the trap lags if the crawler
    never returns so soon; nor does a crawl that shares nothing with the earlier ones.

    Parameters
    ----------
    totals
        The steps of all URLs.
    """
    enough: NDArray[np.bool_] = totals.steps.sum(axis=0) >= _FEWEST_RECAPTURES
    return enough


def is_identifiable(paths: HistoryPaths, trap_lags: int) -> bool:
    """Tell whether the histories hold what the classes and the trap response are estimated from.

    A crawl between the first and the last must have recaptures, and some URLs must be captured
    again after the trap lags: otherwise, as when every living URL is captured every time, one
    cannot know how likely a capture is without trap response.

    Parameters
    ----------
    paths
        The histories.
    trap_lags
        For how many crawls a capture changes the chance of the next.
    """
    totals = paths.count(paths.counts)
    after_lags = np.triu(totals.steps, k=trap_lags + 1).sum()
    return bool(has_recaptures(totals)[1:-1].any() and after_lags >= _FEWEST_RECAPTURES)


def count_living(optimum: Optimum, data: HistoryData) -> NDArray[np.float64]:
    """Estimate the living URLs of each class (rows) at each crawl (columns).

    URLs that were not captured lately stand each for as many as one over their chance of capture.
    Of those captured lately, one knows how many there were, and how many of them live on: this
    works even if they are never captured again so soon. Nothing is said of the first crawl, where
    chances of capture are unknown; its numbers are NaN.

    Parameters
    ----------
    optimum
        The fit.
    data
        The histories it was fitted to.
    """
    model = optimum.likelihood.model
    parameters = model.unpack(optimum.theta)
    chances = step_chances(model, parameters)
    counts = _with_newest(optimum.likelihood.expected_counts(optimum.theta), data, parameters)
    not_lately = np.where(model.states == 0, counts.steps, 0.0).sum(axis=1) + counts.firsts
    per_capture = 1 + np.exp(parameters.gaps[:, None] - parameters.levels)
    living: NDArray[np.float64] = not_lately * per_capture + _living_lately(model, chances, counts)
    living[:, 0] = np.nan
    return living


def _with_newest(counts: PathCounts, data: HistoryData, parameters: ClassParameters) -> PathCounts:
    """Add the URLs first captured in the last crawl, in the shares of the latest cohort."""
    only_newest = data.captured[:, -1] & ~data.captured[:, :-1].any(axis=1)
    firsts = counts.firsts.copy()
    firsts[:, -1] += data.counts[only_newest].sum() * np.exp(parameters.log_shares[-1])
    return replace(counts, firsts=firsts)


def _living_lately(
    model: ClassModel, chances: StepChances, counts: PathCounts
) -> NDArray[np.float64]:
    """Estimate how many of those captured in the last few crawls, and not since, are alive."""
    living = np.zeros_like(counts.lasts)
    for crawl in range(1, model.n_crawls):
        for lag in range(1, min(model.trap_lags, crawl) + 1):
            last = crawl - lag
            stock = counts.steps[:, last, crawl:].sum(axis=1) + counts.lasts[:, last]
            died = chances.death[:, last, : crawl + 1].sum(axis=1)
            alive = chances.unseen[:, last, crawl - 1] - chances.death[:, last, crawl]
            living[:, crawl] += stock * alive / (alive + died)
    return living
