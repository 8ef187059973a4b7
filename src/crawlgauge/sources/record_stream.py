"""Read files of records, each a header and a body, and get over damage between them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NoReturn

from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources.bodies import BodyReader
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.left_out import readable
from crawlgauge.sources.record_batch import RecordBatch
from crawlgauge.sources.record_window import RecordWindow
from crawlgauge.sources.request import Request
from crawlgauge.sources.walk_kernel import (
    AT,
    BAD_LENGTH,
    BODY,
    CUT,
    END,
    FULL,
    LONG_HEADER,
    MIXED_HEADERS,
    MORE,
    NO_RECORD,
    PAYLOAD,
    RECORD,
    SWALLOWED,
)

__all__ = ["RecordFormat", "name_of_file", "read_records", "refuse_other_format"]

_REASONS = {
    NO_RECORD: (
        "no {title} record begins there; the record before it gives a wrong length, or something "
        "else stands between them"
    ),
    CUT: "the input ends inside the record that begins at {record}",
    SWALLOWED: (
        "the next record begins there, although the one that begins at {record} should be longer"
    ),
    MIXED_HEADERS: "the header of one record runs into that of another",
    LONG_HEADER: "the header of a record does not end",
    BAD_LENGTH: "the length of a record is missing or no number that a length can be",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormat:
    """What is particular to a format of records.

    Parameters
    ----------
    title
        Its name, in messages.
    walk
        Finds the records in the bytes at hand from ``state[AT]`` on and tells why it stopped, in
        the numbers of `walk_kernel`. It takes what `RecordWindow` has, then `arguments`, then what
        `RecordBatch` has.
    arguments
        What else it takes: which fields are wanted.
    start, start_bytes
        What a record begins with, and the greatest length of that.
    constants
        See `RecordBatch`.
    rejected, excluded
        What the format's own verdicts mean.
    """

    title: str
    walk: Callable[..., int]
    arguments: tuple[NDArray[Any] | int, ...]
    start: re.Pattern[bytes]
    start_bytes: int
    constants: bytes
    rejected: Mapping[int, str]
    excluded: Mapping[int, str]


def read_records(stream: ByteStream, request: Request, kind: RecordFormat) -> Iterator[Captures]:
    """Yield the captures of a file of records.

    Of a damaged record the capture is kept if its header, and that of the HTTP message within, can
    be read. Reading resumes at the next place where a record seems to begin.

    Parameters
    ----------
    stream
        The input.
    request
        Which columns are wanted.
    kind
        Its format.

    Raises
    ------
    SourceError
        If the input cannot be read.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    window = RecordWindow(stream, kind.start, kind.start_bytes)
    batch = RecordBatch(kind.constants)
    bodies = BodyReader(window, batch, request) if request.reads_bodies else None
    resumed_at = -1
    outcome = MORE
    while outcome != END:
        if window.is_lost and not window.find_start():
            break
        batch.state[AT] = window.at
        n_before = batch.n_records
        outcome = kind.walk(
            window.block,
            window.place,
            window.is_last,
            window.members,
            *kind.arguments,
            batch.spans,
            batch.verdicts,
            batch.bounds,
            batch.places,
            batch.bodies,
            batch.out,
            batch.state,
        )
        window.at = min(int(batch.state[AT]), window.block.size)
        if bodies is not None:
            bodies.read(n_before, int(batch.state[AT]))
        if outcome == MORE:
            window.take_more()
        elif outcome == BODY:
            see = None if bodies is None else bodies.see
            outcome = _pass_body(window, int(batch.state[RECORD]), int(batch.state[AT]), see)
            if bodies is not None:
                bodies.end(is_whole=outcome == BODY and not window.is_lost)
        if outcome in _REASONS:
            resumed_at = _get_over(window, batch, outcome, kind.title, resumed_at)
        if outcome == FULL or batch.is_large:
            yield batch.take(request, stream.name, kind.rejected, kind.excluded)
    if batch.n_records:
        yield batch.take(request, stream.name, kind.rejected, kind.excluded)


def refuse_other_format(title: str, beginning: bytes, name: str) -> NoReturn:
    """Say that an input is not of the format that the user stated.

    Parameters
    ----------
    title
        That format.
    beginning
        The first bytes of the input.
    name
        The input as the user named it.

    Raises
    ------
    SourceError
        Always.
    """
    if not beginning:
        raise SourceError(f"{name} is no {title} file: it is empty")
    raise SourceError(
        f"{name} is no {title} file: it begins with {readable(beginning[:40])!r}; leave out "
        "--format, so that its format is told by its content"
    )


def name_of_file(stream: ByteStream) -> bytes:
    """Return the name of the file being read, without its folder."""
    return PurePath(stream.name).name.encode("utf-8", errors="surrogateescape")


def _pass_body(
    window: RecordWindow, record: int, at: int, see: Callable[[bytes], None] | None
) -> int:
    """Pass over the rest of a body that ends beyond the bytes at hand; return what came of it."""
    end = window.place + at
    if window.pass_over(record, end, see) is not None:
        return SWALLOWED
    return CUT if not window.is_lost and window.end < end else BODY


def _get_over(
    window: RecordWindow, batch: RecordBatch, outcome: int, title: str, resumed_at: int
) -> int:
    """Report damage and go on to the next record; return its place."""
    record, payload = int(batch.state[RECORD]), int(batch.state[PAYLOAD])
    place = window.place + window.at
    if outcome == CUT:
        place = window.end
    reason = _REASONS[outcome].format(title=title, record=window.describe(record))
    rest = f"the rest of the record that begins at {window.describe(record)}"
    damage = window.report(place, reason, f"all that follows {window.describe(place)}")
    if outcome == SWALLOWED:
        window.stream.amend(damage, rest)
        return place
    # A length that is too large hides whole records; the last of them are still at hand.
    first = payload if outcome in (NO_RECORD, CUT) and payload > record else record + 1
    window.at = max(first, resumed_at + 1, window.place) - window.place
    is_gone = window.place + window.at > first
    hidden = ", and any records before it that a wrong length has hidden" if is_gone else ""
    if window.find_start():
        resumed_at = window.place + window.at
        between = f"what stands between {window.describe(place)} and {window.describe(resumed_at)}"
        window.stream.amend(damage, (rest if resumed_at < place else between) + hidden)
    elif outcome == CUT:
        window.stream.amend(damage, rest + hidden)
    return resumed_at
