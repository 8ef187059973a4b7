"""Overlaps by host, domain, media type or status: which stratum a URL is of, small ones pooled."""

import importlib.metadata
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.strata import NO_GROUP, sum_repeats, tally_groups
from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.keys.sampling import rate_of
from crawlgauge.overlaps.key_union import Codes, KeyUnion
from crawlgauge.overlaps.table import MIN_SHARED, Stratum, StratumCounts
from crawlgauge.provenance import Provenance
from crawlgauge.store.attributes import Attributes

OTHER = ""
"""The parent of strata that have no other in common."""

_NO_HOST = "(no host)"
_ADDRESS = "(IP address)"
_LOCAL = "(name without a dot)"
_TLDS = ("top-level domain", "top-level domains")
_TYPES = ("media type", "media types")
_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})")
_N_STATUSES = 1000

_Counts = NDArray[np.int64]

_LEAST_CRAWLS = 3
"""A stratum that fewer crawls hold has no persistence of its own."""

_MAX_CELLS = 1 << 26
"""At 4 bytes each; of 15 crawls there may be 300,000 strata then."""


# ---------------------------------------------------------------------------------------- names


@dataclass(frozen=True, slots=True)
class StratumRule:
    """How URLs are divided into strata.

    Parameters
    ----------
    column
        The attribute that tells: ``host``, ``mime`` or ``status``.
    missing, name
        The stratum where the attribute is not known, and what makes that of a value.
    parent
        Makes what a stratum that is too small is pooled with, or `OTHER`.
    noun
        The strata in a sentence: one, and several.
    """

    column: str
    missing: str
    name: Callable[[str], str]
    parent: Callable[[str], str]
    noun: tuple[str, str]

    def pooled(self, parent: str) -> str:
        """Name the small strata of a parent."""
        if not parent:
            return f"other {self.noun[1]}"
        of = f"{self.noun[1]} of " if self.column == "host" else ""
        return f"other {of}{parent}"


@lru_cache(maxsize=1)
def _suffixes() -> Any:  # noqa: ANN401 - what is imported when it is used
    from publicsuffixlist import PublicSuffixList

    # What is registered, not what its owner lets to others, such as user.github.io.
    return PublicSuffixList(only_icann=True)


def suffix_list_date() -> str:
    """Return the date of the public suffix list, as its package's version tells it."""
    version = importlib.metadata.version("publicsuffixlist")
    found = _DATE.fullmatch(version.rpartition(".")[2])
    return version if found is None else "-".join(found.groups())


def _name_domain(host: str) -> str:
    """Return the registered domain of a host: one label more than its public suffix.

    An address, a name without a dot and a public suffix by itself stay as they are. A suffix that
    the list does not know is taken to be the last label, as the list's own rules say.
    """
    return host if _is_address(host) else _suffixes().privatesuffix(host) or host


def _name_tld(host: str) -> str:
    if _is_address(host):
        return _ADDRESS
    _, dot, label = host.rpartition(".")
    return label if dot else _LOCAL


def _is_address(host: str) -> bool:
    # Only what could be an address is looked at closely: that takes long.
    if not host.endswith(("]", *"0123456789")):
        return False
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _parent_of_host(name: str) -> str:
    # A host that is its own domain may have neighbours below it; an address has none.
    return OTHER if name == _NO_HOST or _is_address(name) else _name_domain(name)


def _parent_of_domain(name: str) -> str:
    tld = _name_tld(name)
    return OTHER if name == _NO_HOST or tld in (_ADDRESS, _LOCAL) else f".{tld}"


def _parent_of_type(name: str) -> str:
    return f"{name.partition('/')[0]}/*" if "/" in name else OTHER


def _parent_of_status(name: str) -> str:
    return f"{name[:-2] or 0}xx" if name.isdecimal() else OTHER


BY: Mapping[str, StratumRule] = {
    "host": StratumRule("host", _NO_HOST, str, _parent_of_host, ("host", "hosts")),
    "domain": StratumRule("host", _NO_HOST, _name_domain, _parent_of_domain, ("domain", "domains")),
    "tld": StratumRule("host", _NO_HOST, _name_tld, lambda _: OTHER, _TLDS),
    "mime": StratumRule("mime", "(no media type)", str, _parent_of_type, _TYPES),
    "status": StratumRule("status", "(no status)", str, _parent_of_status, ("status", "statuses")),
}
"""The rules by name."""


# ------------------------------------------------------------------------------------- counting


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
        raise OverlapError("the store holds no crawls; add some first")
    rule, union = BY[by], KeyUnion(len(crawls))
    values: dict[str, int] = {}
    for one in attributes:
        union.add(one.keys, _code(one, rule.column, values), one.threshold)
    pooling = _Pooling(union, rule, list(values), len(crawls), min_shared)
    strata, n_shared = pooling.run()
    return StratumCounts(
        by=by,
        noun=rule.noun,
        crawls=tuple(crawls),
        strata=tuple(strata),
        n_shared=n_shared,
        sample_rate=rate_of(union.threshold),
        n_distinct=pooling.n_distinct,
        min_shared=min_shared,
        provenance=provenance or Provenance(),
    )


def _code(one: Attributes, column: str, values: dict[str, int]) -> Codes:
    """Return for each key of a crawl the number of its value, −1 for none; new values are added."""
    if column == "status":
        texts: Sequence[str] = [str(status) for status in range(_N_STATUSES)]
        is_status = (one.statuses >= 0) & (one.statuses < _N_STATUSES)
        codes = np.where(is_status, one.statuses, -1)
    else:
        texts = one.hosts if column == "host" else one.mimes
        codes = one.host_codes if column == "host" else one.mime_codes
    numbers = [values.setdefault(text, len(values)) for text in texts]
    return np.array([*numbers, -1], np.int32)[codes]


class _Pooling:
    """The strata of a union of keys, from the single ones up to those that are left."""

    def __init__(
        self, union: KeyUnion, rule: StratumRule, values: list[str], n_crawls: int, min_shared: int
    ) -> None:
        self._union, self._rule = union, rule
        self._n_crawls, self._min_shared = n_crawls, min_shared
        self._n_codes = len(values) + 1
        sums = sum_repeats(union.codes, union.masks, self._n_codes, n_crawls)
        self._used = np.flatnonzero(sums[:, 0])
        self._n_repeats, self._n_last = sums[self._used, 1], sums[self._used, 2:]
        names = [rule.name(values[code]) for code in self._used if code < len(values)]
        names += [rule.missing] * (len(self._used) - len(names))
        self._names, self._single = _number(names)
        self.n_distinct = len(self._names)

    def run(self) -> tuple[list[Stratum], _Counts]:
        """Return all strata, and what crawls share of them."""
        parents = [self._rule.parent(name) for name in self._names]
        levels = (
            (self._names, np.arange(self.n_distinct), self._min_shared),
            (*_number(parents), self._min_shared),
            (*_number([OTHER] * self.n_distinct), 0),
        )
        strata: list[Stratum] = []
        counts: list[_Counts] = []
        is_left = np.ones(self.n_distinct, np.bool_)
        for names, group_of_single, least in levels:
            groups = np.where(is_left, group_of_single, NO_GROUP).astype(np.int32)
            kept, shared = self._keep_large(groups, len(names), least)
            is_left &= ~np.isin(groups, kept)
            strata += self._describe(groups, names, kept)
            counts.append(shared)
        return strata, np.concatenate(counts)

    def _describe(self, group_of_single: Codes, names: list[str], kept: _Counts) -> list[Stratum]:
        used = group_of_single != NO_GROUP
        n_members = np.bincount(group_of_single[used], minlength=len(names))
        mixing = self._mixing(group_of_single, len(names))
        member = np.zeros(len(names), np.int64)
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

    def _mixing(self, group_of_single: Codes, n_groups: int) -> NDArray[np.float64]:
        """Return for each group how much larger the sum of its populations is than that of all."""
        of_single = np.zeros((self.n_distinct, self._n_last.shape[1]))
        np.add.at(of_single, self._single, self._n_last)
        used = group_of_single != NO_GROUP
        groups = group_of_single[used]
        together = np.zeros((n_groups, of_single.shape[1]))
        np.add.at(together, groups, of_single[used])
        summed = np.bincount(groups, _chapman(of_single[used]), minlength=n_groups)
        return np.asarray(np.maximum(summed / np.maximum(_chapman(together), 1.0), 1.0))

    def _keep_large(
        self, group_of_single: Codes, n_groups: int, least: int
    ) -> tuple[_Counts, _Counts]:
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
        place_of = np.full(n_groups + 1, NO_GROUP, np.int32)
        place_of[possible] = np.arange(possible.size)
        place_of_code = np.full(self._n_codes, NO_GROUP, np.int32)
        place_of_code[self._used] = place_of[group]
        rows = self._union.codes, self._union.masks
        upper = tally_groups(*rows, place_of_code, possible.size, self._n_crawls)
        is_kept = _median_shared(upper) >= least
        counts = upper[is_kept].astype(np.int64)
        counts += np.triu(counts, k=1).transpose(0, 2, 1)
        return possible[is_kept], counts


def _chapman(n_held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return populations by what two crawls, and both, hold of them (Chapman 1951)."""
    one, other, both = n_held.T
    return np.asarray((one + 1) * (other + 1) / (both + 1) - 1)


def _number(names: list[str]) -> tuple[list[str], _Counts]:
    """Return the distinct names, and for each name its number among them."""
    number_of: dict[str, int] = {}
    numbers = [number_of.setdefault(name, len(number_of)) for name in names]
    return list(number_of), np.array(numbers, np.int64)


def _median_shared(upper: Codes) -> NDArray[np.float64]:
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
