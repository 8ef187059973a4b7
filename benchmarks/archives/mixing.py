"""Numbers that look random and depend on nothing but what they are asked for."""

import numba
import numpy as np

__all__ = ["draw", "mix"]

TO_UNIT = 2.0**-53


@numba.njit(cache=True)
def mix(number: np.uint64) -> np.uint64:
    """Return another 64-bit number for each: the finaliser of SplitMix64, a bijection."""
    number ^= number >> np.uint64(30)
    number *= np.uint64(0xBF58476D1CE4E5B9)
    number ^= number >> np.uint64(27)
    number *= np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@numba.njit(cache=True)
def draw(number: np.uint64, stream: np.uint64) -> float:
    """Return a number from 0 to 1 for each number and stream."""
    mixed = mix(number + mix(stream + np.uint64(0x9E3779B97F4A7C15)))
    return np.float64(mixed >> np.uint64(11)) * TO_UNIT
