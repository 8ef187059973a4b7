"""What must hold whatever the bytes of an input are."""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from unittest import mock

from readable_rules import canonical_raw, canonical_scheme_free

from crawlgauge.core.batch import NO_CODE, NO_TIME, Captures
from crawlgauge.core.captures import REASONS, Collector, hash_text
from crawlgauge.core.lines import LineScanner
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.names import Names, host_of_url
from crawlgauge.keys.rules import RULES
from crawlgauge.keys.scope import parse_scope
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.report.crawls import _REASONS
from crawlgauge.sources import cdx, cdxj, crawl_log, decompress, json_lines, reading, urls, wacz
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.what_counts import Settings, WhatCounts

__all__ = ["BrokenPromise", "check_reading", "choose_wishes", "read_all"]

_FORMS: dict[str, Callable[[bytes], bytes]] = {
    "raw": canonical_raw,
    "scheme-free": canonical_scheme_free,
    "surt": canonical_surt,
}
_LEVELS = (("url",), ("url", "content"), ("url", "content", "text"))
_SCOPE = parse_scope(b"example.com\n!http://example.com/a\n*.org\n", "scope.txt")
_MAX_FORMS = 2000
_SMALL_CHUNK_BYTES = 57
"""So few that most things are cut by the border of a chunk."""
_SMALL_BLOCKS = (1, 7, 100, 4000, 70_000)
_MAX_SMALL = 5000
_LARGE_BYTES, _MAX_LARGE = 50_000, 100
_JSON_SCANNERS = ((cdxj, "CdxjScanner"), (json_lines, "ObjectScanner"))
_SCANNERS = (
    *_JSON_SCANNERS,
    (urls, "UrlScanner"),
    (cdx, "CdxScanner"),
    (crawl_log, "CrawlLogScanner"),
)


class BrokenPromise(AssertionError):  # noqa: N818 - the name says what happened
    """Something was read that no reader may give."""


@dataclass
class Reading:
    """All that came of reading an input once."""

    rows: Counter[tuple[object, ...]] = field(default_factory=Counter)
    left: Counter[tuple[object, ...]] = field(default_factory=Counter)
    examples: list[object] = field(default_factory=list)
    damages: list[str] = field(default_factory=list)
    error: SourceError | None = None
    urls: set[tuple[bytes, int, object]] = field(default_factory=set)
    """With the key and the host of each, where they are kept."""

    @property
    def told(self) -> tuple[object, ...]:
        """What must be the same however the input is read."""
        return self.rows, self.left, self.examples, self.damages, self.refusal

    @property
    def refusal(self) -> str:
        """Why it is refused; what damage may have to do with it depends on how much was read."""
        return str(self.error).partition(". That may be because ")[0]


def choose_wishes(seed: int) -> dict[str, object]:
    """Return what is wanted of an input: all there is, over many seeds."""
    return {
        "key_rule": RULES[("surt", "raw", "scheme-free", "given", "surt")[seed % 5]],
        "levels": _LEVELS[seed // 5 % 3],
        "group": (None, "filename", None, "status", "url")[seed // 3 % 5],
        "counts": WhatCounts(
            status=("any", "2xx,none")[seed // 7 % 2], mime=(None, None, "text/*")[seed // 11 % 3]
        ),
        "scope": _SCOPE if seed % 13 == 0 else None,
    }


def _promise(holds: object, what: str) -> None:
    if not holds:
        raise BrokenPromise(what)


# ---------------------------------------------------------------------------------- one reading


class _Target:
    """Takes batches, and sees that they go together."""

    key_threshold = row_threshold = 1 << 64

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.found = Reading()

    def add(self, batch: Captures) -> None:
        counts = (*batch.rejected.values(), *batch.excluded.values())
        _promise(all(type(count) is int and count > 0 for count in counts), f"counts: {counts}")
        reasons = {*batch.rejected, *batch.excluded} - _REASONS.keys()
        _promise(not reasons, f"there are no words for {reasons}")
        _promise(len(batch.keys) == len(batch.rows) == batch.n_captures, "rows are missing")
        n_timed = int((batch.rows["time"] != NO_TIME).sum())
        _promise(sum(batch.days.values()) == n_timed, "days and times do not go together")
        self.found.left.update({("rejected", key): n for key, n in batch.rejected.items()})
        self.found.left.update({("excluded", key): n for key, n in batch.excluded.items()})
        self._take_rows(batch)

    def _take_rows(self, batch: Captures) -> None:
        names = self._settings.names
        hosts, types, groups = (
            [*table.texts(), None] for table in (names.hosts, names.types, names.groups)
        )
        _promise(NO_CODE == -1, "the last name stands for none")
        digests = batch.digests or [None] * len(batch.rows)
        texts = [None] * len(batch.rows) if batch.texts is None else batch.texts.tolist()
        columns = (batch.keys.tolist(), batch.rows.tolist(), digests, batch.groups, texts)
        for key, row, digest, group, text in zip(*columns, strict=True):
            of_row, time, host, mime, status, is_revisit, _ = row
            _promise(key == of_row, "keys and rows are of different captures")
            if self._settings.keeps_urls:
                self.found.urls.add((digest, key, hosts[host]))
            names = hosts[host], types[mime], groups[group]
            self.found.rows[key, time, *names, status, is_revisit, digest, text] += 1
        for time, group, reason in batch.left_out.tolist():
            self.found.left["left out", REASONS[reason], time, groups[group]] += 1


def _check_message(text: str, path: Path) -> None:
    _promise(text.isprintable(), f"a message is {text!r}")
    text.encode()
    # The collector, which looks for keys, does not know the file.
    is_named = path.parent.name in text or "takes keys from the index" in text
    _promise(is_named, f"a message does not name the file: {text}")


def read_all(path: Path, *, keep: bool, **wishes: object) -> Reading:
    """Read a file with all that can be kept of it, checking each batch."""
    settings = Settings(is_split=True, keep_damaged=keep, names=Names(), **wishes)
    target = _Target(settings)
    found = target.found
    files = InputFiles(names=(str(path),))
    try:
        result = reading.read_inputs(files, settings, target, n_threads=0)
    except SourceError as error:
        found.error = error
        _check_message(str(error), path)
        return found
    found.damages = [str(damage) for damage in result.damages]
    found.examples = list(result.examples)
    for damage in found.damages:
        _check_message(damage, path)
    for example in result.examples:
        _promise(found.left["rejected", example.reason], f"nothing was {example.reason}")
        _promise(example.text.isprintable(), f"an example shows {example.text!r}")
    return found


# -------------------------------------------------------------------------------- other readings


class _CutStream(Stream):
    """A stream whose blocks are cut anew, so that records run over their ends."""

    n_bytes = 1

    def blocks(self) -> Iterator[bytes]:
        for block in super().blocks():
            # A header that has no end is looked at again with each block: real ones are large.
            n_most = _MAX_SMALL if len(block) < _LARGE_BYTES else _MAX_LARGE
            n_bytes = max(self.n_bytes, len(block) // n_most)
            bounds = [*range(0, len(block), n_bytes), len(block)]
            yield from (block[start:end] for start, end in pairwise(bounds))

    def beginning(self) -> bytes:
        if self._first is None:
            self._first = next(super().blocks(), b"")
        return self._first


class _NoScanner(LineScanner):
    """Leaves all lines to the reader in Python: what the scanners must agree with."""

    def __init__(self, collector: Collector, *_arguments: object, **_options: object) -> None:
        super().__init__(collector)

    def arrange(self, *_arguments: object) -> None:
        """Take any layout."""


def _read_cut(path: Path, seed: int, *, is_whole: bool, **wishes: object) -> Reading:
    """Read blocks that are cut anywhere; small chunks too, where nothing breaks between them."""
    cut = type("Cut", (_CutStream,), {"n_bytes": _SMALL_BLOCKS[seed % len(_SMALL_BLOCKS)]})
    with ExitStack() as stack:
        for module in (reading, wacz):
            stack.enter_context(mock.patch.object(module, "Stream", cut))
        if is_whole:
            n_bytes = max(_SMALL_CHUNK_BYTES, path.stat().st_size // _MAX_SMALL)
            stack.enter_context(mock.patch.object(decompress, "_CHUNK_BYTES", n_bytes))
        return read_all(path, keep=True, **wishes)


def _read_with(
    scanners: dict[tuple[ModuleType, str], type], path: Path, **wishes: object
) -> Reading:
    with ExitStack() as stack:
        for (module, name), kind in scanners.items():
            stack.enter_context(mock.patch.object(module, name, kind))
        return read_all(path, keep=True, **wishes)


def check_reading(path: Path, seed: int = 0) -> Reading:
    """Read a file in all ways and compare what comes of them; return what was kept.

    Raises
    ------
    BrokenPromise
        If they do not go together. Whatever else is raised is a reader's fault too.
    """
    wishes = choose_wishes(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped = read_all(path, keep=False, **wishes)
        kept = read_all(path, keep=True, **wishes)
        cut = _read_cut(path, seed, is_whole=stopped.error is None, **wishes)
        plain = _read_with(dict.fromkeys(_SCANNERS, _NoScanner), path, **wishes)
        named = read_all(path, keep=True, keeps_urls=True, **wishes)
    _promise(not stopped.damages, "damage was got over that should have stopped reading")
    lost = stopped.rows - kept.rows
    _promise(not lost, f"lost by keeping what is damaged: {list(lost)[:3]}")
    if isinstance(stopped.error, DamagedInput):
        _promise(kept.damages or kept.error, "damage is not reported where it is got over")
    else:
        _promise(str(kept.error) == str(stopped.error), f"kept: {kept.error}; {stopped.error}")
        _promise(kept.told[:2] == stopped.told[:2], "whole, but read apart")
        _promise(not kept.damages or kept.error, f"damage of a whole file: {kept.damages}")
    _check_alike(kept, cut, "cut elsewhere")
    _check_scanners(path, wishes, kept, plain)
    _check_forms(named, str(wishes["key_rule"].name))
    if stopped.error is None:
        _check_count(path, kept)
    return kept


def _check_alike(one: Reading, other: Reading, how: str) -> None:
    _promise(one.refusal == other.refusal, f"{one.error}; {how}: {other.error}")
    # Of two damages in the same place either is told.
    _promise(bool(one.damages) == bool(other.damages), f"{one.damages}; {how}: {other.damages}")
    names = ("rows", "counts", "examples")
    for name, first, second in zip(names, one.told, other.told, strict=False):
        if first != second:
            items = [Counter(map(repr, found)) for found in (first, second)]
            if isinstance(first, Counter):
                items = [first, second]
            less, more = items[0] - items[1], items[1] - items[0]
            raise BrokenPromise(f"other {name} {how}: {list(more)[:2]}, not {list(less)[:2]}")


# ------------------------------------------------------------------------------- JSON on trust


def _is_beyond_doubt(line: bytes) -> bool:
    """Tell whether an object is whole and has no two members for the same field.

    Scanners take what follows the last member that they need on trust.
    """
    names: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names[:] = [name for name, _ in pairs]
        return dict(pairs)

    start = line.find(b"{")
    try:
        text = line[max(start, 0) :].decode("utf-8", errors="surrogateescape")
        json.loads(text, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return start < 0
    if len(line) > json_lines._MAX_STRUCTURE:
        return False
    meant = [
        next((field for field, known in cdxj._NAMES.items() if name in known), name)
        for name in names
    ]
    return len(meant) == len({*meant}) and not any("\\" in name for name in names)


class _Sure:
    """Has lines that scanners take on trust passed over, as if they were blank."""

    kind = LineScanner

    def __init__(self, *arguments: object) -> None:
        self._scanner = self.kind(*arguments)

    def scan(self, data: bytes, start: int, end: int, longest: int) -> object:
        lines = data[start:end].split(b"\n")
        sure = [line if _is_beyond_doubt(line) else b" " * len(line) for line in lines]
        found = self._scanner.scan(data[:start] + b"\n".join(sure), start, end, longest)
        place, n_lines, handed_back = found
        return (
            place,
            n_lines,
            [one for one in handed_back if _is_beyond_doubt(data[one[1] : one[2]])],
        )


def _check_scanners(path: Path, wishes: dict[str, object], kept: Reading, plain: Reading) -> None:
    """Compare what scanners read with what the readers in Python do, which have the last word."""
    if kept.told == plain.told:
        return
    sure = {scanner: _make_sure(getattr(*scanner)) for scanner in _JSON_SCANNERS}
    plainly_sure = dict.fromkeys(_JSON_SCANNERS, _make_sure(_NoScanner))
    one = _read_with(sure, path, **wishes)
    other = _read_with(dict.fromkeys(_SCANNERS, _NoScanner) | plainly_sure, path, **wishes)
    _check_alike(one, other, "without scanners")


def _make_sure(kind: type) -> type:
    return type("Sure", (_Sure,), {"kind": kind})


# -------------------------------------------------------------------------- independent oracles


def _check_forms(named: Reading, rule: str) -> None:
    """Compare keys and hosts with those that the references give for the URLs."""
    form_of = _FORMS.get(rule)
    for url, key, host in sorted(named.urls, key=repr)[:_MAX_FORMS]:
        if url is None:
            _promise(rule == "given", "a capture has no URL")
            continue
        if form_of is not None:
            _promise(key == hash_text(form_of(url)), f"another key by {rule} of {url!r}")
        expected = host_of_url(url) or None
        _promise(host == expected, f"the host of {url!r} is {host!r}, not {expected!r}")


_LEGEND = re.compile(rb"[ \t]*[^A-Za-z0-9\s]?CDX[^A-Za-z0-9\r\n]")


def _check_count(path: Path, kept: Reading) -> None:
    """See that each line of a text is taken, left out or rejected."""
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    with Stream(str(path)) as stream:
        if stream._kind is not None:
            return
        beginning = stream.beginning()
    if wacz.looks_like_wacz(beginning) or reading.looks_like_zipnum_index(beginning):
        return
    if reading.looks_like_zipnum_locations(beginning):
        return
    kind = find_format(beginning, Settings(), "x").name
    passed_over: dict[str, Callable[[bytes], object]] = {
        "urls": lambda line: line.startswith(b"#"),
        "cdx": _LEGEND.match,
        "cdxj": lambda line: line.startswith(b"!") or _LEGEND.match(line),
        "crawl-log": lambda line: line.startswith(b"metadata://"),
        "jsonl": lambda _line: False,
    }
    if kind in passed_over:
        lines = [line for line in data.split(b"\n") if line.strip()]
        n_lines = sum(not passed_over[kind](line.strip(b"\r \t\v\f")) for line in lines)
        n_told = kept.rows.total() + kept.left.total()
        _promise(n_told == n_lines, f"{n_told} records of {n_lines} lines")
