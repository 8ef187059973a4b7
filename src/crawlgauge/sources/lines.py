"""Cut blocks of bytes into whole lines, however long the lines are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import DamagedInput
from crawlgauge.sources import byte_stream
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.line_kernel import count_newlines, find_ends

__all__ = ["Lines", "read_lines", "whole_lines"]

_Found = tuple[bytes, int, int]
"""Lines, their place and their number."""

_UTF8_MARK = b"\xef\xbb\xbf"

_SPACES = b" \t\n\v\f\r"
_BLOCKS_PER_BATCH = 4
"""So many that the calls for a batch take no time beside the work on its lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Some whole lines of an input.

    Parameters
    ----------
    data
        The lines with their newlines; the input's last line may lack its own.
    place
        Where they begin in the decompressed input.
    n_lines
        How many there are.
    n_before
        How many lines stand before them; None if part of the input was lost before.
    """

    data: bytes
    place: int
    n_lines: int
    n_before: int | None

    def find_ends(self) -> NDArray[np.int64]:
        """Return where each line ends: the place of its newline, or the end of the data."""
        ends = np.empty(self.n_lines, dtype=np.int64)
        find_ends(np.frombuffer(self.data, dtype=np.uint8), ends)
        return ends


def read_lines(stream: ByteStream, longest: int) -> Iterator[Lines]:
    """Yield the lines of an input, many at a time, getting over damage where that is wanted.

    The line that damage cuts is left out, and so is the one in which reading resumes, as nobody
    knows how it began.

    Parameters
    ----------
    stream
        The input.
    longest
        Longest line that matters, as for `whole_lines`.

    Raises
    ------
    SourceError
        If the input cannot be read.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    # If the beginning was lost, the first line that can be read is one in which reading resumes.
    n_before: int | None = None if stream.damages else 0
    blocks, start = _without_mark(stream.blocks()), 0
    while True:
        try:
            if n_before is None:
                start, blocks = _skip_line(stream.blocks(), start)
            for data, place, n_lines in whole_lines(blocks, longest):
                yield Lines(data=data, place=start + place, n_lines=n_lines, n_before=n_before)
                if n_before is not None:
                    n_before += n_lines
        except DamagedInput as error:
            if not stream.recover(error):
                return
            n_before, start = None, stream.n_read
        else:
            return


def _without_mark(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Put spaces for a byte order mark, so that the places of all that follows stay true."""
    for first in blocks:
        if first.startswith(_UTF8_MARK):
            yield b" " * len(_UTF8_MARK) + first[len(_UTF8_MARK) :]
        else:
            yield first
        break
    yield from blocks


def _skip_line(blocks: Iterator[bytes], place: int) -> tuple[int, Iterator[bytes]]:
    """Return where the next line begins, and the blocks from there on."""
    for block in blocks:
        cut = block.find(b"\n") + 1
        if cut:
            return place + cut, chain([block[cut:]], blocks)
        place += len(block)
    return place, blocks


def whole_lines(blocks: Iterable[bytes], longest: int) -> Iterator[_Found]:
    r"""Yield whole lines, many at a time, with the place of the first byte and their number.

    A line that grows beyond `longest` bytes is yielded alone and in brief: without the space
    around it, cut one byte beyond `longest`. What it is, blank, a comment or too long, can still
    be told, and memory stays bounded.

    Parameters
    ----------
    blocks
        The bytes, cut anywhere.
    longest
        Longest line that matters.

    Examples
    --------
    >>> list(whole_lines([b"a\nb", b"c\nd"], 10))
    [(b'a\nbc\n', 0, 2), (b'd', 5, 1)]
    """
    batch = _Batch()
    try:
        for block in blocks:
            yield from batch.add(block, longest)
    except DamagedInput:
        yield from batch.take_lines()
        raise
    yield from batch.take_lines()
    yield from batch.take_rest()


class _Batch:
    """Whole lines that wait to be yielded, and behind them the beginning of another."""

    def __init__(self) -> None:
        self._pieces: list[bytes | memoryview] = []
        self._n_bytes = self._n_lines = 0
        self._start = 0
        self._place = 0
        self._rest = b""
        self._is_long = False

    def add(self, block: bytes, longest: int) -> Iterator[_Found]:
        first = 0
        if self._is_long:
            first = block.find(b"\n") + 1
            self._shorten(self._rest + (block[: first - 1] if first else block), longest)
            if first:
                yield self._rest + b"\n", self._start, 1
                self._rest, self._start, self._is_long = b"", self._place + first, False
        if not self._is_long:
            cut = block.rfind(b"\n", first) + 1
            if cut:
                # One copy of a block costs as much as finding its fields.
                self._pieces += [self._rest, memoryview(block)[first:cut]]
                self._n_bytes += len(self._rest) + cut - first
                # Now, while the block is near the processor.
                self._n_lines += count_newlines(np.frombuffer(block, dtype=np.uint8), first)
                self._rest = block[cut:]
            else:
                self._rest += block[first:]
            if len(self._rest) > longest:
                yield from self.take_lines()
                self._shorten(self._rest, longest)
                self._is_long = True
            elif self._n_bytes >= _BLOCKS_PER_BATCH * byte_stream.BLOCK_BYTES:
                yield from self.take_lines()
        self._place += len(block)

    def take_lines(self) -> Iterator[_Found]:
        if self._pieces:
            yield b"".join(self._pieces), self._start, self._n_lines
            self._start += self._n_bytes
            self._pieces, self._n_bytes, self._n_lines = [], 0, 0

    def take_rest(self) -> Iterator[_Found]:
        if self._rest:
            yield self._rest, self._start, 1

    def _shorten(self, line: bytes, longest: int) -> None:
        """Keep the beginning of a line that tells what it is."""
        trimmed = line.lstrip(_SPACES)
        self._start += len(line) - len(trimmed)
        self._rest = trimmed
        if len(trimmed) > longest:
            # One byte stands for all beyond the limit: space only, so far, or more.
            is_more = trimmed[longest:].strip(_SPACES)
            self._rest = trimmed[:longest] + (b"x" if is_more else b" ")
