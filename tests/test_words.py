"""Many bytes at a time: compiled searches and copies against Python's own."""

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.words import (
    VECTOR,
    copy_bytes,
    count_bits,
    find_byte,
    first_bit,
    match_below,
    match_byte,
    match_same,
)

vectors = st.binary(min_size=VECTOR, max_size=VECTOR)
few = st.lists(st.sampled_from(b'\x00\x1f !"\\ab\x7f\x80\xff'), min_size=VECTOR, max_size=VECTOR)
some = st.one_of(vectors, few.map(bytes))


@numba.njit
def compare(data, other, byte):
    return match_byte(data, 3, byte), match_below(data, 3, byte), match_same(data, 3, other, 5)


@numba.njit
def look_at(word):
    return first_bit(word), count_bits(word)


def as_array(text):
    return np.frombuffer(text, dtype=np.uint8)


def to_mask(flags):
    return sum(1 << place for place, flag in enumerate(flags) if flag)


@given(one=some, two=some, byte=st.integers(0, 255))
def test_comparisons_tell_which_bytes_fit(one, two, byte):
    found = compare(as_array(b"xyz" + one), as_array(b"12345" + two), byte)
    assert [int(mask) for mask in found] == [
        to_mask(each == byte for each in one),
        to_mask(each < byte for each in one),
        to_mask(a == b for a, b in zip(one, two, strict=True)),
    ]


@given(st.integers(0, 2**64 - 1))
def test_bits_are_found_and_counted(word):
    first = (word & -word).bit_length() - 1 if word else 64
    assert look_at(np.uint64(word)) == (first, word.bit_count())


@given(text=st.binary(max_size=100), byte=st.integers(0, 255), data=st.data())
def test_the_first_place_of_a_byte_is_found_between_bounds(text, byte, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = text.find(bytes([byte]), start, end)
    assert find_byte(as_array(text), start, end, byte) == (end if found < 0 else found)


@given(text=st.binary(max_size=100), place=st.integers(0, 20))
def test_bytes_are_copied_and_nothing_beside_them(text, place):
    target = np.full(place + len(text) + 9, 7, dtype=np.uint8)
    copy_bytes(as_array(b"x" + text + b"y" * 8), 1, 1 + len(text), target, place)
    assert target.tobytes() == b"\7" * place + text + b"\7" * 9
