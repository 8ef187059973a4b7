from typing import Final

import numpy as np
from numpy.typing import NDArray

RULES: Final[tuple[str, ...]]

def crawl_frontier(
    starts: NDArray[np.int64],
    targets: NDArray[np.int32],
    hosts: NDArray[np.int32],
    seeds: NDArray[np.int32],
    fails: NDArray[np.uint8],
    rule: str,
    order: NDArray[np.float64],
    delays: NDArray[np.float64],
    has_trap: NDArray[np.uint8],
    n_trap_links: int,
    budget: int,
    host_cap: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
