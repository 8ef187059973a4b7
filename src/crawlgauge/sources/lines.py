"""Cut blocks of bytes into whole lines, however long the lines are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from crawlgauge.errors import DamagedInput
from crawlgauge.sources.byte_stream import ByteStream

__all__ = ["Lines", "read_lines", "whole_lines"]

_UTF8_MARK = b"\xef\xbb\xbf"

_SPACES = b" \t\n\v\f\r"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Some whole lines of an input.

    Parameters
    ----------
    data
        The lines with their newlines; the input's last line may lack its own.
    place
        Where they begin in the decompressed input.
    n_before
        How many lines stand before them; None if part of the input was lost before.
    """

    data: bytes
    place: int
    n_before: int | None


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
    n_before: int | None = 0
    blocks, start = _without_mark(stream.blocks()), 0
    while True:
        try:
            if n_before is None:
                start, blocks = _skip_line(stream.blocks(), start)
            for data, place in whole_lines(blocks, longest):
                yield Lines(data=data, place=start + place, n_before=n_before)
                if n_before is not None:
                    n_before += data.count(b"\n")
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


def whole_lines(blocks: Iterable[bytes], longest: int) -> Iterator[tuple[bytes, int]]:
    r"""Yield whole lines, many at a time, with the place of the first byte.

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
    [(b'a\n', 0), (b'bc\n', 2), (b'd', 5)]
    """
    rest, start, place = b"", 0, 0
    is_long = False
    for block in blocks:
        end = 0
        if is_long:
            end = block.find(b"\n") + 1
            rest, start = _shorten(rest + (block[: end - 1] if end else block), start, longest)
            if not end:
                place += len(block)
                continue
            yield rest + b"\n", start
            rest, start, is_long = b"", place + end, False
        data = rest + block[end:] if end else rest + block
        cut = data.rfind(b"\n") + 1
        if cut:
            yield data[:cut], start
        rest, start, place = data[cut:], start + cut, place + len(block)
        if len(rest) > longest:
            rest, start = _shorten(rest, start, longest)
            is_long = True
    if rest:
        yield rest, start


def _shorten(line: bytes, start: int, longest: int) -> tuple[bytes, int]:
    """Return the beginning of a line that tells what it is, and the place of its first byte."""
    trimmed = line.lstrip(_SPACES)
    start += len(line) - len(trimmed)
    if len(trimmed) <= longest:
        return trimmed, start
    # One byte stands for all beyond the limit: space only, so far, or more.
    return trimmed[:longest] + (b"x" if trimmed[longest:].strip(_SPACES) else b" "), start
