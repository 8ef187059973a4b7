"""XXH64 with the seed that keys have, of bytes anywhere in memory."""
from crawlgauge.core.words cimport load32, load64, rotate, u8, u64

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
