"""Decompress one member of a compressed stream, giving out all that stands before a break."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Protocol

from crawlgauge.sources.feed import BrokenStream, Feed

__all__ = ["Decompressor", "WrongData", "decompress_member"]

_MAX_OUTPUT_BYTES = 1 << 20
_MAX_HELD_BYTES = 1 << 24
"""Of a larger member that breaks, what the last chunk of input gives is lost. It is one whose end
is far away, and is lost as well."""
_FINE_BYTES = 16
"""Steps to a break. With single bytes, bzip2 would give out a part of a block before it compares
the block's checksum."""


class WrongData(BrokenStream):
    """Compressed data are wrong, near a place that is known.

    Parameters
    ----------
    reason
        What is wrong.
    place
        Where it was noticed.
    """

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.place = place


class Decompressor(Protocol):
    """What the decompressors of the standard library and of isal have in common."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether there is no more output without more input."""

    @property
    def unused_data(self) -> bytes:
        """What followed the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` bytes of output."""


def decompress_member(
    feed: Feed, begin: Callable[[], Decompressor], errors: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    """Yield the decompressed bytes of the member at hand.

    Parameters
    ----------
    feed
        Stands at the member; afterwards behind it, or before the break.
    begin
        Returns a decompressor for a new member.
    errors
        What it raises where the data are wrong.

    Raises
    ------
    BrokenStream
        If the member is damaged.
    """
    member = begin()
    taken: list[bytes] = []
    n_taken = n_out = 0
    while not member.eof:
        data = b""
        if member.needs_input:
            data = feed.take_some()
            if not data:
                raise BrokenStream("the file ends before its compressed stream does")
            n_taken += len(data)
            if n_taken > _MAX_HELD_BYTES:
                taken.clear()
            taken.append(data)
        try:
            output = member.decompress(data, _MAX_OUTPUT_BYTES)
        except errors as error:
            place = feed.place - len(taken[-1])
            if n_taken <= _MAX_HELD_BYTES:
                place += yield from _read_to_break(begin(), taken, n_out, errors)
            # A member may begin anywhere in it, as the break may be noticed late.
            feed.put_back(taken[-1])
            raise WrongData(f"its compressed data are wrong ({error})", place) from error
        n_out += len(output)
        if output:
            yield output
    feed.put_back(member.unused_data)


def _read_to_break(
    member: Decompressor,
    chunks: Sequence[bytes],
    n_known: int,
    errors: tuple[type[Exception], ...],
) -> Generator[bytes, None, int]:
    """Yield what a decompressor that raises loses, and return how much of the last chunk it takes.

    Parameters
    ----------
    member
        A new decompressor.
    chunks
        What the one that has raised was given.
    n_known
        How many bytes it has returned.
    errors
        What it raises.
    """
    *before, last = chunks
    fine = (last[start : start + _FINE_BYTES] for start in range(0, len(last), _FINE_BYTES))
    n_out = n_chunks = 0
    with suppress(*errors):
        for data in chain(before, fine):
            for output in _outputs(member, data):
                n_out += len(output)
                n_new = min(n_out - n_known, len(output))
                if n_new > 0:
                    yield output[-n_new:]
            n_chunks += 1
    return max(n_chunks - len(before), 0) * _FINE_BYTES


def _outputs(member: Decompressor, data: bytes) -> Iterator[bytes]:
    yield member.decompress(data, _MAX_OUTPUT_BYTES)
    while not (member.eof or member.needs_input):
        yield member.decompress(b"", _MAX_OUTPUT_BYTES)
