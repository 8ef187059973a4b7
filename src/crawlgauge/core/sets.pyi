import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.texts import TextTable

Keys = NDArray[np.uint64]
Masks = NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64]

class MaskCounts:
    n_sets: int
    def __init__(self, n_sets: int) -> None: ...
    def __len__(self) -> int: ...
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]: ...
    def add(self, masks: NDArray[np.uint64], counts: NDArray[np.int64]) -> None: ...

def count_masks(
    parts: list[tuple[int | None, Keys, Masks | None]],
    low: int,
    width: int,
    counts: MaskCounts,
    index: tuple[Keys, Masks] | None = None,
) -> int: ...
def count_pairs(parts: list[Keys], low: int, width: int, n_shared: NDArray[np.int64]) -> None: ...
def first_captures(
    rows: NDArray[np.void], hosts: TextTable, types: TextTable
) -> NDArray[np.void]: ...
