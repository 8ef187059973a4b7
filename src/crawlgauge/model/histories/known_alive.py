"""Coverage from known-alive windows: how far memory reaches, how uneven capture is, what is held.

Nothing is assumed about survival. URLs may differ in how readily they are captured, and a capture
may make the next ones less or more likely for some crawls.

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
from functools import cached_property
from typing import Literal

import numpy as np

from crawlgauge.model.histories.data import HistoryData, count_known_alive
from crawlgauge.model.histories.optimisation import curvature_at, minimise_within
from crawlgauge.model.pairs import Numbers

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

    def tallies(self, trap_lags: int, *, without: range | None = None) -> tuple[Numbers, Numbers]:
        """Return captures and shared captures: of all URLs, or of all but those of each column.

        Captures of each crawl are told apart by state: row s > 0 holds those captured s crawls
        before and not since, row 0 all others. The last axis has an item for each column left out.
        """
        recent, shared = (
            array[..., :1] if without is None else array[..., :1] - array[..., without]
            for array in (self.recent, self.shared)
        )
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
        recent=count_recent(data, counts),
        shared=np.stack([captured[rows].T @ counts[rows] for rows in data.captured.T]),
        n_known=n_known,
        n_held=n_held,
    )


def _count_interiors(data: HistoryData, counts: Numbers) -> tuple[Numbers, ...]:
    from scipy import sparse

    n_crawls, n_columns = data.n_crawls, counts.shape[1]
    longest = min(_LONGEST if n_crawls <= _MANY_CRAWLS else _LONGEST_OF_MANY, n_crawls - 1)
    n_codes = 1 << longest
    # What followed each capture within the longest window tells all windows that start there.
    row, first = np.nonzero(data.captured[:, :-1])
    codes = (data.masks[row] >> (first + 1).astype(np.uint64)) & np.uint64(n_codes - 1)
    cells = first * n_codes + codes.astype(np.int64)
    ones = (np.ones(row.size), (cells, row))
    follow = sparse.csr_array(ones, shape=(n_crawls * n_codes, counts.shape[0])) @ counts
    follow = follow.reshape(n_crawls, n_codes, n_columns)
    return tuple(
        np.ascontiguousarray(
            follow[: n_crawls - length]
            .reshape(n_crawls - length, -1, 2, 1 << (length - 1), n_columns)[:, :, 1]
            .sum(axis=1)
            .swapaxes(0, 1)
        )
        for length in range(2, longest + 1)
    )


def count_recent(data: HistoryData, counts: Numbers) -> Numbers:
    """Count the captures of each crawl by crawls since the last one, as in `WindowCounts`."""
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
        log_size = np.log(np.maximum(np.diag(counts.shared[..., 0]), 1.0))
        end_steps = np.array([log_size[0] - log_size[1], log_size[-1] - log_size[-2]])
        self._log_size = log_size
        self._end_steps = np.clip(end_steps, -_MAX_END_STEP, _MAX_END_STEP)
        self._precision = np.zeros(ends[-1])
        self._precision[self.trap] = _TRAP_SD**-2
        self._precision[self.sigma] = _SIGMA_SD**-2
        self._precision[self.wobble] = _WOBBLE_SD**-2

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

    def chances(self, vectors: Numbers) -> CaptureTable:
        """Return the chances for each crawl, state, vector and kind of URL."""
        crawls, end_steps = vectors[:, self.crawl].T, self._end_steps[:, None]
        first, last = crawls[:1] + end_steps[0], crawls[-1:] + end_steps[1]
        effect = np.concatenate([first, crawls, last])
        states = np.zeros((effect.shape[0], self.trap_lags + 1, len(vectors)))
        states[:, 1:] = vectors[:, self.trap].T
        if self.trap_lags:
            states[1:-1, 1] += vectors[:, self.wobble].T
        sigma = vectors[:, self.sigma] if self.is_uneven else np.zeros((len(vectors), 1))
        sums = effect[:, None, :, None] + states[..., None] + sigma * self._kinds
        return capture_table(sums, self.link)

    def log_prior(self, vectors: Numbers) -> tuple[Numbers, Numbers]:
        """Return the logarithm of the guards' density, up to a constant, and its slopes."""
        slopes = -self._precision * vectors
        values = 0.5 * (slopes * vectors).sum(axis=1)
        effect = vectors[:, self.crawl]
        apart = effect - self._log_size[1:-1]
        apart = apart - apart.mean(axis=1, keepdims=True)
        level = effect.mean(axis=1, keepdims=True)
        values -= (apart**2).sum(axis=1) / (2 * _CRAWL_SD**2) + level[:, 0] ** 2 / (
            2 * _LEVEL_SD**2
        )
        slopes[:, self.crawl] = -apart / _CRAWL_SD**2 - level / (_LEVEL_SD**2 * effect.shape[1])
        return values, slopes

    def interiors(self, vectors: Numbers, tilt: Numbers) -> Interiors:
        """Weigh all interiors.

        Parameters
        ----------
        vectors
            The parameters: a row for each of several vectors.
        tilt
            ρ: for each crawl and kind of URL, the chance of a capture in any state over that in
            state 0.
        """
        table = self.chances(vectors)
        weight = (self.share * tilt[:, None] * table.hit[:, 0])[None]
        closed = []
        for inside in range(self.counts.longest):
            n_first = self.counts.n_crawls - inside - 1
            weight = weight[:, :n_first]
            longer = np.empty((2 * len(weight), *weight.shape[1:]))
            missed, hit = longer[: len(weight)], longer[len(weight) :]
            for rows, state in self._states(inside):
                np.multiply(weight[rows], table.miss[inside + 1 :, state], out=missed[rows])
                np.multiply(weight[rows], table.hit[inside + 1 :, state], out=hit[rows])
            if inside:
                closed.append(hit)
            weight = longer
        totals = tuple(np.maximum(hit.sum(axis=-1), _TINY) for hit in closed)
        return Interiors(table=table, closed=tuple(closed), totals=totals)

    def log_likelihood(self, interiors: Interiors) -> float:
        """Return the logarithm of the composite likelihood of all URLs, of a single vector."""
        value = 0.0
        for seen, totals in zip(self.counts.interiors, interiors.totals, strict=True):
            n, total = seen[..., 0], totals[..., 0]
            value += float(np.vdot(n, np.log(total)) - n.sum(axis=0) @ np.log(total.sum(axis=0)))
        return value

    def score(self, interiors: Interiors, columns: slice = slice(1)) -> Numbers:
        """Return the slopes of the log-likelihood, of all URLs or of groups, for each vector.

        Of several vectors and several columns only one can be more than one.
        """
        counts, table = self.counts, interiors.table
        shape = counts.recent[0, 0, columns].size * table.hit.shape[2], self.share.size
        hits, misses = (np.zeros((*table.hit.shape[:2], *shape)) for _ in range(2))
        onward = np.zeros((1 << counts.longest, 0, *shape))
        for inside in reversed(range(counts.longest)):
            n_first, half = counts.n_crawls - inside - 1, 1 << inside
            excess = np.zeros((2 * half, n_first, *shape))
            excess[:, : onward.shape[1]] = onward
            if inside:
                seen = counts.interiors[inside - 1][..., columns]
                total = interiors.totals[inside - 1]
                per_weight = seen / total - seen.sum(axis=0) / total.sum(axis=0)
                excess[half:] += per_weight[..., None] * interiors.closed[inside - 1]
            for rows, state in self._states(inside):
                misses[inside + 1 :, state] += excess[:half][rows].sum(axis=0)
                hits[inside + 1 :, state] += excess[half:][rows].sum(axis=0)
            onward = excess[:half] + excess[half:]
        hits[: onward.shape[1], 0] += onward[0]
        sums = hits * table.hit_slope + misses * table.miss_slope
        slopes = np.zeros((self.bounds.shape[1], shape[0]))
        by_crawl = sums.sum(axis=(1, 3))
        slopes[self.crawl] = by_crawl[1:-1]
        slopes[self.crawl.start] += by_crawl[0]
        slopes[self.crawl.stop - 1] += by_crawl[-1]
        slopes[self.trap] = sums.sum(axis=(0, 3))[1:]
        slopes[self.sigma] = sums.sum(axis=(0, 1)) @ self._kinds
        if self.trap_lags:
            slopes[self.wobble] = sums[1:-1, 1].sum(axis=-1)
        return slopes.T

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


# -------------------------- from the chances of capture to the URLs that were alive at each crawl


_N_PASSES = 3
"""The share of newborn URLs and the populations settle to a thousandth in three passes."""

_USUAL_NEWBORN = 0.1
_MAX_NEWBORN = 0.9

_FEW_CAPTURES = 10
_RARE_CAPTURE = 1e-3
"""Fewer captures in a state, or rarer ones, are no basis for counting the URLs in it."""


def count_alive(
    model: WindowModel, vectors: Numbers, by_state: Numbers, shared: Numbers
) -> Numbers:
    """Count the URLs alive at each crawl; NaN for the first and the last, inside no window.

    Parameters
    ----------
    model, vectors
        The model and its parameters, a row for each group of URLs to count.
    by_state, shared
        Captures of each group, as `WindowCounts.tallies` returns them.

    Returns
    -------
    numpy.ndarray
        A row for each crawl, a column for each group.
    """
    chances = model.chances(vectors).hit
    n_crawls, _, n_groups, _ = chances.shape
    newborn = np.full((n_crawls, n_groups), _USUAL_NEWBORN)
    alive = np.full((n_crawls, n_groups), np.nan)
    for _ in range(_N_PASSES):
        shares = state_shares(chances, newborn)
        in_state, hits = shares @ model.share, (shares * chances) @ model.share
        for crawl in range(1, n_crawls - 1):
            alive[crawl] = _alive_at(by_state[crawl][: crawl + 1], in_state[crawl], hits[crawl])
        both = _both_captured(chances, shares, model.share)
        at_both = np.divide(shared, both, out=np.full_like(both, np.nan), where=both > 0)
        newborn = _newborn(alive, at_both, shared, model.trap_lags)
    return alive


def state_shares(chances: Numbers, newborn: Numbers) -> Numbers:
    """Return, for each crawl and kind of URL, the share of those alive that is in each state.

    Parameters
    ----------
    chances
        Chance of a capture for each crawl, state, group and kind.
    newborn
        For each crawl and group, share of the URLs alive that were not alive at the crawl before.
    """
    shares = np.zeros_like(chances)
    shares[0, 0] = 1.0
    for crawl in range(1, len(chances)):
        old = _next_states(shares[crawl - 1], chances[crawl - 1])
        shares[crawl] = (1 - newborn[crawl, :, None]) * old
        shares[crawl, 0] += newborn[crawl, :, None]
    return shares


def _next_states(shares: Numbers, chances: Numbers) -> Numbers:
    """Return the states (last axis but two) one crawl later, of those still alive."""
    following = np.zeros_like(shares)
    if shares.shape[-3] > 1:
        following[..., 1, :, :] = (shares * chances).sum(axis=-3)
        following[..., 2:, :, :] = (shares * (1 - chances))[..., 1:-1, :, :]
    following[..., 0, :, :] = 1 - following[..., 1:, :, :].sum(axis=-3)
    return following


def _both_captured(chances: Numbers, shares: Numbers, share: Numbers) -> Numbers:
    """Return the chance that two crawls both capture a URL that is alive at both."""
    n_crawls, n_states, n_groups, _ = chances.shape
    both = np.full((n_crawls, n_crawls, n_groups), np.nan)
    captured = (shares * chances).sum(axis=1)
    # For each earlier crawl, the states of the URLs that it captured and that are still alive.
    states = np.zeros(chances.shape)
    for later in range(1, n_crawls):
        earlier = later - 1
        states[:earlier] = _next_states(states[:earlier], chances[earlier])
        states[earlier, min(1, n_states - 1)] = 1.0
        again = (states[:later] * chances[later]).sum(axis=1)
        both[:later, later] = (captured[:later] * again) @ share
    return both


def _alive_at(seen: Numbers, in_state: Numbers, hits: Numbers) -> Numbers:
    """Count the URLs of each group alive at one crawl from its captures in each state.

    `in_state` is the share of those alive that is in each state, `hits` the share that is in it and
    captured.
    """
    chance = np.divide(hits, in_state, out=np.zeros_like(hits), where=in_state > 0)
    rested = np.divide(seen[0], chance[0], out=np.zeros(len(seen[0])), where=hits[0] > 0)
    total = rested.copy()
    for state in range(1, len(seen)):
        # Hard avoidance: what is never captured is counted by its share instead.
        is_rare = (seen[state] < _FEW_CAPTURES) | (chance[state] < _RARE_CAPTURE)
        by_share = rested * in_state[state] / np.where(rested > 0, in_state[0], 1.0)
        total += np.where(is_rare, by_share, seen[state] / np.where(is_rare, 1.0, chance[state]))
    return np.asarray(total)


def _newborn(alive: Numbers, at_both: Numbers, shared: Numbers, trap_lags: int) -> Numbers:
    newborn = np.full(alive.shape, np.nan)
    groups = np.arange(alive.shape[1])
    for crawl in range(2, len(alive) - 1):
        # Neighbours that share next to nothing tell nothing; the next free lag does.
        is_empty = shared[crawl - 1, crawl] < _FEW_CAPTURES
        lag = np.where(is_empty, min(trap_lags + 1, crawl), 1)
        kept = np.full(groups.size, np.nan)
        known = at_both[crawl - lag, crawl, groups]
        np.divide(known, alive[crawl], out=kept, where=alive[crawl] > 0)
        newborn[crawl] = 1 - np.maximum(kept, 0.0) ** (1 / lag)
    newborn = np.clip(newborn, 0.0, _MAX_NEWBORN)
    n_known = np.isfinite(newborn).sum(axis=0)
    mean = np.nansum(newborn, axis=0) / np.maximum(n_known, 1)
    usual = np.where(n_known > 0, mean, _USUAL_NEWBORN)
    return np.where(np.isfinite(newborn), newborn, usual)


# ------------------------------------- the parameters under which windows are likeliest

_MIN_TILT = 1e-6
"""Keeps the logarithm of the tilt finite where recent captures are never repeated."""

_MIN_CURVATURE = 1e-2
"""Far below every guard's curvature: only stops a flat direction from being divided by."""

_AT_BOUND = 1e-9

_MAX_AT_ONCE = 64
"""Kinds of URL times vectors that are weighed together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowFit:
    """A window model at its optimum, with what it knows.

    Parameters
    ----------
    model
        The model.
    vector
        Its parameters.
    tilt
        ρ, for each crawl and kind of URL.
    """

    model: WindowModel
    vector: Numbers
    tilt: Numbers

    @cached_property
    def interiors(self) -> Interiors:
        """The weights of all interiors."""
        return self.model.interiors(self.vector[None], self.tilt)

    @cached_property
    def log_likelihood(self) -> float:
        """Of the windows, without the guards."""
        return self.model.log_likelihood(self.interiors)

    @cached_property
    def inverse(self) -> Numbers:
        """Inverse of the curvature of the log-likelihood with the guards, downwards.

        Rows and columns of parameters at a bound are 0.
        """
        low, high = self.model.bounds
        free = (self.vector > low + _AT_BOUND) & (self.vector < high - _AT_BOUND)
        curvature = _curvature(self.model, self.vector, self.tilt)[np.ix_(free, free)]
        values, vectors = np.linalg.eigh(curvature)
        inverse = np.zeros((free.size, free.size))
        inverse[np.ix_(free, free)] = (vectors / np.maximum(values, _MIN_CURVATURE)) @ vectors.T
        return inverse

    def scores(self, columns: range) -> Numbers:
        """Return by how much the slopes of each of some groups differ from their mean."""
        scores = self.model.score(self.interiors, slice(columns.start, columns.stop))
        differing: Numbers = scores - scores.mean(axis=0)
        return differing

    @cached_property
    def penalty(self) -> float:
        """Effective number of parameters: how far the likelihood profits from its own data."""
        scores = self.scores(range(1, 1 + N_GROUPS))
        spread = float(np.einsum("qi,ij,qj->", scores, self.inverse, scores))
        return spread * N_GROUPS / (N_GROUPS - 1)

    @property
    def criterion(self) -> float:
        """Composite likelihood information criterion (Varin and Vidoni 2005); lower is better."""
        return -2 * (self.log_likelihood - self.penalty)

    @property
    def redundancy(self) -> float:
        """How many times over overlapping windows count the same evidence; at least 1."""
        return max(1.0, self.penalty / self.vector.size)

    @cached_property
    def misfit(self) -> float:
        """(G² − df) / 2n of the windows' interiors; 0 where there are too few to tell."""
        deviance, n_freedom, n_windows = 0.0, 0, 0.0
        for seen, weights in zip(self.model.counts.interiors, self.interiors.totals, strict=True):
            totals, weight = seen[..., 0].sum(axis=0), weights[..., 0]
            expected = weight / weight.sum(axis=0) * totals
            for first in np.flatnonzero(totals >= _MIN_WINDOWS):
                found, likely = seen[:, first, 0], expected[:, first]
                rare = likely < _MIN_EXPECTED
                pooled = likely[rare].sum()
                cells, means = found[~rare], likely[~rare]
                if pooled >= 1:
                    cells, means = np.append(cells, found[rare].sum()), np.append(means, pooled)
                held = cells > 0
                deviance += 2 * float(cells[held] @ np.log(cells[held] / means[held]))
                n_freedom += max(cells.size - 1, 0)
                n_windows += float(totals[first])
        return (deviance - n_freedom) / (2 * n_windows) if n_windows else 0.0


def fit_windows(model: WindowModel) -> WindowFit:
    """Fit a window model.

    The weight of a window's first capture depends on the trap effect and on uneven capture
    together; with both in the model it is updated once and the search goes on from there.
    """
    tilt = np.ones((model.counts.n_crawls, model.share.size))
    vector = _search(model, model.start(), tilt)
    if model.trap_lags and model.is_uneven:
        tilt = _tilt_of(model, vector)
        vector = _search(model, vector, tilt)
    return WindowFit(model=model, vector=vector, tilt=tilt)


def _search(model: WindowModel, start: Numbers, tilt: Numbers) -> Numbers:
    # Per window, so that the tolerances of the search mean the same for any archive.
    n_windows = max(model.counts.n_windows, 1.0)
    inside = np.clip(start, *model.bounds)

    def objective(vector: Numbers) -> tuple[float, Numbers]:
        interiors = model.interiors(vector[None], tilt)
        prior, prior_slopes = model.log_prior(vector[None])
        value = model.log_likelihood(interiors) + float(prior[0])
        return -value / n_windows, -(model.score(interiors) + prior_slopes)[0] / n_windows

    curvature = _curvature(model, inside, tilt)
    return minimise_within(objective, inside, model.bounds, curvature / n_windows)


def _curvature(model: WindowModel, vector: Numbers, tilt: Numbers) -> Numbers:
    """Return the curvature of the log-likelihood with the guards, downwards."""
    # So many vectors at once that the processor's cache holds what is made of them.
    size = max(1, _MAX_AT_ONCE // model.share.size)

    def slopes(vectors: Numbers) -> Numbers:
        parts = (vectors[first : first + size] for first in range(0, len(vectors), size))
        return np.concatenate(
            [
                -(model.score(model.interiors(part, tilt)) + model.log_prior(part)[1])
                for part in parts
            ]
        )

    return curvature_at(slopes, vector)


def _tilt_of(model: WindowModel, vector: Numbers) -> Numbers:
    chances = model.chances(vector[None]).hit
    # The share of newborn URLs moves the tilt by little.
    shares = state_shares(chances, np.full((len(chances), 1), _USUAL_NEWBORN))
    captured = (shares * chances).sum(axis=1)
    tilt: Numbers = np.maximum(captured / chances[:, 0], _MIN_TILT)[:, 0]
    return tilt


def vectors_without_groups(fit: WindowFit, columns: range) -> Numbers:
    """Return the parameters without each of some groups, one step of Newton from the optimum."""
    steps = fit.scores(columns) @ fit.inverse * (len(columns) / (len(columns) - 1))
    return np.clip(fit.vector - steps, *fit.model.bounds)


# -------------------------------------------------------------- coverage from known-alive windows


_USUAL_LAGS = 2
"""Memory that is chosen by the criterion; a longer one has to be proven."""

_CRAWLS_BEYOND_LAGS = 4
"""A memory of K crawls needs windows with K rested crawls inside, and a crawl to compare."""

_MIN_GAIN = 6.0
"""What a longer memory, or uneven capture, must gain of the criterion, where two is chance."""

_GAIN_SHARE = 0.03
"""A crude law of unevenness leaves some, which memory can take up: the more there is, the more a
longer memory must gain."""

_BAD_FIT = 0.005
_GOOD_FIT = 0.0015
"""Misfit that calls for a longer memory, and what is left if that is the cause."""

_MIN_WINDOWS = 30
_MIN_EXPECTED = 5.0
_MAX_SAMPLING = 0.6
"""A one-step jackknife of tiny archives can run away."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownAliveFit:
    """Coverage from known-alive windows, as logarithms.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN for the first and the last, and wherever it is not known.
    revisits
        For each number of crawls since a capture, as far as it has an effect, the chance of being
        captured again over that of a URL not captured lately: below 1 for avoidance, above 1 for
        re-seeding.
    is_uneven
        Whether URLs were found to differ in how readily they are captured.
    misfit
        How far the windows are from being reproduced, per window; 0 if they are.
    sampling_sd
        Of the mean logarithm of coverage, from leaving out groups of URLs, or of whole hosts.
    """

    log_coverage: Numbers
    revisits: tuple[float, ...] = ()
    is_uneven: bool = False
    misfit: float = 0.0
    sampling_sd: float = 0.0

    @property
    def trap_lags(self) -> int:
        """Crawls back that a capture has an effect on being captured again."""
        return len(self.revisits)

    @property
    def avoids(self) -> bool:
        """Whether captures make the next ones less likely, at every distance that has an effect."""
        return bool(self.revisits) and all(ratio < 1 for ratio in self.revisits)

    @property
    def attracts(self) -> bool:
        """Whether captures have an effect that is no avoidance."""
        return bool(self.revisits) and not self.avoids


def fit_known_alive(data: HistoryData) -> KnownAliveFit:
    """Estimate coverage from known-alive windows; NaN for every crawl that they leave open.

    Parameters
    ----------
    data
        Capture histories of five crawls or more, each with captures.
    """
    counts = count_windows(data)
    if counts.n_windows == 0:
        return KnownAliveFit(log_coverage=np.full(data.n_crawls, np.nan))
    even, uneven = _choose_memory(counts)
    if _better(even, uneven).misfit > _BAD_FIT:
        even, uneven = _prove_longer_memory(counts) or (even, uneven)
    gain = (even.criterion - uneven.criterion) / even.redundancy
    fit = uneven if gain >= _MIN_GAIN else even
    if fit.model.trap_lags > _USUAL_LAGS:
        fit = _better(even, uneven)
    log_coverage = _log_coverage(fit.model, fit.vector[None])[0]
    if not np.isfinite(log_coverage).any():
        return KnownAliveFit(log_coverage=log_coverage)
    return KnownAliveFit(
        log_coverage=log_coverage,
        revisits=_revisits(fit),
        is_uneven=fit.model.is_uneven,
        misfit=_better(even, uneven).misfit,
        sampling_sd=max(_sampling_sd(fit, columns) for columns in counts.group_kinds),
    )


def _fit_both(counts: WindowCounts, lags: int) -> tuple[WindowFit, WindowFit]:
    """Fit even and uneven capture with the same memory: either alone would explain the other."""
    return (
        fit_windows(WindowModel(counts, trap_lags=lags, is_uneven=False)),
        fit_windows(WindowModel(counts, trap_lags=lags, is_uneven=True)),
    )


def _better(even: WindowFit, uneven: WindowFit) -> WindowFit:
    return min(even, uneven, key=lambda fit: fit.criterion)


def _choose_memory(counts: WindowCounts) -> tuple[WindowFit, WindowFit]:
    """Take the shortest memory whose criterion is as good as any."""
    longest = min(_USUAL_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    fits = [_fit_both(counts, lags) for lags in range(longest + 1)]
    lowest = min(_better(*both).criterion for both in fits)
    even = fits[0][0]
    gain = (even.criterion - _better(*fits[0]).criterion) / even.redundancy
    margin = max(_MIN_GAIN, _GAIN_SHARE * gain)
    return next(
        both for both in fits if _better(*both).criterion <= lowest + margin * both[0].redundancy
    )


def _prove_longer_memory(counts: WindowCounts) -> tuple[WindowFit, WindowFit] | None:
    """Return the first longer memory that reproduces the windows and is avoidance throughout.

    By the criterion alone, archives of whole hosts or in rotation would get one that is none.
    """
    longest = min(MAX_TRAP_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    for lags in range(_USUAL_LAGS + 1, longest + 1):
        both = _fit_both(counts, lags)
        # Which of them is better costs more to know than whether one of them would do.
        if any(_is_proven(fit) for fit in both) and _is_proven(_better(*both)):
            return both
    return None


def _is_proven(fit: WindowFit) -> bool:
    return fit.misfit <= _GOOD_FIT and bool(np.all(fit.vector[fit.model.trap] < 0))


def _log_coverage(model: WindowModel, vectors: Numbers, *, without: range | None = None) -> Numbers:
    """Return the logarithm of the coverage of each crawl (column), of all URLs or without some."""
    by_state, shared = model.counts.tallies(model.trap_lags, without=without)
    alive = count_alive(model, vectors, by_state, shared)
    sizes = np.diagonal(shared).T
    known = np.isfinite(alive) & (alive > 0) & (sizes > 0)
    ratio = np.divide(sizes, alive, out=np.ones_like(alive), where=known)
    return np.where(known, np.log(ratio), np.nan).T


def _sampling_sd(fit: WindowFit, columns: range) -> float:
    """Return the standard error of the mean logarithm of coverage from leaving out groups."""
    rows = _log_coverage(fit.model, vectors_without_groups(fit, columns), without=columns)
    values = np.array([row[np.isfinite(row)].mean() for row in rows if np.isfinite(row).any()])
    n = len(columns)
    if values.size < n:
        return _MAX_SAMPLING
    squares = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return min(float(np.sqrt(squares * (n - 1) / n)), _MAX_SAMPLING)


def _revisits(fit: WindowFit) -> tuple[float, ...]:
    chances = (fit.interiors.table.hit[:, :, 0] @ fit.model.share)[1:-1]
    rested, *recent = np.exp(np.log(chances).mean(axis=0))
    return tuple(float(chance / rested) for chance in recent)
