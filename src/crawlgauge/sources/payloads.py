"""What the bodies of archive records hold: the payload that a digest is of.

The payload of an HTTP message is its entity (WARC 1.1, 5.9; RFC 9110, 6.4): what follows the
header, without the transfer coding but with the content coding, such as gzip, that it has.
"""

import base64
import hashlib
import re

from crawlgauge.sources.dechunking import Dechunker

__all__ = ["Payload"]

_HEADER_END = re.compile(rb"\n\r*\n")
_MAX_HEADER_BYTES = 1 << 16
"""HTTP headers end before, as servers and clients refuse longer ones."""
_CHUNKED = re.compile(rb"^transfer-encoding[ \t]*:[^\r\n]*chunked", re.IGNORECASE | re.MULTILINE)


class Payload:
    """Takes in the body of one record, piece by piece.

    Parameters
    ----------
    is_http
        Whether the body is an HTTP message.
    max_kept
        Keep the payload itself up to so many bytes.

    Attributes
    ----------
    header
        The HTTP header, when it has come; nothing if there is none.
    """

    def __init__(self, *, is_http: bool, max_kept: int = 0) -> None:
        self.header = b""
        self._pending: bytes | None = b"" if is_http else None
        self._dechunker: Dechunker | None = None
        self._recorded = _Content(max_kept)
        self._decoded = _Content(max_kept)

    def feed(self, piece: bytes) -> None:
        """Take in the next piece of the body."""
        if self._pending is not None:
            held = self._pending + piece
            end = _HEADER_END.search(held, 0, _MAX_HEADER_BYTES)
            if end is None:
                # What is longer has no header, and may have no end either.
                self._pending = held[:_MAX_HEADER_BYTES]
                return
            self.header, piece = held[: end.end()], held[end.end() :]
            self._pending = None
            if _CHUNKED.search(self.header):
                self._dechunker = Dechunker()
        self._recorded.add(piece)
        if self._dechunker is not None:
            for part in self._dechunker.feed(piece):
                self._decoded.add(part)

    @property
    def is_found(self) -> bool:
        """Whether there is a payload: an HTTP message whose header does not end has none."""
        return self._pending is None

    def digest(self) -> bytes:
        """Return the payload's digest, as crawlers write it: SHA-1 in Base32."""
        return b"sha1:" + base64.b32encode(self._content.sha1.digest())

    def content(self) -> bytes | None:
        """Return the payload, or None if it is too long to be kept."""
        return self._content.kept()

    @property
    def _content(self) -> "_Content":
        # What says to be chunked and is not was recorded by a tool that had undone it.
        is_decoded = self._dechunker is not None and self._dechunker.is_chunked
        return self._decoded if is_decoded else self._recorded


class _Content:
    """Bytes of which the digest is wanted, and perhaps themselves."""

    def __init__(self, max_kept: int) -> None:
        self.sha1 = hashlib.sha1(usedforsecurity=False)
        self._n_room = max_kept
        self._parts: list[bytes] | None = [] if max_kept else None

    def add(self, part: bytes) -> None:
        self.sha1.update(part)
        self._n_room -= len(part)
        if self._n_room < 0:
            self._parts = None
        if self._parts is not None:
            self._parts.append(part)

    def kept(self) -> bytes | None:
        return None if self._parts is None else b"".join(self._parts)
