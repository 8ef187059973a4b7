"""WACZ files of pywb and py-wacz, valid and invalid ones."""

import pytest

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.wacz import looks_like_wacz, open_wacz
from crawlgauge.sources.what_counts import Settings

# Lines of the index. The third is invalid by its signature only, its files are whole.
FILES = {"valid_example_1": 1, "valid_example_2": 1, "invalid_signed_example_1": 2}


@pytest.mark.parametrize("name", FILES)
def test_each_index_is_read_in_place(shared_data, name):
    path = shared_data / "formats" / "wacz" / f"{name}.wacz"
    with Stream(str(path)) as stream:
        assert looks_like_wacz(stream.beginning())
        for member in open_wacz(stream, Settings()):
            with member:
                lines = b"".join(member.blocks()).splitlines()
        assert stream.damages == []
    assert member.name == f"{path}!/indexes/index.cdx.gz"
    assert len(lines) == FILES[name]
    assert all(line.startswith(b"com,example)/") for line in lines)


def test_an_archive_without_captures_is_told(shared_data):
    path = shared_data / "formats" / "wacz" / "invalid_example_1.wacz"
    with (
        Stream(str(path)) as stream,
        pytest.raises(SourceError, match="is a WACZ without captures"),
    ):
        list(open_wacz(stream, Settings()))
