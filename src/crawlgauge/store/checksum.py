"""A checksum of sorted keys that does not depend on how they are cut into files or blocks."""

import hashlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeysChecksum"]

_N_RANGES = 256
_RANGE_SHIFT = np.uint64(56)


class KeysChecksum:
    """SHA-256 over the SHA-256 of each of 256 hash ranges of the keys.

    Ranges can be check-summed apart from each other, on several threads or machines. Within a
    range the keys enter as little-endian 64-bit words in rising order.

    Examples
    --------
    >>> import numpy as np
    >>> whole, parts = KeysChecksum(), KeysChecksum()
    >>> whole.update(np.array([1, 2, 2**63], dtype=np.uint64))
    >>> parts.update(np.array([1], dtype=np.uint64))
    >>> parts.update(np.array([2, 2**63], dtype=np.uint64))
    >>> whole.text() == parts.text()
    True
    """

    def __init__(self) -> None:
        self._ranges = [hashlib.sha256() for _ in range(_N_RANGES)]

    def update(self, keys: NDArray[np.uint64]) -> None:
        """Take in further keys, in rising order over all calls."""
        if keys.size == 0:
            return
        first, last = (int(key >> _RANGE_SHIFT) for key in (keys[0], keys[-1]))
        starts = np.arange(first + 1, last + 1, dtype=np.uint64) << _RANGE_SHIFT
        parts = np.split(keys, np.searchsorted(keys, starts))
        for number, part in enumerate(parts, start=first):
            self._ranges[number].update(np.ascontiguousarray(part, dtype="<u8").data)

    def text(self) -> str:
        """Return the checksum as text."""
        whole = hashlib.sha256()
        for part in self._ranges:
            whole.update(part.digest())
        return f"keys-sha256:{whole.hexdigest()}"
