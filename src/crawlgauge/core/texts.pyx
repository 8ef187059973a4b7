"""A dictionary from short texts to numbers that needs no GIL."""
cimport cython
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp

from crawlgauge.core.words cimport is_same, memcpy, u8, u32, u64
from crawlgauge.core.xxh64 cimport xxh64

cdef enum:
    FIRST_SLOTS = 1 << 12
    FIRST_BYTES = 1 << 16


@cython.final
cdef class TextTable:
    def __cinit__(self):
        self.n_slots = FIRST_SLOTS // 2
        self.starts = <u64*> calloc(1, sizeof(u64))
        if self.starts == NULL or not self._grow_slots() or not self._reserve_bytes(FIRST_BYTES):
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.hashes)
        free(self.starts)
        free(self.bytes)

    def __len__(self):
        return self.n_texts

    def number(self, bytes text not None):
        """Return the number of a text, a new one if need be."""
        cdef u32 number = self.number_of(text, len(text))
        if number == NO_MEMORY:
            raise MemoryError
        return number

    def texts(self, u32 first=0):
        """Return the texts from a number on, in the order of their numbers."""
        cdef u32 number
        return [
            self.bytes[self.starts[number] : self.starts[number + 1]]
            for number in range(first, self.n_texts)
        ]

    cdef int order(self, u32 one, u32 other) noexcept nogil:
        """Return a number below, equal to or above 0 as one text sorts before the other."""
        cdef u64 length = self.starts[one + 1] - self.starts[one]
        cdef u64 other_length = self.starts[other + 1] - self.starts[other]
        cdef int found = memcmp(
            self.bytes + self.starts[one],
            self.bytes + self.starts[other],
            min(length, other_length),
        )
        return found if found else (length > other_length) - (length < other_length)

    cdef u32 _look_up_and_remember(self, const u8* text, u32 length) noexcept nogil:
        cdef u32 number = self._look_up(text, length)
        if length <= LONGEST_REMEMBERED and number != NO_MEMORY:
            memcpy(self.last[length & 15].text, text, length)
            self.last[length & 15].length = length
            self.last[length & 15].number = number
        return number

    cdef u32 _look_up(self, const u8* text, u32 length) noexcept nogil:
        cdef u64 digest = xxh64(text, length)
        cdef u64 slot = digest & (self.n_slots - 1)
        cdef u32 number
        while self.slots[slot]:
            number = self.slots[slot] - 1
            if (
                self.hashes[number] == digest
                and self.starts[number + 1] - self.starts[number] == length
                and is_same(self.bytes + self.starts[number], text, length)
            ):
                return number
            slot = (slot + 1) & (self.n_slots - 1)
        if 2 * (self.n_texts + 1) > self.n_slots and not self._grow_slots():
            return NO_MEMORY
        if not self._reserve_bytes(length):
            return NO_MEMORY
        number = self.n_texts
        memcpy(self.bytes + self.n_bytes, text, length)
        self.n_bytes += length
        self.hashes[number] = digest
        self.starts[number + 1] = self.n_bytes
        self.slots[self._free_slot(digest)] = number + 1
        self.n_texts += 1
        return number

    cdef u64 _free_slot(self, u64 digest) noexcept nogil:
        cdef u64 slot = digest & (self.n_slots - 1)
        while self.slots[slot]:
            slot = (slot + 1) & (self.n_slots - 1)
        return slot

    cdef bint _grow_slots(self) noexcept nogil:
        """Double the slots; at most half of them are ever taken. False if memory is short."""
        cdef u64 n_slots = 2 * self.n_slots
        cdef void* hashes = realloc(self.hashes, n_slots // 2 * sizeof(u64))
        if hashes != NULL:
            self.hashes = <u64*> hashes
        cdef void* starts = realloc(self.starts, (n_slots // 2 + 1) * sizeof(u64))
        if starts != NULL:
            self.starts = <u64*> starts
        cdef u32* slots = <u32*> calloc(n_slots, sizeof(u32))
        if hashes == NULL or starts == NULL or slots == NULL:
            free(slots)
            return False
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        cdef u32 number
        for number in range(self.n_texts):
            self.slots[self._free_slot(self.hashes[number])] = number + 1
        return True

    cdef bint _reserve_bytes(self, u64 length) noexcept nogil:
        cdef u64 room = max(self.bytes_room, <u64> FIRST_BYTES)
        while room - self.n_bytes < length:
            room *= 2
        if room == self.bytes_room:
            return True
        cdef void* bytes = realloc(self.bytes, room)
        if bytes == NULL:
            return False
        self.bytes = <u8*> bytes
        self.bytes_room = room
        return True
