"""Texts met a short while ago and the codes that were found for them, in compiled code."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.words import copy_bytes, load_word

__all__ = ["ROW_BYTES", "Recent", "choose_row", "make_recent", "note_recent"]

ROW_BYTES = 64
"""Longer texts are too rare to be worth the room."""

_MIN_BYTES = 8
"""Shorter texts would need other loads."""

_ROW_BITS = 14
"""Room for the spellings of some thousand hosts, and yet near the processor."""

_SCATTER = np.uint64(0x9E3779B185EBCA87)
"""An odd number without pattern: its products' leading bits depend on all bits."""


class Recent(NamedTuple):
    """A table of fixed size: a text stands in the row that its bytes choose, or nowhere.

    A text of n bytes stands in its row if ``found[row, 0] == n`` and it `is_same` as the first
    bytes of the row; then its code is ``found[row, 1]``. Kernels ask so themselves: a function
    with all these arrays would not be inlined, and calling it takes twice as long as asking.

    Parameters
    ----------
    texts
        For each row `ROW_BYTES` bytes.
    found
        For each row the length of its text, −1 if there is none, and the code.
    """

    texts: NDArray[np.uint8]
    found: NDArray[np.int32]


def make_recent() -> Recent:
    """Make an empty table."""
    return Recent(
        texts=np.empty(ROW_BYTES << _ROW_BITS, dtype=np.uint8),
        found=np.full((1 << _ROW_BITS, 2), -1, dtype=np.int32),
    )


@compiled
def choose_row(data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the row in which ``data[start:end]`` may stand; −1 for a text that is not noted."""
    if not _MIN_BYTES <= end - start <= ROW_BYTES:
        return -1
    # Three words tell nearly all texts apart: URLs differ little in their first eight bytes.
    mixed = load_word(data, end - 8) * _SCATTER
    mixed ^= load_word(data, min(start + 8, end - 8)) ^ load_word(data, max(start, end - 16))
    return int(np.int64((mixed * _SCATTER) >> np.uint64(64 - _ROW_BITS)))


@compiled
def note_recent(
    texts: NDArray[np.uint8],
    found: NDArray[np.int32],
    row: int,
    data: NDArray[np.uint8],
    start: int,
    end: int,
    code: int,
) -> None:
    """Note the code of ``data[start:end]`` in the row that `choose_row` gave."""
    if row >= 0:
        copy_bytes(data, start, end, texts, row * ROW_BYTES)
        found[row, 0] = end - start
        found[row, 1] = code
