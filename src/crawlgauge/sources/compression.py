"""The ways in which inputs are compressed, told by their first bytes."""

import bz2
import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.gzip_member import SMALL_BYTES, inflate_member, inflate_small_members
from crawlgauge.sources.member_decompressor import decompress_member

__all__ = ["Compression", "find_compression"]

_MAX_OUTPUT_BYTES = 1 << 22
_ZSTD_INPUT_BYTES = 1 << 11
"""zstandard gives all output of its input at once: 4 bytes of it can stand for 128 kB."""
_ZSTD_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
_ZSTD_DICTIONARY = b"\x5d\x2a\x4d\x18"
_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
_MAX_DICTIONARY_BYTES = 1 << 26
"""Usual ones have 100 kB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A kind of compression whose streams consist of members, one after the other.

    Parameters
    ----------
    magic
        What a file begins with.
    start
        What a member begins with, told from other bytes as surely as possible.
    start_bytes
        The greatest length of `start`.
    open
        Returns a function that decompresses the member at hand; called once for a whole stream.
    open_small
        Decompresses all members at hand, up to one that has more than `small_bytes` or is not
        whole; returns where each begins, and its content. None if there is no such function.
    small_bytes
        See `open_small`.
    """

    magic: re.Pattern[bytes]
    start: re.Pattern[bytes]
    start_bytes: int
    open: Callable[[], Callable[[Feed], Iterator[bytes]]]
    open_small: Callable[[Feed], list[tuple[int, bytes]]] | None = None
    small_bytes: int = 0


def find_compression(beginning: bytes) -> Compression | None:
    """Return how an input is compressed, or None if it is not.

    Parameters
    ----------
    beginning
        Its first bytes.
    """
    return next((kind for kind in _COMPRESSIONS if kind.magic.match(beginning)), None)


def _decompress_bzip2(feed: Feed) -> Iterator[bytes]:
    return decompress_member(feed, bz2.BZ2Decompressor, (OSError, EOFError))


def _decompress_xz(feed: Feed) -> Iterator[bytes]:
    return decompress_member(feed, lzma.LZMADecompressor, (lzma.LZMAError, EOFError))


def _open_zstd() -> Callable[[Feed], Iterator[bytes]]:
    import zstandard

    dictionary: zstandard.ZstdCompressionDict | None = None

    def decompress(feed: Feed) -> Iterator[bytes]:
        nonlocal dictionary
        magic = feed.take(4)
        if _ZSTD_SKIPPABLE.fullmatch(magic):
            n_bytes = int.from_bytes(feed.take(4), "little")
            if magic == _ZSTD_DICTIONARY and n_bytes <= _MAX_DICTIONARY_BYTES:
                # A .warc.zst file begins with the dictionary of all its records.
                dictionary = zstandard.ZstdCompressionDict(_open_dictionary(feed.take(n_bytes)))
            else:
                feed.pass_over(n_bytes)
            return
        feed.put_back(magic)
        frame = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
        while data := feed.take_some():
            for start in range(0, len(data), _ZSTD_INPUT_BYTES):
                end = start + _ZSTD_INPUT_BYTES
                try:
                    output = frame.decompress(data[start:end])
                except zstandard.ZstdError as error:
                    feed.put_back(data[start:])
                    raise BrokenStream(f"its compressed data are wrong ({error})") from error
                for place in range(0, len(output), _MAX_OUTPUT_BYTES):
                    yield output[place : place + _MAX_OUTPUT_BYTES]
                if frame.eof:
                    feed.put_back(frame.unused_data + data[end:])
                    return
        raise BrokenStream("the file ends before its compressed stream does")

    return decompress


def _open_dictionary(content: bytes) -> bytes:
    """Return a dictionary, which may be compressed itself."""
    if not content.startswith(_ZSTD_FRAME):
        return content
    import zstandard

    frame = zstandard.ZstdDecompressor().decompressobj()
    pieces: list[bytes] = []
    n_bytes = 0
    try:
        for start in range(0, len(content), _ZSTD_INPUT_BYTES):
            pieces.append(frame.decompress(content[start : start + _ZSTD_INPUT_BYTES]))
            n_bytes += len(pieces[-1])
            if n_bytes > _MAX_DICTIONARY_BYTES:
                raise BrokenStream("the dictionary that it begins with is larger than any")
            if frame.eof:
                return b"".join(pieces)
    except zstandard.ZstdError as error:
        raise BrokenStream(f"the dictionary that it begins with is wrong ({error})") from error
    raise BrokenStream("the dictionary that it begins with ends early")


_COMPRESSIONS = (
    Compression(
        magic=re.compile(rb"\x1f\x8b"),
        start=re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
        start_bytes=4,
        open=lambda: inflate_member,
        open_small=inflate_small_members,
        small_bytes=SMALL_BYTES,
    ),
    Compression(
        magic=re.compile(rb"BZh[1-9]"),
        start=re.compile(rb"BZh[1-9]1AY&SY"),
        start_bytes=10,
        open=lambda: _decompress_bzip2,
    ),
    Compression(
        magic=re.compile(rb"\xfd7zXZ\x00"),
        start=re.compile(rb"\xfd7zXZ\x00"),
        start_bytes=6,
        open=lambda: _decompress_xz,
    ),
    Compression(
        magic=re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
        start=re.compile(rb"\x28\xb5\x2f\xfd"),
        start_bytes=4,
        open=_open_zstd,
    ),
)
