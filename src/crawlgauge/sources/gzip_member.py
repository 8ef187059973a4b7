"""Decompress deflate data: one gzip member, or what has neither header nor checksum."""

from collections.abc import Iterator

from isal import igzip_lib, isal_zlib

from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.member_decompressor import decompress_member

__all__ = ["inflate", "inflate_member"]

_MAGIC = b"\x1f\x8b"
_DEFLATE = 8
_HAS_HEADER_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16
_TRAILER_BYTES = 8
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
