"""The headline: one coverage from views that assume different things, with its range and grade.

Where views that assume different things agree, being right is the only common reason left; where
they do not, their distance is the error bar. What is seldom captured is seldom seen, so that errors
are one-sided: the range reaches farther below the lowest view than above the highest.
Coverages are natural logarithms throughout.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.estimates import Grade, Readings
from crawlgauge.model.histories import open_population
from crawlgauge.model.histories.data import HistoryData, count_known_alive, count_recaptures
from crawlgauge.model.histories.known_alive import KnownAliveFit, count_recent, fit_known_alive
from crawlgauge.model.histories.latent_class import LatentClassFit, fit_latent_class
from crawlgauge.model.pairs import Flags, Numbers, PairData
from crawlgauge.model.ranges import is_telling
from crawlgauge.model.two_way import fit_columns

MIN_CRAWLS = 5
"""With fewer, coverage and its unevenness are one and the same."""

MIN_SEEN_THRICE = 30
ENOUGH_SEEN_THRICE = 300
"""URLs in three crawls or more: for a number at all, and for a grade better than C."""

_MIN_URLS = 30
_MIN_SHARE = 0.02
"""Of the median crawl: smaller ones say nothing of coverage, and would drag the mean."""

_FLOOR = 0.05
_BELOW, _BELOW_UNEVEN, _ABOVE = 0.9, 1.4, 0.4
"""How far the range reaches beyond the views, beside sampling: as a share of their distance."""

_SPREAD_A, _SPREAD_B = 0.15, 0.25
_UNEVEN_SPREAD_A, _UNEVEN_SPREAD_B = 0.10, 0.15
"""How far views may lie apart. Where capture is proven to be uneven all of them extrapolate to what
is hardly ever captured, and err together: then agreement has to be closer."""

_MISFIT_A, MAX_MISFIT = 0.005, 0.02
"""Of the windows, for an A and for a B."""

_LEAST_VIEWS = 3

_NEARLY_COMPLETE = math.log(0.95)
"""From this coverage on there are too few misses to tell classes of URLs from memory."""

_ALONE = 0.10
_MAX_RMSEA = 0.006
"""Classes so far below all other views take URLs that come and go for ones that are missed, unless
they reproduce the histories to within this error of approximation. Then they are the only view
that sees what the others miss."""

_WEIGHT_ALONE = 0.75
"""What they weigh there, against the windows."""

_IMPOSSIBLE = 0.3
"""Pairs so far above 100 % have refuted themselves."""

_PERSISTENCE_FLOOR = 0.03
_PERSISTENCE_SHARE = 0.5
"""How far the range of the persistence reaches beyond its views, beside a share of its spread."""

_MIN_RATIO = 0.02
"""Rarer recaptures than this are too few to count by."""

_OWN = 0.07
"""What a single crawl's range reaches beyond the typical one's, on either side."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Views:
    """What several estimators, which assume different things, say of the same histories.

    Parameters
    ----------
    levels
        For each view that exists the mean over the typical crawls of its ln c: ``known-alive``,
        ``latent-class``, ``rested-manly-parr``, ``two-way``, ``cjs``, ``manly-parr``; the rested
        share and the two-way model beyond the memory of the crawler where it avoids.
    windows, classes
        The fits of known-alive windows and of latent classes.
    cjs
        Coverage of each crawl and persistence by Cormack, Jolly and Seber.
    n_thrice
        URLs of three crawls or more.
    sampling_sd
        Standard error of the mean ln c.
    persistence
        For each view that has one, the logarithm of the share of URLs that live on for a year; at
        most 0.
    memory_factor
        For each crawl, how many times as many of its captures there would be if the crawler did
        not avoid what it captured lately; 1 if it does not.
    """

    levels: Mapping[str, float]
    windows: KnownAliveFit
    classes: LatentClassFit
    cjs: tuple[Numbers, float]
    n_thrice: float
    sampling_sd: float
    persistence: Mapping[str, float]
    memory_factor: Numbers

    @property
    def log_cjs(self) -> Numbers:
        """Coverage of each crawl by Cormack, Jolly and Seber, at most 1; NaN if not known."""
        return np.minimum(_log(self.cjs[0]), 0.0)

    @property
    def is_uneven(self) -> bool:
        """Whether URLs were found to differ in how readily they are captured, or how they live."""
        return self.windows.is_uneven or self.classes.n_classes > 1

    @property
    def classes_hold(self) -> bool:
        """Whether latent classes reproduce the histories."""
        return self.classes.rmsea <= _MAX_RMSEA


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Typical coverage, and how far it can be trusted.

    Parameters
    ----------
    value, low, high
        Logarithms of the coverage and of the ends of its range.
    grade
        ``A``: trust it. ``B``: trust its size. ``C``: only the range.
    lowest, highest
        Name and logarithm of the coverage of the views farthest apart of those compared.
    n_views
        How many were compared.
    has_no_memory
        Whether captures seem to attract captures and yet no memory explains them, so that latent
        classes, which would take it for one, have no say.
    readings
        Where captures attract captures, what either reading of it says; None elsewhere.
    """

    value: float
    low: float
    high: float
    grade: Grade
    lowest: tuple[str, float]
    highest: tuple[str, float]
    n_views: int
    has_no_memory: bool
    readings: Readings | None

    @property
    def spread(self) -> float:
        """Distance of the views farthest apart."""
        return self.highest[1] - self.lowest[1]


def too_small(sizes: Numbers) -> Flags:
    """Tell which crawls are too small to say something of coverage; none if fewer than two are not.

    Examples
    --------
    >>> too_small(np.array([500.0, 9.0, 700.0])).tolist()
    [False, True, False]
    """
    small: Flags = sizes < max(_MIN_URLS, _MIN_SHARE * float(np.median(sizes)))
    return small if np.count_nonzero(~small) > 1 else np.zeros_like(small)


def find_views(data: HistoryData, pairs: PairData) -> Views:
    """Look at the histories of crawls that are large enough from all sides.

    Parameters
    ----------
    data
        Capture histories of five crawls or more.
    pairs
        Overlaps of the same crawls.
    """
    windows = fit_known_alive(data)
    classes = fit_latent_class(data, trap_lags=windows.trap_lags)
    cjs = open_population.fit_cormack_jolly_seber(count_recaptures(data))
    beyond = windows.trap_lags if windows.avoids else 0
    manly_parr = open_population.fit_manly_parr(data)
    # Pairs of crawls that no memory connects, where enough of them are left.
    apart = np.abs(pairs.end - pairs.start) > beyond
    two_way = fit_columns(pairs, apart[None] & (pairs.n_crawls >= beyond + MIN_CRAWLS - 1))
    rested = open_population.fit_rested_manly_parr(data, rest=max(beyond, 1))
    found = {
        "known-alive": windows.log_coverage,
        "latent-class": classes.log_coverage,
        "rested-manly-parr": _log(rested),
        "two-way": two_way.level[0],
        "cjs": _log(cjs[0]),
        "manly-parr": _log(manly_parr),
    }
    inside = {name: row[1:-1][np.isfinite(row[1:-1])] for name, row in found.items()}
    known = manly_parr > 0
    held = (manly_parr * count_known_alive(data)[0])[known]
    counted = math.sqrt(float(np.sum((1 - manly_parr[known]) / held))) / max(held.size, 1)
    return Views(
        levels={name: float(logs.mean()) for name, logs in inside.items() if logs.size},
        windows=windows,
        classes=classes,
        cjs=cjs,
        n_thrice=float(data.counts[data.captured.sum(axis=1) >= 3].sum()),  # noqa: PLR2004 - thrice
        sampling_sd=max(counted, windows.sampling_sd),
        persistence={
            name: min(log, 0.0)
            for name, log in (
                ("two-way", float(two_way.slope[0])),
                ("cjs", float(np.log(cjs[1]))),
                ("latent-class", classes.log_persistence),
            )
            if math.isfinite(log)
        },
        memory_factor=_memory_factor(data, windows),
    )


def _memory_factor(data: HistoryData, windows: KnownAliveFit) -> Numbers:
    factor = np.ones(data.n_crawls)
    if windows.avoids:
        shares = count_recent(data, data.counts[:, None])[..., 0].T / np.maximum(data.sizes, 1.0)
        for share, ratio in zip(shares[1:], windows.revisits, strict=False):
            factor += share * (1 / max(ratio, _MIN_RATIO) - 1)
    return factor


def judge_views(views: Views) -> Judgement | None:
    """Weigh the views; None where the histories tell too little for a number.

    Parameters
    ----------
    views
        From `find_views`.
    """
    levels = views.levels
    has_both = "known-alive" in levels and "latent-class" in levels
    if views.n_thrice < MIN_SEEN_THRICE or not levels.keys() & {"known-alive", "latent-class"}:
        return None
    misfit, attracts = views.windows.misfit, views.windows.attracts
    # Too few misses to tell memory, or one that does not reproduce the windows, is no memory: URLs
    # come and go, or whole hosts do.
    has_no_memory = (
        attracts
        and "cjs" in levels
        and (
            levels.get("manly-parr", -math.inf) >= _NEARLY_COMPLETE
            or (misfit > _MISFIT_A and not views.classes_hold)
        )
    )
    if has_no_memory:
        value = levels["cjs"]
        names = ("known-alive", "rested-manly-parr", "cjs", "two-way")
        compared = {name: min(levels[name], 0.0) for name in names if name in levels}
    else:
        value = _weigh(views)
        names = ("known-alive", "latent-class", "rested-manly-parr", "two-way")
        compared = {name: levels[name] for name in names if name in levels}
        if compared.get("two-way", 0.0) >= _IMPOSSIBLE:
            del compared["two-way"]
    value = min(value, 0.0)
    lowest = min(compared.items(), key=lambda view: view[1])
    highest = max(compared.items(), key=lambda view: view[1])
    low, high = lowest[1], highest[1]
    spread = high - low
    margin = math.hypot(_FLOOR, 2 * views.sampling_sd)
    widest_a, widest_b = (
        (_UNEVEN_SPREAD_A, _UNEVEN_SPREAD_B) if views.is_uneven else (_SPREAD_A, _SPREAD_B)
    )
    grade: Grade = "B"
    if (
        len(compared) < _LEAST_VIEWS
        or not (has_no_memory or has_both)
        or spread > widest_b
        or misfit > MAX_MISFIT
        or views.n_thrice < ENOUGH_SEEN_THRICE
    ):
        grade = "C"
    elif spread <= widest_a and misfit <= _MISFIT_A and not attracts:
        grade = "A"
    reaches = high + margin + (_ABOVE * spread if attracts else 0.0)
    upper = max(min(reaches, 0.0), value)
    lower = low - margin - (_BELOW_UNEVEN if views.is_uneven else _BELOW) * spread
    if not is_telling(math.exp(lower), math.exp(upper)):
        return None
    readings = None
    if attracts and "cjs" in levels:
        returning, absent = levels["known-alive"], min(levels["cjs"], 0.0)
        readings = Readings(returning=math.exp(returning), absent=math.exp(absent))
    return Judgement(
        value=value,
        low=lower,
        high=upper,
        grade=grade,
        lowest=lowest,
        highest=highest,
        n_views=len(compared),
        has_no_memory=has_no_memory,
        readings=readings,
    )


def _weigh(views: Views) -> float:
    """Return the mean of windows and classes, or the median where classes are wrong or missing."""
    levels = views.levels
    others = [
        levels[name] for name in ("known-alive", "rested-manly-parr", "two-way") if name in levels
    ]
    if "known-alive" in levels and "latent-class" in levels:
        is_alone = levels["latent-class"] < min(others) - _ALONE
        if not is_alone or views.classes_hold:
            weight = _WEIGHT_ALONE if is_alone else 0.5
            return (1 - weight) * levels["known-alive"] + weight * levels["latent-class"]
    three = ("known-alive", "latent-class", "rested-manly-parr")
    return float(np.median([levels[name] for name in three if name in levels]))


def judge_persistence(views: Views) -> tuple[float, float, float] | None:
    """Return the logarithm of the persistence with its range; None if no view has one.

    Parameters
    ----------
    views
        From `find_views`.
    """
    levels = views.persistence
    if not levels:
        return None
    value = levels.get("latent-class", float(np.median(list(levels.values()))))
    low, high = min(levels.values()), max(levels.values())
    margin = _PERSISTENCE_FLOOR + _PERSISTENCE_SHARE * (high - low)
    return value, low - margin, min(high + margin, 0.0)


def spread_over_crawls(judgement: Judgement, views: Views) -> Numbers:
    """Give each crawl its coverage: the typical one, moved by how crawls differ from each other.

    Return the value (first row) and the ends of its range, as logarithms; NaN if not known.

    How they differ is told by latent classes, which allow for the crawler's memory, or by Cormack,
    Jolly and Seber where there is none to allow for. Either moves with the sizes of the crawls: so
    a population does not jump where a crawl does.

    Parameters
    ----------
    judgement, views
        The typical coverage, and what it rests on.
    """
    pattern = views.log_cjs
    if "latent-class" in views.levels and not judgement.has_no_memory:
        pattern = np.minimum(views.classes.log_coverage, 0.0)
    inside = np.isfinite(pattern)
    inside[[0, -1]] = False
    offset = pattern - pattern[inside].mean() if inside.any() else np.full(pattern.size, np.nan)
    offset[0] = np.nan
    value = np.minimum(judgement.value + offset, 0.0)
    low = np.minimum(judgement.low + offset - _OWN, value)
    high = np.maximum(np.minimum(judgement.high + offset + _OWN, 0.0), value)
    return np.array([value, low, high])


def with_first_captures(log_coverage: Numbers, known_share: Numbers, ratio: float) -> float:
    """Return the typical coverage if a first capture were more or less likely than a recapture.

    Every view measures the chance of a recapture. If that of a first capture is `ratio` times as
    large, a crawl of coverage c, a share ρ of which earlier crawls hold, has the coverage
    c / (ρ + (1 − ρ)/ratio).

    Parameters
    ----------
    log_coverage
        Of the typical crawls, as logarithms.
    known_share
        Share of each of them that earlier crawls hold.
    ratio
        How many times as likely a first capture is.

    Examples
    --------
    >>> float(round(with_first_captures(np.log([0.3]), np.array([0.5]), 0.5), 2))
    0.2
    """
    shifted = log_coverage - np.log(known_share + (1 - known_share) / ratio)
    known = np.isfinite(shifted)
    return math.exp(float(np.minimum(shifted[known], 0.0).mean()))


def _log(shares: Numbers) -> Numbers:
    logs = np.full(shares.shape, np.nan)
    np.log(shares, out=logs, where=shares > 0)
    return logs
