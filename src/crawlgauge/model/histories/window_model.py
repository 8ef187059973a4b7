"""The model of known-alive windows: what was captured between two captures of the same URL.

The chance that crawl j captures a URL of kind g that was captured s crawls before is
``g⁻¹(e_j + β_s + [s = 1]·u_j + θ_g)`` with β_0 = 0. The vector of parameters holds e of all crawls
but the first and the last, β_1 to β_K, the spread σ of the kinds, and u.

For a window that starts at crawl i and ends at crawl k, each interior r has the weight
``A_r = Σ_g f_g·w_i(g)·Π_j Bern(r_j; p_j)·p_k``, in which the state of each crawl is known since i
was a capture. The likelihood is the product of A_r / Σ A over all windows. A window that goes on is
a longer one: all interiors of all windows from one crawl are built together, each from the one that
it continues, and the slopes run back the same way.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from crawlgauge.model.histories.data import HistoryData, Numbers, count_known_alive

__all__ = ["MAX_TRAP_LAGS", "N_GROUPS", "WindowCounts", "WindowModel", "count_windows"]


# ------------------------------------------------------------------------------------- windows


N_GROUPS = 20
"""Groups of URLs that the sampling error is told from: enough for its size to be known within a
sixth, few enough for each to hold every common pattern."""

MAX_TRAP_LAGS = 5
"""Crawls back that a capture is allowed to affect."""

_LARGEST_GROUP = 0.5
"""Where a group of hosts holds more, as that of an archive's only site does, too little is left
without it: then hosts tell nothing of errors."""

_GROUP_SEED = 0
"""Any fixed number: the same histories always give the same groups."""

_LONGEST = 9
_LONGEST_OF_MANY = 8
_MANY_CRAWLS = 12
"""A window of L crawls has 2^(L−1) interiors; with many crawls shorter windows say enough."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowCounts:
    """Counts of known-alive windows, for all URLs and for each group of them.

    The last axis of `interiors`, `recent` and `shared` holds all URLs first, then `N_GROUPS` groups
    of URLs drawn at random, and then as many groups of whole hosts where hosts are known.

    Parameters
    ----------
    interiors
        Item L − 2 holds the windows of L crawls: a row for each interior, in which bit b is
        the crawl b + 1 after the window's first, and a column for each first crawl.
    recent
        For each crawl, its captures by crawls since the last capture: 1, 2, …, and in row 0
        those of longer ago and first ones.
    shared
        For each two crawls, the URLs that both captured.
    n_known, n_held
        For each crawl, URLs captured before and after it, and those of them that it captured.
    """

    interiors: tuple[Numbers, ...]
    recent: Numbers
    shared: Numbers
    n_known: Numbers
    n_held: Numbers

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return len(self.recent)

    @property
    def longest(self) -> int:
        """Longest window, in crawls from its first to its last."""
        return len(self.interiors) + 1

    @property
    def n_windows(self) -> float:
        """Windows with an interior."""
        return float(sum(array[..., 0].sum() for array in self.interiors))

    @property
    def group_kinds(self) -> tuple[range, ...]:
        """Columns of each kind of groups."""
        n_columns = self.recent.shape[-1]
        return tuple(range(first, first + N_GROUPS) for first in range(1, n_columns, N_GROUPS))

    def tallies(self, trap_lags: int, *, without: int | None = None) -> tuple[Numbers, Numbers]:
        """Return captures and shared captures, of all URLs or of all but those of one column.

        Captures of each crawl are told apart by state: column s > 0 holds those captured s crawls
        before and not since, column 0 all others.
        """
        recent, shared = self.recent[..., 0], self.shared[..., 0]
        if without is not None:
            recent = recent - self.recent[..., without]
            shared = shared - self.shared[..., without]
        by_state = recent[:, : trap_lags + 1].copy()
        by_state[:, 0] += recent[:, trap_lags + 1 :].sum(axis=1)
        return by_state, shared


def count_windows(data: HistoryData) -> WindowCounts:
    """Count the known-alive windows of capture histories.

    Each URL of each history falls into one of the random groups, with a fixed seed: the choice
    between models and the errors of all that is computed from them then cost the same however
    many histories there are. URLs of one host are captured together, which only groups of whole
    hosts show.

    Parameters
    ----------
    data
        Capture histories of two crawls or more.
    """
    rng = np.random.default_rng(_GROUP_SEED)
    groups = rng.multinomial(data.counts.astype(np.int64), np.full(N_GROUPS, 1 / N_GROUPS))
    columns = [data.counts[:, None], groups.astype(np.float64)]
    by_host = data.by_host_group
    if by_host is not None and by_host.sum(axis=0).max() <= _LARGEST_GROUP * data.n_urls:
        columns.append(by_host)
    counts = np.concatenate(columns, axis=1)
    captured = data.captured.astype(np.float64)
    n_known, n_held = count_known_alive(data)
    return WindowCounts(
        interiors=_count_interiors(data, counts),
        recent=_count_recent(data, counts),
        shared=np.stack(
            [(captured * column[:, None]).T @ captured for column in counts.T], axis=-1
        ),
        n_known=n_known,
        n_held=n_held,
    )


def _count_interiors(data: HistoryData, counts: Numbers) -> tuple[Numbers, ...]:
    n_crawls, n_columns = data.n_crawls, counts.shape[1]
    longest = min(_LONGEST if n_crawls <= _MANY_CRAWLS else _LONGEST_OF_MANY, n_crawls - 1)
    n_codes = 1 << longest
    # What followed each capture within the longest window tells all windows that start there.
    follow = np.zeros((n_crawls, n_codes, n_columns))
    for first in range(n_crawls - 1):
        rows = data.captured[:, first]
        ahead = data.masks[rows] >> np.uint64(first + 1)
        codes = (ahead & np.uint64(n_codes - 1)).astype(np.int64)
        cells = codes[:, None] * n_columns + np.arange(n_columns)
        follow[first] = np.bincount(
            cells.ravel(), weights=counts[rows].ravel(), minlength=n_codes * n_columns
        ).reshape(n_codes, n_columns)
    return tuple(
        np.ascontiguousarray(
            follow[: n_crawls - length]
            .reshape(n_crawls - length, -1, 2, 1 << (length - 1), n_columns)[:, :, 1]
            .sum(axis=1)
            .swapaxes(0, 1)
        )
        for length in range(2, longest + 1)
    )


def _count_recent(data: HistoryData, counts: Numbers) -> Numbers:
    captured, n_crawls = data.captured, data.n_crawls
    recent = np.zeros((n_crawls, MAX_TRAP_LAGS + 1, counts.shape[1]))
    for crawl in range(n_crawls):
        left = captured[:, crawl].copy()
        for since in range(1, min(MAX_TRAP_LAGS, crawl) + 1):
            rows = left & captured[:, crawl - since]
            recent[crawl, since] = counts[rows].sum(axis=0)
            left &= ~rows
        recent[crawl, 0] = counts[left].sum(axis=0)
    return recent


# -------------------------------------------------------------------------- chances of capture

Link = Literal["logit", "cloglog"]

_MIN_EFFECT = -12.0
"""A chance of 6 in a million: no crawl is told from an empty one below it."""

_MAX_LOGIT = 12.0
_MAX_CLOGLOG = 3.2
"""Where a miss has the chance of 6 in a million (logit) and 2 in 10^11 (cloglog), and products of
nine such chances still are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CaptureTable:
    """Chances of a capture and of a miss, and how their logarithms change with the effect."""

    hit: Numbers
    miss: Numbers
    hit_slope: Numbers
    miss_slope: Numbers


def capture_table(effect: Numbers, link: Link) -> CaptureTable:
    """Return the chances that belong to effects.

    Parameters
    ----------
    effect
        Sums of effects, of any shape.
    link
        ``cloglog``, on which effects multiply the rate of captures, or ``logit``.

    Examples
    --------
    >>> float(capture_table(np.array([0.0]), "logit").hit[0])
    0.5
    """
    if link == "logit":
        odds = np.exp(np.clip(effect, _MIN_EFFECT, _MAX_LOGIT))
        miss = 1 / (1 + odds)
        hit = odds * miss
        return CaptureTable(hit=hit, miss=miss, hit_slope=miss, miss_slope=-hit)
    rate = np.exp(np.clip(effect, _MIN_EFFECT, _MAX_CLOGLOG))
    miss = np.exp(-rate)
    hit = -np.expm1(-rate)
    return CaptureTable(hit=hit, miss=miss, hit_slope=rate * miss / hit, miss_slope=-rate)


# ------------------------------------------------------------------- the model and its likelihood

_N_NODES = 15
_NODE_REACH = 3.2
"""Fifteen nodes to ±3.2 standard deviations integrate the capture chances to a thousandth."""

_LOW_TAIL = 0.35
"""Of what a normal law has below its middle: windows hardly show it, and lists have about that."""

_MAX_SIGMA = 1.6
"""A wider law puts most of the population where no window can see it."""

_SIGMA_SD = 1.0
"""A guard against unevenness without evidence; a few hundred windows outweigh it."""

_FIRST_SIGMA = 0.5

_MAX_EFFECT = 7.0
"""A thousandfold rate and a thousandth of it: farther out the likelihood is flat."""

_HIGHEST_CRAWL = 12.0
"""Archives that miss next to nothing have odds of a hundred thousand to one."""

_LOWEST_TRAP = -12.0
"""Crawlers can avoid perfectly. A bound that lets through a handful of captures where there are
none would bend the crawls' effects instead."""

_MAX_WOBBLE = 3.0
_MAX_END_STEP = 1.5
"""The first and the last crawl lie inside no window. Their effects follow from their sizes, up
to this difference: they only weigh the ends of windows and matter little."""

_CRAWL_SD = 0.6
"""Effects of crawls follow their sizes; the population seldom changes by more than this."""

_LEVEL_SD = 3.0
_TRAP_SD = 2.0
_WOBBLE_SD = 0.25
"""Guards that keep what the windows leave open from running away."""

_TINY = 1e-300
"""Stands for a chance that underflows: an interior that cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interiors:
    """The weights of all interiors under a parameter vector.

    Parameters
    ----------
    table
        The chances that they were built from.
    closed
        Item L − 2: for each interior and first crawl of the windows of L crawls, the weight by
        kind of URL.
    totals
        The same summed over kinds.
    """

    table: CaptureTable
    closed: tuple[Numbers, ...]
    totals: tuple[Numbers, ...]


class WindowModel:
    """A model of the windows: which effects it has, and how likely they make what was counted.

    Parameters
    ----------
    counts
        The windows.
    trap_lags
        K: crawls back that a capture has an effect on being captured again.
    is_uneven
        Whether URLs differ in how readily they are captured.
    """

    def __init__(self, counts: WindowCounts, *, trap_lags: int, is_uneven: bool) -> None:
        self.counts, self.trap_lags, self.is_uneven = counts, trap_lags, is_uneven
        # On the logit scale even capture without a trap has no limit at certain capture.
        self.link: Link = "cloglog" if is_uneven or trap_lags else "logit"
        n_inner = counts.n_crawls - 2
        lengths = (n_inner, trap_lags, int(is_uneven), n_inner if trap_lags else 0)
        ends = np.cumsum(lengths).tolist()
        # Where crawl effects, β, σ and u stand in the vector.
        self.crawl, self.trap, self.sigma, self.wobble = (
            slice(end - length, end) for end, length in zip(ends, lengths, strict=True)
        )
        self.bounds = np.zeros((2, ends[-1]))
        self.bounds[:, self.crawl] = [[-_MAX_EFFECT], [_HIGHEST_CRAWL]]
        self.bounds[:, self.trap] = [[_LOWEST_TRAP], [_MAX_EFFECT]]
        self.bounds[:, self.sigma] = [[0.0], [_MAX_SIGMA]]
        self.bounds[:, self.wobble] = [[-_MAX_WOBBLE], [_MAX_WOBBLE]]
        # Kinds of URL: their shares, and how the effect of each moves with σ.
        z = np.linspace(-_NODE_REACH, _NODE_REACH, _N_NODES) if is_uneven else np.zeros(1)
        density = np.exp(-(z**2) / 2)
        self.share = density / density.sum()
        self._kinds = np.where(z < 0, _LOW_TAIL, 1.0) * z
        self._log_size = np.log(np.maximum(np.diag(counts.shared[..., 0]), 1.0))

    def start(self) -> Numbers:
        """Return a vector to start from: crawls as Manly and Parr find them, a middling spread."""
        start = np.zeros(self.bounds.shape[1])
        # Half a URL on either side keeps shares away from 0 and 1, which have no effect.
        chance = (self.counts.n_held[1:-1] + 0.5) / (self.counts.n_known[1:-1] + 1)
        start[self.crawl] = (
            np.log(chance / (1 - chance)) if self.link == "logit" else np.log(-np.log1p(-chance))
        )
        start[self.sigma] = _FIRST_SIGMA
        return start

    def chances(self, vector: Numbers) -> CaptureTable:
        """Return the chances for each crawl, state and kind of URL."""
        log_size, effect = self._log_size, np.empty(self.counts.n_crawls)
        effect[1:-1] = vector[self.crawl]
        steps = np.array([log_size[0] - log_size[1], log_size[-1] - log_size[-2]])
        effect[[0, -1]] = effect[[1, -2]] + np.clip(steps, -_MAX_END_STEP, _MAX_END_STEP)
        states = np.tile(np.concatenate([[0.0], vector[self.trap]]), (self.counts.n_crawls, 1))
        if self.trap_lags:
            states[1:-1, 1] += vector[self.wobble]
        sigma = float(vector[self.sigma][0]) if self.is_uneven else 0.0
        sums = effect[:, None, None] + states[:, :, None] + sigma * self._kinds
        return capture_table(sums, self.link)

    def log_prior(self, vector: Numbers) -> tuple[float, Numbers]:
        """Return the logarithm of the guards' density, up to a constant, and its slopes."""
        precision = np.zeros(vector.size)
        precision[self.trap] = _TRAP_SD**-2
        precision[self.sigma] = _SIGMA_SD**-2
        precision[self.wobble] = _WOBBLE_SD**-2
        slopes = -precision * vector
        value = 0.5 * float(slopes @ vector)
        effect = vector[self.crawl]
        apart = effect - self._log_size[1:-1]
        apart = apart - apart.mean()
        level = float(effect.mean())
        value -= float(apart @ apart) / (2 * _CRAWL_SD**2) + level**2 / (2 * _LEVEL_SD**2)
        slopes[self.crawl] = -apart / _CRAWL_SD**2 - level / (_LEVEL_SD**2 * effect.size)
        return value, slopes

    def interiors(self, vector: Numbers, tilt: Numbers) -> Interiors:
        """Weigh all interiors.

        Parameters
        ----------
        vector
            The parameters.
        tilt
            ρ: for each crawl and kind of URL, the chance of a capture in any state over that in
            state 0.
        """
        table = self.chances(vector)
        weight = (self.share * tilt * table.hit[:, 0])[None]
        closed = []
        for inside in range(self.counts.longest):
            n_first = self.counts.n_crawls - inside - 1
            weight = weight[:, :n_first]
            longer = np.empty((2 * len(weight), n_first, weight.shape[2]))
            missed, hit = longer[: len(weight)], longer[len(weight) :]
            for rows, state in self._states(inside):
                np.multiply(weight[rows], table.miss[inside + 1 :, state], out=missed[rows])
                np.multiply(weight[rows], table.hit[inside + 1 :, state], out=hit[rows])
            if inside:
                closed.append(hit)
            weight = longer
        totals = tuple(np.maximum(hit.sum(axis=2), _TINY) for hit in closed)
        return Interiors(table=table, closed=tuple(closed), totals=totals)

    def log_likelihood(self, interiors: Interiors) -> float:
        """Return the logarithm of the composite likelihood of all URLs."""
        value = 0.0
        for seen, total in zip(self.counts.interiors, interiors.totals, strict=True):
            n = seen[..., 0]
            value += float(np.vdot(n, np.log(total)) - n.sum(axis=0) @ np.log(total.sum(axis=0)))
        return value

    def score(self, interiors: Interiors, column: int = 0) -> Numbers:
        """Return the slopes of the log-likelihood, of all URLs (column 0) or of a group."""
        counts, table = self.counts, interiors.table
        hits, misses = np.zeros_like(table.hit), np.zeros_like(table.hit)
        onward = np.zeros((1 << counts.longest, 0, self.share.size))
        for inside in reversed(range(counts.longest)):
            n_first, half = counts.n_crawls - inside - 1, 1 << inside
            excess = np.zeros((2 * half, n_first, self.share.size))
            excess[:, : onward.shape[1]] = onward
            if inside:
                seen = counts.interiors[inside - 1][..., column]
                total = interiors.totals[inside - 1]
                per_weight = seen / total - seen.sum(axis=0) / total.sum(axis=0)
                excess[half:] += per_weight[:, :, None] * interiors.closed[inside - 1]
            for rows, state in self._states(inside):
                misses[inside + 1 :, state] += excess[:half][rows].sum(axis=0)
                hits[inside + 1 :, state] += excess[half:][rows].sum(axis=0)
            onward = excess[:half] + excess[half:]
        hits[: onward.shape[1], 0] += onward[0]
        sums = hits * table.hit_slope + misses * table.miss_slope
        slopes = np.zeros(self.bounds.shape[1])
        by_crawl = sums.sum(axis=(1, 2))
        slopes[self.crawl] = by_crawl[1:-1]
        slopes[self.crawl.start] += by_crawl[0]
        slopes[self.crawl.stop - 1] += by_crawl[-1]
        slopes[self.trap] = sums.sum(axis=(0, 2))[1:]
        slopes[self.sigma] = self._kinds @ sums.sum(axis=(0, 1))
        if self.trap_lags:
            slopes[self.wobble] = sums[1:-1, 1].sum(axis=1)
        return slopes

    def _states(self, inside: int) -> Iterator[tuple[slice, int]]:
        """Give the rows of equal state, after `inside` crawls within the window.

        The latest crawl is the highest bit of a row's number: the highest set bit is the latest
        capture, and rows of one state stand together. Row 0 was last captured at the window's
        start.
        """
        if inside < self.trap_lags:
            yield slice(0, 1), inside + 1
        else:
            yield slice(0, 1 << (inside - self.trap_lags)), 0
        for state in range(1, min(inside, self.trap_lags) + 1):
            yield slice(1 << (inside - state), 1 << (inside - state + 1)), state
