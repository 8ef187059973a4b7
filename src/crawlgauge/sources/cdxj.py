"""CDXJ indexes: a capture a line, as a key, a time and a JSON object."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from crawlgauge.core.lines import CdxjScanner, LineScanner
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.cdx import is_legend
from crawlgauge.sources.columns import list_names
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.json_lines import Number, encode_text, list_scanned, parse_object
from crawlgauge.sources.lines import UTF8_MARK, Line, report_cut_line, scan_lines
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import looks_like_zipnum_index

_LONGEST_LINE = 1 << 20
"""Beside URLs a line may hold what was posted to them, and headers."""

_NAMES = {
    "url": ("url", "uri", "original_uri", "original"),
    "mime": ("mime", "mct", "mime_type", "mimetype"),
    "status": ("status", "hsc", "status_code", "statuscode"),
    "digest": ("digest", "sha"),
}
"""What pywb and Common Crawl, OpenWayback, ipwb and CDX servers call the same field."""

_FILE_GROUP = "filename"
_FILE_NAMES = ("filename", "ref")
_NO_CAPTURES = (b"request", b"metadata", b"warcinfo", b"continuation")
"""Types of records that are no captures."""

_HEADER = b"!OpenWayback-CDXJ"
_LINE = re.compile(rb"[^\s{]\S*[ \t]+(?:\d{4}[\dTZ:.+-]*|-)[ \t]+(?:[^\s{]\S*[ \t]+){0,2}\{")
_YEAR = re.compile(rb"[0-9]{4}")
_WORDS = re.compile(rb"(?:[^\s{]\S*\s+){2,4}(?=\{)")
"""OpenWayback's lines have four words before the JSON: key, time, digest and record type."""
_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLED = 20
_SPACES = b" \t\r"


def looks_like_cdxj(beginning: bytes) -> bool:
    """Tell whether an input that begins with these bytes is a CDXJ index."""
    beginning = beginning[:_SAMPLE_BYTES].removeprefix(UTF8_MARK)
    if beginning.startswith(_HEADER):
        return True
    found = (line.strip(_SPACES) for line in beginning.split(b"\n"))
    lines = list(islice((line for line in found if line[:1] not in b"!"), _MAX_SAMPLED))
    n_like = sum(_LINE.match(line) is not None for line in lines)
    # The index of a cluster may consist of such lines too, but they tell of no captures.
    return 0 < len(lines) <= 2 * n_like and not looks_like_zipnum_index(beginning)


def read_cdxj(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read a CDXJ index.

    Raises
    ------
    SourceError
        If it has not the field that it is to be cut into crawls by.
    """
    names = {field: known for field, known in _NAMES.items() if field != "digest"}
    if settings.keeps_digests:
        names["digest"] = _NAMES["digest"]
    if settings.group is not None:
        names["group"] = _FILE_NAMES if settings.group == _FILE_GROUP else (settings.group,)
        _check_group(stream, settings.group, names["group"])
    intake.collector.begin()
    members = list_scanned((field, name) for field, known in names.items() for name in known)

    def judge(line: Line) -> None:
        text = line.text.strip()
        if not text or text.startswith(b"!") or is_legend(line.text):
            return
        reason = "too-long" if len(text) > _LONGEST_LINE else _take(intake, text, names)
        if reason is None:
            return
        if line.is_cut and reason in ("too-few-fields", "bad-json"):
            report_cut_line(stream)
        intake.reject(reason, line.text, offset=line.offset, line=line.number)

    collector = intake.collector
    scanner = CdxjScanner(collector, members) if members else LineScanner(collector)
    yield from scan_lines(stream, scanner, judge, _LONGEST_LINE, _are_two)


def _check_group(stream: Stream, group: str, names: tuple[str, ...]) -> None:
    """See that captures have the field that they are grouped by."""
    lines = stream.beginning()[:_SAMPLE_BYTES].split(b"\n")
    found = [members for line in lines if (members := parse_object(line[line.find(b"{") :]))]
    if found and not any(_choose(item, names, "group") for item in found):
        raise SourceError(
            f"{stream.name} has no field {group!r} to cut crawls by; it has: "
            f"{list_names(tuple(found[0]))}"
        )


def _are_two(before: bytes, behind: bytes) -> bool:
    """Tell whether JSON ends and another line begins where a member does."""
    return before.rstrip(_SPACES).endswith(b"}") and _LINE.match(behind) is not None


def _take(intake: Intake, text: bytes, names: Mapping[str, tuple[str, ...]]) -> str | None:
    """Hand a line on to the collector; return why it is rejected."""
    words = _WORDS.match(text)
    if words is None:
        return "too-few-fields"
    key, time, *more = words[0].split()
    if time != b"-" and not _YEAR.match(time):
        return "bad-time"
    if more and more[-1] in _NO_CAPTURES:
        intake.collector.exclude(more[-1].decode())
        return None
    found = parse_object(text[words.end() :])
    if found is None:
        return "bad-json"
    fields: dict[str, Any] = {field: _choose(found, known, field) for field, known in names.items()}
    if len(more) == 2 and more[0] != b"-" and "digest" in names:  # noqa: PLR2004
        fields["digest"] = more[0]
    return intake.collector.add(
        fields.pop("url"),
        key=key,
        time=None if time == b"-" else time,
        is_revisit=more[-1:] == [b"revisit"],
        **fields,
    )


def _choose(found: dict[str, object], names: tuple[str, ...], field: str) -> bytes | None:
    """Return the first value of some members that says anything."""
    for name in names:
        value = found.get(name)
        may_be = not isinstance(value, Number) or field in ("status", "group")
        if isinstance(value, str) and may_be and value not in ("", "-"):
            return encode_text(value)
    return None
