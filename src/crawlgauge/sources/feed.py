"""Compressed bytes, taken in parts of any size, with the place that was reached."""

import re
from collections.abc import Iterable

__all__ = ["BrokenStream", "Feed"]


class BrokenStream(Exception):  # noqa: N818 - says what the stream is
    """A compressed stream ends early, has a wrong checksum or is followed by something else."""


class Feed:
    """Chunks of bytes as one sequence that can be taken from, put back to and searched.

    Parameters
    ----------
    chunks
        The bytes, cut anywhere. Small chunks keep streams of many members fast: what follows a
        member is copied.

    Attributes
    ----------
    place
        How many bytes have been taken.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = b""
        self.place = 0

    def take_some(self) -> bytes:
        """Take what is at hand, or the next chunk; nothing at the end."""
        data, self._data = self._data, b""
        data = data or next(self._chunks, b"")
        self.place += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        """Give back the last bytes that were taken."""
        self._data = data + self._data
        self.place -= len(data)

    def take(self, n_bytes: int) -> bytes:
        """Take so many bytes.

        Raises
        ------
        BrokenStream
            If there are not so many.
        """
        while len(self._data) < n_bytes:
            self._data += self._next_chunk()
        taken, self._data = self._data[:n_bytes], self._data[n_bytes:]
        self.place += n_bytes
        return taken

    def pass_over(self, n_bytes: int) -> None:
        """Pass over so many bytes, however many, without holding them.

        Raises
        ------
        BrokenStream
            If there are not so many.
        """
        while len(self._data) < n_bytes:
            n_bytes -= len(self._data)
            self.place += len(self._data)
            self._data = b""
            self._data = self._next_chunk()
        self._data = self._data[n_bytes:]
        self.place += n_bytes

    def take_past_zero(self) -> None:
        """Pass over all bytes up to a zero byte, and over that."""
        while b"\0" not in self._data:
            self.place += len(self._data)
            self._data = self._next_chunk()
        cut = self._data.index(b"\0") + 1
        self._data = self._data[cut:]
        self.place += cut

    def skip_zeros(self) -> bool:
        """Pass over zero bytes and tell whether anything follows."""
        while data := self.take_some():
            if rest := data.lstrip(b"\0"):
                self.put_back(rest)
                return True
        return False

    def find(self, pattern: re.Pattern[bytes], longest: int) -> bool:
        """Go on to the next place where `pattern`, of at most `longest` bytes, matches.

        Parameters
        ----------
        pattern
            What to look for; the byte at hand itself is passed over.
        longest
            Its greatest length.
        """
        data, start = self.take_some(), 1
        while True:
            if match := pattern.search(data, start):
                self.put_back(data[match.start() :])
                return True
            more = next(self._chunks, b"")
            if not more:
                return False
            self.place += len(more)
            kept = data[-longest:]
            data, start = kept + more, min(start, len(kept)) if len(data) <= longest else 0

    def _next_chunk(self) -> bytes:
        chunk = next(self._chunks, b"")
        if not chunk:
            self.place += len(self._data)
            self._data = b""
            raise BrokenStream("the file ends before its compressed stream does")
        return chunk
