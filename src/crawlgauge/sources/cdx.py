"""CDX indexes: a capture a line, in columns that a legend line names or that can be guessed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources import cdx_kernel, line_kernel, record_kernel
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.cdx_legend import (
    Layout,
    find_columns,
    guess_layout,
    is_legend,
    read_legend,
)
from crawlgauge.sources.left_out import readable
from crawlgauge.sources.lines import Lines, read_lines
from crawlgauge.sources.member_lines import UTF8_MARK, cut_line, find_lines, first_line
from crawlgauge.sources.records import MAX_URL_BYTES, assemble
from crawlgauge.sources.request import Request

__all__ = ["looks_like_cdx", "read_cdx"]

_LONGEST_LINE = 4 * MAX_URL_BYTES
"""A line may hold its URL three times: as key, as it is, and as the target of a redirect."""

_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLED = 100
"""So many lines settle what stands where."""

_REJECTED = {
    cdx_kernel.TOO_FEW_FIELDS: "too-few-fields",
    cdx_kernel.TOO_MANY_FIELDS: "too-many-fields",
    cdx_kernel.BAD_TIME: "bad-time",
    cdx_kernel.BAD_STATUS: "bad-status",
}
_WITH_FIELDS = (line_kernel.ACCEPTED, *_REJECTED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """How to read the lines of one layout."""

    delimiter: int
    n_usual: int
    fewest: int
    columns: NDArray[np.int64]
    is_keys_only: bool


def looks_like_cdx(beginning: bytes) -> bool:
    """Tell whether an input that begins with these bytes is a CDX index."""
    lines = _first_lines(beginning.removeprefix(UTF8_MARK))
    if lines and is_legend(lines[0]):
        return read_legend(lines[0]) is not None
    return guess_layout(lines) is not None


def read_cdx(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of a CDX index, a batch for each block.

    Parameters
    ----------
    stream
        The index.
    request
        Which columns are wanted; `group` is the name or letter of a field of the legend.

    Raises
    ------
    SourceError
        If nobody can tell what the columns hold, or they do not hold URLs.
    DamagedInput
        If the index is damaged or ends in the middle of a line.
    """
    plan: _Plan | None = None
    for lines in read_lines(stream, _LONGEST_LINE):
        if plan is None and lines.data.strip():
            plan = _first_plan(lines, stream.name, request)
        if plan is not None:
            captures, plan = _scan(lines, plan, stream, request)
            yield captures


def _first_lines(data: bytes) -> list[bytes]:
    """Return some of the first lines that are not blank, the last of all perhaps cut."""
    found = (line for line in data[:_SAMPLE_BYTES].split(b"\n") if line.strip())
    return list(islice(found, _MAX_SAMPLED))


def _first_plan(lines: Lines, name: str, request: Request) -> _Plan:
    """Return how to read the first lines, which may have a legend."""
    found = _first_lines(lines.data)
    if is_legend(found[0]):
        return _plan_by(found[0], name, request)
    layout = guess_layout(found)
    if layout is None:
        raise SourceError(
            f"{name} is no CDX index that can be understood: it has no legend line, and most "
            "of its first lines are not a key, a time of 14 digits and a URL: "
            f"{readable(found[0])!r}; put a legend line such as ' CDX N b a m s k r M S V g' first"
        )
    return _plan(layout, f"{name} (CDX without legend line)", request)


def _plan_by(legend: bytes, name: str, request: Request) -> _Plan:
    layout = read_legend(legend)
    if layout is None:
        raise SourceError(
            f"{name} has a legend line that cannot be understood: {readable(legend.strip())!r}; it "
            "must be CDX and single letters, such as ' CDX N b a m s k r M S V g'"
        )
    return _plan(layout, f"{name} (legend {layout.letters})", request)


def _plan(layout: Layout, where: str, request: Request) -> _Plan:
    columns = find_columns(layout, request.group, where)
    is_keys_only = bool(columns[0, record_kernel.URL] < 0)
    if is_keys_only and "key" not in request.fields:
        raise SourceError(
            f"{where} has no original URLs (letter a), and canonical ones cannot be made without "
            "them; take the index's own keys with --identity given"
        )
    if is_keys_only and columns[0, record_kernel.KEY] < 0:
        raise SourceError(f"{where} has neither URLs (letter a) nor keys (letter N or A)")
    return _Plan(
        delimiter=layout.delimiter[0],
        n_usual=len(layout.letters),
        fewest=min(len(letters) for letters in (layout.letters, *layout.others)),
        columns=columns,
        is_keys_only=is_keys_only,
    )


def _scan(
    lines: Lines, plan: _Plan, stream: ByteStream, request: Request
) -> tuple[Captures, _Plan]:
    """Return the captures of whole lines, and how to read the lines that follow."""
    block = np.frombuffer(lines.data, dtype=np.uint8)
    bounds = find_lines(lines, stream, partial(_is_between, lines.data, plan))
    n_lines = bounds.shape[0]
    spans = np.empty((n_lines, record_kernel.N_FIELDS, 2), dtype=np.int32)
    verdicts = np.empty(n_lines, dtype=np.uint8)
    lacks_url = np.zeros(n_lines, dtype=np.bool_)
    line = 0
    while line < n_lines:
        legend = cdx_kernel.scan_cdx(
            block,
            bounds,
            line,
            _LONGEST_LINE,
            plan.delimiter,
            plan.fewest,
            plan.columns,
            spans,
            verdicts,
        )
        lacks_url[line:legend] = plan.is_keys_only
        if legend < n_lines:
            start, end = bounds[legend].tolist()
            plan = _plan_by(lines.data[start:end], stream.name, request)
            spans[legend], verdicts[legend] = -1, line_kernel.SKIPPED
        line = legend + 1
    if not lines.data.endswith(b"\n") and verdicts[-1] in _WITH_FIELDS:
        start, end = bounds[-1].tolist()
        if lines.data[start:end].strip(b" \r").count(plan.delimiter) + 1 < plan.n_usual:
            stream.report(cut_line(stream))
    captures = assemble(
        _with_urls(block, spans, verdicts, lacks_url) if lacks_url.any() else block,
        spans,
        verdicts,
        request=request,
        name=stream.name,
        bounds=bounds,
        place=lines.place,
        first_line=first_line(lines, bounds),
        rejected=_REJECTED,
    )
    return captures, plan


def _is_between(data: bytes, plan: _Plan, start: int, place: int, end: int) -> bool:
    """Tell whether there are fields enough for a line on both sides of a place in a line."""
    n_needed = plan.fewest - 1
    return (
        data.count(plan.delimiter, start, place) >= n_needed
        and data.count(plan.delimiter, place, end) >= n_needed
    )


def _with_urls(
    block: NDArray[np.uint8],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    lacks_url: NDArray[np.bool_],
) -> NDArray[np.uint8]:
    """Return the block with URLs behind it that were made of the records' keys."""
    n_bytes = block.size + cdx_kernel.SCHEME_BYTES * verdicts.size
    urls = np.empty(n_bytes, dtype=np.uint8)
    n_bytes = cdx_kernel.restore_urls(block, spans, verdicts, lacks_url, urls)
    return np.frombuffer(block.tobytes() + urls[:n_bytes].tobytes(), dtype=np.uint8)
