"""Reading of URL lists for the tests of the sources, and where these find what they share."""

import sys
from pathlib import Path

import pytest

from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request
from crawlgauge.sources.urllist import read_url_list

sys.path.insert(0, str(Path(__file__).parent))

from gathered import GivenBlocks, gather


@pytest.fixture(scope="session")
def scan():
    """Read a list from its bytes, cut into the given blocks."""
    return lambda *blocks: gather(read_url_list(GivenBlocks(*blocks), Request()))


@pytest.fixture
def read_file(tmp_path):
    """Write a file and read it as a URL list."""

    def read(data, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        with ByteStream(name, open_file=lambda: path.open("rb")) as stream:
            return gather(read_url_list(stream, Request()))

    return read
