"""A remote object as a file that can be read in any order, whatever the network does."""

import io
from typing import TYPE_CHECKING, Final

from crawlgauge.remote.faults import ObjectChanged, RemoteFault, is_storage_fault
from crawlgauge.remote.fetching import find_fetcher
from crawlgauge.remote.names import without_credentials
from crawlgauge.remote.read_ahead import ReadAhead
from crawlgauge.remote.retrying import Patience, with_retries

if TYPE_CHECKING:
    from crawlgauge.remote.remote_facts import RemoteFacts

__all__ = ["BLOCK_BYTES", "RemoteFile"]

BLOCK_BYTES: Final = 1 << 23
"""A request takes some 50 ms before its first byte comes; 8 MB take longer on most networks."""
_FIRST_BYTES = 1 << 16
"""Many look at the first bytes of a file only; who reads on gets more with each request."""
_EXACT_BYTES = 1 << 20
"""Who asks for so much at once knows how much is needed."""
_AHEAD_BYTES = 1 << 22
"""From blocks of this size on the next are fetched ahead: who only looks what a file is has
stopped before."""


class RemoteFile(io.RawIOBase):
    """A remote object, opened for reading.

    Transient faults are got over: reading goes on at the byte where it broke.

    Parameters
    ----------
    address
        The object's, with credentials where it has some.
    facts
        What is known of it; None to ask. If it is another by now, that is an error.
    reads_ahead
        Whether it will be read from beginning to end, so that blocks are fetched ahead.

    Attributes
    ----------
    facts
        What its server said of it when it was opened.

    Raises
    ------
    OSError
        If it cannot be opened; `strerror` says why, and what to do.
    """

    def __init__(
        self, address: str, facts: "RemoteFacts | None" = None, *, reads_ahead: bool = False
    ) -> None:
        self.name = without_credentials(address)
        self._address = address
        self._ahead: ReadAhead | None = None
        self._fetcher = find_fetcher(address)
        self.facts = facts or with_retries(self._fetcher.describe, address)
        self._reads_ahead = reads_ahead
        self._n_next = _FIRST_BYTES
        self._start = self._at = self._fetched_to = 0
        self._data = b""

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell whether it can be read in any order."""
        return self.facts.takes_ranges

    def tell(self) -> int:
        """Return the place that was reached."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place.

        Raises
        ------
        RemoteFault
            If its server sends no parts of files.
        """
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.facts.st_size}[whence]
        place = base + offset
        if place < 0:
            raise ValueError(f"there is no place {place} in a file")
        if place != self._at and not self.facts.takes_ranges:
            raise RemoteFault(
                "it must be read in any order, but its server only sends whole files; save it to "
                "a file first",
                self.name,
            )
        self._at = place
        return place

    def read(self, size: int | None = -1) -> bytes:
        """Return so many bytes, fewer only at the end; all that are left if `size` is negative.

        Raises
        ------
        OSError
            If they cannot be fetched, or the object is no longer the same.
        """
        if self.closed:
            raise ValueError("the file is closed")
        is_all = size is None or size < 0
        n_left = (1 << 62) if size is None or size < 0 else size
        pieces: list[bytes] = []
        while n_left:
            offset = self._at - self._start
            if not 0 <= offset < len(self._data):
                if not self._load(BLOCK_BYTES if is_all else n_left):
                    break
                continue
            piece = self._data[offset : offset + n_left]
            pieces.append(piece)
            self._at += len(piece)
            n_left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def readinto(self, buffer: object) -> int:
        """Read into a buffer."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file and end its connections."""
        if not self.closed:
            self._stop_ahead()
            self._fetcher.close()
        super().close()

    def _load(self, n_wanted: int) -> bool:
        """Fetch a block at the present place, and tell whether there was any."""
        is_next = self._at == self._start + len(self._data)
        if not is_next:
            self._stop_ahead()
            self._n_next = _FIRST_BYTES
        if self._ahead is not None:
            data = self._ahead.take()
        else:
            exact = min(n_wanted, 2 * BLOCK_BYTES)
            n_bytes = exact if exact >= _EXACT_BYTES else max(exact, self._n_next)
            data = self._fetch(self._at, self._at + n_bytes)
            self._n_next = min(2 * self._n_next, BLOCK_BYTES)
            if self._reads_ahead and self._n_next >= _AHEAD_BYTES and data:
                self._fetched_to = self._at + len(data)
                self._ahead = ReadAhead(self._fetch_next)
        if data:
            self._start, self._data = self._at, data
        elif not self._fetcher.notices_change:
            self._confirm()
        return bool(data)

    def _fetch_next(self) -> bytes:
        data = self._fetch(self._fetched_to, self._fetched_to + BLOCK_BYTES)
        self._fetched_to += len(data)
        return data

    def _fetch(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, fewer at the end of the object."""
        size = self.facts.st_size
        end = end if size < 0 else min(end, size)
        got = bytearray()
        patience = Patience(self._address)
        while start + len(got) < end:
            part = bytearray()
            error: Exception | None = None
            try:
                self._fetcher.fetch(start + len(got), end, self.facts, part)
            except Exception as fault:
                if not is_storage_fault(fault):
                    raise
                error = fault
            got += part[: end - start - len(got)]
            if part:
                patience.reset()
            if error is None and not part:
                if size < 0:
                    break
                error = ConnectionError("the answer ended early")
            if error is not None:
                self._wait(patience, error)
        return bytes(got)

    def _wait(self, patience: Patience, error: Exception) -> None:
        try:
            patience.wait(error)
        except FileNotFoundError as fault:
            raise RemoteFault("it was deleted while it was being read", self.name) from fault
        except PermissionError as fault:
            raise RemoteFault(fault.strerror or str(fault), self.name) from fault

    def _confirm(self) -> None:
        now = with_retries(self._fetcher.describe, self._address)
        if not self.facts.is_same(now):
            raise ObjectChanged(self.name)

    def _stop_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None
