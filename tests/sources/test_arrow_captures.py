"""Columns of Arrow become captures, whatever their types."""

import pyarrow as pa
import pytest

from crawlgauge.sources.arrow_captures import to_captures
from crawlgauge.sources.record_kernel import MIME, URL
from crawlgauge.sources.request import Request

URLS = [b"http://a.org/1", b"http://a.org/2", None, b"http://a.org/3", b"http://a.org/1"]
TYPES = ["text/html", None, "text/html", "image/png", "text/html"]


def read(**columns):
    fields = {"url": URL, "mime": MIME}
    found = {fields[name]: column for name, column in columns.items()}
    request = Request(fields=frozenset({"mime", "status"}))
    return to_captures(found, request=request, name="x", n_before=0)


@pytest.mark.parametrize("index_type", [pa.int8(), pa.uint16(), pa.int32(), pa.int64()])
def test_columns_with_codes_are_read_as_those_without(index_type):
    plain = pa.array(URLS), pa.array(TYPES)
    coded = [
        column.dictionary_encode().cast(pa.dictionary(index_type, column.type)) for column in plain
    ]
    for first in (0, 2):
        url, mime = (column.slice(first) for column in plain)
        coded_url, coded_mime = (column.slice(first) for column in coded)
        expected, found = read(url=url, mime=mime), read(url=coded_url, mime=coded_mime)
        assert found.url.to_pylist() == expected.url.to_pylist()
        assert found.mime.to_pylist() == expected.mime.to_pylist()
        assert found.rejected == expected.rejected == {"no-url": 1}
        assert found.examples == expected.examples


def test_a_dictionary_without_texts_gives_nothing():
    nothing = pa.DictionaryArray.from_arrays(
        pa.array([None] * 2, pa.int32()), pa.array([], pa.string())
    )
    assert read(url=pa.array(URLS[:2]), mime=nothing).mime.to_pylist() == [None, None]


@pytest.mark.parametrize("code", [-1, 1, 2])
def test_codes_that_stand_for_nothing_are_found(code):
    codes = pa.array([0, code], pa.int32())
    wrong = pa.DictionaryArray.from_arrays(codes, pa.array(["a/b"]), safe=False)
    with pytest.raises(pa.ArrowInvalid, match="not in its dictionary"):
        read(url=pa.array(URLS[:2]), mime=wrong)
