"""JSON Lines: one object a line, as CDX servers answer and many tools export."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from crawlgauge.core.captures import Collector
from crawlgauge.core.lines import FIELDS, LineScanner, ObjectScanner
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import URL, find_columns, find_field
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import UTF8_MARK, Line, scan_lines
from crawlgauge.sources.what_counts import Settings

_MAX_LINE_BYTES = 1 << 24
"""Whole pages may stand beside their URLs; what is longer is no line any more."""
_MAX_URL_BYTES = 1 << 16

_OBJECT_BEGINS = re.compile(rb'\s*\{\s*(?:"|\}|\Z)')
_N_TRIED = 10
_MAX_TRIED = 10_000
_LINE = re.compile(rb"[^\n]++")

_PAGES = re.compile(rb'\s*\{[^{}\n]*"format"\s*:\s*"json-pages-')
"""Browsertrix lists pages so, in its collections and in WACZ files, also those that it skipped."""
_MESSAGES = ("message", "error")
"""Members by which servers say that there are no captures."""

_MAX_SAMPLED = 100
"""Objects whose members are looked at: enough to meet those that some of them lack."""
_MAX_NAMES = 1000
_LONGEST_NAME = 40
"""That a scanner looks for."""
_MAX_NESTING = 8

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_MAX_STRUCTURE = 1 << 18
"""Characters of a value that stand outside of strings: each of them may become an object of
Python's, which takes thirty times as much memory."""
_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def looks_like_json_lines(beginning: bytes) -> bool:
    r"""Tell whether an input that begins so is JSON Lines.

    Examples
    --------
    >>> looks_like_json_lines(b'{"url": "http://example.org/"}\n')
    True
    >>> looks_like_json_lines(b'{\n  "url": "http://example.org/"\n}\n')
    False
    """
    head = beginning.removeprefix(UTF8_MARK).lstrip()
    if not _OBJECT_BEGINS.match(head):
        return False
    lines = head.split(b"\n", _N_TRIED)
    if len(lines) == 1 and len(head) > _MAX_URL_BYTES:
        # The first line is so long that its end is not in sight.
        return True
    return any(parse_object(line) is not None for line in lines)


def is_list_of_pages(beginning: bytes) -> bool:
    r"""Tell whether an input that begins so is a list of a crawler's pages.

    Examples
    --------
    >>> is_list_of_pages(b'{"format": "json-pages-1.0", "id": "pages", "title": "Pages"}\n')
    True
    """
    return _PAGES.match(beginning.removeprefix(UTF8_MARK)) is not None


def read_json_lines(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read JSON Lines.

    Parameters
    ----------
    stream
        The input.
    intake
        Takes its records.
    settings
        What is wanted, and which member holds the URLs; the name of a member of a nested object is
        written with dots, as in ``request.url``.

    Yields
    ------
    None
        After each block.

    Raises
    ------
    SourceError
        If the bytes are no text, or it cannot be told which member holds the URLs.
    """
    beginning = stream.beginning()
    if b"\0" in beginning[:_MAX_URL_BYTES]:
        raise SourceError(f"{stream.name} is no text file, hence no JSON Lines")
    intake.collector.begin()
    lines = islice(_LINE.finditer(beginning.removeprefix(UTF8_MARK)), _MAX_TRIED)
    members = find_members((parse_json(line[0]) for line in lines), settings, stream.name)

    is_pages = is_list_of_pages(beginning)

    def judge(line: Line) -> None:
        nonlocal members
        reason = "too-long" if len(line.text) > _MAX_LINE_BYTES else None
        if reason is None and line.text and not line.text.isspace():
            found = parse_json(line.text)
            if is_pages and isinstance(found, dict) and _was_not_fetched(found):
                intake.collector.exclude("not-fetched")
                return
            # So far there may have been but messages.
            members = members if members.paths else find_members([found], settings, stream.name)
            reason = members.take(intake.collector, found)
        if reason is not None:
            text = line.text.removesuffix(b"\r")
            intake.reject(reason, text, offset=line.offset, line=line.number)

    is_plain = members.paths and not members.is_nested and not is_pages
    scanned = list_scanned(members.paths) if is_plain else None
    collector = intake.collector
    scanner = ObjectScanner(collector, scanned) if scanned else LineScanner(collector)
    yield from scan_lines(stream, scanner, judge, _MAX_LINE_BYTES)


def _was_not_fetched(page: Mapping[str, object]) -> bool:
    """Tell of a listed page whether it was skipped, for a reason, or has failed."""
    return "reason" in page or (page.get("loadState") == "0" and not page.get("status"))


# ------------------------------------------------------------------------------ members of objects


def list_scanned(paths: Iterable[tuple[str, str]]) -> list[tuple[bytes, int]] | None:
    """Return what a scanner looks for: members by name, each with the place of its field.

    Parameters
    ----------
    paths
        Fields, and for each the name of a member that may hold it.

    Returns
    -------
    list of (bytes, int), or None
        None if a scanner cannot look for these.
    """
    members = [
        (name.encode("utf-8", "surrogateescape"), FIELDS.index(field)) for field, name in paths
    ]
    names = dict(members)
    is_hard = len(names) < len(members) or max(map(len, names)) > _LONGEST_NAME
    return None if is_hard else members


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """Which members of objects hold the fields of a capture.

    Parameters
    ----------
    paths
        Fields, as the collector calls them, and the name of the member that holds each; with dots
        between them for one in another.
    is_nested
        Whether a name leads into nested objects.
    """

    paths: tuple[tuple[str, str], ...]
    is_nested: bool

    def take(self, collector: Collector, found: object) -> str | None:
        """Take a value in as a record; return why it is rejected, or None if it is not."""
        if not isinstance(found, dict):
            return "no-object"
        fields = to_fields([(field, _follow(found, path)) for field, path in self.paths])
        if "url" in fields:
            return collector.add(**fields)
        is_message = any(found.get(name) is not None for name in _MESSAGES)
        return "server-message" if is_message else "no-url"


def find_members(objects: Iterable[object], settings: Settings, source: str) -> Members:
    """Find which members hold the fields; none do if there are but servers' messages, or worse.

    Parameters
    ----------
    objects
        The first records, read by `parse_json`; those that are no objects are passed over.
    settings, source
        As for `find_columns`.

    Raises
    ------
    SourceError
        If it cannot be told which member holds the URLs.
    """
    # An ordered set.
    names: dict[str, None] = {}
    outer: set[str] = set()
    n_found = 0
    for found in objects:
        if not isinstance(found, dict) or _is_message(found):
            continue
        n_found += 1
        outer.update(found)
        names.update(dict.fromkeys(_list_paths(found)))
        if n_found == _MAX_SAMPLED or len(names) > _MAX_NAMES:
            break
    if not n_found:
        return Members(paths=(), is_nested=False)
    # Members of the object itself go before those of the same meaning in nested ones.
    ordered = sorted(names, key=lambda name: name not in outer)
    columns = find_columns(ordered, settings, source=source)
    return Members(
        paths=tuple((FIELDS[field], ordered[position]) for field, position in columns.items()),
        is_nested=any(ordered[position] not in outer for position in columns.values()),
    )


def _follow(found: Mapping[str, Any], path: str) -> object:
    if path in found or "." not in path:
        return found.get(path)
    value: object = found
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _list_paths(found: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for name, value in found.items():
        if not _LONE_SURROGATES.search(name):
            yield name
            if isinstance(value, dict) and depth < _MAX_NESTING:
                yield from (f"{name}.{inner}" for inner in _list_paths(value, depth + 1))


def _is_message(found: Mapping[str, Any]) -> bool:
    return any(name in found for name in _MESSAGES) and not any(
        find_field(name) == URL for name in found
    )


# ------------------------------------------------------------------------------------------ values


class Number(str):
    """A number of JSON as it is written."""

    __slots__ = ()


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number)


def parse_json(text: bytes) -> object:
    """Return what JSON says, with its numbers as they are written, or None if it is none.

    Bytes that are no UTF-8 are kept as they are, by `encode_text`.
    """
    decoded = text.decode("utf-8", errors="surrogateescape")
    if len(decoded) > _MAX_STRUCTURE and len(_STRING.sub("", decoded)) > _MAX_STRUCTURE:
        return None
    try:
        return DECODER.decode(decoded)
    except (ValueError, RecursionError):
        return None


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Return a JSON object as `parse_json` does, or None if the text is none."""
    found = parse_json(text)
    return found if isinstance(found, dict) else None


def to_fields(values: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return what values say, strings and numbers as they are written; all others say nothing."""
    try:
        # As almost all are.
        return {field: value.encode() for field, value in values if value and value != "-"}
    except (AttributeError, UnicodeEncodeError):
        texts = [item for item in values if isinstance(item[1], str) and item[1] not in ("", "-")]
        return {field: encode_text(text) for field, text in texts}


def encode_text(text: str) -> bytes:
    """Return a string of JSON as bytes; those that were no UTF-8 are as they were."""
    # Half a surrogate pair, written as an escape, is no character.
    whole = _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    return whole.encode("utf-8", errors="surrogateescape")
