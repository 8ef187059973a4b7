"""Stores on an S3-compatible server, and a proxy before it that does harm."""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("remote_store", "remote", "sources")]

from store_places import (  # noqa: E402, F401 - fixtures
    fill,
    impatient,
    s3_client,
    s3_place,
    s3_server,
    start,
    use_s3,
)
from store_proxies import StoreProxy  # noqa: E402 - found by the line above


@pytest.fixture
def full_place(s3_place, make_list):  # noqa: F811 - the fixture
    """Return a place with a store of two crawls of 100 URLs, 50 of them shared."""
    fill(s3_place.store, make_list)
    return s3_place


@pytest.fixture
def proxy(s3_server, use_s3):  # noqa: F811 - the fixtures
    """Return a proxy through which the server is reached from now on."""
    found = StoreProxy(s3_server)
    use_s3(found.url)
    yield found
    found.close()
