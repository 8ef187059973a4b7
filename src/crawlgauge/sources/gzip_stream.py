"""Decompress gzip of any number of members, giving out all that can be read before a break."""

from collections.abc import Iterable, Iterator

from isal import isal_zlib

__all__ = ["MAGIC", "BrokenGzip", "inflate"]

MAGIC = b"\x1f\x8b"

_GZIP_WINDOW_BITS = 31
_MAX_OUTPUT_BYTES = 1 << 22
_ISAL_ERROR: type[Exception] = isal_zlib.IsalError  # type: ignore[assignment]  # wrong stub


class BrokenGzip(Exception):  # noqa: N818 - says what the stream is
    """A gzip stream ends early, has a wrong checksum or is followed by something else."""


def inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decompressed bytes of a gzip stream.

    Libraries pass over a stream that ends early, or raise and lose what they had decompressed;
    here all of it is yielded first. Zero bytes after a member are padding, as gzip has it.

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
    member = None
    for chunk in chunks:
        data = chunk
        while data:
            if member is None:
                data = data.lstrip(b"\0")
                if not data:
                    break
                member = isal_zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
            yield from _feed(member, data)
            data = b""
            if member.eof:
                data, member = member.unused_data, None
    if member is not None:
        raise BrokenGzip("the file ends before its gzip stream does")


def _feed(member: "isal_zlib.Decompress", data: bytes) -> Iterator[bytes]:
    while True:
        try:
            output = member.decompress(data, _MAX_OUTPUT_BYTES)
        except _ISAL_ERROR as error:
            raise BrokenGzip(str(error)) from error
        if output:
            yield output
        data = member.unconsumed_tail
        if member.eof or (not data and len(output) < _MAX_OUTPUT_BYTES):
            return
