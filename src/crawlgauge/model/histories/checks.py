"""All checks that capture histories allow, in the order in which they should be read."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.checks import Diagnosis, Regime
from crawlgauge.model.decay import slows_down
from crawlgauge.model.estimates import Check
from crawlgauge.model.histories.data import HistoryData, Recaptures, count_recaptures
from crawlgauge.model.histories.dependence import (
    MIN_CRAWLS,
    CaptureDependence,
    LogOdds,
    Scatter,
    check_past_future,
    measure_dependence,
)
from crawlgauge.model.histories.jolly_seber import fit_jolly_seber
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.model.short_lag import ShortLag

__all__ = [
    "check_heterogeneous_capture",
    "check_novelty",
    "check_overdispersion",
    "find_cause",
    "measure_novelty",
    "resolve_short_lag",
    "run_history_checks",
]


# --------------------------- what capture histories say about crawls that follow each other closely


Cause = Literal["avoidance", "re-seeding", "mixed-lifetimes"]

_THRESHOLD = 0.05
# Where pairs found an effect already, histories only have to say which; where not, four ratios
# are looked at for one that stands out.
_TAIL_CONFIRMING = 0.005
_TAIL_ALONE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLagCause:
    """Why crawls that follow each other closely share too little or too much.

    Parameters
    ----------
    cause
        What the crawler does, or that it does nothing and lifetimes are mixed.
    n_lags
        Over how many crawls it looks back; 0 for mixed lifetimes.
    log_odds
        How the odds of capture change for a URL captured that recently, as a logarithm; minus
        infinity if no such URL is captured.
    """

    cause: Cause
    n_lags: int
    log_odds: float


def find_cause(
    dependence: CaptureDependence | None, found: ShortLag | None
) -> ShortLagCause | None:
    """Find what the crawler does with URLs of its last crawls; None if nothing, or not known.

    Parameters
    ----------
    dependence
        From `measure_dependence`.
    found
        What pairs of crawls show. Only an excess that the crawler does not explain is put down
        to mixed lifetimes.
    """
    if dependence is None:
        return None
    tail = _TAIL_ALONE if found is None else _TAIL_CONFIRMING
    avoidance = _find_avoidance(dependence, tail)
    if avoidance is not None or (found is not None and found.is_avoidance):
        return avoidance
    return _find_reseeding(dependence, tail) or _find_mixed_lifetimes(dependence, found)


def resolve_short_lag(
    check: Check, dependence: CaptureDependence | None, found: ShortLag | None, level: str
) -> Check:
    """Complete the check short-lag of pairs by what capture histories say.

    It warns also where pairs found nothing but histories do: pairs may take a policy of the
    crawler for a bend of the decay, or scatter too much to show it.

    Parameters
    ----------
    check
        From `check_short_lag`.
    dependence, found
        As for `find_cause`.
    level
        What is compared.
    """
    cause = find_cause(dependence, found)
    if cause is None:
        return check
    finding = _describe_cause(cause, found, things(level))
    if found is None:
        return replace(check, status="warn", message=finding)
    # What histories decide, pairs need not guess at.
    by_pairs = check.message.split(_OPEN_QUESTIONS[found.is_avoidance])[0].rstrip(".")
    return replace(check, message=f"{by_pairs}. {finding}")


_OPEN_QUESTIONS = {True: "; capture histories resolve it", False: " Either the crawler"}


def _find_avoidance(dependence: CaptureDependence, tail: float) -> ShortLagCause | None:
    one, two, three = (_is_avoided(odds, dependence.scatter, tail) for odds in dependence.by_lag)
    if one or two:
        odds = dependence.by_lag[0 if one else 1]
        return ShortLagCause(
            cause="avoidance",
            n_lags=1 if not two else 3 if three else 2,
            log_odds=-math.inf if odds.is_never else odds.value,
        )
    # Lasting differences may hide avoidance: capture then goes with capture at every lag, but
    # less so next to each other.
    if _is_avoided(dependence.memory, dependence.scatter, tail):
        return ShortLagCause(cause="avoidance", n_lags=1, log_odds=dependence.memory.value)
    return None


def _is_avoided(odds: LogOdds, scatter: Scatter, tail: float) -> bool:
    certain = scatter.is_certain(-odds.value, odds.error, tail)
    return odds.is_never or (certain and odds.value < -_THRESHOLD)


def _find_reseeding(dependence: CaptureDependence, tail: float) -> ShortLagCause | None:
    memory = dependence.memory
    if memory.value > _THRESHOLD and dependence.scatter.is_certain(
        memory.value, memory.error, tail
    ):
        return ShortLagCause(cause="re-seeding", n_lags=1, log_odds=memory.value)
    return None


def _find_mixed_lifetimes(
    dependence: CaptureDependence, found: ShortLag | None
) -> ShortLagCause | None:
    """Put an excess down to lifetimes if re-seeding that causes it would have been seen."""
    memory = dependence.memory
    if found is None or found.is_avoidance or not memory.is_known:
        return None
    needed = _odds_of_excess(found.coefficient, dependence.captured_share)
    if dependence.scatter.is_certain(needed / 2 - memory.value, memory.error, _TAIL_CONFIRMING):
        return ShortLagCause(cause="mixed-lifetimes", n_lags=0, log_odds=memory.value)
    return None


def _odds_of_excess(log_excess: float, share: float) -> float:
    """Return the log odds ratio of a crawler that repeats so much more than its share."""
    # No more than all can be repeated; halfway there is excess enough.
    after = min(share * math.exp(log_excess), (1 + share) / 2)
    otherwise = share * (1 - after) / (1 - share)
    return math.log(after / (1 - after)) - math.log(otherwise / (1 - otherwise))


def _describe_cause(cause: ShortLagCause, found: ShortLag | None, what: str) -> str:
    match cause.cause:
        case "avoidance":
            return _describe_avoidance(cause, what)
        case "re-seeding":
            return _describe_reseeding(cause, found, what)
        case _:
            return (
                f"Capture histories show why: among {what} known to be alive, those captured just "
                "before are not captured more readily, so that the crawler does not repeat "
                "itself. Many live only briefly, and coverage from all pairs is too low; the "
                "Manly–Parr estimate needs no rate of decay and stays right."
            )


def _describe_avoidance(cause: ShortLagCause, what: str) -> str:
    last = "the last crawl" if cause.n_lags == 1 else f"one of the last {cause.n_lags} crawls"
    if math.isinf(cause.log_odds):
        finding = f"none that {last} captured are captured again"
    else:
        finding = (
            f"the odds of being captured are {math.exp(cause.log_odds):.2g} times those of others "
            f"if {last} captured them"
        )
    return (
        f"Capture histories show it directly: among {what} known to be alive, {finding}. This "
        "crawler avoids pages that it fetched recently, and coverage from all pairs is too low. "
        "Estimates from capture histories that allow for it stay right."
    )


def _describe_reseeding(cause: ShortLagCause, found: ShortLag | None, what: str) -> str:
    cut = ""
    if found is not None and found.cut_low is not None:
        cut = (
            f" Without the affected pairs (--min-lag {found.n_lags + 1}) it is about "
            f"{percent(found.cut_low)}, still a few per cent too high in simulations."
        )
    return (
        f"Capture histories show why: among {what} known to be alive, the odds of being captured "
        f"right after a capture are {math.exp(cause.log_odds):.2g} times those two crawls after "
        "one. The crawler starts from pages of the crawl before, and coverage from all pairs is "
        f"too high.{cut} Estimates from capture histories that allow for it stay right."
    )


# ---------------- how many URLs of each crawl should be new, by the two-way model, and how many are


Numbers = NDArray[np.float64]

# Where the model leaves next to nothing to be new, the logarithm would be without bound.
_LEAST_SHARE = 0.01
_STEP = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Novelty:
    """New URLs of each crawl: those that no earlier crawl of the same regime holds.

    All are NaN at the first two crawls of a regime: nothing is known before the first, and what
    the second shares with it is fitted exactly. So they are where the model says nothing.

    Parameters
    ----------
    expected_share, found_share
        New URLs as a share of the crawl.
    error
        Standard error of the logarithm of expected over found, were the URLs independent.
    """

    expected_share: Numbers
    found_share: Numbers
    error: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "expected_share", "found_share", "error")

    @property
    def log_ratio(self) -> Numbers:
        """Logarithm of expected over found."""
        return np.log(self.expected_share) - np.log(self.found_share)


def measure_novelty(data: HistoryData, diagnosis: Diagnosis) -> Novelty:
    """Compare the new URLs of each crawl with what pairs of crawls lead to expect.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show, with a persistence; its crawls are those of the histories.
    """
    is_new = _find_new(data, diagnosis.regimes)
    n_new = np.where(is_new.any(axis=0), data.counts @ is_new, np.nan)
    model = _Model(data, diagnosis)
    n_expected = model.expect(model.parameters, model.log_sizes)
    return Novelty(
        expected_share=np.where(np.isnan(n_new), np.nan, n_expected) / data.sizes,
        found_share=n_new / data.sizes,
        error=model.errors(is_new, n_new),
    )


def _find_new(data: HistoryData, regimes: tuple[Regime, ...]) -> NDArray[np.bool_]:
    """Tell for each history and crawl whether its URLs are new then; of two crawls none are."""
    is_new = np.zeros(data.captured.shape, dtype=np.bool_)
    for regime in regimes:
        for crawl in regime.positions[2:]:
            seen = data.captured[:, regime.first : crawl].any(axis=1)
            is_new[:, crawl] = data.captured[:, crawl] & ~seen
    return is_new


class _Model:
    """The two-way model of the histories' own overlaps, as a linear function of their logarithms.

    That of all overlaps would do if histories were never a sample; in a sample, errors of the
    overlaps and of the new URLs cancel only if both are of the same URLs.
    """

    def __init__(self, data: HistoryData, diagnosis: Diagnosis) -> None:
        self._data = data
        self._regimes = diagnosis.regimes
        numbers = data.captured.astype(np.float64)
        shared = (numbers * data.counts[:, None]).T @ numbers
        pairs = diagnosis.pairs
        kept = shared[pairs.start, pairs.end] > 0
        self._start, self._end = pairs.start[kept], pairs.end[kept]
        self._shared = shared[self._start, self._end]
        self.log_sizes = np.log(data.sizes)
        self._operator = self._solve(pairs, kept, diagnosis.fit.tau_squared)
        # The logarithm of each crawl's coverage, then that of the persistence.
        self.parameters = self._operator @ (np.log(self._shared) - self.log_sizes[self._start])
        self.parameters[~self._identified] = np.nan

    def expect(self, parameters: Numbers, log_sizes: Numbers) -> Numbers:
        """Return the new URLs of each crawl."""
        sizes, coverage = np.exp(log_sizes), np.exp(parameters[:-1])
        living = np.exp(parameters[-1] * np.diff(self._data.years))
        expected = np.full(sizes.size, np.nan)
        for regime in self._regimes:
            known = sizes[regime.first]
            for crawl in regime.positions[1:]:
                known *= living[crawl - 1]
                new = sizes[crawl] - coverage[crawl] * known
                expected[crawl] = np.maximum(new, _LEAST_SHARE * sizes[crawl])
                known = sizes[crawl] + (1 - coverage[crawl]) * known
        return expected

    def errors(self, is_new: NDArray[np.bool_], n_new: Numbers) -> Numbers:
        """Return the standard error of the logarithm of expected over found, for each crawl.

        What one more URL adds to it is a sum over the pairs of crawls that hold the URL and over
        the crawls that do, and one term more where it is new.
        """
        n = n_new.size
        by_pair = _slopes(self._log_by_parameters, n + 1) @ self._operator
        by_size = _slopes(self._log_by_sizes, n)
        captured = self._data.captured.astype(np.float64)
        errors = np.full(n, np.nan)
        for crawl in np.flatnonzero(np.isfinite(n_new) & np.isfinite(by_pair).all(axis=1)):
            weights = np.zeros((n, n))
            np.add.at(weights, (self._start, self._end), by_pair[crawl] / self._shared)
            of_starts = np.bincount(self._start, by_pair[crawl], minlength=n)
            weights[np.diag_indices(n)] += (by_size[crawl] - of_starts) / self._data.sizes
            gain = np.sum((captured @ weights) * captured, axis=1) - is_new[:, crawl] / n_new[crawl]
            errors[crawl] = math.sqrt(float(self._data.counts @ gain**2))
        return errors

    def _solve(self, pairs: PairData, kept: NDArray[np.bool_], tau_squared: float) -> Numbers:
        design = np.zeros((int(kept.sum()), pairs.n_crawls + 1))
        design[np.arange(len(design)), self._end] = 1
        design[:, -1] = pairs.lag_years[kept]
        used = np.any(design != 0, axis=0)
        # In a thin sample no crawl may be left that shares URLs with crawls of two dates.
        is_determined = np.linalg.matrix_rank(design) == used.sum()
        self._identified = used & is_determined
        root = np.sqrt(pairs.weight[kept] / (tau_squared + 1 / self._shared))
        operator: Numbers = np.asarray(np.linalg.pinv(design * root[:, None]) * root, np.float64)
        return operator

    def _log_by_parameters(self, step: Numbers) -> Numbers:
        return np.log(self.expect(self.parameters + step, self.log_sizes))

    def _log_by_sizes(self, step: Numbers) -> Numbers:
        return np.log(self.expect(self.parameters, self.log_sizes + step))


def _slopes(function: Callable[[Numbers], Numbers], n: int) -> Numbers:
    """Return the slope of each value (row) in each of `n` steps (column), at no step."""
    steps = _STEP * np.eye(n)
    return np.column_stack([(function(step) - function(-step)) / (2 * _STEP) for step in steps])


# -------------------------------------------------------------------------------- the check novelty

_NOVELTY_TAIL = 0.002
# With a larger error only differences beyond a factor of two would be seen.
_MAX_ERROR = 0.25


def check_novelty(
    data: HistoryData, diagnosis: Diagnosis, scatter: Scatter | None, level: str
) -> Check:
    """Say whether each crawl holds as many new URLs as the two-way model leads one to expect.

    The effect is the logarithm of the expected over the found number of new URLs, of the crawl
    where they differ most: −0.05 means that 5 % more are new than expected. It warns below −0.05
    and above 0.05. After a change of scope, new is what no crawl since then holds.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show; its crawls are those of the histories.
    scatter
        How much results scatter between crawls; None with too few crawls to tell.
    level
        What is compared.
    """
    if scatter is None or not diagnosis.fit.has_persistence:
        return _novelty_not_testable(
            f"how many {things(level)} should be new follows only from {MIN_CRAWLS} or more crawls "
            "to which the two-way model can be fitted."
        )
    novelty = measure_novelty(data, diagnosis)
    sizes = np.abs(novelty.log_ratio)
    usable = [
        int(crawl) for crawl in np.flatnonzero(np.isfinite(sizes) & (novelty.error < _MAX_ERROR))
    ]
    if not usable:
        return _novelty_not_testable(f"too few {things(level)} are new, or shared by crawls.")
    # Each crawl may be too high or too low: so many chances to find something where nothing is.
    tail = _NOVELTY_TAIL / (2 * len(usable))
    speaking = [
        crawl
        for crawl in usable
        if sizes[crawl] > _THRESHOLD
        and scatter.is_certain(float(sizes[crawl]), float(novelty.error[crawl]), tail)
    ]
    crawl = max(speaking or usable, key=lambda crawl: float(sizes[crawl]))
    label = diagnosis.table.crawls[crawl].label
    return Check(
        id="novelty",
        status="warn" if speaking else "ok",
        effect=float(novelty.log_ratio[crawl]),
        threshold=_THRESHOLD,
        message=(
            _describe_novelty(novelty, crawl, label, things(level))
            if speaking
            else f"Each crawl finds as many new {things(level)} as the overlaps of pairs lead one "
            "to expect, as far as the scatter lets it be told."
        ),
    )


def _describe_novelty(novelty: Novelty, crawl: int, label: str, what: str) -> str:
    found, expected = float(novelty.found_share[crawl]), float(novelty.expected_share[crawl])
    more, less = ("more", "less") if found > expected else ("fewer", "more")
    return (
        f"Crawls find {more} new {what} than the overlaps of pairs lead one to expect: of crawl "
        f"{label}, no earlier one holds {percent(found)}, where {percent(expected)} should be "
        f"new. All crawls together then hold {less} of the living {what} than a model of the "
        f"pairs says, and plans made with it are off. Either {what} differ in how readily they are "
        "captured or how long they live, or the crawler avoids or repeats earlier crawls: the "
        "other checks say which."
    )


def _novelty_not_testable(reason: str) -> Check:
    return Check(
        id="novelty",
        status="na",
        effect=None,
        threshold=_THRESHOLD,
        message=f"Not testable: {reason}",
    )


# --------------------- the check overdispersion: whether URLs are captured one by one or in bunches


_INFO = 0.01
_WARN = 0.05
_CELL_TAIL = 0.01
_MIN_CRAWLS = 5
_MANY = 100
# Pearson's statistic is chi-square distributed only where about five URLs are expected.
_MIN_EXPECTED = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dispersion:
    """Pearson's chi-square, its degrees of freedom, and URLs expected in each of its cells."""

    chi_square: float
    n_freedom: int
    mean_expected: float

    @property
    def ratio(self) -> float:
        """How many times more the counts vary than those of independent URLs: c-hat."""
        return self.chi_square / self.n_freedom

    @property
    def scatter(self) -> float:
        """By what share of itself a typical count varies, beyond independent URLs."""
        return math.sqrt(max(0.0, self.ratio - 1) / self.mean_expected)


def check_overdispersion(data: HistoryData, found: tuple[str, ...], level: str) -> Check:
    """Say how much more counts scatter than those of independent URLs would.

    The effect is the share by which a typical count varies beyond that: 0.02 means 2 %. It is
    a finding from 0.01 on, and a warning from 0.05 on.

    Parameters
    ----------
    data
        Capture histories.
    found
        Ids of checks that found something which makes counts scatter by itself.
    level
        What is compared.
    """
    dispersion = _measure(data)
    if dispersion is None:
        return _overdispersion_not_testable(
            "it takes five or more crawls that share enough of what they hold."
        )
    if found:
        return _overdispersion_not_testable(
            f"what {names(list(found))} found makes counts depart from the model by itself "
            f"({_times(dispersion.ratio)} times the variance of independent {things(level)})."
        )
    speaks = dispersion.scatter > _INFO and _is_certain(dispersion)
    return Check(
        id="overdispersion",
        status="ok" if not speaks else "info" if dispersion.scatter < _WARN else "warn",
        effect=dispersion.scatter,
        threshold=_INFO,
        message=_describe_overdispersion(dispersion, things(level), speaks=speaks),
    )


def _is_certain(dispersion: _Dispersion) -> bool:
    from scipy.special import chdtri

    return dispersion.chi_square > float(chdtri(dispersion.n_freedom, _CELL_TAIL))


def _measure(data: HistoryData) -> _Dispersion | None:
    """Return the dispersion of the recaptures, or None where nothing is left to judge it by."""
    if data.n_crawls < _MIN_CRAWLS:
        return None
    recaptures = count_recaptures(data)
    expected = _expect(recaptures)
    if expected is None:
        return None
    squares, means = [], []
    n_lost = 0
    for crawl in range(data.n_crawls - 1):
        observed, mean = recaptures.n_next[crawl, crawl + 1 :], expected[crawl, crawl + 1 :]
        large = mean >= _MIN_EXPECTED
        rest = float(mean[~large].sum())
        means += list(mean[large])
        squares += list((observed - mean)[large] ** 2 / mean[large])
        n_lost += int(np.sum(~large))
        if rest >= _MIN_EXPECTED:
            means.append(rest)
            squares.append((float(observed[~large].sum()) - rest) ** 2 / rest)
            n_lost -= 1
    n_freedom = (data.n_crawls - 2) * (data.n_crawls - 3) // 2 - n_lost
    if n_freedom < 1:
        return None
    return _Dispersion(
        chi_square=float(np.sum(squares)),
        n_freedom=n_freedom,
        mean_expected=float(np.mean(means)),
    )


def _expect(recaptures: Recaptures) -> NDArray[np.float64] | None:
    """Return how many URLs of each crawl should be seen next in each later one."""
    fit = fit_jolly_seber(recaptures)
    n_crawls = recaptures.n_crawls
    coverage, survival = fit.coverage.copy(), fit.survival.copy()
    # Of the last crawl only survival times coverage is known: the share of the crawl before.
    coverage[-1] = 1.0
    if recaptures.n_released[-2] == 0 or np.isnan([*coverage[1:], *survival[:-1]]).any():
        return None
    survival[-1] = recaptures.n_next[-2, -1] / recaptures.n_released[-2]
    expected = np.zeros((n_crawls, n_crawls))
    for start in range(n_crawls - 1):
        unseen = recaptures.n_released[start]
        for end in range(start + 1, n_crawls):
            unseen *= survival[end - 1]
            expected[start, end] = unseen * coverage[end]
            unseen *= 1 - coverage[end]
    return expected


def _describe_overdispersion(dispersion: _Dispersion, what: str, *, speaks: bool) -> str:
    if not speaks:
        return f"The counts scatter no more than those of independent {what}, or hardly more."
    ratio, root = _times(dispersion.ratio), _times(math.sqrt(dispersion.ratio))
    return (
        f"The counts vary {ratio} times as much as those of independent {what}, by about "
        f"{percent(dispersion.scatter)} each: {what} are captured in bunches, as when each crawl "
        "prefers other hosts. Coverage is not biased by it. Standard errors that count every one "
        f"as independent are too small by a factor of {root}; those from leaving out whole crawls "
        "allow for it."
    )


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < _MANY else count(factor)


def _overdispersion_not_testable(reason: str) -> Check:
    return Check(
        id="overdispersion",
        status="na",
        effect=None,
        threshold=_INFO,
        message=f"Not testable: {reason}",
    )


# ------------------------------------------------------------------ the check heterogeneous-capture

_TAIL = 0.002
# Lasting differences show three crawls apart as well, in simulations with a quarter of the effect
# or more; a policy that looks back over two crawls does not. Whether they do is asked only where
# a quarter is four standard errors.
_PRECISE = 1 / 16
_CARRIED_ON_TAIL = 0.05


def check_heterogeneous_capture(
    data: HistoryData, dependence: CaptureDependence | None, level: str
) -> Check:
    """Say whether capture in one crawl goes with capture in another that is further away.

    The effect is the logarithm of the odds ratio of capture two crawls apart, among URLs that are
    known to be alive and alike in the crawls around; three crawls apart where the crawler
    avoids or repeats its last two crawls. It warns above 0.05.

    Parameters
    ----------
    data
        Capture histories.
    dependence
        What `measure_dependence` makes of them.
    level
        What is compared.
    """
    if dependence is None:
        return _heterogeneity_not_testable(
            f"whether {things(level)} differ lastingly shows only with {MIN_CRAWLS} or more "
            f"crawls, and there are {data.n_crawls}."
        )
    lag, odds = _choose_lag(dependence)
    if odds is None:
        return _heterogeneity_not_testable(
            f"of the {count(data.n_urls)} {things(level)} too few are seen both before and after "
            "the crawls that are compared. Use a larger sample, or more crawls."
        )
    certain = dependence.scatter.is_certain(odds.value, odds.error, _TAIL)
    speaks = certain and odds.value > _THRESHOLD
    return Check(
        id="heterogeneous-capture",
        status="warn" if speaks else "ok",
        effect=odds.value,
        threshold=_THRESHOLD,
        message=(
            _describe_heterogeneity(odds.value, lag, dependence.captured_share, things(level))
            if speaks
            else _describe_in_order(odds.value, lag, things(level))
        ),
    )


def _choose_lag(dependence: CaptureDependence) -> tuple[int, LogOdds | None]:
    """Return the shortest distance that no policy of the crawler reaches, and its odds."""
    _, two, three = dependence.by_lag
    if _looks_back_two(two, three, dependence.scatter):
        return 3, _if_precise(three)
    return 2, _if_precise(two)


def _looks_back_two(two: LogOdds, three: LogOdds, scatter: Scatter) -> bool:
    if two.is_never or scatter.is_certain(-two.value, two.error, _TAIL):
        return True
    if not (three.is_known and scatter.is_certain(two.value, two.error, _TAIL)):
        return False
    precise = three.error * math.sqrt(max(scatter.ratio, 1.0)) < _PRECISE * two.value
    return precise and not scatter.is_certain(three.value, three.error, _CARRIED_ON_TAIL)


def _if_precise(odds: LogOdds) -> LogOdds | None:
    return odds if odds.is_known and odds.error < _MAX_ERROR else None


def _describe_heterogeneity(log_odds: float, lag: int, share: float, what: str) -> str:
    odds = math.exp(log_odds) * share / (1 - share)
    shares = f"{percent(odds / (1 + odds))} where {percent(share)} would be even"
    return (
        f"Some {what} are captured more readily than others, and lastingly: among those known to "
        f"be alive, the odds of being captured are {math.exp(log_odds):.2g} times as high if a "
        f"crawl {_DISTANCE[lag]} away captured them too ({shares}). "
        "Every pair of crawls shares too much by the same factor, so that "
        "coverage from overlaps is too high and the population too low, although the fit looks "
        "perfect. By how much does not follow from this number (2 % to 2.7 times in simulations), "
        f"and {what} that are hardly ever captured show in no history: use an estimate that "
        "allows for it, and take its coverage as an upper bound."
    )


def _describe_in_order(log_odds: float, lag: int, what: str) -> str:
    if log_odds > _THRESHOLD:
        return (
            f"Among {what} known to be alive, those captured by a crawl have "
            f"{math.exp(log_odds):.2g} times the odds of being captured by another "
            f"{_DISTANCE[lag]} away, which does not stand out from the scatter between crawls."
        )
    return (
        f"Among {what} known to be alive, being captured by a crawl says nothing about another "
        f"{_DISTANCE[lag]} away: capture is even, but for {what} that are hardly ever captured "
        "and show in no history."
    )


_DISTANCE = {2: "two crawls", 3: "three crawls"}


def _heterogeneity_not_testable(reason: str) -> Check:
    return Check(
        id="heterogeneous-capture",
        status="na",
        effect=None,
        threshold=_THRESHOLD,
        message=f"Not testable: {reason}",
    )


# --------------- all checks that capture histories allow, in the order in which they should be read


_SPEAKS = {"info", "warn", "fail"}


def run_history_checks(data: HistoryData, diagnosis: Diagnosis) -> tuple[Check, ...]:
    """Grade every assumption that capture histories can test, and say what to do.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show; its crawls are those of the histories.

    Returns
    -------
    tuple
        ``heterogeneous-capture``, ``past-future``, ``novelty``, ``overdispersion``.
    """
    level = diagnosis.table.level
    dependence = measure_dependence(data)
    scatter = None if dependence is None else dependence.scatter
    capture = check_heterogeneous_capture(data, dependence, level)
    past_future = check_past_future(
        data,
        scatter,
        level,
        is_uneven=capture.status in _SPEAKS,
        is_bent=_is_bent(diagnosis),
    )
    cause = find_cause(dependence, diagnosis.short_lag)
    found = [check.id for check in (capture, past_future) if check.status in _SPEAKS]
    if diagnosis.short_lag is not None or cause is not None:
        found.append("short-lag")
    return (
        capture,
        past_future,
        check_novelty(data, diagnosis, scatter, level),
        check_overdispersion(data, tuple(found), level),
    )


def _is_bent(diagnosis: Diagnosis) -> bool:
    """Tell whether overlaps shrink ever more slowly, and no policy of the crawler makes them."""
    return diagnosis.short_lag is None and bool(slows_down(diagnosis.pairs, diagnosis.fit))
