"""XXH64 with seed 42 over parts of a byte buffer: the function that Spark calls xxhash64."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.words import load_half, load_word

__all__ = ["SEED", "xxh64"]

SEED = np.uint64(42)
"""Spark's seed: sets made on a cluster and on a laptop are interchangeable."""

# Constants, rounds and avalanche of the published XXH64 specification.
_PRIME_1 = np.uint64(0x9E3779B185EBCA87)
_PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME_3 = np.uint64(0x165667B19E3779F9)
_PRIME_4 = np.uint64(0x85EBCA77C2B2AE63)
_PRIME_5 = np.uint64(0x27D4EB2F165667C5)
_STRIPE = 32


@compiled
def rotate_left(value: np.uint64, n_bits: int) -> np.uint64:
    """Rotate a word."""
    return (value << np.uint64(n_bits)) | (value >> np.uint64(64 - n_bits))


@compiled
def mix(accumulator: np.uint64, word: np.uint64) -> np.uint64:
    """Do one round."""
    return rotate_left(accumulator + word * _PRIME_2, 31) * _PRIME_1


@compiled
def xxh64(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """Return the hash of ``data[start:end]``."""
    place = start
    if end - start >= _STRIPE:
        one = SEED + _PRIME_1 + _PRIME_2
        two = SEED + _PRIME_2
        three = SEED
        four = SEED - _PRIME_1
        while place + _STRIPE <= end:
            one = mix(one, load_word(data, place))
            two = mix(two, load_word(data, place + 8))
            three = mix(three, load_word(data, place + 16))
            four = mix(four, load_word(data, place + 24))
            place += _STRIPE
        value = (
            rotate_left(one, 1)
            + rotate_left(two, 7)
            + rotate_left(three, 12)
            + rotate_left(four, 18)
        )
        value = (value ^ mix(np.uint64(0), one)) * _PRIME_1 + _PRIME_4
        value = (value ^ mix(np.uint64(0), two)) * _PRIME_1 + _PRIME_4
        value = (value ^ mix(np.uint64(0), three)) * _PRIME_1 + _PRIME_4
        value = (value ^ mix(np.uint64(0), four)) * _PRIME_1 + _PRIME_4
    else:
        value = SEED + _PRIME_5
    value += np.uint64(end - start)
    while place + 8 <= end:
        value ^= mix(np.uint64(0), load_word(data, place))
        value = rotate_left(value, 27) * _PRIME_1 + _PRIME_4
        place += 8
    if place + 4 <= end:
        value ^= load_half(data, place) * _PRIME_1
        value = rotate_left(value, 23) * _PRIME_2 + _PRIME_3
        place += 4
    while place < end:
        value ^= np.uint64(data[place]) * _PRIME_5
        value = rotate_left(value, 11) * _PRIME_1
        place += 1
    value = (value ^ (value >> np.uint64(33))) * _PRIME_2
    value = (value ^ (value >> np.uint64(29))) * _PRIME_3
    return value ^ (value >> np.uint64(32))
