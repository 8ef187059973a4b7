"""Merge sorted runs of keys, each packed into one word with a mask of the sets that hold it.

Keys of a narrow hash range begin with the same bits. Shifted out, these leave room for a mask: one
word then holds both, and words that differ in the mask only are the same key. Runs are merged two
by two, the results again two by two, and so on. Everything is done for two separate lots of runs,
in the lower and in the upper half of the same buffers, a step of the one and a step of the other
in turn: a step has to wait for the one before it in the same lot, and two lots wait together. No
step contains a branch that depends on the keys, which no processor can foretell.

Every step takes at least one word off one of its two runs, and every round halves the number of
runs, so that merging ends whatever the keys are.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["Words", "mark_held", "merge_runs"]

Words = NDArray[np.uint64]

# Places are unsigned: numba makes a negative one count from the end, at a cost.
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def merge_runs(buffers: Words, starts: Words, n_runs: int, low: np.uint64) -> int:
    """Merge the runs of each half of the first buffer until one is left.

    Parameters
    ----------
    buffers
        Two rows of words. In a run the keys rise.
    starts
        For each buffer, run and half, where the run starts; after the last run, where it ends.
        Filled in with what the merged runs have.
    n_runs
        Runs in each half of the first buffer, at least one.
    low
        The bits of a word that are its mask.

    Returns
    -------
    int
        Which buffer holds the one run that is left.
    """
    source = 0
    while n_runs > 1:
        target, n_merged = 1 - source, 0
        here, there = _ZERO, np.uint64(buffers.shape[1] // 2)
        for run in range(0, n_runs, 2):
            starts[target, n_merged, 0], starts[target, n_merged, 1] = here, there
            n_merged += 1
            here, there = _merge_two(
                buffers[source],
                starts[source, run],
                starts[source, run + 1],
                # A run that is left over is merged with an empty one.
                starts[source, min(run + 2, n_runs)],
                low,
                buffers[target],
                here,
                there,
            )
        starts[target, n_merged, 0], starts[target, n_merged, 1] = here, there
        source, n_runs = target, n_merged
    return source


@compiled
def _merge_two(
    words: Words,
    first: Words,
    second: Words,
    end: Words,
    low: np.uint64,
    out: Words,
    here: np.uint64,
    there: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """Merge two adjacent runs in each half; return where the results end."""
    i, i_end, x, x_end = first[0], second[0], first[1], second[1]
    j, j_end, y, y_end = second[0], end[0], second[1], end[1]
    n_safe = min(i_end - i, j_end - j, x_end - x, y_end - y)
    while n_safe > _ZERO:
        # So many steps reach the end of no run, and need not look for it.
        stop = here + n_safe
        while here < stop:
            a, b = words[i], words[j]
            takes_a, takes_b = np.uint64(a <= (b | low)), np.uint64(b <= (a | low))
            out[here] = (a & (_ZERO - takes_a)) | (b & (_ZERO - takes_b))
            i += takes_a
            j += takes_b
            here += _ONE
            a, b = words[x], words[y]
            takes_a, takes_b = np.uint64(a <= (b | low)), np.uint64(b <= (a | low))
            out[there] = (a & (_ZERO - takes_a)) | (b & (_ZERO - takes_b))
            x += takes_a
            y += takes_b
            there += _ONE
        n_safe = min(i_end - i, j_end - j, x_end - x, y_end - y)
    here = _finish(words, i, i_end, j, j_end, low, out, here)
    there = _finish(words, x, x_end, y, y_end, low, out, there)
    return here, there


@compiled
def _finish(
    words: Words,
    i: np.uint64,
    i_end: np.uint64,
    j: np.uint64,
    j_end: np.uint64,
    low: np.uint64,
    out: Words,
    here: np.uint64,
) -> np.uint64:
    """Merge what is left of two runs."""
    while i < i_end and j < j_end:
        a, b = words[i], words[j]
        takes_a, takes_b = np.uint64(a <= (b | low)), np.uint64(b <= (a | low))
        out[here] = (a & (_ZERO - takes_a)) | (b & (_ZERO - takes_b))
        i += takes_a
        j += takes_b
        here += _ONE
    # One of the two is empty now.
    while i < i_end:
        out[here] = words[i]
        i += _ONE
        here += _ONE
    while j < j_end:
        out[here] = words[j]
        j += _ONE
        here += _ONE
    return here


@compiled
def mark_held(
    union: Words, ends: Words, keys: Words, places: Words, shift: np.uint64, marks: Words
) -> None:
    """Mark the keys that a further set holds with 1, the others with 0.

    Every step takes a key off the union or off the set, so that it ends.

    Parameters
    ----------
    union, ends
        Rising keys, shifted: in the lower half up to the first end, in the upper up to the second.
    keys, places
        The set's keys for the two halves are those between the first and the second, and between
        the second and the third place.
    shift
        By how many bits the keys of the union are shifted.
    marks
        Filled; as long as `union`.
    """
    i, i_end, j, j_end = _ZERO, ends[0], places[0], places[1]
    x, x_end, y, y_end = np.uint64(union.size // 2), ends[1], places[1], places[2]
    n_safe = min(i_end - i, j_end - j, x_end - x, y_end - y)
    while n_safe > _ZERO:
        for _ in range(n_safe):
            # The last mark at a place is the right one: it is made when the place is left.
            a, b = union[i], keys[j] << shift
            marks[i] = np.uint64(a == b)
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
            a, b = union[x], keys[y] << shift
            marks[x] = np.uint64(a == b)
            x += np.uint64(a <= b)
            y += np.uint64(b <= a)
        n_safe = min(i_end - i, j_end - j, x_end - x, y_end - y)
    _finish_marks(union, i, i_end, keys, j, j_end, shift, marks)
    _finish_marks(union, x, x_end, keys, y, y_end, shift, marks)


@compiled
def _finish_marks(
    union: Words,
    i: np.uint64,
    i_end: np.uint64,
    keys: Words,
    j: np.uint64,
    j_end: np.uint64,
    shift: np.uint64,
    marks: Words,
) -> None:
    """Mark what is left of the union."""
    while i < i_end and j < j_end:
        a, b = union[i], keys[j] << shift
        marks[i] = np.uint64(a == b)
        i += np.uint64(a <= b)
        j += np.uint64(b <= a)
    while i < i_end:
        marks[i] = _ZERO
        i += _ONE
