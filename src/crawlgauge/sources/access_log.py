r"""Access logs of web servers, in the Common and the Combined Log Format.

What was asked for and delivered was there: of a host's log the successful GETs are its URLs, as far
as anybody asked for them. What an archive's own crawler fetched says nothing new of that, and is
left out by the name that it gives itself.
"""

import re
from collections.abc import Iterator

from crawlgauge.core.lines import LineScanner
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import Line, scan_lines
from crawlgauge.sources.urls import MAX_URL_BYTES
from crawlgauge.sources.what_counts import Settings

OWN_AGENTS = (
    *("heritrix", "archive.org_bot", "ia_archiver", "browsertrix", "brozzler", "webrecorder"),
    *("nutch", "ccbot", "archive-it", "netarkiv", "wget", "crawlgauge"),
)
"""Parts of the names by which archives' crawlers are known, in small letters."""

_LONGEST = 4 * MAX_URL_BYTES
_N_LINES = 10
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_QUOTED = rb'"((?:[^"\\]|\\.)*+)"'
_LINE = re.compile(
    rb"(?:(?P<host>[A-Za-z0-9.-]+(?::\d{1,5})?) )?\S+ \S+ (?:[^\[\]]{1,256}) "
    rb"\[(?P<day>\d\d)/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4})"
    rb":(?P<time>\d\d:\d\d:\d\d) (?P<zone>[+-]\d{4})\] "
    rb'"(?P<request>(?:[^"\\]|\\.)*+)" (?P<status>\d{3}) (?:\d+|-)'
    rb"(?: " + _QUOTED + rb' "(?P<agent>(?:[^"\\]|\\.)*+)")?'
)
_REQUEST = re.compile(rb"(?P<method>[A-Z]+) (?P<target>\S+)(?: HTTP/\d(?:\.\d)?)?")
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})|\\(.)")
_NOT_MODIFIED = b"304"


def looks_like_access_log(beginning: bytes) -> bool:
    r"""Tell whether an input is an access log: by the times and requests of its first lines.

    Examples
    --------
    >>> looks_like_access_log(
    ...     b'192.0.2.1 - - [10/Oct/2021:13:55:36 +0200] "GET /a.html HTTP/1.1" 200 2326\n'
    ... )
    True
    """
    lines = beginning[:_LONGEST].split(b"\n", _N_LINES)[:_N_LINES]
    return any(_LINE.match(line) for line in lines)


def read_access_log(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read an access log; the host is what each line begins with, or else that of the settings.

    Raises
    ------
    SourceError
        If neither the lines nor the settings name the host.
    """
    intake.collector.begin(has_type=False)
    agents = [name.encode().lower() for name in settings.own_agents]
    site = None if settings.site is None else settings.site.encode().rstrip(b"/")

    def judge(line: Line) -> None:
        text = line.text.strip()
        if text:
            is_long = len(text) > _LONGEST
            reason = "too-long" if is_long else _take(intake, text, site, agents, stream.name)
            if reason is not None:
                intake.reject(reason, text, offset=line.offset, line=line.number)

    yield from scan_lines(stream, LineScanner(intake.collector), judge, _LONGEST)


def _take(
    intake: Intake, text: bytes, site: bytes | None, agents: list[bytes], name: str
) -> str | None:
    """Hand a line on to the collector; return why it is rejected."""
    found = _LINE.match(text)
    if found is None:
        return "not-a-log-line"
    request = _REQUEST.fullmatch(found["request"])
    if request is None:
        return "no-request"
    if request["method"] != b"GET":
        intake.collector.exclude("method")
        return None
    agent = (found["agent"] or b"").lower()
    if any(own in agent for own in agents):
        intake.collector.exclude("own-crawler")
        return None
    target = _ESCAPE.sub(_unescape, request["target"])
    if not target.lower().startswith((b"http://", b"https://")):
        host = site or (b"" if found["host"] is None else b"http://" + found["host"])
        if not host:
            raise SourceError(
                f"{name} is an access log, whose lines do not name their host; say it with "
                "crawlgauge anchor --site https://www.example.org"
            )
        if not target.startswith(b"/"):
            return "no-path"
        target = host + target
    # Whoever had the page already was told that it is still there.
    status = b"200" if found["status"] == _NOT_MODIFIED else found["status"]
    return intake.collector.add(target, time=_time(found), status=status)


def _time(found: re.Match[bytes]) -> bytes | None:
    month = found["month"].decode()
    if month not in _MONTHS:
        return None
    number = b"%02d" % (1 + _MONTHS.index(month))
    return found["year"] + number + found["day"] + found["time"].replace(b":", b"")


def _unescape(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 16)]) if found[1] else found[2]
