"""Stores on an S3-compatible server, and a proxy before it that does harm."""

import sys
from pathlib import Path

import pytest

import crawlgauge as cg

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "remote")]

from store_places import s3_place, s3_url, use_s3  # noqa: E402, F401 - fixtures
from store_proxies import StoreProxy  # noqa: E402 - found by the line above


@pytest.fixture
def full_place(s3_place, make_list):  # noqa: F811 - the fixture
    """Return a place with a store of two crawls of 100 URLs, 50 of them shared."""
    cg.add_crawl(s3_place.store, "2021-06", make_list(range(100), "2021-06.txt"))
    cg.add_crawl(s3_place.store, "2021-12", make_list(range(50, 150), "2021-12.txt"))
    return s3_place


@pytest.fixture
def proxy(s3_url, use_s3):  # noqa: F811 - the fixtures
    """Return a proxy through which the server is reached from now on."""
    found = StoreProxy(s3_url)
    use_s3(found.url)
    yield found
    found.close()
