from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

NO_GROUP: int

Keys: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.int32]

def merge_crawl(
    known: Keys,
    codes: Codes,
    masks: Keys,
    n_known: int,
    keys: Keys,
    new_codes: Codes,
    crawl: int,
) -> int: ...
def sum_repeats(codes: Codes, masks: Keys, n_codes: int, n_crawls: int) -> NDArray[np.int64]: ...
def tally_groups(
    codes: Codes, masks: Keys, group_of_code: Codes, n_groups: int, n_crawls: int
) -> NDArray[np.int32]: ...
