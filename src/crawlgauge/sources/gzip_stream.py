"""Decompress gzip of any number of members, giving out all that can be read before a break."""

from collections.abc import Iterable, Iterator

from isal import igzip_lib, isal_zlib

__all__ = ["MAGIC", "BrokenGzip", "inflate"]

MAGIC = b"\x1f\x8b"

_DEFLATE = 8
_HAS_HEADER_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16
_MAX_OUTPUT_BYTES = 1 << 22
_ISAL_ERROR: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]  # wrong stub


class BrokenGzip(Exception):  # noqa: N818 - says what the stream is
    """A gzip stream ends early, has a wrong checksum or is followed by something else."""


def inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decompressed bytes of a gzip stream.

    Libraries pass over a stream that ends early, or raise and lose what they had decompressed;
    here all of it is yielded first, and then the checksum is compared. Zero bytes after a member
    are padding, as gzip has it.

    Parameters
    ----------
    chunks
        The compressed bytes, cut anywhere. Small chunks keep files of many members fast: what
        follows a member is copied.

    Raises
    ------
    BrokenGzip
        If the stream is damaged.
    """
    feed = _Feed(chunks)
    while feed.skip_zeros():
        _pass_header(feed)
        checksum = n_bytes = 0
        for output in _inflate_member(feed):
            checksum = isal_zlib.crc32(output, checksum)
            n_bytes += len(output)
            yield output
        trailer = checksum.to_bytes(4, "little") + (n_bytes & 0xFFFFFFFF).to_bytes(4, "little")
        if feed.take(8) != trailer:
            raise BrokenGzip("its checksum is wrong")


class _Feed:
    """Chunks of bytes, taken in parts of any size."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = b""

    def take_some(self) -> bytes:
        """Take what is at hand, or the next chunk; nothing at the end."""
        data, self._data = self._data, b""
        return data or next(self._chunks, b"")

    def put_back(self, data: bytes) -> None:
        self._data = data + self._data

    def take(self, n_bytes: int) -> bytes:
        while len(self._data) < n_bytes:
            self._data += self._next_chunk()
        taken, self._data = self._data[:n_bytes], self._data[n_bytes:]
        return taken

    def take_past_zero(self) -> None:
        while b"\0" not in self._data:
            self._data = self._next_chunk()
        self._data = self._data[self._data.index(b"\0") + 1 :]

    def skip_zeros(self) -> bool:
        """Pass over zero bytes and tell whether anything follows."""
        while data := self.take_some():
            if rest := data.lstrip(b"\0"):
                self.put_back(rest)
                return True
        return False

    def _next_chunk(self) -> bytes:
        chunk = next(self._chunks, b"")
        if not chunk:
            raise BrokenGzip("the file ends before its gzip stream does")
        return chunk


def _pass_header(feed: _Feed) -> None:
    """Pass over a member's header, as RFC 1952 describes it."""
    header = feed.take(10)
    if not header.startswith(MAGIC) or header[2] != _DEFLATE:
        raise BrokenGzip("something that is no gzip follows the gzip stream")
    flags = header[3]
    if flags & _HAS_EXTRA:
        feed.take(int.from_bytes(feed.take(2), "little"))
    if flags & _HAS_NAME:
        feed.take_past_zero()
    if flags & _HAS_COMMENT:
        feed.take_past_zero()
    if flags & _HAS_HEADER_CHECKSUM:
        feed.take(2)


def _inflate_member(feed: _Feed) -> Iterator[bytes]:
    member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)
    while not member.eof:
        data = feed.take_some() if member.needs_input else b""
        if member.needs_input and not data:
            raise BrokenGzip("the file ends before its gzip stream does")
        try:
            output = member.decompress(data, _MAX_OUTPUT_BYTES)
        except _ISAL_ERROR as error:
            raise BrokenGzip(f"its compressed data are wrong ({error})") from error
        if output:
            yield output
    feed.put_back(member.unused_data)
