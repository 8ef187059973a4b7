"""Numbers as Arrow columns, without what Arrow does to find out what they are.

`pyarrow.array` would import pandas to see whether it was given some of that, if it is installed:
half a second for those who only add a crawl.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["to_column"]


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
        validity = pa.py_buffer(np.packbits(~is_missing, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [validity, data])
