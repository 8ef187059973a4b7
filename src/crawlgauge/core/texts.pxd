cimport cython

from crawlgauge.core.words cimport Span, is_same, u8, u32, u64

cdef enum:
    LONGEST_REMEMBERED = 64


cdef struct Remembered:
    Py_ssize_t length
    int number
    u8[LONGEST_REMEMBERED] text


@cython.final  # without it each call of a method would go through a table of pointers
cdef class TextTable:
    """Texts numbered in the order of their first appearance; open addressing."""
    # Of each text its number + 1 and the upper half of its hash, whose lower half tells the slot:
    # most slots that are not its own are passed over without a look at their texts; 0 if free.
    cdef u64[::1] slots
    cdef u64[::1] starts  # of each text in `bytes`, and where the last one ends
    cdef u8[::1] bytes
    cdef u32 n_texts
    # Lines that follow each other mostly have the same host, and one of few media types: the
    # last text of each length (modulo 16) is tried first.
    cdef Remembered[16] last

    cdef inline int number_of(self, Span text) except -1 nogil:
        """Return the number of a text, a new one if need be."""
        cdef Py_ssize_t length = text.end - text.start
        cdef Remembered* last = &self.last[length & 15]
        if length and length == last.length and is_same(text.start, last.text, length):
            return last.number
        return self._look_up(text)

    cdef int order(self, u32 one, u32 other) noexcept nogil
    cdef int _look_up(self, Span text) except -1 nogil
    cdef u32 _add(self, Span text, u64 digest) except? 0 nogil
    cdef void _enter(self, u32 number, u64 digest) noexcept nogil
    cdef Span _text(self, u32 number) noexcept nogil
    cdef int _grow(self) except -1 with gil
    cdef int _reserve(self, u64 n_bytes) except -1 with gil
