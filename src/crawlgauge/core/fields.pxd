"""The fields of a record, as texts, and what they say: times and statuses."""
from crawlgauge.core.words cimport (
    Span, are_digits, i64, is_digit, load64, two_digits, u8, u32,
)

cdef enum:  # in the order of `FIELDS`; a group is what a collection is cut into crawls by
    URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP
    N_FIELDS

cdef enum:
    NO_STATUS = -1000000    # no number of five digits
    FIRST_YEAR = 1990       # before the web, and after all of us, a time is a mistake
    LAST_YEAR = 2200
    DAY_SECONDS = 86400
    FIRST_DAY = 7305        # of the first year, counted from 1970
    N_DAYS = 77066          # up to the end of the last year

cdef extern from *:
    """
    static const int64_t NO_TIME = INT64_MIN;
    """
    const i64 NO_TIME


cdef struct Fields:
    Span[N_FIELDS] texts    # missing where the record has none; dashes and the like are none
    bint is_revisit         # said by anything but the media type
    i64 seconds             # the time, where it is a number already; else `NO_TIME`
    int number              # the status, likewise; else `NO_STATUS`


cdef inline void clear_fields(Fields* fields) noexcept nogil:
    cdef int field
    for field in range(N_FIELDS):
        fields.texts[field].start = fields.texts[field].end = NULL
    fields.is_revisit = False
    fields.seconds, fields.number = NO_TIME, NO_STATUS


cdef inline bint is_none(Span text) noexcept nogil:
    """Tell whether a text stands for nothing: it is empty or a dash."""
    return text.start == text.end or (text.end - text.start == 1 and text.start[0] == c"-")


cdef inline int read_status(Span text) noexcept nogil:
    """Return a number of up to five digits, or `NO_STATUS`."""
    cdef const u8* place = text.start
    cdef bint is_negative
    cdef int number = 0
    if place == NULL or place == text.end:
        return NO_STATUS
    is_negative = place[0] == c"-"
    place += is_negative
    if place == text.end or text.end - place > 5:
        return NO_STATUS
    while place < text.end:
        if not is_digit(place[0]):
            return NO_STATUS
        number = 10 * number + (place[0] - c"0")
        place += 1
    return -number if is_negative else number


cdef inline i64 seconds_of(
    u32 year, u32 month, u32 day, u32 hour, u32 minute, u32 second
) noexcept nogil:
    """Return the seconds since 1970, or `NO_TIME`. A leap second counts as the one after it."""
    cdef u32* before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
    cdef u32 last = year - 1
    cdef bint is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12):
        return NO_TIME
    if not 1 <= day <= before[month] - before[month - 1] + (is_leap and month == 2):
        return NO_TIME
    if hour > 23 or minute > 59 or second > 60:
        return NO_TIME
    cdef i64 days = 365 * (<i64> year - 1970) + (last // 4 - last // 100 + last // 400) - 477
    days += before[month - 1] + (is_leap and month > 2) + day - 1
    return DAY_SECONDS * days + 3600 * hour + 60 * minute + second


cdef inline i64 within_days(i64 seconds) noexcept nogil:
    """Return a time, or `NO_TIME` if it is on none of the days that are counted."""
    if <i64> DAY_SECONDS * FIRST_DAY <= seconds < <i64> DAY_SECONDS * (FIRST_DAY + N_DAYS):
        return seconds
    return NO_TIME


cdef inline i64 read_time(Span text) noexcept nogil:
    """Return the seconds since 1970 of a time in UTC, or `NO_TIME`."""
    cdef const u8* place = text.start
    if place == NULL:
        return NO_TIME
    # As indexes write almost all: 20211231235959.
    if text.end - place == 14 and are_digits(load64(place)) and are_digits(load64(place + 6)):
        return within_days(seconds_of(
            100 * two_digits(place) + two_digits(place + 2),
            two_digits(place + 4),
            two_digits(place + 6),
            two_digits(place + 8),
            two_digits(place + 10),
            two_digits(place + 12),
        ))
    # A zone may lead out of the years that a time may have, as the last leap second does.
    return within_days(read_other_time(text))


cdef i64 read_other_time(Span text) noexcept nogil


cdef inline i64 time_of(Fields* fields) noexcept nogil:
    return within_days(fields.seconds) if fields.seconds != NO_TIME else read_time(fields.texts[TIME])


cdef inline int status_of(Fields* fields) noexcept nogil:
    return fields.number if fields.number != NO_STATUS else read_status(fields.texts[STATUS])
