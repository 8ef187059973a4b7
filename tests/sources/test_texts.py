"""Columns of texts as places in a buffer, and as Arrow's columns."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.sources.texts import Texts

values = st.lists(st.one_of(st.none(), st.binary(max_size=20)), max_size=12)


@given(values=values, n_before=st.integers(0, 3), data=st.data())
def test_texts_are_those_of_the_column_and_give_it_again(values, n_before, data):
    column = pa.array([b"before"] * n_before + values, pa.binary())[n_before:]
    texts = Texts.of(column)
    assert (len(texts), texts.null_count) == (len(values), values.count(None))
    assert texts.to_pylist() == values
    texts.to_arrow().validate(full=True)
    assert [texts[number] for number in range(len(values))] == values
    chosen = data.draw(st.lists(st.integers(0, max(len(values) - 1, 0)), max_size=5))
    chosen = chosen if values else []
    taken = texts.take(np.array(chosen, dtype=np.int64))
    assert taken.to_pylist() == [values[number] for number in chosen]


def test_texts_may_stand_anywhere_in_their_buffer():
    data = np.frombuffer(b"http://a.org/ 200", dtype=np.uint8)
    starts, ends = np.array([14, 0, -1, 7], np.int32), np.array([17, 13, -1, 7], np.int32)
    texts = Texts(data=data, starts=starts, ends=ends)
    assert texts.to_pylist() == [b"200", b"http://a.org/", None, b""]
    assert Texts.of(texts) is texts


def test_texts_cannot_be_changed():
    texts = Texts.of(pa.array([b"a"]))
    with pytest.raises(ValueError, match="read-only"):
        texts.starts[0] = 5


def test_other_columns_are_refused():
    with pytest.raises(TypeError, match="must be binary, not string"):
        Texts.of(pa.array(["a"]))
