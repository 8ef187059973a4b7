from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import Captures

REASONS: tuple[str, ...]

class Collector:
    # Settings are those of crawlgauge.sources.what_counts, a room that stands above this one.
    def __init__(self, settings: object, sink: Callable[[Captures], None]) -> None: ...
    def begin(
        self,
        *,
        has_status: bool = True,
        has_type: bool = True,
        has_time: bool = True,
        has_pages: bool = False,
    ) -> None: ...
    def limit_keys(self, threshold: int) -> None: ...
    def limit_rows(self, threshold: int) -> None: ...
    def add(
        self,
        url: bytes | None,
        *,
        key: bytes | None = None,
        time: bytes | None = None,
        status: bytes | None = None,
        mime: bytes | None = None,
        digest: bytes | None = None,
        group: bytes | None = None,
        text: int = 0,
        is_revisit: bool = False,
    ) -> str | None: ...
    def reject(self, reason: str) -> None: ...
    def exclude(self, reason: str, n_records: int = 1) -> None: ...
    def flush(self) -> None: ...

def hash_text(text: bytes) -> int: ...
def hash_texts(texts: Sequence[bytes]) -> NDArray[np.uint64]: ...
