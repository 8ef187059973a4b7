"""Read capture times as archives write them, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.words import load_word

__all__ = ["NO_TIME", "are_digits", "is_usual", "parse_time", "parse_usual"]

NO_TIME = np.iinfo(np.int64).min
"""Stands for a time that is missing or cannot be read; numpy's and Arrow's "not a time"."""

_MIN_YEAR, _MAX_YEAR = 1990, 2200
"""Before the web, and after all of us, a time is a mistake."""

_DASH, _COLON, _PLUS, _DOT, _ZERO, _NINE = 0x2D, 0x3A, 0x2B, 0x2E, 0x30, 0x39
_SEPARATORS = np.frombuffer(b"--T::", dtype=np.uint8)
_SPACE, _LETTER_T, _LOWER_T, _LOWER_Z = 0x20, 0x54, 0x74, 0x7A
_N_PARTS = 6
_USUAL_BYTES = 14
_WORD = 8
_HIGH_HALVES = np.uint64(0xF0F0F0F0F0F0F0F0)
_THREES = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
_TEN = np.uint64(10)
_BYTE_BITS = np.uint64(8)
_LOW_BYTE = np.uint64(0xFF)
_FIRST_DAYS = np.arange(f"{_MIN_YEAR}-01", f"{_MAX_YEAR + 1}-02", dtype="datetime64[M]")
_FIRST_DAYS = _FIRST_DAYS.astype("datetime64[D]").astype(np.int64)
"""The first day of each month, counted from 1970-01-01."""
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], dtype=np.int64)


@compiled
def parse_time(block: NDArray[np.uint8], start: int, end: int, parts: NDArray[np.int64]) -> int:
    """Return the seconds since 1970 of a time in UTC, or `NO_TIME`.

    It is written as 4 to 17 digits (``20131215``, ``20131215060708``; what is missing is the
    first of its kind) or as in ISO 8601 (``2013-12-15T06:07:08.123Z``). `parts` is room for six
    numbers.
    """
    if start < 0:
        return NO_TIME
    parts[:] = 0
    parts[1] = parts[2] = 1
    place, is_iso = start, False
    for part in range(_N_PARTS):
        width = 4 if part == 0 else 2
        parts[part] = _read_digits(block, place, place + width, end)
        place += width
        if parts[part] < 0 or place == end:
            break
        if part == 0:
            is_iso = block[place] == _DASH
        if is_iso and part < _N_PARTS - 1:
            if not _separates(block[place], part):
                break
            place += 1
    if parts.min() < 0:
        return NO_TIME
    seconds = _to_seconds(parts)
    if place == end or seconds == NO_TIME:
        return seconds
    if is_iso:
        return _add_zone(block, place, end, seconds)
    # Up to three digits of a second may follow.
    is_fraction = end - place <= 3 and _read_digits(block, place, end, end) >= 0
    return seconds if is_fraction else NO_TIME


@compiled
def are_digits(word: np.uint64) -> bool:
    """Tell whether the eight bytes of a word are digits."""
    # Only a digit has 3 as its high half and still has it if 6 is added.
    is_near = word & _HIGH_HALVES == _THREES
    return bool(is_near and (word + _SIXES) & _HIGH_HALVES == _THREES)


@compiled
def is_usual(block: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether a time is written as 14 digits."""
    return (
        end - start == _USUAL_BYTES
        and are_digits(load_word(block, start))
        and are_digits(load_word(block, end - _WORD))
    )


@compiled
def parse_usual(date: np.uint64, clock: np.uint64) -> int:
    """Return the same as `parse_time`, of the first eight and the last eight of 14 digits."""
    date, clock = _read_pairs(date), _read_pairs(clock)
    year = 100 * _pair(date, 0) + _pair(date, 1)
    month, day = _pair(date, 2), _pair(date, 3)
    hour, minute, second = _pair(clock, 1), _pair(clock, 2), _pair(clock, 3)
    if not _MIN_YEAR <= year <= _MAX_YEAR or not 1 <= month <= 12:
        return NO_TIME
    number = 12 * (year - _MIN_YEAR) + month - 1
    first, n_days = _FIRST_DAYS[number], _FIRST_DAYS[number + 1] - _FIRST_DAYS[number]
    # A leap second counts as the second after it.
    if not 1 <= day <= n_days or hour > 23 or minute > 59 or second > 60:
        return NO_TIME
    return int(86400 * (first + day - 1) + 3600 * hour + 60 * minute + second)


@compiled
def _read_pairs(word: np.uint64) -> np.uint64:
    """Return the numbers that each two of eight digits make, each in the place of the second."""
    digits = word & ~_HIGH_HALVES
    return digits * _TEN + (digits >> _BYTE_BITS)


@compiled
def _pair(word: np.uint64, number: int) -> int:
    return int((word >> np.uint64(16 * number)) & _LOW_BYTE)


@compiled
def _read_digits(block: NDArray[np.uint8], start: int, stop: int, end: int) -> int:
    """Return the number that stands at ``start..stop``, or −1 if none does before `end`."""
    if stop > end:
        return -1
    number = 0
    for place in range(start, stop):
        if not _ZERO <= block[place] <= _NINE:
            return -1
        number = 10 * number + int(block[place]) - _ZERO
    return number


@compiled
def _separates(byte: int, part: int) -> bool:
    if part == 2:
        return byte == _LETTER_T or byte == _SPACE or byte == _LOWER_T
    return bool(byte == _SEPARATORS[part])


@compiled
def _add_zone(block: NDArray[np.uint8], place: int, end: int, seconds: int) -> int:
    """Pass over the fraction of an ISO time and take its zone into account."""
    if block[place] == _DOT:
        place += 1
        while place < end and _ZERO <= block[place] <= _NINE:
            place += 1
    if place == end or (place + 1 == end and (block[place] | 0x20) == _LOWER_Z):
        return seconds
    sign = block[place]
    hours = _read_digits(block, place + 1, place + 3, end)
    place += 3
    if place < end and block[place] == _COLON:
        place += 1
    minutes = 0 if place == end else _read_digits(block, place, place + 2, end)
    is_zone = (sign == _PLUS or sign == _DASH) and hours >= 0 and minutes >= 0
    if not is_zone or (place != end and place + 2 != end):
        return NO_TIME
    offset = 3600 * hours + 60 * minutes
    return seconds - offset if sign == _PLUS else seconds + offset


@compiled
def _to_seconds(parts: NDArray[np.int64]) -> int:
    year, month, day = parts[0], parts[1], parts[2]
    if not _MIN_YEAR <= year <= _MAX_YEAR or not 1 <= month <= 12:
        return NO_TIME
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    n_days = _DAYS[month - 1] + (1 if month == 2 and is_leap else 0)
    # A leap second counts as the second after it.
    if not 1 <= day <= n_days or parts[3] > 23 or parts[4] > 59 or parts[5] > 60:
        return NO_TIME
    # Days since 1970-01-01, counted in years that begin in March.
    shifted = year - (1 if month <= 2 else 0)
    era = shifted // 400
    year_of_era = shifted - 400 * era
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = 365 * year_of_era + year_of_era // 4 - year_of_era // 100 + day_of_year
    days = 146097 * era + day_of_era - 719468
    return int(86400 * days + 3600 * parts[3] + 60 * parts[4] + parts[5])
