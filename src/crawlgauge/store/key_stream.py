"""The keys of a set in rising order, decoded straight to where they are wanted.

Arrow would decode a whole row group into new memory each time: asking the system for that memory,
and copying the keys from there, takes several times as long as decoding.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from crawlgauge.store import delta_kernel, page_kernel
from crawlgauge.store.set_file import SetReader, damaged

__all__ = ["SLACK", "KeyStream"]

SLACK = delta_kernel.MAX_BLOCK
"""How much more room `KeyStream.take` may need than there are keys."""

_READ_BYTES = 1 << 20
_DATA_PAGE, _DELTA = 0, 5
"""A page of the older form, and its encoding; see `page_kernel`."""
_ENCODINGS = {"DELTA_BINARY_PACKED", "RLE"}


class KeyStream:
    """Hands out the keys of a set.

    Parameters
    ----------
    path
        The set's file.

    Raises
    ------
    StoreError
        If the file is missing, damaged or of another format.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = SetReader(path)
        self._file = self._reader.file
        self._descriptor = os.open(path, os.O_RDONLY)
        self._group = -1
        self._data = np.empty(0, dtype=np.uint8)
        self._start = self._end = 0
        """What has been read from the file and not yet decoded is ``data[start:end]``."""
        self._place = self._n_unread = 0
        """Where in the file the row group goes on, and how many bytes of it are left there."""
        self._n_expected = 0
        self._page_end = 0
        self._facts = np.empty(page_kernel.N_FACTS, dtype=np.int64)
        self._state = np.zeros(delta_kernel.N_STATES, dtype=np.uint64)
        self._room = np.empty(delta_kernel.MAX_BLOCK, dtype=np.uint64)
        self._rest = self._room[:0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def take(self, end: int, out: NDArray[np.uint64], place: int, stop: int) -> tuple[int, bool]:
        """Write the next keys below `end`.

        Parameters
        ----------
        end
            2**64 for all.
        out, place, stop
            Filled from `place` to before `stop` at most; behind the keys there may be anything.

        Returns
        -------
        int
            Where in `out` the keys end.
        bool
            Whether there are no more; if not, more room than up to `stop` is needed, at most
            `SLACK` more than there are keys.

        Raises
        ------
        StoreError
            If the file is damaged.
        """
        last = np.uint64(end - 1)
        while True:
            n_taken = min(int(np.searchsorted(self._rest, last, side="right")), stop - place)
            out[place : place + n_taken] = self._rest[:n_taken]
            place += n_taken
            self._rest = self._rest[n_taken:]
            if self._rest.size:
                return place, bool(self._rest[0] > last)
            if self._state[delta_kernel.N_LEFT]:
                place, n_rest, why = delta_kernel.decode_keys(
                    self._data, self._page_end, last, self._state, out, place, stop, self._room
                )
                self._rest = self._room[:n_rest]
                if why == delta_kernel.FULL:
                    return place, False
                if why == delta_kernel.WRONG:
                    raise damaged(self._path, "a page ends too early")
            elif not (self._begin_page() or self._begin_group()):
                return place, True

    def _begin_group(self) -> bool:
        """Go to the next row group; tell whether there is one."""
        if self._n_expected:
            raise damaged(self._path, f"{self._n_expected:,} keys are missing")
        if self._group + 1 == self._file.metadata.num_row_groups:
            return False
        self._group += 1
        column = self._file.metadata.row_group(self._group).column(0)
        is_usual = (
            column.compression == "UNCOMPRESSED"
            and set(column.encodings) <= _ENCODINGS
            and not column.has_dictionary_page
            and self._file.schema.column(0).max_definition_level == 0
        )
        if column.num_values == 0:
            return True
        if is_usual:
            self._place, self._n_unread = column.data_page_offset, column.total_compressed_size
            self._n_expected = column.num_values
        else:
            # Another program has written it, with the same keys.
            self._rest = self._reader.read_row_group(self._group)
        return True

    def _begin_page(self) -> bool:
        """Go to the next page of the row group; tell whether there is one."""
        self._start = self._page_end
        if self._start == self._end and not self._n_unread:
            return False
        page = self._find_page()
        n_bytes = int(self._facts[page_kernel.N_BYTES])
        content = self._data[page : page + n_bytes].data
        checksum = int(self._facts[page_kernel.CHECKSUM])
        if checksum != page_kernel.MISSING and isal_zlib.crc32(content) != checksum & 0xFFFFFFFF:
            raise damaged(self._path, "the checksum of a page is wrong")
        self._page_end = page + n_bytes
        is_known = (
            self._facts[page_kernel.KIND] == _DATA_PAGE
            and self._facts[page_kernel.ENCODING] == _DELTA
            and delta_kernel.begin_page(self._data, page, self._page_end, self._state)
        )
        if not is_known:
            raise damaged(self._path, "it has a page of a kind that was not announced")
        n_keys = int(self._state[delta_kernel.N_LEFT]) + 1
        if n_keys != self._facts[page_kernel.N_KEYS] or n_keys > self._n_expected:
            raise damaged(self._path, "a page has another number of keys than announced")
        self._n_expected -= n_keys
        self._room[0] = self._state[delta_kernel.KEY]
        self._rest = self._room[:1]
        return True

    def _find_page(self) -> int:
        """Read the header of the next page; return where the page begins, all of it being there."""
        while True:
            page = page_kernel.read_header(self._data, self._start, self._end, self._facts)
            n_bytes = int(self._facts[page_kernel.N_BYTES])
            if page >= 0 and 0 <= n_bytes <= self._end - page:
                return page
            if not self._n_unread:
                raise damaged(self._path, "a page ends too early")
            self._read_more(n_bytes if page >= 0 else 0)

    def _read_more(self, n_bytes: int) -> None:
        """Read at least so much more of the row group, if it has it, behind what is there."""
        left = self._data[self._start : self._end].copy()
        n_wanted = min(max(n_bytes, _READ_BYTES), self._n_unread)
        if left.size + n_wanted + delta_kernel.ROOM > self._data.size:
            self._data = np.zeros(left.size + n_wanted + delta_kernel.ROOM, dtype=np.uint8)
        self._data[: left.size] = left
        self._start, self._end = 0, left.size + n_wanted
        target = self._data[left.size : self._end].data
        if os.preadv(self._descriptor, [target], self._place) != n_wanted:
            raise damaged(self._path, "it ends too early")
        self._place += n_wanted
        self._n_unread -= n_wanted
