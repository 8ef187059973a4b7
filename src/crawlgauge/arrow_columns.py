"""Numbers as Arrow columns and back, without what Arrow does to find out what they are.

`pyarrow.array`, `to_numpy` and `fill_null` import pandas if it is installed, to see whether they
were given some of it or how it wants its values: half a second for those who only add a crawl.
"""

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["find_missing", "to_bitmap", "to_column", "to_values"]

Number = TypeVar("Number", bound=np.number[Any])


def to_column(values: NDArray[np.integer], is_missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers as a column that refers to them.

    Parameters
    ----------
    values
        Integers of any width.
    is_missing
        Where the column is null; None if nowhere.

    Examples
    --------
    >>> to_column(np.array([1, 2]), np.array([False, True])).to_pylist()
    [1, None]
    """
    validity = None
    if is_missing is not None and is_missing.any():
        validity = to_bitmap(~is_missing)
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [validity, data])


def to_bitmap(flags: NDArray[np.bool_]) -> pa.Buffer:
    """Return flags as Arrow keeps them: eight in a byte, the first in the lowest bit."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def to_values(
    column: pa.Array | pa.ChunkedArray, dtype: type[Number], *, missing: float | None = None
) -> NDArray[Number]:
    """Return the numbers of a column, to be read only.

    Parameters
    ----------
    column
        Of integers or of floating point numbers.
    dtype
        What to return them as; it must hold all of them.
    missing
        What stands for null; None if none may be.

    Raises
    ------
    ValueError
        If a value is null and nothing stands for that.

    Examples
    --------
    >>> column = to_column(np.array([1, 2]), np.array([False, True]))
    >>> to_values(column, np.int32, missing=-1).tolist()
    [1, -1]
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if column.null_count and missing is None:
        raise ValueError(f"{column.null_count} of {len(column)} values are missing")
    _, buffer = column.buffers()
    stored = np.frombuffer(buffer or b"", dtype=column.type.to_pandas_dtype())
    values = stored[column.offset : column.offset + len(column)].astype(dtype, copy=False)
    if missing is not None and column.null_count:
        values = np.where(find_missing(column), np.array(missing, dtype), values)
    # Arrow's are, and numba compiles anew for arrays that can be written to.
    values.flags.writeable = False
    return values


def find_missing(column: pa.Array) -> NDArray[np.bool_]:
    """Tell for each value of a column whether it is null.

    Examples
    --------
    >>> find_missing(to_column(np.array([1, 2]), np.array([False, True]))).tolist()
    [False, True]
    """
    if not column.null_count:
        return np.zeros(len(column), dtype=np.bool_)
    if pa.types.is_null(column.type):
        return np.ones(len(column), dtype=np.bool_)
    first, last = column.offset, column.offset + len(column)
    bitmap = np.frombuffer(column.buffers()[0], dtype=np.uint8)
    is_valid: NDArray[np.bool_] = np.unpackbits(bitmap, count=last, bitorder="little").view(
        np.bool_
    )
    return ~is_valid[first:]
