"""Count the overlaps of crawls by host, domain, media type or status; small ones are pooled."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import announce_compilation
from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.keys.thresholds import rate_of
from crawlgauge.overlaps.stratum_counts import MIN_SHARED, Stratum, StratumCounts
from crawlgauge.overlaps.stratum_kernel import (
    NO_GROUP,
    merge_crawl,
    sum_repeats,
    tally_groups,
    tally_known_alive,
)
from crawlgauge.overlaps.stratum_keys import KeyUnion
from crawlgauge.overlaps.stratum_names import BY, OTHER, StratumRule
from crawlgauge.provenance import Provenance
from crawlgauge.store.attributes import Attributes

__all__ = ["count_strata"]

_LEAST_CRAWLS = 3
"""A stratum that fewer crawls hold has no persistence of its own."""

_MAX_CELLS = 1 << 26
"""At 4 bytes each; of 15 crawls there may be 300,000 strata then."""


def count_strata(
    crawls: Sequence[Crawl],
    attributes: Iterable[Attributes],
    by: str,
    *,
    min_shared: int = MIN_SHARED,
    provenance: Provenance | None = None,
) -> StratumCounts:
    """Count overlaps by stratum, below the smallest threshold of all crawls.

    A URL's stratum is its value at the first capture in the first crawl that holds it. A stratum
    that shares too few URLs is pooled with its like: those of a host's domain, of a domain's last
    label, of a media type's first half, of a status' class; and if these are still too few, with
    all others.

    Parameters
    ----------
    crawls
        In order of date, then label.
    attributes
        Of each of them; read one after the other.
    by
        A key of `BY`.
    min_shared
        How many URLs a stratum must share in the median pair of the crawls that hold it.
    provenance
        To be kept with the counts.

    Raises
    ------
    OverlapError
        If there are no crawls, or `by` is not known.
    """
    if by not in BY:
        raise OverlapError(f"there are no strata by {by!r}; known are {', '.join(BY)}")
    if not crawls:
        raise OverlapError("the store holds no crawls; add some with crawlgauge add")
    announce_compilation(merge_crawl, sum_repeats, tally_groups, tally_known_alive)
    rule = BY[by]
    union = KeyUnion(rule.column, len(crawls))
    for one in attributes:
        union.add(one)
    pooling = _Pooling(union, rule, len(crawls), min_shared)
    strata, n_shared, n_alive = pooling.run()
    return StratumCounts(
        by=by,
        noun=rule.noun,
        crawls=tuple(crawls),
        strata=tuple(strata),
        n_shared=n_shared,
        n_alive=n_alive,
        sample_rate=rate_of(union.threshold),
        n_distinct=pooling.n_distinct,
        min_shared=min_shared,
        provenance=provenance or Provenance(),
    )


class _Pooling:
    """The strata of a union of keys, from the single ones up to those that are left."""

    def __init__(self, union: KeyUnion, rule: StratumRule, n_crawls: int, min_shared: int) -> None:
        self._union, self._rule = union, rule
        self._n_crawls, self._min_shared = n_crawls, min_shared
        values: list[str | None] = [*union.values(), None]
        sums = sum_repeats(union.codes, union.masks, len(values), n_crawls)
        self._n_codes = len(values)
        self._used = np.flatnonzero(sums[:, 0])
        self._n_repeats, self._n_last = sums[self._used, 1], sums[self._used, 2:]
        self._names, self._single = _number([rule.name(values[code]) for code in self._used])
        self.n_distinct = len(self._names)

    def run(self) -> tuple[list[Stratum], NDArray[np.int64], NDArray[np.int64]]:
        """Return all strata, and what crawls share and hold of them."""
        parents = [self._rule.parent(name) for name in self._names]
        levels = (
            (self._names, np.arange(self.n_distinct), self._min_shared),
            (*_number(parents), self._min_shared),
            (*_number([OTHER] * self.n_distinct), 0),
        )
        strata: list[Stratum] = []
        counts: list[NDArray[np.int64]] = []
        stratum_of_single = np.full(self.n_distinct, NO_GROUP, dtype=np.int32)
        for names, group_of_single, least in levels:
            left = stratum_of_single == NO_GROUP
            groups = np.where(left, group_of_single, NO_GROUP).astype(np.int32)
            kept, shared = self._keep_large(groups, len(names), least)
            place_of = np.full(len(names) + 1, NO_GROUP, dtype=np.int32)
            place_of[kept] = np.arange(len(strata), len(strata) + kept.size)
            stratum_of_single = np.where(left, place_of[groups], stratum_of_single)
            strata += self._describe(groups, names, kept)
            counts.append(shared)
        alive = tally_known_alive(*self._rows(stratum_of_single), len(strata), self._n_crawls)
        return strata, np.concatenate(counts), alive.astype(np.int64)

    def _describe(
        self, group_of_single: NDArray[np.int32], names: list[str], kept: NDArray[np.int64]
    ) -> list[Stratum]:
        used = group_of_single != NO_GROUP
        n_members = np.bincount(group_of_single[used], minlength=len(names))
        mixing = self._mixing(group_of_single, len(names))
        member = np.zeros(len(names), dtype=np.int64)
        member[group_of_single[used]] = np.flatnonzero(used)
        return [
            # What is alone keeps its name, however small it is.
            Stratum(name=self._names[member[k]])
            if n_members[k] == 1
            else Stratum(
                name=self._rule.pooled(names[k]),
                n_pooled=int(n_members[k]),
                mixing=float(mixing[k]),
            )
            for k in kept
        ]

    def _mixing(self, group_of_single: NDArray[np.int32], n_groups: int) -> NDArray[np.float64]:
        """Return for each group how much larger the sum of its populations is than that of all."""
        of_single = np.zeros((self.n_distinct, self._n_last.shape[1]))
        np.add.at(of_single, self._single, self._n_last)
        used = group_of_single != NO_GROUP
        groups = group_of_single[used]
        together = np.zeros((n_groups, of_single.shape[1]))
        np.add.at(together, groups, of_single[used])
        summed = np.bincount(groups, _chapman(of_single[used]), minlength=n_groups)
        return np.asarray(np.maximum(summed / np.maximum(_chapman(together), 1.0), 1.0))

    def _rows(
        self, group_of_single: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int32]]:
        """Return the union's rows, and for each code its group."""
        group_of_code = np.full(self._n_codes, NO_GROUP, dtype=np.int32)
        group_of_code[self._used] = group_of_single[self._single]
        return self._union.codes, self._union.masks, group_of_code

    def _keep_large(
        self, group_of_single: NDArray[np.int32], n_groups: int, least: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the groups that are large enough, and their counts."""
        group = group_of_single[self._single]
        used = group != NO_GROUP
        repeats = np.bincount(group[used], self._n_repeats[used], minlength=n_groups)
        # Half of the pairs share as many as the median at least: two of three at the fewest.
        is_possible = np.bincount(group[used], minlength=n_groups) > 0
        if self._n_crawls >= _LEAST_CRAWLS:
            is_possible &= repeats >= 2 * least
        possible = np.flatnonzero(is_possible)
        most = max(1, _MAX_CELLS // self._n_crawls**2)
        possible = np.sort(possible[np.argsort(-repeats[possible], kind="stable")[:most]])
        place_of = np.full(n_groups + 1, NO_GROUP, dtype=np.int32)
        place_of[possible] = np.arange(possible.size)
        upper = tally_groups(*self._rows(place_of[group_of_single]), possible.size, self._n_crawls)
        is_kept = _median_shared(upper) >= least
        counts = upper[is_kept].astype(np.int64)
        counts += np.triu(counts, k=1).transpose(0, 2, 1)
        return possible[is_kept], counts


def _chapman(n_held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return populations by what two crawls, and both, hold of them (Chapman 1951)."""
    one, other, both = n_held.T
    return np.asarray((one + 1) * (other + 1) / (both + 1) - 1)


def _number(names: list[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct names, and for each name its number among them."""
    number_of: dict[str, int] = {}
    numbers = [number_of.setdefault(name, len(number_of)) for name in names]
    return list(number_of), np.array(numbers, dtype=np.int64)


def _median_shared(upper: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return what the median pair shares, of the crawls that hold the stratum; 0 if they are few.

    A single crawl shares its own URLs with itself.
    """
    n_crawls = upper.shape[1]
    held = np.diagonal(upper, axis1=1, axis2=2) > 0
    start, end = np.triu_indices(n_crawls, k=1 if n_crawls > 1 else 0)
    median = np.zeros(len(upper))
    for stratum in np.flatnonzero(held.sum(axis=1) >= min(n_crawls, _LEAST_CRAWLS)):
        are_held = held[stratum, start] & held[stratum, end]
        median[stratum] = np.median(upper[stratum, start[are_held], end[are_held]])
    return median
