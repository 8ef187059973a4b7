cimport cython

from crawlgauge.core.words cimport is_same, memcpy, u8, u32, u64

cdef enum:
    NO_MEMORY = 0xFFFFFFFF
    LONGEST_REMEMBERED = 64


cdef struct Remembered:
    u32 length
    u32 number
    u8[LONGEST_REMEMBERED] text


@cython.final  # without it each call of a method would go through a table of pointers
cdef class TextTable:
    """Texts numbered in the order of their first appearance; open addressing, owned memory."""
    cdef u32* slots       # number of a text + 1, or 0 where a slot is free
    cdef u64* hashes      # of each text
    cdef u64* starts      # of each text in `bytes`, and where the last one ends
    cdef u8* bytes
    cdef u64 n_slots, n_bytes, bytes_room
    cdef u32 n_texts
    # Lines that follow each other mostly have the same host, and one of few media types: the
    # last text of each length (modulo 16) is tried first.
    cdef Remembered[16] last

    cdef inline u32 number_of(self, const u8* text, u32 length) noexcept nogil:
        """Return the number of a text, a new one if need be, or `NO_MEMORY`."""
        cdef Remembered* last = &self.last[length & 15]
        if length and length == last.length and is_same(text, last.text, length):
            return last.number
        return self._look_up_and_remember(text, length)

    cdef int order(self, u32 one, u32 other) noexcept nogil
    cdef u32 _look_up_and_remember(self, const u8* text, u32 length) noexcept nogil
    cdef u32 _look_up(self, const u8* text, u32 length) noexcept nogil
    cdef u64 _free_slot(self, u64 digest) noexcept nogil
    cdef bint _grow_slots(self) noexcept nogil
    cdef bint _reserve_bytes(self, u64 length) noexcept nogil
