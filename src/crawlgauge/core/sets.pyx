"""Sorted sets of keys: which sets hold each key, and which capture of a key was the first.

A mask has a bit for each set that holds a key. Sets may be memory-mapped files: that they are
sorted is checked on the way, since a damaged file must give an error and no wild write.
"""
cimport cython
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy, memset

import numpy as np

from crawlgauge.core.batch import ROW
from crawlgauge.core.captures cimport Row
from crawlgauge.core.texts cimport TextTable
from crawlgauge.core.words cimport LOWEST_BIT, i64, u64

cdef enum:
    MOST_IN_MASK = 64
    MOST_IN_TABLE = 16      # of so many sets a table has a place for each mask
    FIRST_SLOTS_BITS = 12
    CELL_KEYS_BITS = 15     # keys of a cell: what they need stays in the cache
    BUCKET_KEYS = 1 << 10   # keys of a bucket: as many as stay in the nearest cache
    MOST_BITS = 12          # of so many buckets at once
    FINE_BITS = 7
    FEW_KEYS = 48           # that are sorted by comparing each with those before it
    MANY_KEYS = 1 << 16
    MOST_STEPS = 64         # that a key of a cell is away from its slot, on average

cdef enum Outcome:
    NOTED
    UNSORTED
    CROWDED                 # the keys are no hashes: their slots are too few

cdef struct Part:
    # What is left of a sorted array of keys.
    const u64* place
    const u64* end
    u64 bit                 # of the set
    const u64* masks        # of each key, where it is an index

cdef struct Listing:
    # Keys in rising order, with the mask of each.
    u64* keys
    u64* masks
    u64 room

cdef struct Cell:
    # The keys that begin with certain bits.
    u64 base
    u64 span                # the last key is so far from the first
    int shift               # from a key to its slot
    u64 n_steps, most_steps # from slots to where keys are, so far and at most


# ------------------------------------------------------------------------------------- sorting

# Keys are hashes, and spread evenly: their leading bits tell almost exactly where each belongs. They
# are dealt out twice, into buckets that stay in the cache, until a few are left to be compared.


cdef void insert_sort(u64* keys, u64 n_keys) noexcept nogil:
    cdef u64 place, slot, key
    for place in range(1, n_keys):
        key, slot = keys[place], place
        while slot and keys[slot - 1] > key:
            keys[slot] = keys[slot - 1]
            slot -= 1
        keys[slot] = key


cdef int compare_keys(const void* one, const void* other) noexcept nogil:
    cdef u64 key = (<const u64*> one)[0], other_key = (<const u64*> other)[0]
    return (key > other_key) - (key < other_key)


cdef void deal_out(
    const u64* keys, u64 n_keys, int shift, int bits, u64* ends, u64* dealt
) noexcept nogil:
    """Copy keys into buckets by `bits` bits above `shift`; `ends` is where each bucket ends."""
    cdef u64 number, bucket, mask = (<u64> 1 << bits) - 1, place = 0, size
    memset(ends, 0, (<u64> 1 << bits) * sizeof(u64))
    for number in range(n_keys):
        ends[keys[number] >> shift & mask] += 1
    for bucket in range(<u64> 1 << bits):
        size = ends[bucket]
        ends[bucket] = place
        place += size
    for number in range(n_keys):
        bucket = keys[number] >> shift & mask
        dealt[ends[bucket]] = keys[number]
        ends[bucket] += 1


cdef void sort_bucket(u64* keys, u64 n_keys, int shift, u64* scratch) noexcept nogil:
    """Sort keys that agree in all bits from `shift` on."""
    cdef u64[1 << FINE_BITS] ends
    cdef u64 bucket, start = 0
    if n_keys <= FEW_KEYS:
        insert_sort(keys, n_keys)
        return
    if n_keys > MANY_KEYS or shift < FINE_BITS:
        qsort(keys, n_keys, sizeof(u64), &compare_keys)  # not spread as hashes are
        return
    deal_out(keys, n_keys, shift - FINE_BITS, FINE_BITS, ends, scratch)
    for bucket in range(<u64> 1 << FINE_BITS):
        if ends[bucket] - start <= FEW_KEYS:
            insert_sort(scratch + start, ends[bucket] - start)
        else:
            qsort(scratch + start, ends[bucket] - start, sizeof(u64), &compare_keys)
        start = ends[bucket]
    memcpy(keys, scratch, n_keys * sizeof(u64))


def sort_keys(u64[::1] keys not None):
    """Sort keys in place, fast if they are spread evenly below the greatest."""
    cdef u64 n_keys = keys.shape[0], number, greatest = 0, bucket, start = 0
    cdef int top = 1, bits = 1
    cdef u64* dealt
    cdef u64* ends
    if n_keys < 2:
        return
    with nogil:
        for number in range(n_keys):
            greatest = max(greatest, keys[number])
        while top < 64 and greatest >> top:
            top += 1
        while bits < MOST_BITS and bits < top and n_keys >> bits > BUCKET_KEYS:
            bits += 1
        dealt = <u64*> malloc(n_keys * sizeof(u64))
        ends = <u64*> malloc((<u64> 1 << bits) * sizeof(u64))
        if dealt != NULL and ends != NULL:
            deal_out(&keys[0], n_keys, top - bits, bits, ends, dealt)
            for bucket in range(<u64> 1 << bits):
                sort_bucket(dealt + start, ends[bucket] - start, top - bits, &keys[0])
                start = ends[bucket]
            memcpy(&keys[0], dealt, n_keys * sizeof(u64))
        free(dealt)
        free(ends)
    if dealt == NULL or ends == NULL:
        raise MemoryError


def sort_unique(u64[::1] keys not None):
    """Sort keys in place and move the distinct ones to the front; return how many they are."""
    cdef u64 number, n_distinct = 1, n_keys = keys.shape[0]
    sort_keys(keys)
    if n_keys < 2:
        return n_keys
    with nogil:
        for number in range(1, n_keys):
            keys[n_distinct] = keys[number]
            n_distinct += keys[number] != keys[n_distinct - 1]
    return n_distinct


# ------------------------------------------------------------------------------- counts of masks


cdef inline bint fits(u64 mask, int n_sets) noexcept nogil:
    return n_sets == MOST_IN_MASK or mask >> n_sets == 0


@cython.final
cdef class MaskCounts:
    """How many keys have each mask: a table for few sets, a hash table for many.

    Parameters
    ----------
    n_sets
        How many sets there are, 64 at most.
    """
    cdef u64* _counts
    cdef u64* _masks        # of each slot; NULL in a table, where the slot is the mask
    cdef u64 _n_slots, _n_taken
    cdef int _shift         # from a product to its slot
    cdef readonly int n_sets

    def __cinit__(self, int n_sets):
        if not 1 <= n_sets <= MOST_IN_MASK:
            raise ValueError(f"{n_sets} sets; masks have room for 1 to {MOST_IN_MASK}")
        self.n_sets = n_sets
        self._n_slots = <u64> 1 << FIRST_SLOTS_BITS
        self._shift = 64 - FIRST_SLOTS_BITS
        if n_sets <= MOST_IN_TABLE:
            self._n_slots = <u64> 1 << n_sets
        else:
            self._masks = <u64*> calloc(self._n_slots, sizeof(u64))
        self._counts = <u64*> calloc(self._n_slots, sizeof(u64))
        if self._counts == NULL or (n_sets > MOST_IN_TABLE and self._masks == NULL):
            raise MemoryError

    def __dealloc__(self):
        free(self._counts)
        free(self._masks)

    def __len__(self):
        """Return how many different masks there are."""
        cdef u64 slot, n_taken = 0
        if self._masks != NULL:
            return self._n_taken
        for slot in range(1, self._n_slots):
            n_taken += self._counts[slot] != 0
        return n_taken

    def arrays(self):
        """Return the masks that occur, rising, and how many keys have each."""
        counts = np.array(<u64[: self._n_slots]> self._counts)
        slots = np.flatnonzero(counts[1:]) + 1 if self._masks == NULL else np.flatnonzero(counts)
        masks = slots.astype(np.uint64)
        if self._masks != NULL:
            masks = np.array(<u64[: self._n_slots]> self._masks)[slots]
        order = np.argsort(masks)
        return masks[order], counts[slots][order].astype(np.int64)

    def add(self, const u64[::1] masks not None, const i64[::1] counts not None):
        """Add what was counted elsewhere."""
        cdef Py_ssize_t number
        if masks.shape[0] != counts.shape[0]:
            raise ValueError("each mask needs a count")
        for number in range(masks.shape[0]):
            if not fits(masks[number], self.n_sets):
                raise ValueError("a mask of more sets than there are")
            if self._masks == NULL:
                self._counts[masks[number]] += counts[number]
            elif not self._add_hashed(masks[number], counts[number]):
                raise MemoryError

    def tally(self, const u64[::1] masks not None):
        """Count keys by their masks, none of which is of more sets than there are."""
        cdef u64 number, n_masks = masks.shape[0], together = 0
        cdef bint has_memory = True
        with nogil:
            for number in range(n_masks):
                together |= masks[number]
            if n_masks and fits(together, self.n_sets):
                has_memory = self.count(&masks[0], n_masks)
        if not fits(together, self.n_sets):
            raise ValueError("a mask of more sets than there are")
        if not has_memory:
            raise MemoryError

    cdef bint count(self, const u64* masks, u64 n_masks) noexcept nogil:
        """Count keys by their masks, but for those with none; False if memory is short."""
        cdef u64 number
        if self._masks == NULL:
            for number in range(n_masks):
                self._counts[masks[number]] += 1  # that of 0 is left out in the end
            return True
        for number in range(n_masks):
            if masks[number] and not self._add_hashed(masks[number], 1):
                return False
        return True

    cdef bint _add_hashed(self, u64 mask, u64 count) noexcept nogil:
        cdef u64 slot = self._slot_of(mask)
        if self._counts[slot] == 0:
            if 2 * (self._n_taken + 1) > self._n_slots:
                if not self._grow():
                    return False
                slot = self._slot_of(mask)
            self._masks[slot] = mask
            self._n_taken += 1
        self._counts[slot] += count
        return True

    cdef inline u64 _slot_of(self, u64 mask) noexcept nogil:
        # The highest bits of the product are the only ones that all bits of the mask have a say in.
        cdef u64 slot = (mask * <u64> 0x9E3779B185EBCA87) >> self._shift
        while self._counts[slot] and self._masks[slot] != mask:
            slot = (slot + 1) & (self._n_slots - 1)
        return slot

    cdef bint _grow(self) noexcept nogil:
        cdef u64* old_masks = self._masks
        cdef u64* old_counts = self._counts
        cdef u64 n_old = self._n_slots, slot, place
        cdef u64* masks = <u64*> calloc(2 * n_old, sizeof(u64))
        cdef u64* counts = <u64*> calloc(2 * n_old, sizeof(u64))
        if masks == NULL or counts == NULL:
            free(masks)
            free(counts)
            return False
        self._masks, self._counts, self._n_slots = masks, counts, 2 * n_old
        self._shift -= 1
        for slot in range(n_old):
            if old_counts[slot]:
                place = self._slot_of(old_masks[slot])
                self._masks[place], self._counts[place] = old_masks[slot], old_counts[slot]
        free(old_masks)
        free(old_counts)
        return True


# ------------------------------------------------------------------------ the keys of a hash range


cdef u64 choose_slots(u64 n_keys, Cell* cell, int cell_width) noexcept nogil:
    """Return how many slots are enough for the keys of a cell, whatever they are."""
    cdef int bits = 4
    while bits < cell_width and (<u64> 1 << bits) < n_keys:
        bits += 1
    cell.shift = max(0, cell_width - bits)
    cell.n_steps, cell.most_steps = 0, MOST_STEPS * (n_keys + MOST_STEPS)
    # At worst all keys share the last slot.
    return (<u64> 1 << min(bits, cell_width)) + n_keys


@cython.final
cdef class CellTable:
    """The masks of the keys of one cell, in slots ordered as the keys are.

    Keys are hashes, so the leading bits of a key tell its slot almost exactly. A cell is so small
    that its table stays in the cache while one set after the other passes over it.
    """
    cdef u64* keys
    cdef u64* masks
    cdef u64 room
    cdef u64 end        # behind the last slot that is taken

    def __dealloc__(self):
        free(self.keys)
        free(self.masks)

    cdef bint prepare(self, u64 n_keys, Cell* cell, int cell_width) noexcept nogil:
        """Empty the table and make it fit `n_keys` keys, whatever they are."""
        cdef u64 n_slots = choose_slots(n_keys, cell, cell_width)
        if n_slots > self.room:
            free(self.keys)
            free(self.masks)
            self.room = n_slots + n_slots // 4
            self.keys = <u64*> malloc(self.room * sizeof(u64))
            self.masks = <u64*> calloc(self.room, sizeof(u64))
            if self.keys == NULL or self.masks == NULL:
                self.room = 0
                return False
        else:
            memset(self.masks, 0, self.end * sizeof(u64))
        self.end = 0
        return True

    cdef Outcome pass_over(self, Part* part, u64 n_keys, Cell* cell) noexcept nogil:
        """Note the keys of a set, all of which lie in the cell if they are sorted."""
        # In local variables: what self points to might change with each write to the tables.
        cdef const u64* place = part.place
        cdef const u64* end = place + n_keys
        cdef u64* keys = self.keys
        cdef u64* masks = self.masks
        cdef u64 key, slot, first, last = self.end, bit = part.bit, base = cell.base
        cdef u64 span = cell.span, n_steps = cell.n_steps
        cdef int shift = cell.shift
        while place < end and n_steps < cell.most_steps:
            key = place[0]
            if key - base > span:
                return UNSORTED
            first = slot = (key - base) >> shift
            while masks[slot] and keys[slot] != key:
                slot += 1
            n_steps += slot - first
            keys[slot] = key
            masks[slot] |= bit
            if slot >= last:
                last = slot + 1
            place += 1
        cell.n_steps, self.end = n_steps, last
        if place < end:
            return CROWDED
        part.place = place
        return NOTED

    cdef u64 list(self, u64* keys, u64* masks) noexcept nogil:
        """Write all keys in rising order, with their masks; return how many."""
        cdef u64 slot, n_keys = 0, place, number, key, mask
        for slot in range(self.end):
            keys[n_keys], masks[n_keys] = self.keys[slot], self.masks[slot]
            n_keys += self.masks[slot] != 0
        # Keys of the same slot stand behind it in any order.
        for number in range(1, n_keys):
            if keys[number - 1] > keys[number]:
                place, key, mask = number, keys[number], masks[number]
                while place and keys[place - 1] > key:
                    keys[place], masks[place] = keys[place - 1], masks[place - 1]
                    place -= 1
                keys[place], masks[place] = key, mask
        return n_keys


cdef bint make_listing(Listing* listing, u64 n_keys) noexcept nogil:
    """See that there is room for so many keys, and for one that is not kept."""
    if n_keys < listing.room:
        return True
    free_listing(listing)
    listing.room = n_keys + n_keys // 4 + 1
    listing.keys = <u64*> malloc(listing.room * sizeof(u64))
    listing.masks = <u64*> malloc(listing.room * sizeof(u64))
    return listing.keys != NULL and listing.masks != NULL


cdef void free_listing(Listing* listing) noexcept nogil:
    free(listing.keys)
    free(listing.masks)
    listing.keys = listing.masks = NULL
    listing.room = 0


cdef u64 merge_listing(
    const u64* keys, const u64* masks, u64 n_keys, const u64* others, const u64* other_masks,
    u64 n_others, Listing* merged
) noexcept nogil:
    """Merge keys of an index with others, each with its mask; return how many there are."""
    cdef u64 here = 0, there = 0, n_merged = 0, key, other, takes, takes_other
    cdef u64* merged_keys = merged.keys
    cdef u64* merged_masks = merged.masks
    while here < n_keys and there < n_others:
        key, other = keys[here], others[there]
        # Which one comes first is anybody's guess: so there is nothing to be guessed.
        takes, takes_other = key <= other, other <= key
        merged_keys[n_merged] = key if takes else other
        merged_masks[n_merged] = (masks[here] & (0 - takes)) | (
            other_masks[there] & (0 - takes_other)
        )
        here += takes
        there += takes_other
        n_merged += 1
    while here < n_keys:
        merged_keys[n_merged], merged_masks[n_merged] = keys[here], masks[here]
        here += 1
        n_merged += 1
    while there < n_others:
        merged_keys[n_merged], merged_masks[n_merged] = others[there], other_masks[there]
        there += 1
        n_merged += 1
    return n_merged


cdef bint is_in_order(Listing* listing, u64 n_keys, Cell* cell, int n_sets) noexcept nogil:
    """Tell whether keys rise within a cell, and are of sets that there are."""
    cdef u64 number, together = 0, n_wrong = 0
    if n_keys == 0:
        return True
    for number in range(n_keys):
        together |= listing.masks[number]
    for number in range(1, n_keys):
        n_wrong += listing.keys[number] <= listing.keys[number - 1]
    if listing.keys[0] < cell.base or listing.keys[n_keys - 1] - cell.base > cell.span:
        return False
    return n_wrong == 0 and fits(together, n_sets)


cdef u64 copy_listing(Listing* listing, u64 n_keys, u64* keys, u64* masks) noexcept nogil:
    """Write keys and masks, but for keys that no set holds; return how many."""
    cdef u64 number, n_written = 0
    for number in range(n_keys):
        if listing.masks[number]:
            keys[n_written], masks[n_written] = listing.keys[number], listing.masks[number]
            n_written += 1
    return n_written


cdef void tally_pairs(const u64* masks, u64 n_masks, i64[:, ::1] n_shared) noexcept nogil:
    """Count each key for each two sets that hold it."""
    cdef int[MOST_IN_MASK] members
    cdef u64 number, mask
    cdef int n_members
    for number in range(n_masks):
        mask, n_members = masks[number], 0
        while mask:
            members[n_members] = LOWEST_BIT(mask)
            n_members += 1
            mask &= mask - 1
        add_pairs(members, n_members, n_shared)


cdef inline void add_pairs(const int* members, int n_members, i64[:, ::1] n_shared) noexcept nogil:
    cdef int one, other
    for one in range(n_members):
        for other in range(one, n_members):
            n_shared[members[one], members[other]] += 1


cdef u64 count_up_to(const u64* place, const u64* end, u64 last) noexcept nogil:
    """Return how many of the sorted keys from `place` on are not above `last`."""
    cdef u64 low = 0, high = end - place, middle
    while low < high:
        middle = (low + high) // 2
        if place[middle] <= last:
            low = middle + 1
        else:
            high = middle
    return low


cdef int choose_cell_bits(u64 n_keys, int width) noexcept nogil:
    """Return how many leading bits cut so many keys into cells."""
    cdef int bits = 0
    while bits < width and n_keys >> (CELL_KEYS_BITS + bits):
        bits += 1
    return bits


cdef int find_part(Part* part, const u64[::1] keys, u64 bit) except -1:
    part.place = &keys[0] if keys.shape[0] else NULL
    part.end = part.place + keys.shape[0]
    part.bit = bit
    return 0


cdef int find_index(Part* part, const u64[::1] keys, const u64[::1] masks) except -1:
    if part.place != NULL or masks.shape[0] != keys.shape[0]:
        raise ValueError("an index needs a mask for each key, and there can be but one")
    part.masks = &masks[0] if masks.shape[0] else NULL
    return find_part(part, keys, 0)


@cython.final
cdef class RangeMerge:
    """The keys of a hash range, brought together cell by cell."""
    cdef Part[MOST_IN_MASK] sets
    cdef Part known             # an index; empty if there is none
    cdef CellTable table
    cdef Listing found, merged, own
    cdef int n_parts, n_sets
    cdef bint is_sorted, is_crowded

    def __cinit__(self):
        self.table = CellTable()
        self.is_sorted = True

    def __dealloc__(self):
        free_listing(&self.found)
        free_listing(&self.merged)
        free_listing(&self.own)

    cdef bint find(self, Cell* cell, int cell_width) noexcept nogil:
        """Note the keys of a cell in the table; False if memory is short."""
        cdef u64[MOST_IN_MASK] n_keys
        cdef u64 n_here = 0, last = cell.base + cell.span
        cdef int number, done
        cdef Outcome outcome
        self.is_crowded = False
        for number in range(self.n_parts):
            n_keys[number] = count_up_to(self.sets[number].place, self.sets[number].end, last)
            n_here += n_keys[number]
        if not self.table.prepare(n_here, cell, cell_width):
            return False
        for number in range(self.n_parts):
            outcome = self.table.pass_over(&self.sets[number], n_keys[number], cell)
            if outcome != NOTED:
                self.is_sorted, self.is_crowded = outcome != UNSORTED, outcome == CROWDED
                for done in range(number):
                    self.sets[done].place -= n_keys[done]
                break
        return True

    cdef i64 merge_sets(self, Cell* cell) noexcept nogil:
        """List the keys of a crowded cell in `found`, one set after the other.

        That takes as many times longer as there are sets, and not as there are keys.
        """
        cdef u64 n_found = 0, n_own, place
        cdef Part* part
        cdef Listing kept
        cdef int number
        for number in range(self.n_parts):
            part = &self.sets[number]
            n_own = count_up_to(part.place, part.end, cell.base + cell.span)
            if not make_listing(&self.own, n_own) or not make_listing(&self.merged, n_found + n_own):
                return -1
            for place in range(n_own):
                self.own.masks[place] = part.bit
            n_found = merge_listing(
                self.found.keys, self.found.masks, n_found, part.place, self.own.masks, n_own,
                &self.merged
            )
            part.place += n_own
            kept = self.found
            self.found = self.merged
            self.merged = kept
        return n_found

    cdef i64 list(self, Cell* cell, int cell_width) noexcept nogil:
        """List the keys of a cell in `merged`, and return how many; −1 if memory is short."""
        cdef Part* known = &self.known
        cdef Part* only = &self.sets[0]
        cdef u64 last = cell.base + cell.span, number
        cdef u64 n_known = count_up_to(known.place, known.end, last), n_found, n_merged
        cdef i64 n_listed
        cdef const u64* keys
        if self.n_parts == 1:
            # One set has its keys in order already.
            keys, n_found = only.place, count_up_to(only.place, only.end, last)
            only.place += n_found
            if not make_listing(&self.found, n_found):
                return -1
            for number in range(n_found):
                self.found.masks[number] = only.bit
        else:
            if not self.is_crowded and not self.find(cell, cell_width):
                return -1
            if not self.is_sorted:
                return 0
            if self.is_crowded:
                n_listed = self.merge_sets(cell)
            elif not make_listing(&self.found, self.table.end):
                n_listed = -1
            else:
                n_listed = self.table.list(self.found.keys, self.found.masks)
            if n_listed < 0:
                return -1
            keys, n_found = self.found.keys, n_listed
        if not make_listing(&self.merged, n_known + n_found):
            return -1
        n_merged = merge_listing(
            known.place, known.masks, n_known, keys, self.found.masks, n_found, &self.merged
        )
        known.place += n_known
        known.masks += n_known
        self.is_sorted = is_in_order(&self.merged, n_merged, cell, self.n_sets)
        return n_merged


def count_masks(list parts not None, u64 low, int width, counts not None, index=None):
    """Count the keys of a hash range by which sets hold them.

    Parameters
    ----------
    parts
        For each set its number and its sorted keys of that range; for an index of several sets,
        of which there can be one, None, keys and the mask of each.
    low, width
        The range: keys from `low` on that differ in their last `width` bits.
    counts
        Where they are counted: `MaskCounts`, or a matrix of what each two sets share, above the
        diagonal, and on it the keys of each set.
    index
        Room for the keys of the range and their masks, which are filled in, if they are wanted.

    Returns
    -------
    int
        How many keys there are in the index that was filled in.

    Raises
    ------
    ValueError
        If the keys of a set are not sorted, or not of this range.
    """
    cdef RangeMerge merge = RangeMerge()
    cdef MaskCounts by_mask = counts if isinstance(counts, MaskCounts) else None
    cdef i64[:, ::1] by_pair = None if by_mask is not None else counts
    cdef int number, bits
    cdef u64 n_all = 0, here, n_written = 0
    cdef i64 n_here
    cdef Cell cell
    cdef bint has_memory = True, is_listed = index is not None
    cdef const u64* masks
    cdef u64* index_keys = NULL
    cdef u64* index_masks = NULL
    cdef u64[::1] keys_view, masks_view
    merge.n_sets = by_pair.shape[0] if by_mask is None else by_mask.n_sets
    if not 1 <= merge.n_sets <= MOST_IN_MASK or not 0 <= width <= 64:
        raise ValueError("too many sets, or no such range")
    if by_mask is None and by_pair.shape[1] != merge.n_sets:
        raise ValueError("the matrix has another number of columns than of rows")
    for bit, keys, of_keys in parts:
        if bit is None:
            is_listed = True
            find_index(&merge.known, keys, of_keys)
            n_all += merge.known.end - merge.known.place
            continue
        if not 0 <= bit < merge.n_sets or merge.n_parts == MOST_IN_MASK:
            raise ValueError("no such set, or too many")
        find_part(&merge.sets[merge.n_parts], keys, <u64> 1 << <int> bit)
        n_all += merge.sets[merge.n_parts].end - merge.sets[merge.n_parts].place
        merge.n_parts += 1
    if n_all == 0:
        return 0
    if index is not None:
        keys_view, masks_view = index
        if <u64> min(keys_view.shape[0], masks_view.shape[0]) < n_all:
            raise ValueError("too little room for the index")
        index_keys, index_masks = &keys_view[0], &masks_view[0]
    bits = choose_cell_bits(n_all, width)
    cell.span = <u64> -1 if width - bits == 64 else (<u64> 1 << (width - bits)) - 1
    with nogil:
        for here in range(<u64> 1 << bits):
            cell.base = low + (here << (width - bits) if bits else 0)
            merge.is_crowded = False
            if not is_listed:
                has_memory = merge.find(&cell, width - bits)
                masks, n_here = merge.table.masks, merge.table.end
            if has_memory and (is_listed or merge.is_crowded):
                n_here = merge.list(&cell, width - bits)
                has_memory, masks = n_here >= 0, merge.merged.masks
            if not has_memory or not merge.is_sorted:
                break
            if by_mask is None:
                tally_pairs(masks, n_here, by_pair)
            elif not by_mask.count(masks, n_here):
                has_memory = False
                break
            if index_keys != NULL:
                n_written += copy_listing(
                    &merge.merged, n_here, index_keys + n_written, index_masks + n_written
                )
        for number in range(merge.n_parts):
            if merge.sets[number].place != merge.sets[number].end:
                merge.is_sorted = False
    if not has_memory:
        raise MemoryError
    if not merge.is_sorted or merge.known.place != merge.known.end:
        raise ValueError("the keys of a set are not sorted")
    return n_written


# ----------------------------------------------------------------------------------- many sets


@cython.final
cdef class WideTable:
    """What `CellTable` is, for masks of several words; the highest bit says that a slot is taken."""
    cdef u64* keys
    cdef u64* words         # of each slot in turn
    cdef int* members       # room for the sets that hold a key
    cdef u64 room, end
    cdef int n_words

    def __cinit__(self, int n_sets):
        self.n_words = n_sets // 64 + 1
        self.members = <int*> malloc(max(1, n_sets) * sizeof(int))
        if self.members == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.keys)
        free(self.words)
        free(self.members)

    cdef bint prepare(self, u64 n_keys, Cell* cell, int cell_width) noexcept nogil:
        cdef u64 n_slots = choose_slots(n_keys, cell, cell_width)
        if n_slots > self.room:
            free(self.keys)
            free(self.words)
            self.room = n_slots + n_slots // 4
            self.keys = <u64*> malloc(self.room * sizeof(u64))
            self.words = <u64*> calloc(self.room * self.n_words, sizeof(u64))
            if self.keys == NULL or self.words == NULL:
                self.room = 0
                return False
        else:
            memset(self.words, 0, self.end * self.n_words * sizeof(u64))
        self.end = 0
        return True

    cdef Outcome pass_over(self, Part* part, u64 n_keys, Cell* cell, int number) noexcept nogil:
        cdef u64 place, key, slot, first, taken = <u64> 1 << 63
        cdef int last_word = self.n_words - 1
        for place in range(n_keys):
            key = part.place[place]
            if key - cell.base > cell.span:
                return UNSORTED
            if cell.n_steps > cell.most_steps:
                return CROWDED
            first = slot = (key - cell.base) >> cell.shift
            while self.words[slot * self.n_words + last_word] & taken and self.keys[slot] != key:
                slot += 1
            cell.n_steps += slot - first
            self.keys[slot] = key
            self.words[slot * self.n_words + last_word] |= taken
            self.words[slot * self.n_words + number // 64] |= <u64> 1 << (number % 64)
            self.end = max(self.end, slot + 1)
        return NOTED

    cdef void tally(self, i64[:, ::1] n_shared) noexcept nogil:
        cdef u64 slot, word
        cdef int number, n_members
        for slot in range(self.end):
            n_members = 0
            for number in range(self.n_words):
                word = self.words[slot * self.n_words + number]
                if number == self.n_words - 1:
                    word &= ~(<u64> 1 << 63)
                while word:
                    self.members[n_members] = 64 * number + LOWEST_BIT(word)
                    n_members += 1
                    word &= word - 1
            add_pairs(self.members, n_members, n_shared)


cdef bint pair_crowded(
    Part* found, u64* n_keys, int n_sets, i64[:, ::1] n_shared
) noexcept nogil:
    """Count what each two sets share of a crowded cell; False if they are not sorted."""
    cdef int one, other
    cdef u64 here, there, n_both, key, other_key
    for one in range(n_sets):
        for here in range(1, n_keys[one]):
            if found[one].place[here] <= found[one].place[here - 1]:
                return False
        for other in range(one, n_sets):
            here = there = n_both = 0
            while here < n_keys[one] and there < n_keys[other]:
                key, other_key = found[one].place[here], found[other].place[there]
                here += key <= other_key
                there += other_key <= key
                n_both += key == other_key
            n_shared[one, other] += n_both
    return True


def count_pairs(list parts not None, u64 low, int width, i64[:, ::1] n_shared not None):
    """Count the keys of a hash range that each two of any number of sets share.

    Parameters
    ----------
    parts
        The sorted keys of each set in that range.
    low, width
        The range, as for `count_masks`.
    n_shared
        Where they are counted: above the diagonal, and on it the keys of each set.
    """
    cdef int n_sets = len(parts), number, bits
    cdef WideTable table = WideTable(n_sets)
    cdef Part* found = <Part*> malloc(max(1, n_sets) * sizeof(Part))
    cdef u64* n_keys = <u64*> malloc(max(1, n_sets) * sizeof(u64))
    cdef u64 n_all = 0, n_here, here
    cdef Cell cell
    cdef Outcome outcome = NOTED
    cdef bint is_sorted = True, has_memory = found != NULL and n_keys != NULL
    try:
        if n_shared.shape[0] != n_sets or n_shared.shape[1] != n_sets or not 0 <= width <= 64:
            raise ValueError("the matrix is of another number of sets, or there is no such range")
        if not has_memory:
            raise MemoryError
        for number in range(n_sets):
            find_part(&found[number], parts[number], 1)
            n_all += found[number].end - found[number].place
        bits = choose_cell_bits(n_all, width)
        cell.span = <u64> -1 if width - bits == 64 else (<u64> 1 << (width - bits)) - 1
        with nogil:
            for here in range(<u64> 1 << bits):
                cell.base = low + (here << (width - bits) if bits else 0)
                n_here, outcome = 0, NOTED
                for number in range(n_sets):
                    n_keys[number] = count_up_to(
                        found[number].place, found[number].end, cell.base + cell.span
                    )
                    n_here += n_keys[number]
                has_memory = table.prepare(n_here, &cell, width - bits)
                for number in range(n_sets):
                    if not has_memory or outcome != NOTED:
                        break
                    outcome = table.pass_over(&found[number], n_keys[number], &cell, number)
                if outcome == CROWDED:
                    is_sorted = pair_crowded(found, n_keys, n_sets, n_shared)
                elif has_memory and outcome == NOTED:
                    table.tally(n_shared)
                if not has_memory or not is_sorted or outcome == UNSORTED:
                    break
                for number in range(n_sets):
                    found[number].place += n_keys[number]
            for number in range(n_sets):
                is_sorted = is_sorted and found[number].place == found[number].end
    finally:
        free(found)
        free(n_keys)
    if not has_memory:
        raise MemoryError
    if not is_sorted:
        raise ValueError("the keys of a set are not sorted")


# -------------------------------------------------------------------------------- first captures


cdef bint comes_before(const Row* one, const Row* other, TextTable hosts, TextTable types) noexcept nogil:
    """Tell whether a capture is earlier; of two at the same time the one of smaller values is."""
    cdef i64 time = one.time, other_time = other.time
    cdef int difference
    if time != other_time:
        # A time that is not known is the least number, and comes last.
        return <u64> (time - 1) + (<u64> 1 << 63) < <u64> (other_time - 1) + (<u64> 1 << 63)
    if one.status != other.status:
        return one.status < other.status
    difference = order_names(types, one.mime, other.mime)
    if difference == 0:
        difference = order_names(hosts, one.host, other.host)
    return difference < 0


cdef int order_names(TextTable names, int one, int other) noexcept nogil:
    """Compare names by their codes; none comes last."""
    if one == other:
        return 0
    if one < 0 or other < 0:
        return 1 if one < 0 else -1
    return names.order(one, other)


def first_captures(const Row[::1] rows not None, TextTable hosts not None, TextTable types not None):
    """Return the rows of the first capture of each key, in the order of the keys.

    Parameters
    ----------
    rows
        Attributes of captures, as `ROW`.
    hosts, types
        The names that their codes stand for.
    """
    cdef u64 n_rows = rows.shape[0], number, start, end, n_first = 0
    cdef u64 greatest = 0, mask
    cdef int shift = 0, row_bits = 1
    cdef int n_hosts = len(hosts), n_types = len(types)
    cdef const Row* best
    chosen = np.empty(n_rows, ROW)
    order_array = np.empty(n_rows, np.uint64)
    cdef Row[::1] target = chosen
    cdef u64[::1] order = order_array
    if n_rows == 0:
        return chosen
    while n_rows >> row_bits:
        row_bits += 1
    mask = (<u64> 1 << row_bits) - 1
    for number in range(n_rows):
        greatest = max(greatest, rows[number].key)
        if rows[number].host >= n_hosts or rows[number].mime >= n_types:
            raise ValueError("a row has a name that is not known")
    while shift < 63 and not greatest >> (63 - shift):
        shift += 1
    # The leading bits of each key with the row's number behind them, to be sorted.
    for number in range(n_rows):
        order[number] = (rows[number].key << shift & ~mask) | number
    sort_keys(order)
    with nogil:
        start = 0
        while start < n_rows:
            end = start + 1
            while end < n_rows and (order[end] ^ order[start]) <= mask:
                end += 1
            for number in range(start, end):
                order[number] &= mask
            if end - start > 1:
                order_by_key(rows, &order[start], end - start)
            best = &rows[order[start]]
            for number in range(start + 1, end):
                if rows[order[number]].key != best.key:
                    target[n_first] = best[0]
                    n_first += 1
                    best = &rows[order[number]]
                elif comes_before(&rows[order[number]], best, hosts, types):
                    best = &rows[order[number]]
            target[n_first] = best[0]
            n_first += 1
            start = end
    return chosen[:n_first]


cdef void order_by_key(const Row[::1] rows, u64* order, u64 n_rows) noexcept nogil:
    """Order the numbers of rows, of which all but a few share their key, by their whole keys."""
    cdef u64 place, slot, row
    for place in range(1, n_rows):
        row, slot = order[place], place
        while slot and rows[order[slot - 1]].key > rows[row].key:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = row
