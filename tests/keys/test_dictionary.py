"""Codes of short texts: one for each distinct text, whatever comes in."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.keys.dictionary_kernel import (
    MAX_TEXT_BYTES,
    NO_CODE,
    Dictionary,
    compare_texts,
    renumber,
)


def texts_of(dictionary):
    data, starts = dictionary.texts()
    return [data[a:b].tobytes() for a, b in itertools.pairwise(starts)]


@given(st.lists(st.binary(max_size=20)))
def test_codes_are_numbers_by_first_appearance(texts):
    dictionary = Dictionary()
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    assert [dictionary.code(text) for text in texts] == [numbers[text] for text in texts]
    assert texts_of(dictionary) == list(numbers)
    assert len(dictionary) == len(numbers)


def test_codes_survive_growth():
    rng = np.random.default_rng(1)
    texts = [rng.bytes(rng.integers(MAX_TEXT_BYTES + 1)) for _ in range(5_000)]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    dictionary = Dictionary()
    for _ in range(2):
        assert [dictionary.code(text) for text in texts] == [numbers[text] for text in texts]
    assert texts_of(dictionary) == list(numbers)


def test_longer_texts_are_refused():
    with pytest.raises(ValueError, match="256 bytes is longer than 255"):
        Dictionary().code(b"a" * 256)


@given(st.lists(st.binary(max_size=10), unique=True, min_size=1), st.data())
def test_unused_texts_are_dropped_and_the_others_keep_their_meaning(texts, data):
    dictionary = Dictionary()
    for text in texts:
        dictionary.code(text)
    codes = data.draw(st.lists(st.integers(NO_CODE, len(texts) - 1)))
    array = np.array(codes, dtype=np.int32)
    dictionary.keep(renumber(array, len(dictionary)))
    assert texts_of(dictionary) == list(
        dict.fromkeys(texts[code] for code in codes if code != NO_CODE)
    )
    kept = texts_of(dictionary)
    meant = [None if code == NO_CODE else texts[code] for code in codes]
    assert [None if code == NO_CODE else kept[code] for code in array.tolist()] == meant
    assert [dictionary.code(text) for text in kept] == list(range(len(kept)))


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_texts_are_compared_as_python_compares_them(one, other):
    dictionary = Dictionary()
    codes = dictionary.code(one), dictionary.code(other)
    found = compare_texts(dictionary.table.starts, dictionary.table.texts, *codes)
    assert np.sign(found) == (one > other) - (one < other)


def test_no_text_comes_last():
    dictionary = Dictionary()
    table, code = dictionary.table, dictionary.code(b"\xff" * 9)
    assert compare_texts(table.starts, table.texts, code, NO_CODE) < 0
    assert compare_texts(table.starts, table.texts, NO_CODE, code) > 0
    assert compare_texts(table.starts, table.texts, NO_CODE, NO_CODE) == 0
