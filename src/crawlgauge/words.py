"""Many bytes at a time, for compiled code: unaligned loads and stores, and searches with them."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = [
    "VECTOR",
    "copy_bytes",
    "count_bits",
    "find_byte",
    "first_bit",
    "load_half",
    "load_word",
    "match_below",
    "match_byte",
    "match_same",
]

VECTOR = 32
"""How many bytes are compared at once; the processors of today do so in one or two steps."""

_EVERY_BYTE = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_WORD = 8
_WORD_BITS = 64


# numba's and llvmlite's objects have no types that mypy knows.
_Untyped = Any


def _pointer(context: _Untyped, builder: _Untyped, kind: _Untyped, *where: _Untyped) -> _Untyped:
    array, place = where
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [place])


def _loads(n_bits: int) -> _Untyped:
    """Make what numba needs to compile a load of so many bits into a 64-bit word."""

    def declare(_typing: _Untyped, data: _Untyped, place: _Untyped) -> _Untyped:  # noqa: ARG001
        def generate(
            context: _Untyped, builder: _Untyped, signature: _Untyped, arguments: _Untyped
        ) -> _Untyped:
            pointer = _pointer(context, builder, signature.args[0], *arguments)
            pointer = builder.bitcast(pointer, ir.IntType(n_bits).as_pointer())
            word = builder.load(pointer, align=1)
            return word if n_bits == _WORD_BITS else builder.zext(word, ir.IntType(_WORD_BITS))

        return types.uint64(data, types.intp), generate

    return intrinsic(declare)


def _stores_word(_typing: _Untyped, data: _Untyped, place: _Untyped, word: _Untyped) -> _Untyped:  # noqa: ARG001
    def generate(
        context: _Untyped, builder: _Untyped, signature: _Untyped, arguments: _Untyped
    ) -> _Untyped:
        *where, value = arguments
        pointer = _pointer(context, builder, signature.args[0], *where)
        pointer = builder.bitcast(pointer, ir.IntType(_WORD_BITS).as_pointer())
        builder.store(value, pointer, align=1)
        return context.get_dummy_value()

    return types.void(data, types.intp, types.uint64), generate


def _load_vector(
    context: _Untyped, builder: _Untyped, kind: _Untyped, *where: _Untyped
) -> _Untyped:
    pointer = _pointer(context, builder, kind, *where)
    vector = ir.VectorType(ir.IntType(8), VECTOR)
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=1)


def _to_mask(builder: _Untyped, flags: _Untyped) -> _Untyped:
    """Make a word of a vector of truth values, the first of which is the lowest bit."""
    return builder.zext(builder.bitcast(flags, ir.IntType(VECTOR)), ir.IntType(_WORD_BITS))


def _compares(comparison: str) -> _Untyped:
    """Make what numba needs to compile a comparison of many bytes with one."""

    def declare(_typing: _Untyped, data: _Untyped, place: _Untyped, byte: _Untyped) -> _Untyped:  # noqa: ARG001
        def generate(
            context: _Untyped, builder: _Untyped, signature: _Untyped, arguments: _Untyped
        ) -> _Untyped:
            *where, byte = arguments
            vector = _load_vector(context, builder, signature.args[0], *where)
            nothing = ir.Constant(vector.type, ir.Undefined)
            number = ir.IntType(32)
            first = builder.insert_element(nothing, byte, ir.Constant(number, 0))
            lanes = ir.Constant(ir.VectorType(number, VECTOR), [0] * VECTOR)
            everywhere = builder.shuffle_vector(first, nothing, lanes)
            return _to_mask(builder, builder.icmp_unsigned(comparison, vector, everywhere))

        return types.uint64(data, types.intp, types.uint8), generate

    return intrinsic(declare)


def _compares_two(
    _typing: _Untyped, data: _Untyped, place: _Untyped, other: _Untyped, other_place: _Untyped
) -> _Untyped:
    del place, other_place

    def generate(
        context: _Untyped, builder: _Untyped, signature: _Untyped, arguments: _Untyped
    ) -> _Untyped:
        one = _load_vector(context, builder, signature.args[0], *arguments[:2])
        two = _load_vector(context, builder, signature.args[2], *arguments[2:])
        return _to_mask(builder, builder.icmp_unsigned("==", one, two))

    return types.uint64(data, types.intp, other, types.intp), generate


def _counts_bits(_typing: _Untyped, word: _Untyped) -> _Untyped:  # noqa: ARG001
    def generate(
        _context: _Untyped, builder: _Untyped, _signature: _Untyped, arguments: _Untyped
    ) -> _Untyped:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _counts_zeros(_typing: _Untyped, word: _Untyped) -> _Untyped:  # noqa: ARG001
    def generate(
        _context: _Untyped, builder: _Untyped, _signature: _Untyped, arguments: _Untyped
    ) -> _Untyped:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


_Load = Callable[[NDArray[np.uint8], int], np.uint64]
_Match = Callable[[NDArray[np.uint8], int, int], np.uint64]

load_word: _Load = _loads(64)
"""Load the little-endian word of eight bytes at a place; the caller keeps within bounds."""

load_half: _Load = _loads(32)
"""Load the little-endian half word of four bytes at a place, as `load_word` does."""

match_byte: _Match = _compares("==")
"""Tell which of the `VECTOR` bytes from a place on are `byte`, the lowest bit for the first; the
caller keeps within bounds."""

match_below: _Match = _compares("<")
"""Tell which of the `VECTOR` bytes from a place on are less than `byte`, as `match_byte` does."""

match_same: Callable[[NDArray[np.uint8], int, NDArray[np.uint8], int], np.uint64] = cast(
    "_Untyped", intrinsic
)(_compares_two)
"""Tell which of the `VECTOR` bytes from two places on are the same, as `match_byte` does."""

first_bit: Callable[[np.uint64], int] = cast("_Untyped", intrinsic)(_counts_zeros)
"""Return the place of the lowest bit of a word that is set; 64 if none is."""

count_bits: Callable[[np.uint64], int] = cast("_Untyped", intrinsic)(_counts_bits)
"""Return how many bits of a word are set."""

_store_word: Callable[[NDArray[np.uint8], int, np.uint64], None] = cast("_Untyped", intrinsic)(
    _stores_word
)


@compiled
def find_byte(data: NDArray[np.uint8], start: int, end: int, byte: int) -> int:
    """Return the first place of `byte` in ``data[start:end]``, or `end`."""
    pattern = np.uint64(byte) * _EVERY_BYTE
    place = start
    while place + _WORD <= end:
        # Bytes that equal the wanted one become zero, and a zero byte borrows its high bit.
        word = load_word(data, place) ^ pattern
        found = (word - _EVERY_BYTE) & ~word & _HIGH_BITS
        if found:
            # Above the lowest mark, which is true, there may be false ones.
            return place + (first_bit(found) >> 3)
        place += _WORD
    while place < end and data[place] != byte:
        place += 1
    return place


@compiled
def copy_bytes(
    source: NDArray[np.uint8], start: int, end: int, target: NDArray[np.uint8], place: int
) -> None:
    """Copy ``source[start:end]`` to another array from `place` on."""
    n_bytes = end - start
    done = 0
    if n_bytes >= _WORD:
        while done + _WORD < n_bytes:
            _store_word(target, place + done, load_word(source, start + done))
            done += _WORD
        # The last word may overlap the one before: better than single bytes.
        _store_word(target, place + n_bytes - _WORD, load_word(source, end - _WORD))
        return
    while done < n_bytes:
        target[place + done] = source[start + done]
        done += 1
