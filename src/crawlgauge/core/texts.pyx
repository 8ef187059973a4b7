"""A dictionary from short texts to numbers that needs no GIL."""
cimport cython
from libc.string cimport memcmp, memcpy

import numpy as np

from crawlgauge.core.words cimport Span, is_same, span_of, u32, u64, xxh64

cdef enum:
    FIRST_SLOTS = 1 << 12
    FIRST_BYTES = 1 << 16


@cython.final
cdef class TextTable:
    def __cinit__(self):
        self.slots = np.zeros(FIRST_SLOTS, np.uint64)
        self.starts = np.zeros(FIRST_SLOTS // 2 + 1, np.uint64)
        self.bytes = np.empty(FIRST_BYTES, np.uint8)

    def __len__(self):
        return self.n_texts

    def number(self, bytes text not None):
        """Return the number of a text, a new one if need be."""
        return self.number_of(span_of(text))

    def texts(self, u32 first=0):
        """Return the texts from a number on, in the order of their numbers."""
        cdef u32 number
        return [
            (&self.bytes[0])[self.starts[number] : self.starts[number + 1]]
            for number in range(first, self.n_texts)
        ]

    cdef Span _text(self, u32 number) noexcept nogil:
        cdef Span text
        text.start = &self.bytes[0] + self.starts[number]
        text.end = &self.bytes[0] + self.starts[number + 1]
        return text

    cdef int order(self, u32 one, u32 other) noexcept nogil:
        """Return a number below, equal to or above 0 as one text sorts before the other."""
        cdef Span text = self._text(one), second = self._text(other)
        cdef Py_ssize_t length = text.end - text.start, other_length = second.end - second.start
        cdef int found = memcmp(text.start, second.start, min(length, other_length))
        return found if found else (length > other_length) - (length < other_length)

    cdef int _look_up(self, Span text) except -1 nogil:
        cdef Py_ssize_t length = text.end - text.start
        cdef u64 digest = xxh64(text.start, length), last = self.slots.shape[0] - 1
        cdef u64 slot = digest & last
        cdef u64* slots = &self.slots[0]
        cdef u32 number
        cdef Span found
        while slots[slot]:
            if slots[slot] >> 32 == digest >> 32:
                number = <u32> slots[slot] - 1
                found = self._text(number)
                if found.end - found.start == length and is_same(found.start, text.start, length):
                    break
            slot = (slot + 1) & last
        else:
            number = self._add(text, digest)
        if length <= LONGEST_REMEMBERED:
            memcpy(self.last[length & 15].text, text.start, length)
            self.last[length & 15].length = length
            self.last[length & 15].number = number
        return number

    cdef u32 _add(self, Span text, u64 digest) except? 0 nogil:
        cdef u32 number = self.n_texts
        cdef u64 start = self.starts[number], end = start + (text.end - text.start)
        if 2 * (<Py_ssize_t> number + 1) > self.slots.shape[0]:
            self._grow()
        if end > <u64> self.bytes.shape[0]:
            self._reserve(2 * end)
        memcpy(&self.bytes[0] + start, text.start, end - start)
        self.starts[number + 1] = end
        self._enter(number, digest)
        self.n_texts += 1
        return number

    cdef void _enter(self, u32 number, u64 digest) noexcept nogil:
        cdef u64 slot = digest & (self.slots.shape[0] - 1)
        while self.slots[slot]:
            slot = (slot + 1) & (self.slots.shape[0] - 1)
        self.slots[slot] = digest >> 32 << 32 | (number + 1)

    cdef int _grow(self) except -1 with gil:
        """Double the slots; at most half of them are ever taken."""
        cdef Py_ssize_t n_slots = 2 * self.slots.shape[0]
        cdef u32 number
        cdef Span text
        self.starts = np.resize(self.starts, n_slots // 2 + 1)
        self.slots = np.zeros(n_slots, np.uint64)
        for number in range(self.n_texts):
            text = self._text(number)
            self._enter(number, xxh64(text.start, text.end - text.start))
        return 0

    cdef int _reserve(self, u64 n_bytes) except -1 with gil:
        self.bytes = np.resize(self.bytes, n_bytes)
        return 0
