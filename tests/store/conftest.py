"""Small lists and stores for the tests of the store."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge as cg

sys.path.insert(0, str(Path(__file__).parents[1] / "remote_store"))

from store_places import LocalPlace, place, s3_place, s3_url, use_s3  # noqa: F401 - fixtures

SOURCE = Path(cg.__file__).parents[1]


@pytest.fixture
def store(tmp_path):
    """Return the path of a store that is not made yet."""
    return tmp_path / "store"


@pytest.fixture
def full_place(place, make_list):  # noqa: F811 - the fixture
    """Return a place with a store of two crawls of 100 URLs, 50 of them shared."""
    cg.add_crawl(place.store, "2021-06", make_list(range(100), "2021-06.txt"))
    cg.add_crawl(place.store, "2021-12", make_list(range(50, 150), "2021-12.txt"))
    return place


@pytest.fixture
def full_store(store, make_list):
    """Return the path of a store of two crawls of 100 URLs, 50 of them shared."""
    cg.add_crawl(store, "2021-06", make_list(range(100), "2021-06.txt"))
    cg.add_crawl(store, "2021-12", make_list(range(50, 150), "2021-12.txt"))
    return store


@pytest.fixture
def only_set_file(full_store):
    """Return the file that holds the keys of one crawl of `full_store`."""
    (path,) = (full_store / "crawls" / "2021-06").glob("url-*.parquet")
    return path


@pytest.fixture
def environment():
    """Return an environment in which other processes find this crawlgauge."""
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def start(tmp_path):
    """Start the command line in another process; it is killed in the end if need be."""
    started = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "crawlgauge", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def see_whole():
    """Check that a store is whole: crawls verify, and nothing but their files is there."""
    return lambda store, labels: LocalPlace(store).see_whole(labels)
