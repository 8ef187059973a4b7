"""Several processes at one store: different crawls side by side, one crawl by one process."""

import time

import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.keys.rules import RAW
from crawlgauge.store.catalogue import open_store, store_for_adding

URLS = b"http://a.org/\nhttp://b.org/\n"


def wait_for_lock(store, label, process):
    """Wait until the process holds the lock of a crawl; it says so by its number in it."""
    lock = store / "crawls" / label / "lock"
    for _ in range(1200):
        if lock.exists() and lock.read_text() == f"{process.pid}\n":
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    pytest.fail("the process did not begin to write")


def test_two_processes_add_different_crawls_at_once(store, start, see_whole):
    one, two = (start("add", label, "-", "--store", store) for label in ("2021-06", "2021-12"))
    wait_for_lock(store, "2021-06", one)
    wait_for_lock(store, "2021-12", two)
    for process in (one, two):
        _, errors = process.communicate(URLS, timeout=60)
        assert process.returncode == 0, errors
    see_whole(store, ["2021-06", "2021-12"])


@pytest.mark.parametrize("n_processes", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_several_processes_make_one_new_store_at_once(
    store, start, make_list, see_whole, n_processes
):
    path = make_list(range(100))
    labels = [f"2020-{month:02}" for month in range(1, n_processes + 1)]
    processes = [start("add", label, path, "--store", store) for label in labels]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    see_whole(store, labels)


def test_one_crawl_is_written_by_one_process_and_the_other_is_told(
    store, start, make_list, see_whole
):
    writing = start("add", "2021-12", "-", "--store", store)
    wait_for_lock(store, "2021-12", writing)
    path = make_list([1])
    refused = start("add", "2021-12", path, "--store", store)
    output, errors = refused.communicate(timeout=60)
    assert (refused.returncode, output) == (1, b"")
    assert b"Traceback" not in errors
    expected = f"crawl '2021-12' is being written by another process ({writing.pid}); wait until"
    assert expected in errors.decode()
    with pytest.raises(StoreBusy):
        cg.add_crawl(store, "2021-12", path, replace=True)
    assert cg.list_crawls(store) == ()
    writing.communicate(URLS, timeout=60)
    assert writing.returncode == 0
    see_whole(store, ["2021-12"])


def test_a_crawl_is_not_removed_while_it_is_written(full_store, start, see_whole):
    writing = start("add", "2021-12", "-", "--replace", "--store", full_store)
    wait_for_lock(full_store, "2021-12", writing)
    with pytest.raises(StoreBusy):
        cg.remove_crawl(full_store, "2021-12")
    assert cg.list_crawls(full_store)[1].crawl.n_urls == 100, "the old crawl can be read"
    writing.communicate(URLS, timeout=60)
    assert cg.list_crawls(full_store)[1].crawl.n_urls == 2
    see_whole(full_store, ["2021-06", "2021-12"])


def test_a_killed_process_blocks_nobody(store, start, make_list, see_whole):
    killed = start("add", "2021-12", "-", "--store", store)
    wait_for_lock(store, "2021-12", killed)
    killed.kill()
    killed.wait()
    cg.add_crawl(store, "2021-12", make_list([1]))
    see_whole(store, ["2021-12"])


def test_an_add_that_fails_does_not_take_the_store_away_from_another(store, make_list, see_whole):
    """Both find the new store; one fails and cleans up before the other has begun to write."""
    with store_for_adding(store, RAW):
        opened = open_store(store, create_with=RAW)
    with opened.writing("2021-06"):
        pass
    cg.add_crawl(store, "2021-06", make_list([1]))
    see_whole(store, ["2021-06"])


def test_a_store_deleted_while_a_crawl_is_written_is_an_error_in_words(full_store, make_list):
    def delete(*_):
        if full_store.exists():
            for path in sorted(full_store.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            full_store.rmdir()

    with pytest.raises(StoreError, match=r"cannot write|missing"):
        cg.add_crawl(full_store, "2022-06", make_list([1]), progress=delete)
