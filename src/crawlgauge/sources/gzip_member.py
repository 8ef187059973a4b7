"""Decompress one gzip member, giving out all that can be read before a break."""

from collections.abc import Iterator

from isal import igzip_lib, isal_zlib

from crawlgauge.sources.feed import BrokenStream, Feed

__all__ = ["inflate_member"]

_MAGIC = b"\x1f\x8b"
_DEFLATE = 8
_HAS_HEADER_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16
_MAX_OUTPUT_BYTES = 1 << 22
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
    for output in _inflate(feed):
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


def _inflate(feed: Feed) -> Iterator[bytes]:
    member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)
    given = b""
    while not member.eof:
        data = b""
        if member.needs_input:
            data = given = feed.take_some()
            if not data:
                raise BrokenStream("the file ends before its compressed stream does")
        try:
            output = member.decompress(data, _MAX_OUTPUT_BYTES)
        except _ISAL_ERROR as error:
            feed.put_back(given)
            raise BrokenStream(f"its compressed data are wrong ({error})") from error
        if output:
            yield output
    feed.put_back(member.unused_data)
