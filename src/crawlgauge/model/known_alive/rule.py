"""Known-alive windows, from capture histories to a coverage with its band and grade."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.known_alive.band import Band, Doubts, draw_band, grade_band
from crawlgauge.model.known_alive.blending import Blend, blend_level
from crawlgauge.model.known_alive.candidates import Candidate, sampling_error, weigh_up
from crawlgauge.model.known_alive.population import capture_chances
from crawlgauge.model.known_alive.results import (
    KnownAliveFit,
    LatentClassLevel,
    LogBand,
    NoKnownAlive,
    RevisitEffect,
)
from crawlgauge.model.known_alive.shapes import Average, average_shapes, is_even
from crawlgauge.model.known_alive.trap_choice import choose_trap_lags
from crawlgauge.model.known_alive.windows import WindowCounts, count_windows

__all__ = ["MIN_CRAWLS", "fit_known_alive"]

Numbers = NDArray[np.float64]

MIN_CRAWLS = 5
"""Three crawls inside windows: with fewer, coverage and its unevenness are one and the same."""

_RUN_CHANCE = 0.9
_RUN_RATIO = 1.5
"""Chance of being captured again, and its ratio to that of others, from which on captures come in
runs: plain re-seeding leaves the chance well below."""


def fit_known_alive(
    data: HistoryData, *, latent_class: Callable[[int], LatentClassLevel | None] | None
) -> KnownAliveFit | NoKnownAlive:
    """Estimate coverage from known-alive windows.

    Parameters
    ----------
    data
        Capture histories. Crawls without a capture are left out; their coverage stays unknown.
    latent_class
        Fits the latent-class model to `data`, with as many trap lags as it is given; called
        only where its level could have a say. None for no such model.

    Returns
    -------
    KnownAliveFit or NoKnownAlive
        The estimate, or why there is none.
    """
    held = data.sizes > 0
    if held.sum() < MIN_CRAWLS:
        return NoKnownAlive(
            reason=f"{held.sum()} crawls with captures: known-alive windows need {MIN_CRAWLS}"
        )
    counts = count_windows(_without_empty(data, held))
    if counts.n_windows == 0:
        return NoKnownAlive(reason="no URL is captured by two crawls with another in between")
    choice = choose_trap_lags(counts)
    even = weigh_up(choice.even, counts)
    average = average_shapes(choice, even, counts)
    if average is None or not math.isfinite(average.log_typical):
        return NoKnownAlive(reason="the windows leave the coverage of every crawl open")

    def level() -> LatentClassLevel | None:
        if latent_class is None:
            return None
        found = latent_class(choice.trap_lags)
        return None if found is None else replace(found, log_coverage=found.log_coverage[held])

    blend = blend_level(average, level)
    potential = even.log_typical - weigh_up(choice.log_normal, counts).log_typical
    uneven_effect = even.log_typical - average.log_typical
    heaviest = average.heaviest
    revisits = _revisits(heaviest, counts)
    typical = average.log_typical + blend.shift
    run_gap = 0.0
    if _are_runs(revisits):
        run_gap = max(weigh_up(choice.no_trap, counts).log_typical - typical, 0.0)
    doubts = Doubts(
        trap_lags=choice.trap_lags,
        shape_sd=average.shape_sd,
        uneven_effect=uneven_effect,
        uneven_potential=potential if is_even(heaviest) else 0.0,
        consistency=heaviest.consistency.ratio,
        blend=blend,
        run_gap=run_gap,
        newest_variance=heaviest.newest_variance,
    )
    band = draw_band(doubts, sampling_error(heaviest, counts))
    grade, reason = grade_band(band, doubts, data.n_urls, counts.n_crawls)
    log_coverage, low, high = _per_crawl(average, blend, band, held)
    return KnownAliveFit(
        typical=LogBand(
            value=typical, low=typical - band.below, high=_possible(typical, band.above)
        ),
        newest=LogBand(value=float(log_coverage[-1]), low=float(low[-1]), high=float(high[-1])),
        log_coverage=log_coverage,
        low=low,
        high=high,
        trap_lags=choice.trap_lags,
        revisits=revisits,
        family=heaviest.model.family.name,
        gain=choice.gain,
        consistency=heaviest.consistency.ratio,
        uneven_effect=uneven_effect,
        uneven_potential=potential,
        latent_difference=blend.difference,
        latent_weight=blend.weight,
        run_gap=run_gap,
        log_plain=even.log_typical,
        grade=grade,
        grade_reason=reason,
    )


def _without_empty(data: HistoryData, held: NDArray[np.bool_]) -> HistoryData:
    if held.all():
        return data
    captured = data.captured[:, held]
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    years = data.years[held]
    return replace(
        data,
        captured=captured,
        masks=(captured * bits).sum(axis=1, dtype=np.uint64),
        years=years - years[0],
    )


def _per_crawl(
    average: Average, blend: Blend, band: Band, held: NDArray[np.bool_]
) -> tuple[Numbers, Numbers, Numbers]:
    value = average.log_coverage + blend.shift
    found = np.full((3, held.size), np.nan)
    high = np.array([_possible(*pair) for pair in zip(value, band.crawl_above, strict=True)])
    found[:, held] = [value, value - band.crawl_below, high]
    log_coverage, low, high = found
    return log_coverage, low, high


def _possible(value: float, above: float) -> float:
    """Return the upper end of a band: coverage above 1 is impossible unless it was estimated."""
    return min(value + above, max(value, 0.0))


def _revisits(candidate: Candidate, counts: WindowCounts) -> tuple[RevisitEffect, ...]:
    fit = candidate.information.fit
    _, trap, shape, _, _ = fit.model.places(counts.n_crawls)
    share = fit.model.family.nodes(fit.vector[shape]).share
    chances = (capture_chances(fit.model, counts, fit.vector) @ share)[1:-1]
    means = np.exp(np.log(chances).mean(axis=0))
    return tuple(
        RevisitEffect(
            crawls_since=since,
            effect=float(effect),
            chance=float(means[since]),
            chance_ratio=float(means[since] / means[0]),
        )
        for since, effect in enumerate(fit.vector[trap], start=1)
    )


def _are_runs(revisits: tuple[RevisitEffect, ...]) -> bool:
    """Tell whether what is captured once is captured ever after, as far as windows show.

    Either the crawler returns to all that it holds and finds little else, or it captures nearly
    everything and URLs go absent for a while. Windows do not tell which.
    """
    return bool(revisits) and (
        revisits[0].chance > _RUN_CHANCE and revisits[0].chance_ratio > _RUN_RATIO
    )
