"""Undo the chunked transfer coding of HTTP (RFC 9112, 7.1), piece by piece."""

import re

__all__ = ["Dechunker"]

_SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_MAX_LINE_BYTES = 1 << 12
"""Longer lines are no sizes of chunks, whatever extension follows the number."""
_LINE_ENDS = b"\r\n"


class Dechunker:
    """Takes a body in pieces and gives back what its chunks hold."""

    def __init__(self) -> None:
        self._pending = b""
        self._n_left = 0
        self._is_begun = False
        self._is_done = False
        self._is_broken = False

    @property
    def is_chunked(self) -> bool:
        """Whether all that came was chunks; the last may be cut."""
        return self._is_begun and not self._is_broken

    def feed(self, piece: bytes) -> list[bytes]:
        """Take in a piece, and return the parts of chunks that it holds."""
        parts: list[bytes] = []
        data, place = self._pending + piece, 0
        self._pending = b""
        while place < len(data) and not self._is_done and not self._is_broken:
            if self._n_left:
                part = data[place : place + self._n_left]
                parts.append(part)
                place += len(part)
                self._n_left -= len(part)
                continue
            place = self._read_size(data, place)
        return parts

    def _read_size(self, data: bytes, place: int) -> int:
        """Read the line before a chunk; return where the chunk begins."""
        start = place
        if self._is_begun:
            # The end of the chunk before.
            while start < len(data) and data[start] in _LINE_ENDS:
                start += 1
        line_end = data.find(b"\n", start, start + _MAX_LINE_BYTES)
        if line_end < 0 and len(data) - start < _MAX_LINE_BYTES:
            self._pending = data[place:]
            return len(data)
        match = _SIZE_LINE.match(data, start)
        if match is None:
            self._is_broken = True
            return place
        self._is_begun = True
        self._n_left = int(match[1], 16)
        self._is_done = self._n_left == 0
        return match.end()
