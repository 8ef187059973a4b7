"""Reading of URL lists, gathered over all batches, for the tests of the sources."""

from collections import Counter
from dataclasses import dataclass

import pytest

from crawlgauge.sources.blocks import BlockReader
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


@pytest.fixture(scope="session")
def scan():
    """Read a list from its bytes, cut into the given blocks."""
    return lambda *blocks: gather(read_url_list(blocks, name="list.txt"))


@pytest.fixture
def read_file(tmp_path):
    """Write a file and read it as a URL list."""

    def read(data, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return gather(read_url_list(BlockReader(str(path)).blocks(), name=name))

    return read
