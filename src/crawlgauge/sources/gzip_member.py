"""Decompress deflate data: one gzip member, or what has neither header nor checksum."""

from collections.abc import Iterator

from isal import igzip_lib, isal_zlib

from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.member_decompressor import decompress_member

__all__ = ["SMALL_BYTES", "inflate", "inflate_member", "inflate_small_members"]

SMALL_BYTES = 1 << 15
"""A record of a WARC file has a few kilobytes."""

_MAGIC = b"\x1f\x8b"
_DEFLATE = 8
_HAS_HEADER_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16
_TRAILER_BYTES = 8
_LEAST_GIVEN_BYTES = 1 << 12
_MAX_SMALL_OUTPUT_BYTES = 1 << 20
_ISAL_ERROR: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]  # wrong stub


def inflate_member(feed: Feed) -> Iterator[bytes]:
    """Yield the decompressed bytes of the gzip member at hand.

    Libraries pass over a stream that ends early, or raise and lose what they had decompressed;
    here all of it is yielded first, and then the checksum is compared.

    Parameters
    ----------
    feed
        Stands at the member; afterwards behind it, or near the break.

    Raises
    ------
    BrokenStream
        If the member is damaged.
    """
    start = feed.place
    _pass_header(feed)
    checksum = n_bytes = 0
    for output in inflate(feed):
        checksum = isal_zlib.crc32(output, checksum)
        n_bytes += len(output)
        yield output
    trailer = checksum.to_bytes(4, "little") + (n_bytes & 0xFFFFFFFF).to_bytes(4, "little")
    if (found := feed.take(_TRAILER_BYTES)) != trailer:
        # Where deflate data end too early by a flipped bit, the next member may begin within.
        feed.put_back(found)
        raise BrokenStream(
            f"its checksum is wrong, so that what was read since byte {start:,} may be wrong too"
        )


def inflate_small_members(feed: Feed) -> list[tuple[int, bytes]]:
    """Decompress the next members, as many as are small and at hand as a whole.

    A WARC file has a member for each record: to read each of them as closely as `inflate_member`
    does would take longer than to decompress it.

    Parameters
    ----------
    feed
        Stands at a member; afterwards at one that is large, damaged or not yet at hand as a whole,
        or behind all that is at hand.

    Returns
    -------
    list of (int, bytes)
        Where each of them begins, and what it stands for. Empty if the first is none of them.
    """
    data = feed.take_some()
    first = feed.place - len(data)
    view = memoryview(data)
    found: list[tuple[int, bytes]] = []
    place = n_out = 0
    n_given = SMALL_BYTES
    while place < len(data) and n_out < _MAX_SMALL_OUTPUT_BYTES:
        part = view[place : place + n_given]
        member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            output = member.decompress(part)
        except (_ISAL_ERROR, EOFError):
            break
        if not member.eof:
            break
        n_taken = len(part) - len(member.unused_data)
        found.append((first + place, output))
        place += n_taken
        n_out += len(output)
        # What follows a member is copied. The next is hardly larger than four like this one.
        n_given = min(SMALL_BYTES, 4 * n_taken + _LEAST_GIVEN_BYTES)
    feed.put_back(data[place:])
    return found


def inflate(feed: Feed) -> Iterator[bytes]:
    """Yield what the deflate data at hand stand for.

    Parameters
    ----------
    feed
        Stands at them; afterwards behind them, or before the break.

    Raises
    ------
    BrokenStream
        If they are damaged.
    """
    return decompress_member(feed, _begin, (_ISAL_ERROR, EOFError))


def _begin() -> igzip_lib.IgzipDecompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)


def _pass_header(feed: Feed) -> None:
    """Pass over a member's header, as RFC 1952 describes it."""
    header = feed.take(10)
    if not header.startswith(_MAGIC) or header[2] != _DEFLATE:
        feed.put_back(header)
        raise BrokenStream("something that is no gzip follows the gzip stream")
    flags = header[3]
    if flags & _HAS_EXTRA:
        feed.take(int.from_bytes(feed.take(2), "little"))
    if flags & _HAS_NAME:
        feed.take_past_zero()
    if flags & _HAS_COMMENT:
        feed.take_past_zero()
    if flags & _HAS_HEADER_CHECKSUM:
        feed.take(2)
