"""Small lists and stores for the tests of the store."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("remote_store", "faults")]

from store_places import (  # noqa: E402, F401 - fixtures
    environment,
    fill,
    full_store,
    impatient,
    place,
    s3_client,
    s3_place,
    s3_server,
    see_whole,
    start,
    store,
    use_s3,
)


@pytest.fixture
def full_place(place, make_list):  # noqa: F811 - the fixture
    """Return a place with a store of two crawls of 100 URLs, 50 of them shared."""
    fill(place.store, make_list)
    return place


@pytest.fixture
def only_set_file(full_store):  # noqa: F811 - the fixture
    """Return the file that holds the keys of one crawl of `full_store`."""
    (path,) = (full_store / "crawls" / "2021-06").glob("url-*.arrow")
    return path
