"""The lines of a text file that begin within a range of bytes, as a file of their own."""

import io

from crawlgauge.remote.remote_path import AnyPath

__all__ = ["LineRange"]

_CHUNK_BYTES = 1 << 16


class LineRange(io.RawIOBase):
    """A file that consists of some lines of another.

    Ranges that follow each other without a gap give each line once.

    Parameters
    ----------
    path
        The other file.
    start, end
        Lines that begin at `start` or behind, and before `end`, belong to it.

    Attributes
    ----------
    first
        Where its first line begins in the other file.
    n_lines
        How many line ends have been read so far.
    """

    def __init__(self, path: AnyPath, start: int, end: int) -> None:
        super().__init__()
        self._file = path.open("rb")
        self.first = self._next_line(start)
        self._n_left = max(0, self._next_line(end) - self.first)
        self._file.seek(self.first)
        self.n_lines = 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most so many of the bytes that are left; none at the end."""
        data = self._file.read(self._n_left if size < 0 else min(size, self._n_left))
        self._n_left -= len(data)
        self.n_lines += data.count(b"\n")
        return data

    def close(self) -> None:
        """Close the other file."""
        self._file.close()
        super().close()

    def _next_line(self, place: int) -> int:
        """Return where the first line begins that does so at a place or behind it."""
        if place == 0:
            return 0
        # A line begins at the place itself if another ends just before it.
        self._file.seek(place - 1)
        place -= 1
        while chunk := self._file.read(_CHUNK_BYTES):
            found = chunk.find(b"\n")
            if found >= 0:
                return place + found + 1
            place += len(chunk)
        return place
