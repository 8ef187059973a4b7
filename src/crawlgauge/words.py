"""Eight bytes at a time: unaligned loads and stores for compiled code, and searches with them."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["copy_bytes", "find_byte", "load_half", "load_word"]

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


_Load = Callable[[NDArray[np.uint8], int], np.uint64]

load_word: _Load = _loads(64)
"""Load the little-endian word of eight bytes at a place; the caller keeps within bounds."""

load_half: _Load = _loads(32)
"""Load the little-endian half word of four bytes at a place, as `load_word` does."""

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
        if (word - _EVERY_BYTE) & ~word & _HIGH_BITS:
            break
        place += _WORD
    while place < end and data[place] != byte:
        place += 1
    return place


@compiled
def copy_bytes(
    source: NDArray[np.uint8], start: int, end: int, target: NDArray[np.uint8], place: int
) -> None:
    """Copy ``source[start:end]`` to `target` from `place` on."""
    n_bytes = end - start
    done = 0
    while done + _WORD <= n_bytes:
        _store_word(target, place + done, load_word(source, start + done))
        done += _WORD
    while done < n_bytes:
        target[place + done] = source[start + done]
        done += 1
