"""A column of texts as places in one buffer: taken from a block as they stand there, not copied."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.arrow_columns import find_missing, to_bitmap
from crawlgauge.compiled import compiled
from crawlgauge.words import copy_bytes

__all__ = ["Texts"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Texts:
    """Texts of a batch, one for each capture.

    Parameters
    ----------
    data
        The buffer.
    starts, ends
        Text k is ``data[starts[k]:ends[k]]``; both are −1 where there is none.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    def __post_init__(self) -> None:
        # Numba compiles anew for arrays that can be written to, and nobody needs to.
        for array in (self.data, self.starts, self.ends):
            array.flags.writeable = False

    @classmethod
    def of(cls, column: "Texts | pa.Array") -> "Texts":
        """Return texts as they are, or an Arrow binary column as it stands in its buffers.

        Raises
        ------
        TypeError
            If the column is of another type.
        """
        if isinstance(column, Texts):
            return column
        if column.type != pa.binary():
            raise TypeError(f"a column of texts must be {pa.binary()}, not {column.type}")
        _, offset_buffer, data_buffer = column.buffers()
        first, last = column.offset, column.offset + len(column)
        offsets = np.frombuffer(offset_buffer or b"", dtype=np.int32)
        starts, ends = offsets[first:last], offsets[first + 1 : last + 1]
        if column.null_count:
            is_null = find_missing(column)
            starts, ends = (np.where(is_null, np.int32(-1), places) for places in (starts, ends))
        # A column of empty texts only has no data buffer at all.
        return cls(
            data=np.frombuffer(data_buffer or b"\0", dtype=np.uint8), starts=starts, ends=ends
        )

    def __len__(self) -> int:
        return self.starts.size

    def __getitem__(self, number: int) -> bytes | None:
        start, end = int(self.starts[number]), int(self.ends[number])
        return None if start < 0 else self.data[start:end].tobytes()

    @property
    def null_count(self) -> int:
        """How many captures have no text."""
        return int(np.count_nonzero(self.starts < 0))

    def take(self, chosen: NDArray[np.int64]) -> "Texts":
        """Return the texts of some captures, by their numbers."""
        return Texts(data=self.data, starts=self.starts.take(chosen), ends=self.ends.take(chosen))

    def to_arrow(self) -> pa.Array:
        """Return the texts as an Arrow binary column, which has a copy of them."""
        offsets = np.empty(len(self) + 1, dtype=np.int32)
        np.cumsum(self.ends - self.starts, out=offsets[1:])
        offsets[0] = 0
        data = np.empty(int(offsets[-1]), dtype=np.uint8)
        _copy_texts(self.data, self.starts, self.ends, data)
        is_missing = self.starts < 0
        validity = to_bitmap(~is_missing) if is_missing.any() else None
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.binary(), len(self), buffers)

    def to_pylist(self) -> list[bytes | None]:
        """Return the texts as Python objects."""
        found: list[bytes | None] = self.to_arrow().to_pylist()
        return found


@compiled
def _copy_texts(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    target: NDArray[np.uint8],
) -> None:
    n_bytes = 0
    for number in range(starts.size):
        start, end = int(np.int64(starts[number])), int(np.int64(ends[number]))
        if start < end:
            copy_bytes(data, start, end, target, n_bytes)
            n_bytes += end - start
