"""What union coverage follows from, for each crawl, with the reason where something is missing."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.checks import Diagnosis
from crawlgauge.model.estimates import Basis, Estimate, Estimates
from crawlgauge.model.history_fits import HistoryFits
from crawlgauge.model.known_alive.results import KnownAliveFit
from crawlgauge.model.latent_class.fitting import LatentClassFit
from crawlgauge.model.union.held_ratio import HeldUrls, follow_classes
from crawlgauge.model.union.holdings import Holdings
from crawlgauge.model.union.views import Spread, View

__all__ = ["Gathered", "gather_numbers"]

Numbers = NDArray[np.float64]

_NO_CLASSES = (
    "not identifiable: URLs that the archive holds are more or less likely to be captured than "
    "others, and no model of classes fits the histories that would tell by how much"
)
_EVEN = 0.02
"""A difference of coverages below which uneven capture does not matter."""

# How far the logarithm of the ratio may be off: as a share of it, for each trap lag, and with two
# classes as a share of what the coverage may be off, since the same errors spoil both. Set so that
# the ranges held the truth of simulated archives.
_RATIO_DOUBT = 0.2
_TRAP_DOUBT = 0.04
_CLASS_DOUBT = 0.35


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """The numbers of all crawls.

    Parameters
    ----------
    view
        Of all crawls.
    why_unknown
        For each crawl, why its union coverage cannot be known; None if it can.
    why_no_range
        For each crawl, why it has no range; None if it has.
    why_no_survival
        Why the survival of unseen URLs has no range, or is not known; None if it has.
    bases
        For each crawl, what its range rests on.
    is_by_classes
        Whether the latent-class model says how readily held URLs are captured.
    """

    view: View
    why_unknown: tuple[str | None, ...]
    why_no_range: tuple[str | None, ...]
    why_no_survival: str | None
    bases: tuple[Basis, ...]
    is_by_classes: bool


def gather_numbers(
    estimates: Estimates,
    holdings: Holdings,
    diagnosis: Diagnosis,
    fits: HistoryFits | None,
) -> Gathered:
    """Gather coverage, ratio and survival of all crawls.

    Parameters
    ----------
    estimates
        Coverage of each crawl, and persistence.
    holdings
        What the crawls hold together.
    diagnosis
        The changes of scope, and how much pairs scatter.
    fits
        What capture histories show; None without.
    """
    coverages = [row.coverage for row in estimates.per_crawl]
    known_alive = None if fits is None else fits.known_alive
    ratio, survival = _even(estimates)
    why_unknown = [row.reason if row.value is None else None for row in coverages]
    why_no_survival = _why_no_survival(estimates.persistence)
    classes = None
    if fits is not None and isinstance(known_alive, KnownAliveFit) and _is_uneven(fits):
        first = diagnosis.regimes[-1].first
        classes = fits.latent_class
        if classes is None:
            why_unknown[first + 1 :] = [_NO_CLASSES] * (len(coverages) - first - 1)
        else:
            held = _follow(estimates, classes, first)
            ratio = _doubt(held, known_alive, classes.n_classes, first)
            survival = _exactly(np.concatenate([survival.value[:first], held.unseen_survival]))
            why_no_survival = None
    distrust = _why_distrusted(estimates)
    return Gathered(
        view=View(
            sizes=_sizes(estimates),
            known_share=holdings.known_share,
            known_error=_with_scatter(holdings, diagnosis.fit.tau_squared),
            coverage=_coverage_spread(coverages),
            ratio=ratio,
            survival=survival,
        ),
        why_unknown=tuple(why_unknown),
        why_no_range=tuple(
            distrust or (coverage.reason if coverage.low is None else None)
            for coverage in coverages
        ),
        why_no_survival=why_no_survival,
        bases=tuple(coverage.basis for coverage in coverages),
        is_by_classes=classes is not None,
    )


def _is_uneven(fits: HistoryFits) -> bool:
    """Tell whether held URLs may differ from others in how readily they are captured."""
    fit, classes = fits.known_alive, fits.latent_class
    if not isinstance(fit, KnownAliveFit):
        return False
    several = classes is not None and classes.n_classes > 1
    return fit.trap_lags > 0 or abs(fit.uneven_effect) > _EVEN or several


def _even(estimates: Estimates) -> tuple[Spread, Spread]:
    """Return the ratio of even capture, and the survival that persistence gives."""
    n = len(estimates.crawls)
    intervals = np.diff(_years(estimates))
    persistence = estimates.persistence
    ends = [
        math.nan if end is None else end
        for end in (
            persistence.value if persistence.low is None else persistence.low,
            persistence.value,
            persistence.value if persistence.high is None else persistence.high,
        )
    ]
    low, value, high = (end**intervals for end in ends)
    return _exactly(np.ones(n)), Spread(low=low, value=value, high=high)


def _follow(estimates: Estimates, classes: LatentClassFit, first: int) -> HeldUrls:
    rows = estimates.per_crawl[first:]
    # Where a coverage is not known, the classes still need one to be followed through the crawl.
    typical = estimates.headline.coverage.value or 1.0
    coverage = np.array([row.coverage.value or typical for row in rows])
    return follow_classes(classes, _years(estimates)[first:], _sizes(estimates)[first:], coverage)


def _doubt(held: HeldUrls, fit: KnownAliveFit, n_classes: int, first: int) -> Spread:
    log_ratio, typical = held.log_ratio, fit.typical
    own = _RATIO_DOUBT * np.abs(log_ratio) + _TRAP_DOUBT * fit.trap_lags
    shared = _CLASS_DOUBT if n_classes > 1 else 0.0
    below = own + shared * (typical.high - typical.value)
    above = own + shared * (typical.value - typical.low)
    # Two classes see too little of unevenness that has more of them; but held URLs are captured no
    # more readily than those that are known to live because they were captured twice.
    unseen = np.maximum(fit.uneven_effect - log_ratio, 0.0)
    before = np.ones(first)
    low, value, high = (
        np.concatenate([before, np.exp(end)])
        for end in (log_ratio - below, log_ratio, log_ratio + np.maximum(above, unseen))
    )
    return Spread(low=low, value=value, high=high)


def _coverage_spread(coverages: list[Estimate]) -> Spread:
    value = np.array([math.nan if c.value is None else c.value for c in coverages])
    low = np.array([math.nan if c.low is None else c.low for c in coverages])
    high = np.array([math.nan if c.high is None else c.high for c in coverages])
    # A crawl holds no more than there is, whatever its interval says.
    return Spread(low=np.minimum(low, 1.0), value=value, high=np.minimum(high, 1.0))


def _with_scatter(holdings: Holdings, tau_squared: float) -> Numbers:
    """Let what a crawl finds again scatter by as much beyond counting as its overlaps do."""
    excess = 0.0 if math.isnan(tau_squared) else tau_squared
    return np.hypot(holdings.known_error, math.sqrt(excess) * holdings.known_share)


def _why_no_survival(persistence: Estimate) -> str | None:
    return persistence.reason if persistence.low is None else None


def _why_distrusted(estimates: Estimates) -> str | None:
    """Return why the typical coverage has no range although its value is known."""
    coverage = estimates.headline.coverage
    return coverage.reason if coverage.value is not None and coverage.low is None else None


def _exactly(numbers: Numbers) -> Spread:
    return Spread(low=numbers, value=numbers, high=numbers)


def _years(estimates: Estimates) -> Numbers:
    days = np.array([crawl.date.toordinal() for crawl in estimates.crawls], dtype=np.float64)
    years: Numbers = (days - days[0]) / DAYS_PER_YEAR
    return years


def _sizes(estimates: Estimates) -> Numbers:
    return np.array([crawl.n_urls for crawl in estimates.crawls], dtype=np.float64)
