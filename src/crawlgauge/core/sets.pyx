"""Sorted sets of keys: which sets hold each key, and which capture of a key was the first.

A mask has a bit for each set that holds a key. Sets may be memory-mapped files: that they are
sorted is checked on the way, since a damaged file must give an error and no wild write.
"""
cimport cython
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

import numpy as np

from crawlgauge.core.batch import ROW
from crawlgauge.core.captures cimport Row
from crawlgauge.core.texts cimport TextTable
from crawlgauge.core.words cimport LOWEST_BIT, i32, i64, u64

cdef enum:
    ROWS_AHEAD = 16         # that are asked for before they are looked at

cdef extern from *:
    """
    #define FETCH(place) __builtin_prefetch(place)
    """
    void FETCH(const void*) noexcept nogil

cdef enum:
    MOST_IN_MASK = 64
    MOST_IN_TABLE = 16      # of so many sets a table has a place for each mask
    FIRST_SLOTS_BITS = 12

cdef enum:
    CELL_KEYS_BITS = 15     # keys of a cell on average: what they need stays in the cache
    MOST_KEYS = 1 << 16     # keys of a cell at most, if they are hashes
    MOST_STEPS = 1 << 12    # from the slot of a key to where it is, likewise
    N_SLOTS = MOST_KEYS + MOST_STEPS + 2


# ------------------------------------------------------------------------------------- sorting


def sort_unique(list parts not None):
    """Return the distinct keys of some arrays in rising order."""
    cdef u64 number, n_distinct = 1
    found = np.concatenate([np.empty(0, np.uint64), *parts])
    found.sort()
    cdef u64[::1] keys = found
    cdef u64 n_keys = keys.shape[0]
    if n_keys < 2:
        return found
    with nogil:
        for number in range(1, n_keys):
            keys[n_distinct] = keys[number]
            n_distinct += keys[number] != keys[n_distinct - 1]
    # Where many are repeated, what they took is given back.
    return found[:n_distinct] if 4 * n_distinct > 3 * n_keys else found[:n_distinct].copy()


# ------------------------------------------------------------------------------- counts of masks


@cython.final
cdef class MaskCounts:
    """How many keys have each mask: a table for few sets, a hash table for many.

    Parameters
    ----------
    n_sets
        How many sets there are, 64 at most.
    """
    cdef u64[::1] _counts, _masks   # of each slot; a free one has no count
    cdef u64 _n_taken
    cdef int _bits                  # of a slot's number
    cdef readonly int n_sets

    def __cinit__(self, int n_sets):
        if not 1 <= n_sets <= MOST_IN_MASK:
            raise ValueError(f"{n_sets} sets; masks have room for 1 to {MOST_IN_MASK}")
        self.n_sets = n_sets
        self._make_slots(n_sets if n_sets <= MOST_IN_TABLE else FIRST_SLOTS_BITS)

    def _make_slots(self, int bits):
        self._bits, self._n_taken = bits, 0
        self._counts = np.zeros(1 << bits, np.uint64)
        self._masks = np.arange(1 << bits, dtype=np.uint64)  # as it is in a table

    def _list(self):
        slots = np.flatnonzero(self._counts)
        return np.asarray(self._masks)[slots], np.asarray(self._counts)[slots].astype(np.int64)

    def __len__(self):
        """Return how many different masks there are."""
        return np.count_nonzero(self._counts)

    def arrays(self):
        """Return the masks that occur, rising, and how many keys have each."""
        masks, counts = self._list()
        order = np.argsort(masks)
        return masks[order], counts[order]

    def add(self, const u64[::1] masks not None, const i64[::1] counts not None):
        """Add what was counted elsewhere."""
        cdef Py_ssize_t number
        if masks.shape[0] != counts.shape[0]:
            raise ValueError("each mask needs a count")
        for number in range(masks.shape[0]):
            if not fits(masks[number], self.n_sets):
                raise ValueError("a mask of more sets than there are")
            self._add(masks[number], counts[number])

    cdef int count(self, const u64* masks, u64 n_masks) except -1 nogil:
        """Count keys by their masks, but for those with none."""
        cdef u64 number
        cdef u64* counts = &self._counts[0]
        if self.n_sets <= MOST_IN_TABLE:
            for number in range(n_masks):
                counts[masks[number]] += 1
            counts[0] = 0
            return 0
        for number in range(n_masks):
            if masks[number]:
                self._add(masks[number], 1)
        return 0

    cdef inline int _add(self, u64 mask, u64 count) except -1 nogil:
        cdef u64 slot = mask, n_slots = self._counts.shape[0]
        if self.n_sets > MOST_IN_TABLE:
            # The highest bits of the product are the only ones that all bits of the mask have a
            # say in.
            slot = (mask * <u64> 0x9E3779B185EBCA87) >> (64 - self._bits)
            while self._counts[slot] and self._masks[slot] != mask:
                slot = (slot + 1) & (n_slots - 1)
            self._n_taken += self._counts[slot] == 0
            self._masks[slot] = mask
        self._counts[slot] += count
        return self._grow() if 2 * self._n_taken > n_slots else 0

    cdef int _grow(self) except -1 with gil:
        known = self._list()
        self._make_slots(self._bits + 1)
        self.add(*known)
        return 0


cdef inline bint fits(u64 mask, int n_sets) noexcept nogil:
    return n_sets >= MOST_IN_MASK or not mask >> n_sets


# ------------------------------------------------------------------------ the keys of a hash range


cdef struct Part:
    # What is left of the sorted keys of a set, or of an index.
    const u64* keys
    const u64* end
    const u64* masks        # of each key, where it is an index
    u64 n_here              # keys in the cell
    int number              # of the set

cdef struct Cell:
    # The keys that begin with certain bits.
    u64 base
    u64 span                # the last key is so far from the first
    int width               # bits that tell its keys apart
    int shift               # from a key to its slot


cdef int fill_part(Part* part, const u64[::1] keys, const u64[::1] masks, int number) except -1:
    if masks is not None and masks.shape[0] != keys.shape[0]:
        raise ValueError("an index needs a mask for each key")
    part.keys = &keys[0] if keys.shape[0] else NULL
    part.end = part.keys + keys.shape[0]
    part.masks = &masks[0] if masks is not None and keys.shape[0] else NULL
    part.number = number
    return 0


cdef void find_end(Part* part, u64 last) noexcept nogil:
    """Find how many keys are not above the last one of a cell."""
    cdef u64 low = 0, high = part.end - part.keys, middle
    while low < high:
        middle = (low + high) // 2
        if part.keys[middle] <= last:
            low = middle + 1
        else:
            high = middle
    part.n_here = low


cdef object list_part(Part* part, int n_words):
    """Return the keys of a cell as an array, and the words of their masks."""
    keys = np.array(<u64[: part.n_here]> <u64*> part.keys)
    masks = np.zeros((n_words, keys.size), np.uint64)
    if part.masks == NULL:
        masks[part.number // 64] = <u64> 1 << part.number % 64
    else:
        masks[0] = <u64[: part.n_here]> <u64*> part.masks
    return keys, masks


@cython.final
cdef class RangeMerge:
    """The sets of a hash range, brought together cell by cell.

    Keys are hashes: the leading bits of a key tell almost exactly where it belongs in a table. A
    cell is so small that its table stays in the cache while one set after the other is entered.
    Where keys are to be listed, the table is put in order, and merged with an index.
    """
    cdef Part* sets
    cdef Part known                 # an index; empty if there is none
    cdef int n_parts, n_sets, n_words
    cdef u64 n_all
    cdef bint is_listed
    # The table: keys; masks, or, if those have several words, what is not 0 where there is a key.
    cdef u64[::1] slot_keys, slot_masks
    cdef u64[:, ::1] slot_words
    cdef u64 n_slots                # up to the last that is taken
    # Keys and masks in order: those of the table, those of the index too, those that were sorted.
    cdef u64[:, ::1] found, merged, sorted_masks
    cdef u64[::1] sorted_keys
    # What there is in a cell: keys, if they are listed, and masks, whose words stand apart.
    cdef const u64* keys
    cdef const u64* masks
    cdef u64 n_keys, distance
    cdef int[::1] members           # room for the sets that hold a key

    def __cinit__(self, list parts, int n_sets, bint is_listed):
        cdef bint has_index = False
        self.sets = <Part*> malloc(max(1, len(parts)) * sizeof(Part))
        if self.sets == NULL:
            raise MemoryError
        for number, keys, masks in parts:
            if number is None and not has_index:
                fill_part(&self.known, keys, masks, 0)
                has_index = True
            elif number is not None and 0 <= number < n_sets:
                fill_part(&self.sets[self.n_parts], keys, None, number)
                self.n_parts += 1
            else:
                raise ValueError("no such set, or more than one index")
            self.n_all += len(keys)
        self.n_sets, self.n_words = n_sets, (n_sets + MOST_IN_MASK - 1) // MOST_IN_MASK
        self.is_listed = is_listed or has_index
        if self.is_listed and self.n_words > 1:
            raise ValueError("an index is of too many sets")
        self.slot_keys = np.empty(N_SLOTS, np.uint64)
        self.slot_masks = np.zeros(N_SLOTS, np.uint64)
        self.slot_words = np.zeros((self.n_words, N_SLOTS if self.n_words > 1 else 0), np.uint64)
        self.found, self.merged = np.empty((2, 2, MOST_KEYS), np.uint64)
        self.members = np.empty(n_sets, np.int32)

    def __dealloc__(self):
        free(self.sets)

    cdef int find(self, Cell* cell) except -1 nogil:
        """Find the masks of all keys of a cell."""
        cdef u64 n_found = 0, place
        cdef int number
        # One set has its keys in order already.
        cdef bint is_single = self.is_listed and self.n_parts == 1, is_even
        find_end(&self.known, cell.base + cell.span)
        for number in range(self.n_parts):
            find_end(&self.sets[number], cell.base + cell.span)
            n_found += self.sets[number].n_here
        is_even = n_found + self.known.n_here <= MOST_KEYS
        if is_even and not is_single:
            is_even = self.fill_table(cell, n_found)
        if not is_even:
            self.sort_all()
        elif self.is_listed:
            if is_single:
                for place in range(n_found):
                    self.found[1, place] = <u64> 1 << self.sets[0].number
                self.merge_index(self.sets[0].keys, n_found)
            else:
                n_found = self.list_table()
                self.merge_index(&self.found[0, 0], n_found)
        else:
            self.masks = &self.slot_masks[0] if self.n_words == 1 else &self.slot_words[0, 0]
            self.n_keys, self.distance = self.n_slots, N_SLOTS
        if self.is_listed or not is_even:
            self.check_order(cell)
        for number in range(self.n_parts):
            self.sets[number].keys += self.sets[number].n_here
        self.known.keys += self.known.n_here
        self.known.masks += self.known.n_here
        return 0

    cdef int fill_table(self, Cell* cell, u64 n_keys) except -1 nogil:
        """Enter the keys of all sets; 0 if they are not spread as hashes are."""
        cdef int number, bits = 4
        cdef bint is_entered = True
        memset(&self.slot_masks[0], 0, self.n_slots * sizeof(u64))
        if self.n_words > 1:
            for number in range(self.n_words):
                memset(&self.slot_words[number, 0], 0, self.n_slots * sizeof(u64))
        self.n_slots = 0
        while bits < cell.width and (<u64> 1 << bits) < n_keys:
            bits += 1
        cell.shift = max(0, cell.width - bits)
        for number in range(self.n_parts):
            if self.n_words == 1:
                is_entered = self.enter(&self.sets[number], cell, False)
            else:
                is_entered = self.enter(&self.sets[number], cell, True)
            if not is_entered:
                return 0
        return 1

    cdef inline int enter(self, Part* part, Cell* cell, bint has_words) except -1 nogil:
        # In local variables: what self points to might change with each write to the table.
        cdef const u64* place = part.keys
        cdef const u64* end = place + part.n_here
        cdef u64* keys = &self.slot_keys[0]
        cdef u64* masks = &self.slot_masks[0]
        cdef u64* words = &self.slot_words[part.number // 64, 0] if has_words else NULL
        cdef u64 key, slot, first, n_slots = self.n_slots, bit = <u64> 1 << (part.number % 64)
        cdef u64 base = cell.base, span = cell.span
        cdef int shift = cell.shift
        while place < end:
            key = place[0]
            if key - base > span:
                raise ValueError(_UNSORTED)
            first = slot = (key - base) >> shift
            while masks[slot] and keys[slot] != key:
                slot += 1
            if slot - first > MOST_STEPS:
                break
            keys[slot] = key
            masks[slot] |= bit
            if has_words:
                words[slot] |= bit
            if slot >= n_slots:
                n_slots = slot + 1
            place += 1
        self.n_slots = n_slots
        return place == end

    cdef u64 list_table(self) noexcept nogil:
        """List the keys of the table in rising order, with their masks; return how many."""
        cdef u64* keys = &self.found[0, 0]
        cdef u64* masks = &self.found[1, 0]
        cdef u64 slot, n_keys = 0, place, number, key, mask
        for slot in range(self.n_slots):
            keys[n_keys], masks[n_keys] = self.slot_keys[slot], self.slot_masks[slot]
            n_keys += self.slot_masks[slot] != 0
        # Keys of the same slot stand behind it in any order.
        for number in range(1, n_keys):
            if keys[number - 1] > keys[number]:
                place, key, mask = number, keys[number], masks[number]
                while place and keys[place - 1] > key:
                    keys[place], masks[place] = keys[place - 1], masks[place - 1]
                    place -= 1
                keys[place], masks[place] = key, mask
        return n_keys

    cdef void merge_index(self, const u64* others, u64 n_found) noexcept nogil:
        """Merge the keys of the index with those that were found, whose masks are in `found`."""
        cdef const u64* keys = self.known.keys
        cdef const u64* masks = self.known.masks
        cdef const u64* other_masks = &self.found[1, 0]
        cdef u64* merged = &self.merged[0, 0]
        cdef u64* merged_masks = &self.merged[1, 0]
        cdef u64 n_known = self.known.n_here, here = 0, there = 0, n_merged = 0
        cdef u64 key, other, takes, takes_other
        while here < n_known and there < n_found:
            key, other = keys[here], others[there]
            # Which one comes first is anybody's guess: so there is nothing to be guessed.
            takes, takes_other = key <= other, other <= key
            merged[n_merged] = key if takes else other
            merged_masks[n_merged] = (masks[here] & (0 - takes)) | (
                other_masks[there] & (0 - takes_other)
            )
            here += takes
            there += takes_other
            n_merged += 1
        if here == n_known:
            keys, masks, here, n_known = others, other_masks, there, n_found
        if here < n_known:  # or there may be nothing to point at
            memcpy(merged + n_merged, keys + here, (n_known - here) * sizeof(u64))
            memcpy(merged_masks + n_merged, masks + here, (n_known - here) * sizeof(u64))
        self.keys, self.masks, self.n_keys = merged, merged_masks, n_merged + n_known - here

    cdef int sort_all(self) except -1 with gil:
        """Do for keys that are no hashes what takes no longer, however they are spread."""
        cdef int number
        parts = [
            list_part(&self.sets[number], self.n_words)
            for number in range(self.n_parts) if self.sets[number].n_here
        ]
        if self.known.n_here:
            parts.append(list_part(&self.known, self.n_words))
        keys = np.concatenate([part[0] for part in parts])
        masks = np.concatenate([part[1] for part in parts], axis=1)
        order = np.argsort(keys, kind="stable")
        keys, masks = keys[order], masks[:, order]
        starts = np.flatnonzero(np.append(True, np.diff(keys) != 0))
        self.sorted_keys = keys[starts]
        self.sorted_masks = np.bitwise_or.reduceat(masks, starts, axis=1)
        self.keys, self.masks = &self.sorted_keys[0], &self.sorted_masks[0, 0]
        self.n_keys = self.distance = starts.size
        return 0

    cdef int check_order(self, Cell* cell) except -1 nogil:
        """See that keys rise within a cell, and are of sets that there are."""
        cdef u64 number, together = 0, n_wrong = 0
        if self.n_keys == 0:
            return 0
        for number in range(self.n_keys):
            together |= self.masks[number]
        for number in range(1, self.n_keys):
            n_wrong += self.keys[number] <= self.keys[number - 1]
        n_wrong += self.keys[0] < cell.base
        n_wrong += self.keys[self.n_keys - 1] - cell.base > cell.span
        if n_wrong or not fits(together, self.n_sets):
            raise ValueError(_UNSORTED)
        return 0

    cdef void tally_pairs(self, i64[:, ::1] n_shared) noexcept nogil:
        """Count each key for each two sets that hold it."""
        cdef const u64* masks = self.masks
        cdef int* members = &self.members[0]
        cdef i64* row
        cdef int n_words = self.n_words, n_members, number, one, other
        cdef u64 place, word, distance = self.distance
        for place in range(self.n_keys):
            n_members = 0
            for number in range(n_words):
                word = masks[number * distance + place]
                while word:
                    members[n_members] = 64 * number + LOWEST_BIT(word)
                    n_members += 1
                    word &= word - 1
            for one in range(n_members):
                row = &n_shared[members[one], 0]
                for other in range(one, n_members):
                    row[members[other]] += 1


_UNSORTED = "the keys of a set are not sorted, or not of this range"


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
        Where they are counted: `MaskCounts`, or a matrix of what each two of any number of sets
        share, above the diagonal, and on it the keys of each set.
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
    cdef MaskCounts by_mask = counts if isinstance(counts, MaskCounts) else None
    cdef i64[:, ::1] by_pair = None if by_mask is not None else counts
    cdef int n_sets = by_pair.shape[0] if by_mask is None else by_mask.n_sets
    cdef RangeMerge merge = RangeMerge(parts, n_sets, index is not None)
    cdef u64[::1] keys = None, masks = None
    cdef u64 here, place, n_written = 0
    cdef int number, bits = 0
    cdef Cell cell
    if n_sets < 1 or not 0 <= width <= 64 or (by_mask is None and by_pair.shape[1] != n_sets):
        raise ValueError("no sets, no such range, or no square matrix")
    if index is not None:
        keys, masks = index
        if <u64> min(keys.shape[0], masks.shape[0]) < merge.n_all:
            raise ValueError("too little room for the index")
    while bits < width and merge.n_all >> (CELL_KEYS_BITS + bits):
        bits += 1
    cell.width = width - bits
    cell.span = <u64> -1 if cell.width == 64 else (<u64> 1 << cell.width) - 1
    with nogil:
        for here in range(<u64> 1 << bits):
            cell.base = low + (here << cell.width if bits else 0)
            merge.find(&cell)
            if by_mask is None:
                merge.tally_pairs(by_pair)
            else:
                by_mask.count(merge.masks, merge.n_keys)
            if keys is not None:
                for place in range(merge.n_keys):
                    keys[n_written], masks[n_written] = merge.keys[place], merge.masks[place]
                    n_written += merge.masks[place] != 0  # not held by any set now
    for number in range(merge.n_parts):
        if merge.sets[number].keys != merge.sets[number].end:
            raise ValueError(_UNSORTED)
    if merge.known.keys != merge.known.end:
        raise ValueError(_UNSORTED)
    return n_written


# -------------------------------------------------------------------------------- first captures


cdef bint comes_before(const Row* one, const Row* other, TextTable hosts, TextTable types) noexcept nogil:
    """Tell whether a capture is earlier; of two at the same time the one of smaller values is."""
    cdef int difference
    if one.time != other.time:
        # A time that is not known is the least number, and comes last.
        return <u64> (one.time - 1) + (<u64> 1 << 63) < <u64> (other.time - 1) + (<u64> 1 << 63)
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


def first_captures(list parts not None, TextTable hosts not None, TextTable types not None):
    """Return the rows of the first capture of each key, in the order of the keys.

    Parameters
    ----------
    parts
        Attributes of captures, as arrays of `ROW`.
    hosts, types
        The names that their codes stand for.
    """
    cdef u64 n_parts = len(parts), n_rows = 0, part, number, n_first = 0, place = 0, together = 0
    cdef u64 size, most = max(map(len, parts), default=0)
    cdef int shift = 0, bits = 0, part_bits = 0, n_hosts = len(hosts), n_types = len(types)
    cdef const Row[::1] rows
    cdef const Row* row
    while most >> bits:
        bits += 1
    while n_parts >> part_bits:
        part_bits += 1
    cdef u64 row_mask = (<u64> 1 << bits) - 1, number_mask = (<u64> 1 << (bits + part_bits)) - 1
    cdef u64[::1] starts = np.empty(n_parts, np.uint64)
    for part in range(n_parts):
        rows = parts[part]
        size = rows.shape[0]
        starts[part] = <u64> &rows[0] if size else 0
        n_rows += size
        for number in range(size):
            row = &rows[number]
            together |= row.key
            if row.host >= n_hosts or row.mime >= n_types:
                raise ValueError("a row has a name that is not known")
    chosen = np.empty(n_rows, ROW)
    cdef Row[::1] target = chosen
    cdef u64[::1] order = np.empty(n_rows, np.uint64)
    while shift < 63 and not together >> (63 - shift):
        shift += 1
    # The leading bits of each key with the row's place behind them, to be sorted: rows are large,
    # and moved but once.
    for part in range(n_parts):
        row = <const Row*> starts[part]
        for number in range(len(parts[part])):
            order[place] = (row[number].key << shift & ~number_mask) | part << bits | number
            place += 1
    order.base.sort()
    with nogil:
        for number in range(n_rows):
            # They stand anywhere in memory, and take longer to come than to be looked at.
            place = order[min(number + <u64> ROWS_AHEAD, n_rows - 1)]
            FETCH(<const Row*> starts[(place & number_mask) >> bits] + (place & row_mask))
            part = (order[number] & number_mask) >> bits
            row, place = <const Row*> starts[part] + (order[number] & row_mask), n_first
            # Keys of the same leading bits, which are few, stand in any order.
            while place and target[place - 1].key > row.key:
                place -= 1
            if place and target[place - 1].key == row.key:
                if comes_before(row, &target[place - 1], hosts, types):
                    target[place - 1] = row[0]
            else:
                if place < n_first:
                    memmove(&target[place] + 1, &target[place], (n_first - place) * sizeof(Row))
                target[place] = row[0]
                n_first += 1
    return chosen[:n_first]


def renumber(const i32[:] codes not None, i32 n_codes):
    """Give the codes that are in use new numbers, in the order of their first use.

    Parameters
    ----------
    codes
        Of some rows; one below 0 stands for none, and stays −1.
    n_codes
        How many there can be.

    Returns
    -------
    (array, array)
        The new numbers of the rows, and the codes that they stand for.
    """
    cdef i64 row
    cdef i32 code, n_used = 0
    numbers_array, used_array = np.empty(codes.shape[0], np.int32), np.empty(n_codes, np.int32)
    cdef i32[::1] numbers = numbers_array, used = used_array
    cdef i32[::1] number_of = np.full(n_codes, -1, np.int32)
    for row in range(codes.shape[0]):
        code = codes[row]
        if code >= n_codes:
            raise ValueError("a row has a name that is not known")
        if code < 0:
            numbers[row] = -1
            continue
        if number_of[code] < 0:
            number_of[code], used[n_used] = n_used, code
            n_used += 1
        numbers[row] = number_of[code]
    return numbers_array, used_array[:n_used]
