"""Heritrix's crawl.log, of its versions 1.x and 3.x: a line for each URL that was tried."""

import re
from collections.abc import Iterator

from crawlgauge.core.fields import parse_time
from crawlgauge.core.lines import CrawlLogScanner
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.json_lines import Number, encode_text, parse_object
from crawlgauge.sources.lines import Line, scan_lines
from crawlgauge.sources.urls import MAX_URL_BYTES
from crawlgauge.sources.what_counts import Settings

_LONGEST = 4 * MAX_URL_BYTES
"""Room for two URLs of the greatest length, source tag, annotations and the JSON object."""

_COLUMNS = (
    *("time", "status", "size", "url", "path", "referrer"),
    *("mime", "thread", "fetched", "digest", "source", "annotations"),
)
"""The columns in order; what follows them is a JSON object."""

_LEAST_COLUMNS = 8
"""Every version of Heritrix writes these and more; a line with fewer was cut."""

_FILE_GROUP, _FILE_MEMBER = "filename", "warcFilename"
_SOURCE = _COLUMNS.index("source")
_REVISITS = (b"duplicate:", b"warcRevisit:")
_NOTES = re.compile(rb"[,\s]")
_OBJECT = re.compile(rb"\s(\{)")
_NO_TYPES = (b"no-type", b"unknown")
_HEADER = b"metadata://"
"""Netarkivet keeps logs with the header of the record that they were stored in."""

_N_LINES = 10
"""The first lines may be a header, blank or cut; soon after, one must be whole."""

_LINE = re.compile(
    rb"\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|\d{14}|\d{17})\s+-?\d{1,5}"
    rb"(\s+\S+){5}\s+#\d+(\s|$)"
)


def looks_like_crawl_log(beginning: bytes) -> bool:
    """Tell whether an input is a crawl.log: by the times, statuses and threads of its lines.

    Examples
    --------
    >>> looks_like_crawl_log(
    ...     b"2018-11-26T14:27:48.282Z   404        233 http://a.org/robots.txt P http://a.org/ "
    ...     b"text/html #002 20181126142747555+280 sha1:YQG6T7YOWGUK3NUNZVZGNUXFZDZWCDUM - -"
    ... )
    True
    """
    lines = beginning[:_LONGEST].split(b"\n", _N_LINES)[:_N_LINES]
    return any(_LINE.match(line) for line in lines)


def read_crawl_log(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read a log.

    A capture's time is when its fetch began or, where nothing was fetched, that of the line. What
    the annotations call a duplicate is a revisit; its media type is kept.

    Raises
    ------
    SourceError
        If it has not the field that it is to be cut into crawls by.
    """
    group = settings.group
    if group is not None and group not in (_FILE_GROUP, *_COLUMNS):
        known = ", ".join((_FILE_GROUP, *_COLUMNS))
        raise SourceError(
            f"{stream.name} is a crawl.log, which has no field {group!r}; there are {known}"
        )
    intake.collector.begin()
    column = _COLUMNS.index(group) if group in _COLUMNS else -1
    scanner = CrawlLogScanner(intake.collector, column, by_file=group == _FILE_GROUP)

    def judge(line: Line) -> None:
        text = line.text.strip()
        if not text or text.startswith(_HEADER):
            return
        reason = "too-long" if len(text) > _LONGEST else _take(intake, text, group)
        if reason is not None:
            intake.reject(reason, text, offset=line.offset, line=line.number)

    yield from scan_lines(stream, scanner, judge, _LONGEST)


def _take(intake: Intake, text: bytes, group: str | None) -> str | None:
    """Hand a line on to the collector; return why it is rejected."""
    cells = text.split(None, len(_COLUMNS))
    # The JSON object may follow where annotations were left out.
    n_cells = next(
        (n for n, cell in enumerate(cells) if n > _SOURCE and cell.startswith(b"{")),
        min(len(cells), len(_COLUMNS)),
    )
    if n_cells < _LEAST_COLUMNS:
        return "too-few-fields"
    columns = zip(_COLUMNS, cells[:n_cells], strict=False)
    found = {name: cell for name, cell in columns if cell != b"-"}
    begin = found.get("fetched", b"").partition(b"+")[0]
    notes, members = b"", b""
    if n_cells > _SOURCE:
        # Early versions had no source tag, and later ones leave out annotations if there are none.
        first = min(n_cells, len(_COLUMNS)) - 1
        notes = text.split(None, first)[first]
        if begins := _OBJECT.search(notes):
            notes, members = notes[: begins.start()], notes[begins.start(1) :]
    mime = found.get("mime")
    return intake.collector.add(
        found.get("url"),
        time=begin if parse_time(begin) is not None else found.get("time"),
        status=found.get("status"),
        mime=None if mime in _NO_TYPES else mime,
        digest=found.get("digest"),
        group=_find_file(members) if group == _FILE_GROUP else found.get(group or ""),
        is_revisit=any(note.startswith(_REVISITS) for note in _NOTES.split(notes)),
    )


def _find_file(text: bytes) -> bytes | None:
    name = (parse_object(text) or {}).get(_FILE_MEMBER)
    return encode_text(name) if isinstance(name, str) and not isinstance(name, Number) else None
