"""From overlaps by stratum to coverage, population and persistence of each, and to their sum."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import NORMAL_QUANTILE, Margin
from crawlgauge.model.ranges import exponential
from crawlgauge.model.strata.even_capture import check_even_capture
from crawlgauge.model.strata.strata import Strata, StratumEstimate, Whole
from crawlgauge.model.strata.stratum_numbers import Numbers, StratumNumbers, find_numbers
from crawlgauge.model.strata.wording import say_answer, say_gap, say_warnings
from crawlgauge.model.two_way import NO_INTERVAL
from crawlgauge.overlaps.table import StratumCounts

__all__ = ["estimate_strata"]

_MIN_CRAWLS = 3
_MIN_INTERVAL_CRAWLS = 4

_FEW_CRAWLS = "not identifiable: coverage and turnover can be told apart from 3 crawls on"
_ONE_DATE = "not identifiable: its crawls are of too few different dates"
_GONE = "the newest crawl holds nothing of it: gone, or missed"
_NOTHING = "not identifiable: its crawls share nothing"
_NEW = "not identifiable: the newest crawl shares nothing of it with any earlier one"
_CONTRADICTS = "contradicts itself: a relaunch, or a change of scope?"
_ABOVE_ONE = "above 100 %, which is impossible: its URLs are not captured evenly"


def estimate_strata(counts: StratumCounts, *, suffix_list: str | None = None) -> Strata:
    """Estimate all strata.

    Parameters
    ----------
    counts
        Overlaps by stratum.
    suffix_list
        Date of the public suffix list that divided them, where one did.
    """
    numbers, plain = _find(counts)
    strata = [_describe(counts, k, numbers) for k in range(len(counts.strata))]
    strata.sort(key=lambda stratum: (-_or_least(stratum.missing), -stratum.n_urls, stratum.name))
    check = check_even_capture(counts)
    of_plain, of_sum = _whole_plain(counts, plain), _whole_sum(counts, numbers)
    return Strata(
        by=counts.by,
        noun=counts.noun,
        crawls=counts.crawls,
        sample_rate=counts.sample_rate,
        n_distinct=counts.n_distinct,
        n_pooled=counts.n_pooled,
        min_shared=counts.min_shared,
        strata=tuple(strata),
        plain=of_plain,
        post_stratified=of_sum,
        statement=say_answer(counts, strata),
        comparison=say_gap(counts.noun, of_plain, of_sum, is_even=check.status != "warn"),
        even_capture=check,
        warnings=say_warnings(counts, strata),
        suffix_list=suffix_list,
        provenance=counts.provenance,
    )


def _find(counts: StratumCounts) -> tuple[StratumNumbers | None, StratumNumbers | None]:
    """Return the numbers of the strata and of all URLs taken for one; None with too few crawls."""
    if len(counts.crawls) < _MIN_CRAWLS:
        return None, None
    days = np.array([crawl.date.toordinal() for crawl in counts.crawls], dtype=np.int64)
    years = (days - days[0]) / DAYS_PER_YEAR
    rate = counts.sample_rate
    together = counts.n_shared.sum(axis=0, keepdims=True)
    mixing = np.array([stratum.mixing for stratum in counts.strata])
    return (
        find_numbers(counts.n_shared, days, years, rate).unmixed(mixing),
        find_numbers(together, days, years, rate),
    )


def _or_least(number: Estimate) -> float:
    return -1.0 if number.value is None else number.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Logs:
    """A logarithm and its margin."""

    value: float
    margin: Margin


def _take(numbers: Numbers, number: int, n_crawls: int, excess: float = 0.0) -> _Logs:
    """Return one number with its margin; `excess` is a variance that comes on top."""
    value, half_width = float(numbers.value[number]), float(numbers.half_width[number])
    if math.isnan(value):
        return _Logs(value=value, margin=Margin())
    if n_crawls < _MIN_INTERVAL_CRAWLS:
        return _Logs(value=value, margin=Margin(reason=NO_INTERVAL))
    squared = max(half_width**2 + NORMAL_QUANTILE**2 * excess, 0.0)
    return _Logs(value=value, margin=Margin(half_width=math.sqrt(squared)))


def _describe(
    counts: StratumCounts, number: int, numbers: StratumNumbers | None
) -> StratumEstimate:
    stratum, shared = counts.strata[number], counts.n_shared[number]
    sizes, n_crawls = np.diagonal(shared), len(counts.crawls)
    n_urls = round(int(sizes[-1]) / counts.sample_rate)
    name, n_pooled, n_held = stratum.name, stratum.n_pooled, int(np.sum(sizes > 0))
    if numbers is None:
        unknown = Estimate.unknown(_FEW_CRAWLS)
        return StratumEstimate(
            name=name,
            n_pooled=n_pooled,
            n_urls=n_urls,
            n_crawls=n_held,
            coverage=unknown,
            population=unknown,
            missing=unknown,
            persistence=unknown,
            typical_coverage=unknown,
        )
    reason = _why_unknown(shared)
    why_newest = _GONE if sizes[-1] == 0 else reason
    if sizes[-1] > 0 and math.isfinite(numbers.typical.value[number]):
        why_newest = _NEW
    newest = _take(numbers.newest, number, n_crawls)
    excess = float(np.nan_to_num(numbers.population_excess[number]))
    for_population = _take(numbers.newest, number, n_crawls, excess)
    slope, typical = (_take(n, number, n_crawls) for n in (numbers.slope, numbers.typical))
    coverage = exponential(newest.value, newest.margin, _reason(newest, why_newest))
    population = exponential(
        math.log(max(n_urls, 1)) - for_population.value,
        for_population.margin,
        _reason(newest, why_newest),
    )
    return StratumEstimate(
        name=name,
        n_pooled=n_pooled,
        n_urls=n_urls,
        n_crawls=n_held,
        coverage=coverage,
        population=population,
        missing=_missing(population, n_urls),
        persistence=exponential(slope.value, slope.margin, _reason(slope, reason)),
        typical_coverage=exponential(typical.value, typical.margin, _reason(typical, reason)),
        note=_note(coverage, bool(numbers.contradicts[number]), int(sizes[-1])),
    )


def _why_unknown(n_shared: NDArray[np.int64]) -> str:
    """Return why a persistence, and with it everything, is not identifiable."""
    sizes = np.diagonal(n_shared)
    if np.sum(sizes > 0) < _MIN_CRAWLS:
        return _FEW_CRAWLS
    return _NOTHING if n_shared.sum() == sizes.sum() else _ONE_DATE


def _reason(logs: _Logs, why_unknown: str) -> str | None:
    return why_unknown if math.isnan(logs.value) else None


def _missing(population: Estimate, n_urls: int) -> Estimate:
    """Return how many URLs of a population the newest crawl does not hold; never less than none."""
    if population.value is None:
        return Estimate(value=None, reason=population.reason)
    low, high = (
        None if end is None else max(0.0, end - n_urls) for end in (population.low, population.high)
    )
    return Estimate(
        value=max(0.0, population.value - n_urls),
        low=low,
        high=high,
        basis=population.basis,
        reason=population.reason,
    )


def _note(coverage: Estimate, contradicts: bool, size: int) -> str:
    if size == 0:
        return _GONE
    if contradicts:
        return _CONTRADICTS
    return _ABOVE_ONE if (coverage.low or 0.0) > 1 else ""


def _whole_plain(counts: StratumCounts, numbers: StratumNumbers | None) -> Whole:
    total = int(counts.n_shared[:, -1, -1].sum()) / counts.sample_rate
    if numbers is None:
        return _unknown_whole(_FEW_CRAWLS)
    n_crawls = len(counts.crawls)
    newest = _take(numbers.newest, 0, n_crawls)
    excess = float(np.nan_to_num(numbers.population_excess[0]))
    for_population = _take(numbers.newest, 0, n_crawls, excess)
    reason = _reason(newest, _why_unknown(counts.n_shared.sum(axis=0)))
    return Whole(
        coverage=exponential(newest.value, newest.margin, reason),
        population=exponential(
            math.log(max(total, 1)) - newest.value, for_population.margin, reason
        ),
    )


def _whole_sum(counts: StratumCounts, numbers: StratumNumbers | None) -> Whole:
    if numbers is None:
        return _unknown_whole(_FEW_CRAWLS)
    sizes = counts.n_shared[:, -1, -1] / counts.sample_rate
    newest = numbers.newest
    known = ~np.isnan(newest.value)
    if not np.any(known & (sizes > 0)):
        return _unknown_whole(_why_unknown(counts.n_shared.sum(axis=0)))
    # A stratum without an estimate is taken to be covered as the others are on the average.
    value = np.where(known, newest.value, np.average(newest.value[known]))
    populations = np.where(sizes > 0, sizes * np.exp(-value), 0.0)
    share = populations / populations.sum()
    excess = np.nan_to_num(numbers.population_excess)
    own = np.where(
        known, newest.quantile**2 * newest.own_variance, np.nanmax(newest.half_width) ** 2
    )
    of_coverage = _combine(share, own, newest.common_margin)
    of_population = _combine(
        share, np.maximum(own + NORMAL_QUANTILE**2 * excess, 0.0), newest.common_margin
    )
    if len(counts.crawls) < _MIN_INTERVAL_CRAWLS:
        of_coverage = of_population = Margin(reason=NO_INTERVAL)
    log_total = math.log(float(populations.sum()))
    return Whole(
        coverage=exponential(math.log(float(sizes.sum())) - log_total, of_coverage, None),
        population=exponential(log_total, of_population, None),
    )


def _combine(share: NDArray[np.float64], own: NDArray[np.float64], common: float) -> Margin:
    squared = float(np.sum(share**2 * own)) + common**2
    return Margin(half_width=math.sqrt(squared))


def _unknown_whole(reason: str) -> Whole:
    return Whole(coverage=Estimate.unknown(reason), population=Estimate.unknown(reason))
