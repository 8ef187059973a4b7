"""Several processes at one store: different crawls side by side, one crawl by one process."""

import re
import time
from contextlib import suppress

import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.keys.rules import RAW
from crawlgauge.locations import find_store
from crawlgauge.store.catalogue import open_store, store_for_adding

URLS = b"http://a.org/\nhttp://b.org/\n"


def wait_for_lock(place, label, process):
    """Wait until the process holds the lock of a crawl; it says so by its number in it."""
    for _ in range(1200):
        if place.holder(label) == process.pid:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    pytest.fail("the process did not begin to write")


def test_two_processes_add_different_crawls_at_once(place, start):
    labels = ("2021-06", "2021-12")
    one, two = (start("add", label, "-", "--store", place.store) for label in labels)
    wait_for_lock(place, "2021-06", one)
    wait_for_lock(place, "2021-12", two)
    for process in (one, two):
        _, errors = process.communicate(URLS, timeout=60)
        assert process.returncode == 0, errors
    place.see_whole(labels)


@pytest.mark.parametrize("n_processes", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_several_processes_make_one_new_store_at_once(place, start, make_list, n_processes):
    path = make_list(range(100))
    labels = [f"2020-{month:02}" for month in range(1, n_processes + 1)]
    processes = [start("add", label, path, "--store", place.store) for label in labels]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    place.see_whole(labels)


@pytest.mark.parametrize("n_processes", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_of_several_that_add_one_crawl_at_once_each_succeeds_or_is_told(
    place, start, make_list, n_processes
):
    """All say what became of it, and the crawl is that of one of those that say they stored it."""
    paths = [make_list(range(10 + number), f"{number}.txt") for number in range(n_processes)]
    words = ("add", "2021-12", "--store", place.store)
    processes = [start(*words, path) for path in paths]
    stored = set()
    for number, process in enumerate(processes):
        _, errors = process.communicate(timeout=300)
        if process.returncode == 0:
            stored.add(10 + number)
        else:
            assert process.returncode == 1
            assert b"is being written by another" in errors or b"already holds a crawl" in errors
    assert {item.crawl.n_urls for item in cg.list_crawls(place.store)} == stored, "just one"
    place.see_whole(["2021-12"])


def test_one_crawl_is_written_by_one_process_and_the_other_is_told(place, start, make_list):
    writing = start("add", "2021-12", "-", "--store", place.store)
    wait_for_lock(place, "2021-12", writing)
    path = make_list([1])
    refused = start("add", "2021-12", path, "--store", place.store)
    output, errors = refused.communicate(timeout=60)
    assert (refused.returncode, output) == (1, b"")
    assert b"Traceback" not in errors
    expected = (
        rf"crawl '2021-12' is being written by another process \({writing.pid}( on .+)?\); wait"
    )
    assert re.search(expected, errors.decode())
    with pytest.raises(StoreBusy):
        cg.add_crawl(place.store, "2021-12", path, replace=True)
    assert cg.list_crawls(place.store) == ()
    writing.communicate(URLS, timeout=60)
    assert writing.returncode == 0
    place.see_whole(["2021-12"])


def test_a_crawl_is_not_removed_while_it_is_written(full_place, start):
    store = full_place.store
    writing = start("add", "2021-12", "-", "--replace", "--store", store)
    wait_for_lock(full_place, "2021-12", writing)
    with pytest.raises(StoreBusy):
        cg.remove_crawl(store, "2021-12")
    assert cg.list_crawls(store)[1].crawl.n_urls == 100, "the old crawl can be read"
    writing.communicate(URLS, timeout=60)
    assert cg.list_crawls(store)[1].crawl.n_urls == 2
    full_place.see_whole(["2021-06", "2021-12"])


def test_of_several_that_remove_one_crawl_at_once_one_does_and_the_others_are_told(
    full_place, start
):
    words = ("remove", "2021-12", "--store", full_place.store)
    processes = [start(*words) for _ in range(4)]
    codes = []
    for process in processes:
        _, errors = process.communicate(timeout=300)
        codes.append(process.returncode)
        told = b"holds no crawl '2021-12'" in errors or b"is being written by another" in errors
        assert process.returncode == 0 or told, errors.decode()
        assert b"Traceback" not in errors
    assert sorted(codes) == [0, 1, 1, 1]
    full_place.see_whole(["2021-06"])


def test_a_killed_process_blocks_nobody(place, start, make_list):
    killed = start("add", "2021-12", "-", "--store", place.store)
    wait_for_lock(place, "2021-12", killed)
    killed.kill()
    killed.wait()
    cg.add_crawl(place.store, "2021-12", make_list([1]))
    place.see_whole(["2021-12"])


def test_an_add_that_fails_does_not_take_the_store_away_from_another(place, make_list):
    """Both find the new store; one fails and cleans up before the other has begun to write."""
    path = find_store(place.store)
    with suppress(InterruptedError), store_for_adding(path, RAW):
        opened = open_store(path, create_with=RAW)
        raise InterruptedError
    assert place.names() == []
    with opened.writing("2021-06"):
        pass
    cg.add_crawl(place.store, "2021-06", make_list([1]))
    place.see_whole(["2021-06"])


def test_a_store_deleted_while_a_crawl_is_written_is_an_error_in_words(full_store, make_list):
    def delete(*_):
        if full_store.exists():
            for path in sorted(full_store.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            full_store.rmdir()

    with pytest.raises(StoreError, match=r"cannot write|missing"):
        cg.add_crawl(full_store, "2022-06", make_list([1]), progress=delete)
