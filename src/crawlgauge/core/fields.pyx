"""Times as archives write them: from a year to a fraction of a second, in digits or as ISO 8601."""
from crawlgauge.core.words cimport Span, i64, is_digit, span_of, u8

cdef enum:
    N_PARTS = 6         # year, month, day, hour, minute, second
    NO_NUMBER = -1


cdef int _read_digits(const u8* place, int width, const u8* end) noexcept nogil:
    cdef int number = 0, digit
    if end - place < width:
        return NO_NUMBER
    for digit in range(width):
        if not is_digit(place[digit]):
            return NO_NUMBER
        number = 10 * number + (place[digit] - c"0")
    return number


cdef bint _separates(u8 byte, int part) noexcept nogil:
    """Tell whether a byte may stand behind a part of an ISO time."""
    if part == 2:
        return byte == c"T" or byte == c"t" or byte == c" "
    return byte == (c"-" if part < 2 else c":")


cdef i64 read_other_time(Span text) noexcept nogil:
    cdef int[N_PARTS] parts = [0, 1, 1, 0, 0, 0]
    cdef const u8* place = text.start
    cdef bint is_iso = False
    cdef int part, width
    for part in range(N_PARTS):
        width = 4 if part == 0 else 2
        parts[part] = _read_digits(place, width, text.end)
        if parts[part] == NO_NUMBER:
            return NO_TIME
        place += width
        if place == text.end:
            break
        if part == 0:
            is_iso = place[0] == c"-"
        if is_iso and part < N_PARTS - 1:
            if not _separates(place[0], part):
                break
            place += 1
    cdef i64 seconds = seconds_of(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5])
    if place == text.end or seconds == NO_TIME:
        return seconds
    if is_iso:
        return _add_zone(place, text.end, seconds)
    # Up to three digits of a second may follow.
    if text.end - place <= 3 and _read_digits(place, text.end - place, text.end) != NO_NUMBER:
        return seconds
    return NO_TIME


cdef i64 _add_zone(const u8* place, const u8* end, i64 seconds) noexcept nogil:
    """Pass over the fraction of an ISO time and take its zone into account."""
    cdef int hours, minutes = 0
    cdef u8 sign
    if place[0] == c".":
        place += 1
        while place < end and is_digit(place[0]):
            place += 1
    if place == end or (place + 1 == end and (place[0] | 0x20) == c"z"):
        return seconds
    sign = place[0]
    hours = _read_digits(place + 1, 2, end)
    if (sign != c"+" and sign != c"-") or hours == NO_NUMBER:
        return NO_TIME
    place += 3
    if place < end and place[0] == c":":
        place += 1
    if place < end:
        minutes = _read_digits(place, 2, end)
        place += 2
    if minutes == NO_NUMBER or place != end:
        return NO_TIME
    return seconds - 3600 * hours - 60 * minutes if sign == c"+" else (
        seconds + 3600 * hours + 60 * minutes
    )


def parse_time(bytes text not None):
    """Return the seconds since 1970 of a time in UTC, or None if it is none."""
    cdef i64 seconds = read_time(span_of(text))
    return None if seconds == NO_TIME else seconds
