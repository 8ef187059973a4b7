"""Reading of URL lists, gathered over all batches, for the tests of the sources."""

from collections import Counter
from dataclasses import dataclass

import pytest

from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request
from crawlgauge.sources.urllist import read_url_list


@dataclass
class Everything:
    """All that the batches of one list hold."""

    urls: list
    rejected: Counter
    excluded: Counter
    examples: list


def gather(batches):
    found = Everything([], Counter(), Counter(), [])
    for batch in batches:
        found.urls += batch.url.to_pylist()
        found.rejected.update(batch.rejected)
        found.excluded.update(batch.excluded)
        found.examples += batch.examples
    return found


class GivenBlocks:
    """A stream that is cut into the given blocks."""

    name = "list.txt"

    def __init__(self, blocks):
        self._blocks = [block for block in blocks if block]

    def beginning(self):
        return next(iter(self._blocks), b"")

    def blocks(self):
        return iter(self._blocks)


@pytest.fixture(scope="session")
def scan():
    """Read a list from its bytes, cut into the given blocks."""
    return lambda *blocks: gather(read_url_list(GivenBlocks(blocks), Request()))


@pytest.fixture
def read_file(tmp_path):
    """Write a file and read it as a URL list."""

    def read(data, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        with ByteStream(name, open_file=lambda: path.open("rb")) as stream:
            return gather(read_url_list(stream, Request()))

    return read
