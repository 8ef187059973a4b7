"""From batches of captures to the keys and attributes of a crawl, with all that was left out."""

import datetime as dt
import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import NO_STATUS, NO_TIME, NOT_HTML, ROW, Captures
from crawlgauge.core.captures import REASONS
from crawlgauge.core.sets import first_captures, renumber
from crawlgauge.core.texts import TextTable
from crawlgauge.errors import SourceError
from crawlgauge.ingest.sorting import KeyMemory, SortedKeys
from crawlgauge.keys.digest import digest_keys
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import BY_CONTENT, BY_TEXT, BY_URL
from crawlgauge.keys.sampling import WHOLE, Sampling
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import total_bytes
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.crawl_set import CrawlSet

MAX_ATTRIBUTES = 1 << 20
"""Enough for some hundred strata of 2**13 URLs each."""
_MIN_ATTRIBUTES = 1 << 18
"""Of more than these, one URL in four keeps its own: they cost more than all else that is done."""

_MOST_ROWS = 1 << 22
"""Held before those of later captures are dropped: 28 bytes each."""
_RECORD_BYTES = 2_000
"""Of a compressed input that holds what was captured: on average hardly a capture takes fewer."""
_LINE_BYTES = 20
"""Of a line with no more than a URL."""
_PACKED = r"(\.(gz|zst|bz2|xz|open))*(\?.*)?"
_BYTES_EACH = (
    (_RECORD_BYTES, ("warc", "arc"), re.compile(r"(?i)[^?]*\.(w?arc|wacz)" + _PACKED)),
    (60, ("cdxj", "cdx", "parquet"), re.compile(r"(?i)[^?]*\.(cdxj?|parquet)" + _PACKED)),
)
"""Of other inputs, by the names of formats or of the inputs."""
_EPOCH = dt.date(1970, 1, 1).toordinal()
_DAY_SECONDS = 86_400


def rows_threshold(inputs: InputFiles, stated_format: str | None = None) -> int:
    """Return below which keys attributes are kept of inputs that are not read yet.

    There shall be no more than about `MAX_ATTRIBUTES` of them, and most lines shall cost nothing
    for them. To read what was captured takes so long that they do not count beside it.

    Parameters
    ----------
    inputs
        The inputs; where the size of one is not known, all attributes are kept at first.
    stated_format
        The format of all of them, where the user has stated it.
    """
    n_captures = n_wanted = 0
    for name in inputs.names:
        n_bytes = total_bytes(replace(inputs, names=(name,)))
        if n_bytes is None:
            return WHOLE
        bytes_each = _bytes_each(name, stated_format)
        n_captures += n_bytes // bytes_each
        n_wanted += n_bytes // (bytes_each if bytes_each == _RECORD_BYTES else 4 * bytes_each)
    n_wanted = min(max(n_wanted, _MIN_ATTRIBUTES), MAX_ATTRIBUTES)
    return WHOLE * n_wanted // max(n_captures, n_wanted)


def _bytes_each(name: str, stated_format: str | None) -> int:
    """Return how many bytes of an input a capture takes at least, on average."""
    for n_bytes, formats, names in _BYTES_EACH:
        if stated_format in formats or (stated_format is None and names.fullmatch(name)):
            return n_bytes
    return _LINE_BYTES


class SetBuilder:
    """Collects the keys of one crawl and counts what was left out; a target of reading.

    Parameters
    ----------
    runs
        Takes the keys.
    names
        Numbers hosts and media types.
    levels
        Take what is kept of captures beside their URLs.
    row_threshold
        Attributes of keys below this one are kept.
    """

    def __init__(
        self,
        runs: SortedKeys,
        names: Names,
        levels: "Sequence[LevelBuilder]" = (),
        *,
        row_threshold: int = WHOLE,
    ) -> None:
        self.runs = runs
        self.names = names
        self.levels = tuple(levels)
        self.row_threshold = row_threshold
        self._rows: list[NDArray[np.void]] = []
        self._n_rows = 0
        self._lock = threading.Lock()
        self.n_captures = 0
        self.n_no_status = 0
        self.rejected: Counter[str] = Counter()
        self.excluded: Counter[str] = Counter()
        self.days: Counter[int] = Counter()
        self.first_time: int | None = None
        self.last_time: int | None = None

    @property
    def key_threshold(self) -> int:
        """Keys below this one are wanted."""
        return self.runs.threshold

    def add(self, captures: Captures) -> None:
        """Take in a batch."""
        with self._lock:
            for level in self.levels:
                level.add(captures)
            self.runs.add(captures.keys)
            self._add_rows(captures.rows)
            self.n_captures += captures.n_captures
            self.n_no_status += captures.n_no_status
            self.rejected.update(captures.rejected)
            self.excluded.update(captures.excluded)
            self.days.update(captures.days)
            self._see_times(captures.first_time, captures.last_time)

    def add_part(
        self, captures: Captures, rows: NDArray[np.bool_], left: NDArray[np.bool_]
    ) -> None:
        """Take in those captures of a batch that belong to this crawl of several.

        Parameters
        ----------
        captures
            With a row for each capture.
        rows, left
            Which of these belong to it, and which of those that are left out.
        """
        own = captures.rows[rows]
        for level in self.levels:
            level.add(captures, rows)
        self.runs.add(np.ascontiguousarray(own["key"]))
        self._add_rows(own[own["key"] <= np.uint64(self.row_threshold - 1)])
        self.n_captures += own.size
        self.n_no_status += int(
            np.count_nonzero((own["status"] == NO_STATUS) & (own["is_revisit"] == 0))
        )
        if captures.left_out is not None:
            reasons = np.bincount(captures.left_out["reason"][left], minlength=len(REASONS))
            found = np.flatnonzero(reasons).tolist()
            self.excluded.update({REASONS[reason]: int(reasons[reason]) for reason in found})
        times = own["time"][own["time"] != NO_TIME]
        if times.size:
            days, counts = np.unique(times // _DAY_SECONDS, return_counts=True)
            self.days.update(dict(zip((days + _EPOCH).tolist(), counts.tolist(), strict=True)))
            self._see_times(int(times.min()), int(times.max()))

    def take_up(self, present: CrawlSet, attributes: Attributes) -> None:
        """Begin where a crawl that is in the store ends, but for its keys.

        Parameters
        ----------
        present
            What is known of it.
        attributes
            Of its smallest keys.
        """
        self.row_threshold = min(self.row_threshold, attributes.threshold)
        self._add_rows(to_rows(attributes, self.names))
        self.n_captures = present.n_captures
        self.n_no_status = present.n_no_status
        self.rejected.update(present.rejected)
        self.excluded.update(present.excluded)
        self.days.update(present.days)
        crawl = present.crawl
        if crawl.first_capture is not None and crawl.last_capture is not None:
            self._see_times(
                int(crawl.first_capture.timestamp()), int(crawl.last_capture.timestamp())
            )

    def finish_attributes(self) -> Attributes:
        """Return the attributes of the smallest keys; nothing can be added afterwards."""
        rows = self._first_rows()
        threshold = min(self.row_threshold, self.runs.threshold)
        rows = rows[: int(np.searchsorted(rows["key"], np.uint64(threshold - 1), side="right"))]
        if rows.size > MAX_ATTRIBUTES:
            threshold = int(rows["key"][MAX_ATTRIBUTES])
            rows = rows[:MAX_ATTRIBUTES]
        return to_attributes(rows, self.names, threshold)

    def _add_rows(self, rows: NDArray[np.void]) -> None:
        self._rows.append(rows)
        self._n_rows += rows.size
        if self._n_rows > _MOST_ROWS:
            kept = self._first_rows()
            if kept.size > 2 * MAX_ATTRIBUTES:
                # There are more captures than the size of the inputs led one to expect.
                self.row_threshold = int(kept["key"][2 * MAX_ATTRIBUTES])
                kept = kept[: 2 * MAX_ATTRIBUTES].copy()
            self._rows, self._n_rows = [kept], kept.size

    def _first_rows(self) -> NDArray[np.void]:
        return first_captures(self._rows, self.names.hosts, self.names.types)

    def _see_times(self, first: int | None, last: int | None) -> None:
        if first is not None and last is not None:
            self.first_time = first if self.first_time is None else min(self.first_time, first)
            self.last_time = last if self.last_time is None else max(self.last_time, last)


def to_rows(attributes: Attributes, names: Names) -> NDArray[np.void]:
    """Return attributes as `ROW`, their hosts and media types numbered by other names."""
    hosts = names.name_hosts([host.encode() for host in attributes.hosts])
    mimes = names.name_types([mime.encode() for mime in attributes.mimes])
    rows = np.zeros(len(attributes), ROW)
    rows["key"], rows["time"] = attributes.keys, attributes.times
    rows["status"] = attributes.statuses
    rows["host"] = np.append(hosts, np.int32(-1))[attributes.host_codes]
    rows["mime"] = np.append(mimes, np.int32(-1))[attributes.mime_codes]
    return rows


def to_attributes(rows: NDArray[np.void], names: Names, threshold: int) -> Attributes:
    """Return rows of rising keys, all below a threshold, as attributes."""
    host_codes, hosts = _renumber(rows["host"], names.hosts)
    mime_codes, mimes = _renumber(rows["mime"], names.types)
    return Attributes(
        keys=np.ascontiguousarray(rows["key"]),
        times=np.ascontiguousarray(rows["time"]),
        statuses=np.ascontiguousarray(rows["status"]),
        host_codes=host_codes,
        mime_codes=mime_codes,
        hosts=hosts,
        mimes=mimes,
        threshold=threshold,
    )


def _renumber(
    codes: NDArray[np.int32], names: TextTable
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Give the names that are in use new numbers, in the order of their first use."""
    texts = names.texts()
    numbers, used = renumber(codes, len(texts))
    return numbers, tuple(texts[code].decode() for code in used.tolist())


class LevelBuilder:
    """Collects the keys of one level beside that of URLs, and counts the captures without one.

    Parameters
    ----------
    level
        What is kept: contents or texts.
    runs
        Takes the keys.
    """

    def __init__(self, level: str, runs: SortedKeys) -> None:
        self.level = level
        self.runs = runs
        self.n_captures = 0
        self.n_by_digest = 0
        self.excluded: Counter[str] = Counter()

    def add(self, captures: Captures, chosen: NDArray[np.bool_] | None = None) -> None:
        """Take in a batch, or a part of it."""
        digests = captures.digests or []
        if chosen is not None:
            digests = [digests[place] for place in np.flatnonzero(chosen).tolist()]
        keys, are_known = digest_keys(digests)
        n_records = are_known.size
        if self.level == BY_TEXT and n_records:
            texts = captures.texts
            if texts is None:
                raise SourceError(
                    "the level text is made of the pages themselves, which an input does not "
                    "hold; only WARC, ARC and WACZ files do. Leave text out of --levels, or add "
                    "the crawl from them"
                )
            keys = self._texts_or_digests(
                texts if chosen is None else texts[chosen], keys, are_known
            )
        self.runs.add(keys)
        self.n_captures += keys.size
        if n_records > keys.size:
            reason = "no-digest" if self.level == BY_CONTENT else "no-text"
            self.excluded[reason] += n_records - keys.size

    def _texts_or_digests(
        self,
        texts: NDArray[np.uint64],
        keys: NDArray[np.uint64],
        are_known: NDArray[np.bool_],
    ) -> NDArray[np.uint64]:
        """Return texts of pages, and digests of what is no page."""
        of_all = np.zeros(are_known.size, np.uint64)
        of_all[are_known] = keys
        has_text = texts > NOT_HTML
        by_digest = (texts == NOT_HTML) & are_known
        self.n_by_digest += int(np.count_nonzero(by_digest))
        chosen: NDArray[np.uint64] = np.where(has_text, texts, of_all)[has_text | by_digest]
        return chosen

    def take_up(self, description: CrawlSet, present: CrawlSet) -> None:
        """Begin where a crawl that is in the store ends, but for its keys.

        Parameters
        ----------
        description, present
            What is known of this level, and of its URLs.
        """
        self.n_captures = description.n_captures
        self.n_by_digest = description.n_by_digest
        # What is left out for its URL is in both; what remains is left out at this level alone.
        self.excluded.update(description.excluded)
        self.excluded.subtract(present.excluded)


def open_builder(
    levels: Sequence[str],
    sampling: Sampling,
    names: Names,
    memory: KeyMemory,
    *,
    row_threshold: int = WHOLE,
) -> SetBuilder:
    """Begin to collect the keys of one crawl, at all levels that the user wants."""
    return SetBuilder(
        memory.open_runs(sampling),
        names,
        [LevelBuilder(level, memory.open_runs(sampling)) for level in levels if level != BY_URL],
        row_threshold=row_threshold,
    )
