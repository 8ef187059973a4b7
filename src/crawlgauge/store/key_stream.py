"""The keys of a set in rising order, decoded straight to where they are wanted.

Arrow would decode a whole row group into new memory each time: asking the system for that memory,
and copying the keys from there, takes several times as long as decoding.
"""

from types import TracebackType
from typing import Self

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS, WHOLE
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store import delta_kernel, page_kernel
from crawlgauge.store.set_file import SetReader
from crawlgauge.store.stored_files import damaged, missing, open_bytes, unreadable

__all__ = ["SLACK", "KeyStream", "read_smallest"]

SLACK = delta_kernel.MAX_BLOCK
"""How much more room `KeyStream.take` may need than there are keys."""

_READ_BYTES = 1 << 20
_PASSED_KEYS = 1 << 16
_MAX_PAGES = 64
_DATA_PAGE, _DELTA = 0, 5
"""A page of the older form, and its encoding; see `page_kernel`."""
_ENCODINGS = {"DELTA_BINARY_PACKED", "RLE"}


class KeyStream:
    """Hands out the keys of a set.

    Parameters
    ----------
    path
        The set's file.
    low
        The least key that is wanted; what stands before its row group is not read.
    stop
        Keys below it will be asked for, most likely no others.

    Raises
    ------
    StoreError
        If the file is missing, damaged or of another format.
    """

    def __init__(self, path: AnyPath, *, low: int = 0, stop: int = WHOLE) -> None:
        self._path = path
        self._reader = SetReader(path)
        self._file = self._reader.file
        self._bytes = open_bytes(path, lambda: self._foresee_end(stop))
        self._group = (low >> (KEY_BITS - self._reader.description.range_bits)) - 1
        self._data = np.empty(0, dtype=np.uint8)
        self._start = self._end = 0
        """Where the next page begins in what has been read from the file, and where that ends."""
        self._place = self._n_unread = 0
        """Where in the file the row group goes on, and how many bytes of it are left there."""
        self._n_expected = 0
        self._room_for_pages = np.empty((_MAX_PAGES, page_kernel.N_FACTS), dtype=np.int64)
        self._pages = self._room_for_pages[:0]
        self._state = np.zeros(delta_kernel.N_STATES, dtype=np.uint64)
        self._room = np.empty(delta_kernel.MAX_BLOCK, dtype=np.uint64)
        self._rest = self._room[:0]
        if low:
            self._pass_over(low)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bytes.close()

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
            if self._rest.size:
                n_taken = min(int(np.searchsorted(self._rest, last, side="right")), stop - place)
                out[place : place + n_taken] = self._rest[:n_taken]
                place += n_taken
                self._rest = self._rest[n_taken:]
                if self._rest.size:
                    return place, bool(self._rest[0] > last)
            place, n_rest, why = delta_kernel.decode_keys(
                self._data, self._pages, last, self._state, out, place, stop, self._room
            )
            self._rest = self._room[:n_rest]
            if why == delta_kernel.FULL:
                return place, False
            if why == delta_kernel.WRONG:
                raise damaged(self._path, "a page is not what its header says")
            if why == delta_kernel.OVER and not (self._find_pages() or self._begin_group()):
                return place, True

    def _pass_over(self, low: int) -> None:
        """Take the keys of the first row group that are too small, for nobody."""
        scratch, is_over = np.empty(_PASSED_KEYS + SLACK, dtype=np.uint64), False
        while not is_over:
            _, is_over = self.take(low, scratch, 0, _PASSED_KEYS)

    def _begin_group(self) -> bool:
        """Go to the next row group; tell whether there is one."""
        if self._n_expected:
            raise damaged(self._path, f"{self._n_expected:,} keys are missing")
        if self._group + 1 >= self._file.metadata.num_row_groups:
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

    def _find_pages(self) -> bool:
        """Go to the next pages of the row group; tell whether there are any."""
        if self._start == self._end and not self._n_unread:
            return False
        n_missing = 0
        while True:
            n_pages, start, n_missing = page_kernel.find_pages(
                self._data, self._start, self._end, self._room_for_pages
            )
            if n_pages:
                break
            if not self._n_unread:
                raise damaged(self._path, "a page ends too early")
            self._read_more(n_missing)
        self._start = start
        self._pages = self._room_for_pages[:n_pages]
        self._state[:] = 0
        self._check_pages()
        return True

    def _check_pages(self) -> None:
        for facts in self._pages.tolist():
            if facts[page_kernel.KIND] != _DATA_PAGE or facts[page_kernel.ENCODING] != _DELTA:
                raise damaged(self._path, "it has a page of a kind that was not announced")
            start, checksum = facts[page_kernel.START], facts[page_kernel.CHECKSUM]
            content = self._data[start : start + facts[page_kernel.N_BYTES]].data
            is_told = checksum != page_kernel.MISSING
            if is_told and isal_zlib.crc32(content) != checksum & 0xFFFFFFFF:
                raise damaged(self._path, "the checksum of a page is wrong")
            self._n_expected -= facts[page_kernel.N_KEYS]
        if self._n_expected < 0:
            raise damaged(self._path, "it has more keys than announced")

    def _read_more(self, n_bytes: int) -> None:
        """Read at least so much more of the row group, if it has it, behind what is there."""
        left = self._data[self._start : self._end].copy()
        n_wanted = min(max(n_bytes, _READ_BYTES), self._n_unread)
        if left.size + n_wanted + delta_kernel.ROOM > self._data.size:
            self._data = np.zeros(left.size + n_wanted + delta_kernel.ROOM, dtype=np.uint8)
        self._data[: left.size] = left
        self._start, self._end = 0, left.size + n_wanted
        target = self._data[left.size : self._end].data
        try:
            n_read = self._bytes.read_into(target, self._place)
        except FileNotFoundError:
            raise missing(self._path) from None
        except OSError as error:
            raise unreadable(self._path, error) from error
        if n_read != n_wanted:
            raise damaged(self._path, "it ends too early")
        self._place += n_wanted
        self._n_unread -= n_wanted

    def _foresee_end(self, stop: int) -> int:
        """Return the byte of the file before which the keys below `stop` end, most likely."""
        metadata, end = self._file.metadata, 0
        width = KEY_BITS - self._reader.description.range_bits
        for group in range(metadata.num_row_groups):
            start = group << width
            if start >= stop:
                break
            column = metadata.row_group(group).column(0)
            # Keys are hashes, and lie everywhere equally dense.
            share = min(1.0, (stop - start) / (1 << width))
            end = column.data_page_offset + int(share * column.total_compressed_size)
        return end


def read_smallest(path: AnyPath, n_keys: int, stop: int) -> NDArray[np.uint64]:
    """Return the smallest keys of a set.

    Parameters
    ----------
    path
        The set's file.
    n_keys
        How many.
    stop
        What they are all below.

    Raises
    ------
    StoreError
        If the set has fewer, or cannot be read.
    """
    keys = np.empty(n_keys + SLACK, dtype=np.uint64)
    with KeyStream(path, stop=stop) as stream:
        n_found, _ = stream.take(stop, keys, 0, keys.size)
    if n_found < n_keys:
        raise damaged(path, f"it has fewer than {n_keys:,} keys below {stop:#x}")
    return keys[:n_keys]
