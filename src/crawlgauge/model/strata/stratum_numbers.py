"""Log coverages and persistences of all strata with their margins, partly pooled."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.margins import LEVEL
from crawlgauge.model.strata.lack_of_fit import LackOfFit, find_lack_of_fit
from crawlgauge.model.strata.partial_pooling import pool
from crawlgauge.model.strata.stratum_errors import (
    NEWEST,
    SLOPE,
    TYPICAL,
    expected_jackknife,
    leave_out,
    numbers_of,
    sampling,
)
from crawlgauge.model.strata.stratum_fits import StratumFits, fit_strata

__all__ = ["Numbers", "StratumNumbers", "find_numbers"]

_Array = NDArray[np.float64]

_NUMBERS = (NEWEST, TYPICAL, SLOPE)
_MAX_CELLS = 1 << 21
"""Strata are fitted so many at a time that an array takes 16 MB."""
_LEAST_VARIANCE = 1e-12
_MAX_EXACT = 12
_EXACT_COST = 3000
"""Expected jackknife variances take longer with more crawls; so few are computed exactly that all
take a second, and the others are read off between them."""
_MIN_EXACT = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Numbers:
    """One number of all strata, as logarithms.

    Parameters
    ----------
    value
        NaN where it is not identifiable.
    half_width
        How far its interval reaches to either side.
    own_variance, quantile
        Variance of the error of each stratum, and the quantile that goes with it.
    common_margin
        Half width of what all strata have in common.
    """

    value: _Array
    half_width: _Array
    own_variance: _Array
    quantile: _Array
    common_margin: float

    def lowered(self, by: _Array) -> "Numbers":
        """Return the numbers less something of which half is uncertain."""
        more = (by / 2) ** 2
        return replace(
            self,
            value=self.value - by,
            half_width=np.sqrt(self.half_width**2 + self.quantile**2 * more),
            own_variance=self.own_variance + more,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StratumNumbers:
    """All numbers of all strata.

    Parameters
    ----------
    newest, typical, slope
        Log coverage of the newest crawl, mean log coverage, and log persistence.
    population_excess
        Variance of the log population beyond that of the log coverage, by sampling.
    contradicts
        Whether a stratum contradicts itself more than chance allows.
    """

    newest: Numbers
    typical: Numbers
    slope: Numbers
    population_excess: _Array
    contradicts: NDArray[np.bool_]

    def unmixed(self, mixing: _Array) -> "StratumNumbers":
        """Return the numbers with coverages that allow for strata that were pooled.

        Parameters
        ----------
        mixing
            For each stratum by what factor the coverage of the mixture is too high. Strata that
            are very small show too little of it, so that half of it is added to the error.
        """
        log_mixing = np.log(mixing)
        return replace(
            self, newest=self.newest.lowered(log_mixing), typical=self.typical.lowered(log_mixing)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Raw:
    """Before pooling: numbers, replicates, sampling covariances, expected jackknife ratios."""

    values: _Array
    changes: _Array
    drawing: _Array
    covariance: _Array
    population: _Array
    ratios: _Array


def find_numbers(
    n_shared: NDArray[np.int64], days: NDArray[np.int64], years: _Array, rate: float
) -> StratumNumbers:
    """Estimate the numbers of all strata.

    Parameters
    ----------
    n_shared
        For each stratum what each two crawls share of it.
    days, years
        Of the crawls.
    rate
        Share of the URLs that were counted.
    """
    raw = _fit_all(n_shared, days, years, rate)
    known = ~np.isnan(raw.values[:, SLOPE])
    lacks = [_lack_of_fit(raw, number, known) for number in _NUMBERS]
    newest, _ = _pool(raw, NEWEST, lacks, days.size)
    typical, slope = _pool(raw, TYPICAL, lacks, days.size)
    contradicts = np.zeros(len(n_shared), dtype=np.bool_)
    contradicts[known] = lacks[TYPICAL].contradicts | lacks[SLOPE].contradicts
    return StratumNumbers(
        newest=newest,
        typical=typical,
        slope=slope,
        population_excess=raw.population - raw.covariance[:, NEWEST, NEWEST],
        contradicts=contradicts,
    )


def _fit_all(
    n_shared: NDArray[np.int64], days: NDArray[np.int64], years: _Array, rate: float
) -> _Raw:
    lags = np.abs(years - years[:, None])
    size = max(1, _MAX_CELLS // days.size**2)
    parts = [
        _fit_some(n_shared[first : first + size], days, years, lags, rate)
        for first in range(0, len(n_shared), size)
    ]
    return _Raw(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _Raw.__slots__}
    )


def _fit_some(
    n_shared: NDArray[np.int64],
    days: NDArray[np.int64],
    years: _Array,
    lags: _Array,
    rate: float,
) -> _Raw:
    fits = fit_strata(n_shared, years)
    sizes = np.diagonal(n_shared, axis1=1, axis2=2)
    values = numbers_of(fits.columns)
    known = np.flatnonzero(~np.isnan(values[:, SLOPE]))
    drawing = np.full((len(n_shared), len(_NUMBERS), len(_NUMBERS)), np.nan)
    covariance, population = drawing.copy(), np.full(len(n_shared), np.nan)
    for stratum in map(int, known):
        errors = sampling(fits, stratum, sizes[stratum], days, rate)
        drawing[stratum], covariance[stratum] = errors.drawing, errors.covariance
        population[stratum] = errors.population
    return _Raw(
        values=values,
        changes=leave_out(fits, lags),
        drawing=drawing,
        covariance=covariance,
        population=population,
        ratios=_expected_ratios(fits, sizes, days, drawing, known),
    )


def _expected_ratios(
    fits: StratumFits,
    sizes: NDArray[np.int64],
    days: NDArray[np.int64],
    drawing: _Array,
    known: NDArray[np.int64],
) -> _Array:
    """Return the jackknife variances that counting leads to, over the sampling variances.

    The ratio depends on coverage and not on size, so that it is enough to know it for some.
    """
    ratios = np.zeros((len(sizes), len(_NUMBERS)))
    n_exact = int(np.clip(_EXACT_COST // days.size**2, _MIN_EXACT, _MAX_EXACT))
    coverage = numbers_of(fits.columns)[:, TYPICAL]
    has_newest = known[~np.isnan(fits.columns.level[known, -1])]
    if not has_newest.size:
        return ratios
    order = has_newest[np.argsort(coverage[has_newest], kind="stable")]
    chosen = order[np.unique(np.linspace(0, order.size - 1, n_exact).round().astype(np.int64))]
    exact = np.array([expected_jackknife(fits, int(k), sizes[k], days) for k in chosen])
    exact /= np.maximum(np.diagonal(drawing[chosen], axis1=1, axis2=2), _LEAST_VARIANCE)
    for number in _NUMBERS:
        tested = exact[:, number] > 0
        if tested.any():
            known_ratios = coverage[chosen[tested]], exact[tested, number]
            ratios[known, number] = np.interp(coverage[known], *known_ratios)
    return ratios


def _lack_of_fit(raw: _Raw, number: int, known: NDArray[np.bool_]) -> LackOfFit:
    drawing = raw.drawing[known, number, number]
    return find_lack_of_fit(
        raw.changes[known, :, number],
        np.maximum(np.nan_to_num(drawing), _LEAST_VARIANCE),
        raw.ratios[known, number],
    )


def _pool(raw: _Raw, number: int, lacks: list[LackOfFit], n_crawls: int) -> tuple[Numbers, Numbers]:
    """Pool a coverage and the persistence of all strata that have both."""
    known = ~np.isnan(raw.values[:, SLOPE])
    usable = known & ~np.isnan(raw.values[:, number])
    both = [number, SLOPE]
    sampled = raw.covariance[usable][:, both][:, :, both]
    variance = np.maximum(np.diagonal(sampled, axis1=1, axis2=2), _LEAST_VARIANCE)
    own = np.column_stack([lacks[k].own[usable[known]] for k in both])
    # Lack of fit is taken to spread over coverage and persistence as sampling does.
    scale = np.sqrt(1 + own / variance)
    covariance = sampled * scale[:, :, None] * scale[:, None, :]
    covariance[:, [0, 1], [0, 1]] = variance + own
    value, error = pool(raw.values[usable][:, both], covariance)
    collected = []
    for place, kind in enumerate(both):
        lack = lacks[kind]
        freedom = lack.n_freedom[usable[known]]
        quantile = _mixed_quantile(variance[:, place], own[:, place], freedom)
        common = float(_quantile(max(1, n_crawls - 2))) * math.sqrt(lack.common)
        spread = np.maximum(error[:, place, place], 0.0)
        collected.append(
            Numbers(
                value=_spread_out(value[:, place], usable),
                half_width=_spread_out(np.hypot(quantile * np.sqrt(spread), common), usable),
                own_variance=_spread_out(spread, usable),
                quantile=_spread_out(quantile, usable),
                common_margin=common,
            )
        )
    return collected[0], collected[1]


def _mixed_quantile(sampling_variance: _Array, own: _Array, n_freedom: _Array) -> _Array:
    """Return the quantile of a variance of which one part is known and the other estimated."""
    exact, estimated = _quantile(np.inf), _quantile(n_freedom)
    squared = exact**2 * sampling_variance + estimated**2 * own
    return np.asarray(np.sqrt(squared / (sampling_variance + own)))


def _quantile(n_freedom: float | _Array) -> _Array:
    from scipy.special import stdtrit  # here, because it takes as long to load as all the rest

    return np.asarray(stdtrit(np.minimum(n_freedom, 1e9), (1 + LEVEL) / 2))


def _spread_out(values: _Array, usable: NDArray[np.bool_]) -> _Array:
    """Put the values of the usable strata in their places, NaN elsewhere."""
    out = np.full(usable.size, np.nan)
    out[usable] = values
    return out
