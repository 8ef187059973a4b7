from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.texts import TextTable

Keys: TypeAlias = NDArray[np.uint64]

class MaskCounts:
    n_sets: int
    def __init__(self, n_sets: int) -> None: ...
    def __len__(self) -> int: ...
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]: ...
    def add(self, masks: NDArray[np.uint64], counts: NDArray[np.int64]) -> None: ...

def count_masks(
    parts: list[tuple[int | None, Keys, Keys | None]],
    low: int,
    width: int,
    counts: MaskCounts | NDArray[np.int64],
    index: tuple[Keys, Keys] | None = None,
) -> int: ...
def sort_unique(parts: list[Keys]) -> Keys: ...
def first_captures(
    parts: list[NDArray[np.void]], hosts: TextTable, types: TextTable
) -> NDArray[np.void]: ...
def renumber(
    codes: NDArray[np.int32], n_codes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
