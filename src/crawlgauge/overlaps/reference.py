"""Read a reference list of URLs into keys, by the rule of a store."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.rules import GIVEN, KeyRule
from crawlgauge.keys.scope import Scope
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.request import Field, Request
from crawlgauge.sources.texts import Texts

__all__ = ["ReferenceList", "ReferenceUrls", "list_urls", "read_urls"]

_Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceList:
    """A file of URLs, and how to read it.

    Parameters
    ----------
    path
        The file.
    rule
        Which URLs are the same.
    format, column
        Its format and the column that holds the URLs; None to find out.
    scope
        Only URLs in it count; None for all.
    """

    path: str
    rule: KeyRule
    format: str | None = None
    column: str | None = None
    scope: Scope | None = None

    def batches(self) -> Iterator[tuple[_Keys, Texts, Captures, int]]:
        """Yield keys, URLs, the batch they stand in, and how many were out of scope."""
        fields: frozenset[Field] = frozenset({"key"} if self.rule == GIVEN else ())
        request = Request(fields=fields, format=self.format, column=self.column)
        reader = ArchiveReader(InputFiles(names=(self.path,), repeated=()), request)
        with closing(reader.captures()) as batches:
            for batch in batches:
                urls, n_outside = batch.url, 0
                if self.scope is not None:
                    chosen = np.flatnonzero(self.scope.covers(urls))
                    n_outside = len(urls) - chosen.size
                    batch = batch.take(chosen, batch.excluded)  # noqa: PLW2901 - what is left of it
                yield self._keys_of(batch), batch.url, batch, n_outside

    def _keys_of(self, batch: Captures) -> _Keys:
        if self.rule != GIVEN:
            return compute_keys(batch.url, self.rule)
        if batch.key is None or batch.key.null_count:
            raise SourceError(
                "the store takes keys as its indexes gave them (--identity given), but "
                f"{self.path} has none; give a reference in CDX or CDXJ"
            )
        return compute_keys(batch.key, GIVEN)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceUrls:
    """The URLs of a reference.

    Parameters
    ----------
    keys
        Sorted, each once.
    n_entries
        URLs that were read, repeated ones included.
    left_out
        Lines that are no URLs or do not count, by reason.
    """

    keys: _Keys
    n_entries: int
    left_out: Counter[str]

    def __post_init__(self) -> None:
        self.keys.flags.writeable = False


def read_urls(reference: ReferenceList) -> ReferenceUrls:
    """Read the URLs of a reference.

    Raises
    ------
    SourceError
        If it cannot be read, or holds no URL.
    """
    found: list[_Keys] = []
    left_out: Counter[str] = Counter()
    n_entries = 0
    for keys, _, batch, n_outside in reference.batches():
        found.append(np.unique(keys))
        n_entries += keys.size
        left_out.update(batch.rejected)
        left_out.update(batch.excluded)
        if n_outside:
            left_out["out-of-scope"] += n_outside
    if n_entries == 0:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.most_common())
        raise SourceError(
            f"{reference.path}: no URL to look for" + (f"; left out: {reasons}" if reasons else "")
        )
    return ReferenceUrls(
        keys=np.unique(np.concatenate(found)), n_entries=n_entries, left_out=left_out
    )


def list_urls(reference: ReferenceList, keys: _Keys) -> Iterator[bytes]:
    """Yield the URLs of a reference whose keys are given, as they stand there, each once.

    Parameters
    ----------
    reference
        It is read once more.
    keys
        Sorted.
    """
    is_left = np.ones(keys.size, dtype=np.bool_)
    for own, urls, _, _ in reference.batches():
        if keys.size == 0:
            continue
        places = np.minimum(np.searchsorted(keys, own), keys.size - 1)
        for number in np.flatnonzero((keys[places] == own) & is_left[places]).tolist():
            if is_left[places[number]]:
                is_left[places[number]] = False
                yield urls[number] or b""
