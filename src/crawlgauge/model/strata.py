"""From the coverage of a crawl, and overlaps by stratum, to the coverage of each stratum.

How large coverage is comes from the estimates of all URLs, which look at capture histories from
several sides. Overlaps by stratum tell how strata differ from each other: by the two-way model of
each, moved towards the others where it is not well known. One factor for all makes their
populations add up to that of the estimates; another makes the strata's persistences average to the
archive's. So a table of strata never contradicts the estimate of the whole.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.intervals import NORMAL_QUANTILE, urn_moments, urn_state, weigh_pairs
from crawlgauge.model.pairs import Numbers, PairData
from crawlgauge.model.phrases import percent, say
from crawlgauge.model.ranges import WIDEST, LogRange, within
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.overlaps.table import StratumCounts
from crawlgauge.provenance import Provenance

__all__ = ["Strata"]

# -------------------------------------------------------------------------- the types of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumEstimate:
    """What is known of one stratum.

    Parameters
    ----------
    name
        Its value, or what it was pooled from.
    n_pooled
        How many small strata it consists of; 0 if it is one by itself.
    n_urls
        What the newest crawl holds of it; scaled up where only a sample was counted.
    n_crawls
        How many crawls hold something of it.
    coverage, population, missing
        For the newest crawl: the share that it holds, how many URLs it could have reached, and how
        many of them it does not hold.
    persistence
        Share of its URLs that lives on for a year.
    typical_coverage
        Of a typical crawl.
    note
        What is special about it.
    """

    name: str
    n_pooled: int
    n_urls: int
    n_crawls: int
    coverage: Estimate
    population: Estimate
    missing: Estimate
    persistence: Estimate
    typical_coverage: Estimate
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """All strata together, for the newest crawl."""

    coverage: Estimate
    population: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The answer for all strata.

    Parameters
    ----------
    by
        ``host``, ``domain``, ``tld``, ``mime`` or ``status``.
    noun
        One stratum in a sentence, and several.
    crawls
        In order of date; the last is the newest.
    sample_rate
        Share of the URLs that were counted.
    n_distinct, n_pooled, min_shared
        Distinct strata; how many of them were pooled, because they share fewer URLs than
        `min_shared` in the median pair of crawls.
    strata
        Those of which most is missing first.
    post_stratified
        The sum of the strata, which is what the estimates of all URLs say.
    own_sum
        Coverage that the strata would add up to by their own overlaps alone, which take capture to
        be even in each; None where that is not known, or impossible.
    statement
        The answer in words.
    warnings
        What to be careful about.
    suffix_list
        Date of the public suffix list; None if it was not needed.
    provenance
        Where the numbers come from.
    """

    by: str
    noun: tuple[str, str]
    crawls: tuple[Crawl, ...]
    sample_rate: float
    n_distinct: int
    n_pooled: int
    min_shared: int
    suffix_list: str | None = None
    statement: str
    post_stratified: Whole
    own_sum: float | None
    strata: tuple[StratumEstimate, ...]
    warnings: tuple[str, ...]
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def newest(self) -> str:
        """Label of the newest crawl."""
        return self.crawls[-1].label


# ------------------------------------------------------------------- what the strata show, in words


# Whoever takes the archive for the web misses four URLs of five there.
_LOW_COVERAGE = 0.2

_QUARTERS = (0.25, 0.75)
_MIN_QUARTERS = 8


def _say_answer(counts: StratumCounts, strata: Sequence[StratumEstimate], grade: str) -> str:
    """Return the answer in a sentence or two; at grade C only the ends of ranges are spoken of."""
    one, many = counts.noun
    newest = counts.crawls[-1].label
    known = [
        (stratum, stratum.coverage.value)
        for stratum in strata
        if not stratum.n_pooled and stratum.coverage.value is not None
    ]
    if not known:
        reasons = (stratum.coverage.reason for stratum in strata if stratum.coverage.reason)
        return say("strata.unknown", one=one, reason=next(reasons, "all are too small"))
    low = [stratum for stratum, coverage in known if coverage < _LOW_COVERAGE]
    surely = [stratum for stratum in low if (stratum.coverage.high or 1.0) < _LOW_COVERAGE]
    is_range, ends = grade == "C", ""
    if len(known) == 1 and not is_range:
        return say("strata.one", newest=newest, coverage=known[0][1], name=known[0][0].name)
    if len(surely) < len(low):
        ends = f" {say('strata.surely', n=len(surely) or 'none')}"
    sentences = [
        say(
            f"strata.{'surely-low' if is_range else 'low'}",
            share=_share(surely if is_range else low, known, many),
            low=_LOW_COVERAGE,
            newest=newest,
            surely=ends,
            spread=_say_spread([coverage for _, coverage in known], many),
        )
    ]
    worst = max(strata, key=lambda stratum: stratum.missing.value or 0.0)
    if worst.missing.value:
        code = "strata.missing-range" if is_range else "strata.missing"
        sentences.append(say(code, name=worst.name, n=worst.missing.value))
    return " ".join(sentences)


def _share(some: Sequence[object], known: Sequence[object], many: str) -> str:
    verb = "is" if len(some) == 1 else "are"
    return f"{len(some) or 'None'} of {len(known):,} {many} {verb}"


def _say_spread(coverages: list[float], many: str) -> str:
    ordered = sorted(coverages)
    if len(ordered) < _MIN_QUARTERS:
        return f"they range from {percent(ordered[0])} to {percent(ordered[-1])}"
    low, high = (percent(ordered[round(q * (len(ordered) - 1))]) for q in _QUARTERS)
    if low == high:
        return f"half of the {many} are at {low}"
    return f"half of the {many} lie between {low} and {high}"


def _say_warnings(
    counts: StratumCounts, strata: Sequence[StratumEstimate], whole: Estimate, grade: str
) -> Iterator[str]:
    """Return what to be careful about, given the coverage of all URLs and its grade."""
    if grade == "C" and whole.low is not None and whole.high is not None:
        yield say("strata.grade", low=whole.low, high=whole.high, many=counts.noun[1])
    gone = [s.name for s in strata if s.n_urls == 0 and not s.n_pooled]
    if gone:
        yield say("strata.gone", gone=gone, newest=counts.crawls[-1].label)
    damaged = [crawl.label for crawl in counts.crawls if crawl.damaged]
    if damaged:
        yield say("strata.damaged", crawls=damaged)


# ----------- from the coverage of a crawl, and overlaps by stratum, to the coverage of each stratum


# Strata are fitted so many at a time that an array takes 16 MB.
_MAX_CELLS = 1 << 21

# Of a logarithm: beyond it a range is wider than a factor of ten.
_LARGEST_VARIANCE = (math.log(WIDEST) / (2 * NORMAL_QUANTILE)) ** 2

# Less than this is no URL.
_HALF_URL = 0.5

_ONE_CRAWL = "not identifiable: one crawl tells nothing of coverage"
_GONE = "the newest crawl holds nothing of it: gone, or missed"
_NO_SPREAD = "how far it may differ from the others is not known"


def estimate_strata(
    counts: StratumCounts, estimates: Estimates | None, *, suffix_list: str | None = None
) -> Strata:
    """Estimate all strata.

    Parameters
    ----------
    counts
        Overlaps by stratum.
    estimates
        Of the same crawls; None if there is one only.
    suffix_list
        Date of the public suffix list that divided them, where one did.
    """
    sizes = counts.n_shared[:, -1, -1]
    n_newest = counts.crawls[-1].n_urls
    n_urls: Numbers = sizes * np.float64(n_newest / max(int(sizes.sum()), 1))
    mean_sizes = np.asarray(np.diagonal(counts.n_shared, axis1=1, axis2=2).mean(axis=1))
    newest = population = all_typical = all_persistence = Estimate.unknown(_ONE_CRAWL)
    if estimates is not None:
        newest = within(estimates.newest.coverage, most=1.0)
        population = within(estimates.newest.population, least=float(n_newest))
        all_typical = within(estimates.headline.coverage, most=1.0)
        all_persistence = within(estimates.persistence, most=1.0)
    numbers = _compare(counts)
    coverage = _spread(newest, numbers[NEWEST], n_urls, _find_factor)
    typical = _spread(all_typical, numbers[TYPICAL], mean_sizes, _find_factor)
    persistence = _spread(all_persistence, numbers[SLOPE], n_urls, _find_shift)
    strata = []
    for number, stratum in enumerate(counts.strata):
        n_held, own = float(n_urls[number]), np.diagonal(counts.n_shared[number])
        is_gone = own[-1] == 0
        own_coverage = Estimate.unknown(_GONE) if is_gone else coverage[number]
        note = _GONE if is_gone else ""
        if own_coverage.value is not None and not numbers[NEWEST].is_told[number]:
            note = "taken to be as the others: its overlaps do not tell"
        # Of the logarithm of a size in a sample.
        of_size = (1 - counts.sample_rate) / max(float(own[-1]), 1)
        n_living = _divide(n_held, own_coverage, of_size)
        strata.append(
            StratumEstimate(
                name=stratum.name,
                n_pooled=stratum.n_pooled,
                n_urls=round(n_held),
                n_crawls=int(np.sum(own > 0)),
                coverage=within(own_coverage),
                population=n_living,
                missing=_subtract(n_living, n_held),
                persistence=within(persistence[number]),
                typical_coverage=within(typical[number]),
                note=note,
            )
        )
    strata.sort(key=_by_missing)
    grade = "none" if estimates is None else estimates.agreement.grade
    return Strata(
        by=counts.by,
        noun=counts.noun,
        crawls=counts.crawls,
        sample_rate=counts.sample_rate,
        n_distinct=counts.n_distinct,
        n_pooled=counts.n_pooled,
        min_shared=counts.min_shared,
        strata=tuple(strata),
        post_stratified=Whole(coverage=newest, population=population),
        own_sum=_add_up(numbers[NEWEST], n_urls),
        statement=_say_answer(counts, strata, grade),
        warnings=tuple(_say_warnings(counts, strata, newest, grade)),
        suffix_list=suffix_list,
        provenance=counts.provenance,
    )


# ----------------------------------------------------------------------- how strata differ


class _Compared(NamedTuple):
    """A number of all strata, as logarithms up to a constant: values, error variances.

    `is_told` marks those whose own overlaps tell it; the others are as the whole.
    """

    value: Numbers
    variance: Numbers
    is_told: NDArray[np.bool_]


def _compare(counts: StratumCounts) -> list[_Compared]:
    """Return what the strata's own overlaps tell of each number."""
    days = np.array([crawl.date.toordinal() for crawl in counts.crawls], dtype=np.int64)
    size = max(1, _MAX_CELLS // days.size**2)
    parts = [
        find_numbers(counts.n_shared[first : first + size], days, counts.sample_rate)
        for first in range(0, len(counts.n_shared), size)
    ]
    values, variances = (np.concatenate(each) for each in zip(*parts, strict=True))
    # Small strata that were pooled look better covered together than they are one by one; very
    # small ones show too little of it, so that half of it is added to the error.
    mixing = np.log([stratum.mixing for stratum in counts.strata])
    found = []
    for number in (NEWEST, TYPICAL, SLOPE):
        value, variance = pool(values[:, number], variances[:, number])
        if number != SLOPE:
            value, variance = value - mixing, variance + (mixing / 2) ** 2
        # What may be anything would take all that is missing from the others.
        is_told = ~np.isnan(values[:, number]) & (variance <= _LARGEST_VARIANCE)
        found.append(_Compared(value, variance, is_told))
    return found


# ---------------------------------------------------------------------- from strata to the whole


def _spread(
    whole: Estimate,
    numbers: _Compared,
    weight: Numbers,
    find_shift: Callable[[Numbers, Numbers, float], float],
) -> list[Estimate]:
    """Give each stratum its number, so that together they are that of the whole.

    Each gets the range of the whole, moved alike, and its own error besides.
    """
    if whole.value is None:
        return [whole] * weight.size
    told = numbers.is_told & (weight > 0)
    logs = np.full(weight.size, math.log(whole.value))
    if told.any():
        shift = find_shift(numbers.value[told], weight[told], whole.value)
        logs = np.where(numbers.is_told, np.minimum(numbers.value + shift, 0.0), logs)
    return [
        _with_range(whole, math.exp(log), float(variance))
        for log, variance in zip(logs, numbers.variance, strict=True)
    ]


def _add_up(numbers: _Compared, weight: Numbers) -> float | None:
    """Return the coverage of all strata if each is covered as its own overlaps say."""
    told = weight[numbers.is_told]
    if not told.any():
        return None
    total = float(told.sum() / np.sum(told * np.exp(-numbers.value[numbers.is_told])))
    return total if total <= 1 else None


def _find_shift(logs: Numbers, weight: Numbers, whole: float) -> float:
    """Return the logarithm of the factor with which the strata average to the whole."""
    return math.log(whole / float(np.average(np.exp(logs), weights=weight)))


def _find_factor(levels: Numbers, weight: Numbers, coverage: float) -> float:
    """Return the logarithm of the factor with which populations add up to that of the whole.

    No stratum is covered more than fully: what would be leaves more to the others.
    """
    share = weight / weight.sum()
    capped = np.zeros(levels.size, dtype=np.bool_)
    factor = math.inf
    while not capped.all():
        left = 1 / coverage - float(share[capped].sum())
        needed = float(np.sum(share[~capped] * np.exp(-levels[~capped])))
        if needed <= 0 or left <= 0:
            break
        factor = math.log(needed / left)
        above = ~capped & (levels + factor > 0)
        if not above.any():
            return factor
        capped |= above
    return factor


def _with_range(whole: Estimate, value: float, variance: float) -> Estimate:
    if whole.low is None or math.isinf(variance):
        return Estimate(value=value, reason=_NO_SPREAD if whole.low else whole.reason)
    reach = LogRange.from_estimate(whole).widened(variance)
    low, high = value * math.exp(-reach.down), value * math.exp(reach.up)
    return replace(whole, value=value, low=low, high=min(high, 1.0))


def _divide(n_urls: float, coverage: Estimate, variance: float) -> Estimate:
    """Return the population, given the variance of the logarithm of the size."""
    if coverage.value is None:
        return coverage
    value = n_urls / coverage.value
    if coverage.low is None:
        return replace(coverage, value=value)
    reach = LogRange.from_estimate(coverage).widened(variance)
    low, high = value * math.exp(-reach.up), value * math.exp(reach.down)
    least = n_urls if variance == 0 else 0.0
    return within(replace(coverage, value=value, low=low, high=high), least=least)


def _subtract(population: Estimate, n_held: float) -> Estimate:
    """Return what the newest crawl does not hold: never less than none."""
    return population.map(lambda n: n - n_held if n - n_held >= _HALF_URL else 0.0)


def _by_missing(stratum: StratumEstimate) -> tuple[float, int, str]:
    """Put first what most is missing of, and last what that is not known of."""
    missing = stratum.missing.value
    return 1.0 if missing is None else -missing, -stratum.n_urls, stratum.name


# ------------- the two-way model of every stratum, and what all together say where one tells little


NEWEST, TYPICAL, SLOPE = range(3)
"""The numbers of a stratum: log coverage of the newest and of a typical crawl, log persistence."""


_LEAST_VARIANCE = 1e-12


def find_numbers(
    n_shared: NDArray[np.int64], days: NDArray[np.int64], rate: float
) -> tuple[Numbers, Numbers]:
    """Return the three numbers of each stratum and their error variances; NaN where unknown."""
    fits = fit_strata(n_shared, (days - days[0]) / DAYS_PER_YEAR)
    known = ~np.isnan(fits.level)
    n_known = known.sum(axis=1)
    total = np.where(known, fits.level, 0.0).sum(axis=1)
    typical = np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)
    values = np.column_stack([fits.level[:, -1], typical, fits.slope])
    variances = np.full(values.shape, np.nan)
    for stratum in map(int, np.flatnonzero(~np.isnan(fits.slope))):
        sizes = n_shared[stratum].diagonal()
        variances[stratum] = _variances_of(fits, stratum, sizes, days, rate)
    values[np.isnan(variances)] = np.nan
    return values, np.maximum(variances, _LEAST_VARIANCE)


# ---------------- the two-way model of every stratum, each by itself, from counts that may be small


_TAU_AT_START = 0.05
_MIN_TAU_SQUARED = 1e-8
_PASSES = 12
# A step of the logarithm; a first guess from a count of 0 can be far off.
_LARGEST_STEP = 2.0
_LEAST_EXPECTED = 1e-6
_LARGEST_LOG = 50.0
_HALF = 0.5
_ROUNDING = 1e-12


class StratumFits(NamedTuple):
    """Fits of all strata: one level for each later crawl, one slope for all.

    Parameters
    ----------
    level, slope
        Log coverage for each stratum and crawl, log persistence for each stratum; NaN where it is
        not identifiable.
    weight, expected
        For each stratum and pair of crawls, its weight, 0 for what is no pair, and the shared
        URLs that the fit expects.
    tau_squared
        For each stratum, the variance of the logarithms beyond that of counting.
    """

    level: Numbers
    slope: Numbers
    weight: Numbers
    expected: Numbers
    tau_squared: Numbers


def fit_strata(n_shared: NDArray[np.int64], years: Numbers) -> StratumFits:
    """Fit the two-way model to each stratum."""
    shared = n_shared.astype(np.float64)
    sizes = np.diagonal(shared, axis1=1, axis2=2)
    held = sizes > 0
    lags = years - years[:, None]
    # The crawl of the row is the earlier; two crawls of one date count half in either order.
    order = np.where(lags > 0, 1.0, np.where(lags == 0, _HALF, 0.0))
    np.fill_diagonal(order, 0.0)
    allowed = order * held[:, :, None] * held[:, None, :]
    # A crawl that shares nothing with any earlier one has no logarithm at all.
    met = (allowed * shared).sum(axis=1) > 0
    allowed = allowed * met[:, None, :]
    lags = np.abs(lags)
    log_sizes = np.log(np.where(held, sizes, 1.0))[:, :, None]
    expected = np.maximum(shared, _HALF)
    tau_squared = np.full(len(shared), _TAU_AT_START**2)
    for number in range(_PASSES):
        step = np.clip(shared / expected - 1, -_LARGEST_STEP, _LARGEST_STEP)
        weight = allowed / (tau_squared[:, None, None] + 1 / expected)
        level, slope = _solve(np.log(expected) - log_sizes + step, weight, lags)
        by_end, by_lag = np.nan_to_num(level)[:, None, :], np.nan_to_num(slope)[:, None, None]
        logs = np.clip(log_sizes + by_end + by_lag * lags, -_LARGEST_LOG, _LARGEST_LOG)
        expected = np.maximum(np.exp(logs), _LEAST_EXPECTED)
        if number < _PASSES - 1:
            tau_squared = _excess_variance(shared, expected, allowed, level)
    return StratumFits(level, slope, weight, expected, tau_squared)


def _solve(response: Numbers, weight: Numbers, lags: Numbers) -> tuple[Numbers, Numbers]:
    """Solve the two-way model by weighted least squares, for all strata at once."""
    total = weight.sum(axis=1)
    present = total > 0
    divisor = np.where(present, total, 1.0)
    mean_lag = (weight * lags).sum(axis=1) / divisor
    mean_response = (weight * response).sum(axis=1) / divisor
    within = weight * (lags - mean_lag[:, None, :])
    spread = (within * lags).sum(axis=(1, 2))
    scale = (weight * lags**2).sum(axis=(1, 2))
    # What is left of equal lags by rounding is no difference between them.
    identified = spread > _ROUNDING * scale
    slope = (within * response).sum(axis=(1, 2)) / np.where(identified, spread, 1.0)
    slope = np.where(identified, slope, np.nan)
    return np.where(present, mean_response - slope[:, None] * mean_lag, np.nan), slope


def _excess_variance(
    shared: Numbers, expected: Numbers, allowed: Numbers, level: Numbers
) -> Numbers:
    """Return by how much logarithms vary beyond counting; pairs that share much say most."""
    weight = allowed / (_TAU_AT_START**2 + 1 / expected)
    n_pairs = allowed.sum(axis=(1, 2))
    n_parameters = (~np.isnan(level)).sum(axis=1) + 1
    inflation = n_pairs / np.maximum(n_pairs - n_parameters, 1)
    squares = (weight * (shared / expected - 1) ** 2).sum(axis=(1, 2)) * inflation
    counting = (weight / expected).sum(axis=(1, 2))
    total = weight.sum(axis=(1, 2))
    excess = (squares - counting) / np.where(total > 0, total, 1.0)
    return np.asarray(np.maximum(excess, _MIN_TAU_SQUARED))


# ------- how far the fits of strata may be off, by drawing URLs and by what their pairs disagree on


def _variances_of(
    fits: StratumFits, number: int, sizes: NDArray[np.int64], days: NDArray[np.int64], rate: float
) -> Numbers:
    """Return the error variances of the numbers of one stratum."""
    held = np.flatnonzero(sizes > 0)
    inside = np.ix_(held, held)
    start, end = np.nonzero(fits.weight[number][inside])
    n_counted, days_held = sizes[held].astype(np.float64), days[held]
    pairs = PairData(
        days=days_held,
        n_counted=n_counted,
        n_urls=n_counted / rate,
        start=start,
        end=end,
        n_shared=fits.expected[number][inside][start, end],
        relative_error=np.zeros(start.size),
        weight=np.where(days_held[start] == days_held[end], 0.5, 1.0),
        zeros=np.empty((0, 2), dtype=np.int64),
        n_missing=0,
        sample_rate=rate,
    )
    fit = TwoWayFit(
        log_coverage=fits.level[number, held],
        log_persistence=float(fits.slope[number]),
        coverage_reasons=(None,) * held.size,
        persistence_reason=None,
        n_freedom=0,
        tau_squared=float(fits.tau_squared[number]),
    )
    wanted = np.zeros((3, held.size + 1))
    wanted[NEWEST, -2] = held[-1] == days.size - 1 and fit.estimated[-1]
    wanted[TYPICAL, :-1] = fit.estimated / max(1, fit.estimated.sum())
    wanted[SLOPE, -1] = 1.0
    influence = weigh_pairs(pairs, fit, wanted)
    moments = urn_moments(urn_state(pairs, fit), influence)
    variance = moments.urn_variance()
    if rate < 1:
        variance = variance + moments.sample_variance(-influence.starts, rate)
    scatter = fit.tau_squared * np.sum(influence.shared**2, axis=(1, 2))
    return np.asarray(variance + scatter)


# ---------------------------------------------------------------------------------- partial pooling


# With fewer, the variance between strata has no upper end, and nothing can be pooled.
_MIN_STRATA = 4

_GRID = np.exp(np.linspace(np.log(1e-8), np.log(100.0), 600))


def pool(values: Numbers, variances: Numbers) -> tuple[Numbers, Numbers]:
    """Return the pooled estimates of all strata and their error variances.

    Strata are draws from a distribution; each estimate is moved towards its mean as far as its
    error and the spread of the strata say. A stratum without an estimate is at the mean.

    Returns
    -------
    tuple
        A stratum without an estimate has an infinite variance where the spread is not known.
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(values.size), np.full(values.size, np.inf)
    spread = _between_variance(values[known], variances[known])
    error = np.where(known, variances, np.inf)
    precision = 1 / (error + (0.0 if np.isinf(spread) else spread))
    mean = float(precision[known] @ values[known] / precision.sum())
    if np.isinf(spread):
        return np.where(known, values, mean), error
    given_up = 1 / (1 + spread / error)
    pooled = np.where(known, values, mean) * (1 - given_up) + mean * given_up
    left = np.where(known, (1 - given_up) * variances, spread)
    return pooled, left + given_up**2 / precision.sum()


def _between_variance(values: Numbers, variances: Numbers) -> float:
    """Return the variance of the true values between strata; infinite if they are too few.

    It is where ``A`` times the residual likelihood is largest, which is never zero (the adjusted
    density method: Morris and Tang 2011, Statistical Science 26, 271).
    """
    if values.size < _MIN_STRATA:
        return np.inf
    precision = 1 / (variances + _GRID[:, None])
    total = precision.sum(axis=1)
    mean = precision @ values / total
    squares = (precision * (values - mean[:, None]) ** 2).sum(axis=1)
    log_likelihood = (np.log(precision).sum(axis=1) - np.log(total) - squares) / 2
    return float(_GRID[np.argmax(log_likelihood + np.log(_GRID))])
