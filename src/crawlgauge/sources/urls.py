"""Plain URL lists: one URL a line, blank lines and lines that begin with # passed over."""

from collections.abc import Iterator
from functools import partial

from crawlgauge.core.lines import UrlScanner
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake, readable
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import Line, scan_lines
from crawlgauge.sources.what_counts import Settings

MAX_URL_BYTES = 1 << 16
"""Longer lines are no URLs that any crawler fetched, but a file without line ends."""

_N_SAMPLED = 50


def read_url_list(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:  # noqa: ARG001
    """Read a list of URLs.

    Raises
    ------
    SourceError
        If it is no list, but a table or no text.
    """
    beginning = stream.beginning()
    if b"\0" in beginning[:MAX_URL_BYTES]:
        raise SourceError(f"{stream.name} is no text file, nor any other format that is known")
    _refuse_table(beginning, stream.name)
    intake.collector.begin(has_status=False, has_type=False, has_time=False)
    scanner = UrlScanner(intake.collector)
    yield from scan_lines(stream, scanner, partial(_judge, intake), MAX_URL_BYTES)


def _judge(intake: Intake, line: Line) -> None:
    """Take a line in, pass over it, or reject it: it is no URL, or more than one."""
    text = line.text.strip()
    if not text or text.startswith(b"#"):
        return
    reason: str | None = "several-fields"
    if len(text) > MAX_URL_BYTES:
        reason = "too-long"
    elif len(text.split()) == 1:
        reason = intake.collector.add(text) if _is_plain(text) else "control-character"
    if reason is not None:
        offset = line.offset + line.text.find(text[:1])
        intake.reject(reason, text, offset=offset, line=line.number)


def _is_plain(text: bytes) -> bool:
    """Tell whether a text has neither control characters nor line ends of other systems."""
    shown = text.decode("utf-8", errors="replace")
    return not any(char < " " or char in "\x7f\x85\u2028\u2029" for char in shown)


def _refuse_table(beginning: bytes, name: str) -> None:
    """Refuse lines of several fields: whole, they would be taken for URLs that nobody fetched."""
    found = (line.strip() for line in beginning.split(b"\n")[:-1][:_N_SAMPLED])
    lines = [line for line in found if line and not line.startswith(b"#")]
    tables = [line for line in lines if len(line.split()) > 1]
    if lines and 2 * len(tables) > len(lines):
        raise SourceError(
            f"{name} is no list of URLs: its lines have several fields, such as "
            f"{readable(tables[0])!r}, and are of no format that is known. Say which column holds "
            "the URLs with --column, or what the format is with --format"
        )
