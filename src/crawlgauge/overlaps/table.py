"""What models are fitted to: how many URLs each two crawls share, of all and of parts of them."""

import datetime as dt
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import AnchorKind, Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.frames import Rows, Tabular
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.provenance import Provenance

__all__ = ["OverlapTable", "Pair"]

MISSING = -1
"""Stands in `OverlapTable.n_shared` for a pair whose overlap is not known."""

NEEDED = ("a", "date_a", "n_a", "b", "date_b", "n_b")
SIMILARITIES = ("containment_a_in_b", "containment_b_in_a", "jaccard", "dice")
"""What a row for a pair begins with, beside the count, and what it holds in the end."""

LEVELS = ("url", "content", "text")

MIN_SHARED = 30
"""With fewer shared URLs in the median pair, counting alone leaves an error of a fifth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two crawls, the earlier first, and the similarities that follow from what they share.

    Parameters
    ----------
    a, b
        The earlier and the later crawl.
    n_shared
        URLs that both hold.
    se_shared
        Standard error of `n_shared`, for published sketches; else None.
    """

    a: Crawl
    b: Crawl
    n_shared: int
    se_shared: float | None = None

    @property
    def containment_a_in_b(self) -> float:
        """Share of the earlier crawl's URLs that the later one holds: the paper's forward g."""
        return self.n_shared / self.a.n_counted

    @property
    def containment_b_in_a(self) -> float:
        """Share of the later crawl's URLs that the earlier one holds: backward."""
        return self.n_shared / self.b.n_counted

    @property
    def jaccard(self) -> float:
        """Shared URLs over the URLs of either crawl."""
        return self.n_shared / (self.a.n_counted + self.b.n_counted - self.n_shared)

    @property
    def dice(self) -> float:
        """Dice–Sørensen: shared URLs over the mean size."""
        return 2 * self.n_shared / (self.a.n_counted + self.b.n_counted)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OverlapTable(Tabular):
    """Crawls in date order with sizes, pairwise overlaps and, where known, capture histories.

    Parameters
    ----------
    crawls
        In order of date, then label.
    n_shared
        A T by T symmetric matrix of shared URLs; the diagonal holds each crawl's `n_counted`,
        and `MISSING` stands for a pair that is not known.
    se_shared
        Standard errors of `n_shared` where they are estimates themselves; NaN where not known.
    histories
        Capture histories over the same crawls, or None.
    level
        What is compared: ``url``, ``content`` or ``text``.
    key_rule
        Name and version of the rule by which two URLs are the same; None where not known.
    sample_rate
        Share of the keys that the overlaps were counted from.
    provenance
        Where the table comes from.
    host_groups
        Capture histories over the same crawls by groups of whole hosts, or None; those of another
        number of crawls, some of which have been left out since, are dropped.

    Raises
    ------
    OverlapError
        If the parts contradict each other.
    """

    crawls: tuple[Crawl, ...]
    n_shared: NDArray[np.int64]
    se_shared: NDArray[np.float64] | None = None
    histories: Histories | None = None
    level: str = "url"
    key_rule: str | None = None
    sample_rate: float = 1.0
    provenance: Provenance = field(default_factory=Provenance)
    host_groups: HostGroups | None = None

    def __post_init__(self) -> None:
        n = self.n_crawls
        for name, dtype in (("n_shared", np.int64), ("se_shared", np.float64)):
            if getattr(self, name) is not None:
                matrix = np.array(getattr(self, name), dtype=dtype)
                if matrix.shape != (n, n):
                    shape = matrix.shape
                    raise OverlapError(f"{n} crawls need a {n} by {n} matrix {name}, not {shape}")
                if not np.array_equal(matrix, matrix.T, equal_nan=True):
                    raise OverlapError(f"the {name} of a pair differ by direction")
                matrix.flags.writeable = False
                object.__setattr__(self, name, matrix)
        if self.host_groups is not None and self.host_groups.n_crawls != self.n_crawls:
            object.__setattr__(self, "host_groups", None)
        _check_crawls(self.crawls)
        _check_counts(self.crawls, self.n_shared)
        se = self.se_shared
        if se is not None and (np.any(se < 0) or np.isinf(se).any()):
            raise OverlapError("a standard error (se_shared) is negative or not finite")
        _check_histories(self)
        if self.level not in LEVELS:
            raise OverlapError(f"unknown level {self.level!r}; known are {', '.join(LEVELS)}")
        if not 0 < self.sample_rate <= 1:
            raise OverlapError(f"the sample rate is {self.sample_rate}, not above 0 and at most 1")

    def __repr__(self) -> str:
        n_pairs, first, last = sum(1 for _ in self.pairs()), self.crawls[0], self.crawls[-1]
        counted = "all counted" if self.sample_rate == 1 else f"{self.sample_rate:.2g} of them"
        with_histories = "no capture histories" if self.histories is None else "capture histories"
        return (
            f"<{type(self).__name__} of {self.n_crawls} crawls, {first.label} to {last.label}: "
            f"{n_pairs} pairs by {self.level}, {counted}, {with_histories}>"
        )

    def _rows(self) -> Rows:
        return pair_rows(self)

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return len(self.crawls)

    def pairs(self) -> Iterator[Pair]:
        """Yield every known pair, the earlier crawl first."""
        for (i, a), (j, b) in itertools.combinations(enumerate(self.crawls), 2):
            n_shared = int(self.n_shared[i, j])
            se = math.nan if self.se_shared is None else float(self.se_shared[i, j])
            if n_shared != MISSING:
                yield Pair(a=a, b=b, n_shared=n_shared, se_shared=None if math.isnan(se) else se)


def pair_rows(table: OverlapTable) -> list[dict[str, object]]:
    """Return a row of typed values, in the columns that it needs, for each pair known of.

    A crawl that stands in no pair, or whose overlap with itself has a standard error, has a row
    with itself, so that nothing is lost.
    """
    known = table.n_shared != MISSING
    np.fill_diagonal(known, val=known.sum(axis=0) == 1)
    if table.se_shared is not None:
        known |= ~np.isnan(table.se_shared)
    is_sampled = table.sample_rate != 1 or any(c.n_sampled is not None for c in table.crawls)
    is_damaged, rows = any(crawl.damaged for crawl in table.crawls), []
    for i, j in np.argwhere(np.triu(known)).tolist():
        a, b, shared = table.crawls[i], table.crawls[j], int(table.n_shared[i, j])
        values = (a.label, a.date, a.n_urls, b.label, b.date, b.n_urls)
        row: dict[str, object] = dict(zip(NEEDED, values, strict=True))
        row["n_shared"] = None if shared == MISSING else shared
        if table.se_shared is not None:
            se = float(table.se_shared[i, j])
            row["se_shared"] = None if math.isnan(se) else se
        if is_sampled:
            row |= {"n_sampled_a": a.n_sampled, "n_sampled_b": b.n_sampled}
        if is_damaged:
            row |= {"damaged_a": a.damaged, "damaged_b": b.damaged}
        pair = None if shared == MISSING else Pair(a=a, b=b, n_shared=shared)
        rows.append(row | {name: getattr(pair, name, None) for name in SIMILARITIES})
    return rows


def _check_crawls(crawls: tuple[Crawl, ...]) -> None:
    if not crawls:
        raise OverlapError("an overlap table needs at least one crawl")
    for one, other in itertools.combinations(crawls, 2):
        if one.label == other.label:
            raise OverlapError(f"two crawls have the label {one.label!r}; labels must differ")
    if list(crawls) != sorted(crawls, key=lambda crawl: (crawl.date, crawl.label)):
        raise OverlapError("the crawls of an overlap table must be in order of date, then label")


def _check_counts(crawls: tuple[Crawl, ...], n_shared: NDArray[np.int64]) -> None:
    for crawl, shared in zip(crawls, n_shared.diagonal().tolist(), strict=True):
        if shared != crawl.n_counted:
            raise OverlapError(
                f"crawl {crawl.label!r} has {crawl.n_counted} URLs, but shares {shared} with itself"
            )
    for (i, a), (j, b) in itertools.combinations(enumerate(crawls), 2):
        shared = int(n_shared[i, j])
        if shared != MISSING and not 0 <= shared <= min(a.n_counted, b.n_counted):
            raise OverlapError(
                f"{a.label!r} ({a.n_counted} URLs) and {b.label!r} ({b.n_counted} URLs) cannot "
                f"share {shared} URLs"
            )


def _check_histories(table: OverlapTable) -> None:
    histories = table.histories
    if histories is None:
        return
    if histories.n_crawls != table.n_crawls:
        raise OverlapError(
            f"the histories are of {histories.n_crawls} crawls, the table of {table.n_crawls}"
        )
    if histories.sample_rate == table.sample_rate:
        counted = histories.count_pairs()
        known = table.n_shared != MISSING
        if np.any(counted[known] != table.n_shared[known]):
            i, j = (int(k[0]) for k in np.nonzero(known & (counted != table.n_shared)))
            raise OverlapError(
                f"the histories hold {counted[i, j]} URLs of both {table.crawls[i].label!r} and "
                f"{table.crawls[j].label!r}, the table {table.n_shared[i, j]}"
            )


# --------------------------------------------------------------------------- parts of the URLs


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """A part of the URLs.

    Parameters
    ----------
    name
        Its value, or what it was pooled from.
    n_pooled
        How many small strata it consists of; 0 if it is one by itself.
    mixing
        How many times as large the populations of these are together, each estimated by itself
        from the last two crawls, as that of all of them taken for one; 1 at least.
    """

    name: str
    n_pooled: int = 0
    mixing: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StratumCounts:
    """Overlaps by stratum. All URLs are in one of the strata, and in one only.

    Parameters
    ----------
    by
        What the strata are: ``host``, ``domain``, ``tld``, ``mime`` or ``status``.
    noun
        One stratum in a sentence, and several.
    crawls
        In order of date, then label.
    strata
        Those that stand by themselves, then what was pooled.
    n_shared
        For each stratum a symmetric matrix of the URLs that each two crawls share; the diagonal
        holds the sizes.
    sample_rate
        Share of the keys that were counted.
    n_distinct
        Distinct strata before pooling.
    min_shared
        Strata that share fewer URLs in the median pair of crawls were pooled.
    provenance
        Where the counts come from.
    """

    by: str
    noun: tuple[str, str]
    crawls: tuple[Crawl, ...]
    strata: tuple[Stratum, ...]
    n_shared: NDArray[np.int64]
    sample_rate: float
    n_distinct: int
    min_shared: int
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def n_pooled(self) -> int:
        """How many small strata were pooled."""
        return sum(stratum.n_pooled for stratum in self.strata)


# ---------------------------------------------------------------------------- several archives


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArchiveCounts:
    """How many URLs the crawls of several archives share, and what the archives hold.

    Parameters
    ----------
    crawls
        Of each archive, in order of date.
    n_shared
        For all crawls, archive after archive, how many URLs each two of them share.
    masks, counts
        Which archives hold a URL in any of their crawls (bit k is archive k), and how many URLs
        there are of each kind.
    sample_rate
        Share of the keys that was counted.
    level, key_rule
        What is compared, and by which rule URLs are the same.
    """

    crawls: tuple[tuple[Crawl, ...], ...]
    n_shared: NDArray[np.int64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    sample_rate: float
    level: str
    key_rule: str

    def shared(self, archive_a: int, crawl_a: int, archive_b: int, crawl_b: int) -> int:
        """Return how many URLs two crawls share, each named by its archive and its place there."""
        starts = np.cumsum([0, *map(len, self.crawls)])
        return int(self.n_shared[starts[archive_a] + crawl_a, starts[archive_b] + crawl_b])

    def held(self, *archives: int) -> int:
        """Return how many URLs all of the named archives hold."""
        bits = np.uint64(sum(1 << archive for archive in archives))
        return int(self.counts[(self.masks & bits) == bits].sum())

    def held_only(self, archive: int) -> int:
        """Return how many URLs no other archive holds."""
        return int(self.counts[self.masks == np.uint64(1 << archive)].sum())

    @property
    def n_distinct(self) -> int:
        """URLs that some archive holds."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorCounts:
    """What a crawl holds of something that is known from elsewhere.

    Parameters
    ----------
    name, kind
        Of the anchor.
    date
        What it was true of; None if it is of the crawl's own time.
    label
        The crawl that it is held against.
    n_looked_for, n_held
        URLs that could be looked for, and those of them that the crawl holds; of a frontier, none.
    per_host
        Of complete lists, both numbers for each host.
    n_queued
        Of a frontier: URLs that were known and not fetched.
    """

    name: str
    kind: AnchorKind
    date: dt.date | None
    label: str
    n_looked_for: int = 0
    n_held: int = 0
    per_host: tuple[tuple[int, int], ...] = ()
    n_queued: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostCounts:
    """Which archives hold the URLs of each host, in a sample of the URLs.

    Parameters
    ----------
    hosts
        Their names.
    n_only
        A row for each host, a column for each archive: URLs that no other archive holds.
    n_several
        URLs of each host that several archives hold.
    n_undisclosed
        For each archive, URLs of it alone whose host is not known.
    sample_rate
        Share of the URLs that was looked at.
    """

    hosts: tuple[str, ...]
    n_only: NDArray[np.int64]
    n_several: NDArray[np.int64]
    n_undisclosed: NDArray[np.int64]
    sample_rate: float


# -------------------------------------------------------------------------- a reference list


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The list that crawls are held against.

    Parameters
    ----------
    name
        As the user named it.
    kind
        What it lists.
    n_entries
        Entries that could be used, repeated ones included.
    n_distinct
        Different ones, by the store's rule.
    left_out
        How many lines could not be used, by reason.
    date
        When it was drawn, where that is known.
    """

    name: str
    kind: Literal["url", "host", "domain"]
    n_entries: int
    n_distinct: int
    left_out: tuple[tuple[str, int], ...] = ()
    date: dt.date | None = None

    @property
    def n_repeated(self) -> int:
        """Entries that are the same as one before."""
        return self.n_entries - self.n_distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCounts:
    """How many entries of a reference a crawl holds.

    Parameters
    ----------
    n_looked_for, n_held
        Entries that could be looked for, and those of them that it holds.
    is_least
        Whether it may hold more than could be seen.
    """

    n_looked_for: int
    n_held: int
    is_least: bool = False
