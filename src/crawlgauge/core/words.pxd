"""Bytes in memory: read eight at a time, searched, compared, hashed.

Nothing here reads at or behind `end`: no padding is assumed. The functions stand in a .pxd so that
each module that cimports them gets its own inlined copy.
"""
from libc.stdint cimport (
    int16_t as i16, int32_t as i32, int64_t as i64,
    uint8_t as u8, uint16_t as u16, uint32_t as u32, uint64_t as u64,
)
from libc.string cimport memchr, memcmp, memcpy

cdef extern from *:
    # True constants: a module-level `cdef u64` is a variable that C reads again and again.
    """
    #include <stdint.h>
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error "words are read as little-endian"
    #endif
    static const uint64_t EVERY_BYTE = 0x0101010101010101u;
    static const uint64_t HIGH_BITS = 0x8080808080808080u;
    #define LOWEST_BIT(x) __builtin_ctzll(x)

    /* The first place of one of two bytes or of one that is not above `highest`, or `end`. What
       every x86-64 processor has compares sixteen bytes at once; others go one by one. */
    #ifdef __SSE2__
    #include <emmintrin.h>
    #endif
    static inline const uint8_t* find_any(
        const uint8_t* place, const uint8_t* end, uint8_t one, uint8_t other, uint8_t highest)
    {
    #ifdef __SSE2__
        const __m128i all_one = _mm_set1_epi8((char) one), all_other = _mm_set1_epi8((char) other);
        const __m128i all_highest = _mm_set1_epi8((char) highest);
        while (end - place >= 16) {
            __m128i bytes = _mm_loadu_si128((const __m128i*) place);
            int marks = _mm_movemask_epi8(_mm_or_si128(
                _mm_cmpeq_epi8(_mm_min_epu8(bytes, all_highest), bytes), _mm_or_si128(
                    _mm_cmpeq_epi8(bytes, all_one), _mm_cmpeq_epi8(bytes, all_other))));
            if (marks) return place + __builtin_ctz(marks);
            place += 16;
        }
    #endif
        while (place < end && *place != one && *place != other && *place > highest) place++;
        return place;
    }
    """
    const u64 EVERY_BYTE
    const u64 HIGH_BITS
    int LOWEST_BIT(u64) noexcept nogil
    const u8* find_any(const u8*, const u8*, u8, u8, u8) noexcept nogil


cdef struct Span:
    # A text that stands somewhere in memory; one that is missing has no start.
    const u8* start
    const u8* end


cdef inline Span span_of(bytes text):
    """Return where a Python object's bytes are, for as long as the object lives."""
    cdef Span span
    if text is None:
        span.start = span.end = NULL
    else:
        span.start = text
        span.end = span.start + len(text)
    return span


cdef inline bytes bytes_of(Span text):
    return None if text.start == NULL else text.start[: text.end - text.start]


cdef inline u64 load64(const u8* place) noexcept nogil:
    cdef u64 word
    memcpy(&word, place, 8)  # compiles to one load, aligned or not
    return word


cdef inline u32 load32(const u8* place) noexcept nogil:
    cdef u32 word
    memcpy(&word, place, 4)
    return word


cdef inline u64 rotate(u64 word, int n_bits) noexcept nogil:
    return (word << n_bits) | (word >> (64 - n_bits))


cdef inline u64 mark_byte(u64 word, u8 byte) noexcept nogil:
    """Set the high bit of each byte that equals `byte`; bits above the first may be false."""
    cdef u64 other = word ^ (byte * EVERY_BYTE)
    return (other - EVERY_BYTE) & ~other & HIGH_BITS


cdef inline const u8* find_near(const u8* place, const u8* end, u8 byte) noexcept nogil:
    """Return the first place of a byte that is expected within a word or two, or `end`."""
    cdef u64 marks
    while end - place >= 8:
        marks = mark_byte(load64(place), byte)
        if marks:
            return place + (LOWEST_BIT(marks) >> 3)
        place += 8
    while place < end and place[0] != byte:
        place += 1
    return place


cdef inline const u8* find_far(const u8* place, const u8* end, u8 byte) noexcept nogil:
    """Return the first place of a byte that may be far away, or `end`.

    The C library chooses the widest vectors that the processor has, whatever we compile for.
    """
    if place == end:
        return end
    cdef const u8* found = <const u8*> memchr(place, byte, end - place)
    return found if found != NULL else end


cdef inline bint is_same(const u8* one, const u8* other, Py_ssize_t length) noexcept nogil:
    return memcmp(one, other, length) == 0


cdef inline bint is_text(Span text, const char* word, Py_ssize_t length) noexcept nogil:
    """Tell whether a text is this word."""
    return text.end - text.start == length and is_same(text.start, <const u8*> word, length)


cdef inline bint is_space(u8 byte) noexcept nogil:
    """Tell whether a byte is white space of ASCII."""
    return byte == c" " or c"\t" <= byte <= c"\r"


cdef inline Span trimmed(Span text) noexcept nogil:
    """Return a text without the white space around it."""
    while text.start < text.end and is_space(text.start[0]):
        text.start += 1
    while text.end > text.start and is_space((text.end - 1)[0]):
        text.end -= 1
    return text


cdef inline u8 lower(u8 byte) noexcept nogil:
    return byte | (<u8> (<u8> (byte - c"A") < 26) << 5)


cdef inline bint begins(Span text, const char* word, int length) noexcept nogil:
    """Tell whether a word in lower case begins a text, in any case."""
    cdef int number
    if text.end - text.start < length:
        return False
    for number in range(length):
        if lower(text.start[number]) != <u8> word[number]:
            return False
    return True


# Minima of bytes become vector instructions on every processor, while gcc makes a bit test of
# ``byte == c"%" or ...``, which it cannot vectorise.


cdef inline u8 nearer(u8 one, u8 other) noexcept nogil:
    return one if one < other else other


cdef inline u8 beyond(u8 byte, u8 last) noexcept nogil:
    """Return how far a byte is beyond the last one, or zero."""
    return byte - nearer(byte, last)


cdef inline bint is_digit(u8 byte) noexcept nogil:
    return c"0" <= byte <= c"9"


cdef inline bint are_digits(u64 word) noexcept nogil:
    """Tell whether all eight bytes are decimal digits."""
    cdef u64 high = <u64> 0xF0 * EVERY_BYTE
    return ((word & high) | (((word + 0x06 * EVERY_BYTE) & high) >> 4)) == 0x33 * EVERY_BYTE


cdef inline u32 two_digits(const u8* place) noexcept nogil:
    return 10 * (place[0] - c"0") + (place[1] - c"0")


# --------------------------------------------------------------- XXH64 with the seed that keys have

cdef extern from *:
    """
    static const uint64_t PRIME_1 = 0x9E3779B185EBCA87u;
    static const uint64_t PRIME_2 = 0xC2B2AE3D27D4EB4Fu;
    static const uint64_t PRIME_3 = 0x165667B19E3779F9u;
    static const uint64_t PRIME_4 = 0x85EBCA77C2B2AE63u;
    static const uint64_t PRIME_5 = 0x27D4EB2F165667C5u;
    static const uint64_t SEED = 42;
    """
    const u64 PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, SEED


cdef inline u64 _round(u64 lane, u64 word) noexcept nogil:
    return rotate(lane + word * PRIME_2, 31) * PRIME_1


cdef inline u64 _merge(u64 digest, u64 lane) noexcept nogil:
    return (digest ^ _round(0, lane)) * PRIME_1 + PRIME_4


cdef inline u64 xxh64(const u8* place, Py_ssize_t length) noexcept nogil:
    cdef const u8* end = place + length
    cdef u64 digest, one, two, three, four
    if length >= 32:
        one, two, three, four = SEED + PRIME_1 + PRIME_2, SEED + PRIME_2, SEED, SEED - PRIME_1
        while end - place >= 32:
            one = _round(one, load64(place))
            two = _round(two, load64(place + 8))
            three = _round(three, load64(place + 16))
            four = _round(four, load64(place + 24))
            place += 32
        digest = rotate(one, 1) + rotate(two, 7) + rotate(three, 12) + rotate(four, 18)
        digest = _merge(_merge(_merge(_merge(digest, one), two), three), four)
    else:
        digest = SEED + PRIME_5
    digest += <u64> length
    while end - place >= 8:
        digest = rotate(digest ^ _round(0, load64(place)), 27) * PRIME_1 + PRIME_4
        place += 8
    if end - place >= 4:
        digest = rotate(digest ^ (<u64> load32(place) * PRIME_1), 23) * PRIME_2 + PRIME_3
        place += 4
    while place < end:
        digest = rotate(digest ^ (place[0] * PRIME_5), 11) * PRIME_1
        place += 1
    digest = (digest ^ (digest >> 33)) * PRIME_2
    digest = (digest ^ (digest >> 29)) * PRIME_3
    return digest ^ (digest >> 32)
