"""One process writes a crawl; it loses its claim when it dies or is out of touch for too long."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from store_places import LEASE_SECONDS

import crawlgauge as cg
from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.locations import find_store
from crawlgauge.remote import lease
from crawlgauge.remote.lease import hold_lease
from crawlgauge.remote.objects import Conflict
from crawlgauge.remote.s3_objects import objects_at
from crawlgauge.store.catalogue import open_store

LOCK = "crawls/2021-12/lock"
SOURCE = Path(cg.__file__).parents[1]


@pytest.fixture
def objects(s3_place):
    return objects_at(find_store(s3_place.store))


def claim(objects):
    return json.loads(objects.read(LOCK).content)


def test_an_object_is_made_once_and_changed_only_as_it_was_seen(objects):
    first = objects.put_new("a", b"1")
    with pytest.raises(Conflict):
        objects.put_new("a", b"2")
    second = objects.put_if("a", b"3", first)
    with pytest.raises(Conflict):
        objects.put_if("a", b"4", first)
    with pytest.raises(Conflict):
        objects.delete_if("a", first)
    assert objects.read("a").content == b"3"
    objects.delete_if("a", second)
    objects.delete_if("a", second)
    assert objects.read("a") is None
    with pytest.raises(Conflict):
        objects.put_if("a", b"5", second)


def test_a_claim_is_renewed_while_it_is_held_and_gone_afterwards(objects):
    with hold_lease(objects, LOCK, label="2021-12"):
        before = claim(objects)
        time.sleep(1.5 * LEASE_SECONDS)
        after = claim(objects)
        assert after["token"] == before["token"]
        assert after["n_renewed"] > before["n_renewed"]
        with pytest.raises(StoreBusy, match=r"written by another process \(\d+ on .*try again in"):
            hold_lease(objects, LOCK, label="2021-12").__enter__()
    assert objects.read(LOCK) is None


def write_claim(objects, **changes):
    claim = {
        "owner": "4711 on elsewhere",
        "machine": "another",
        "pid": os.getpid(),
        "token": "t",
        "seconds": LEASE_SECONDS,
        "n_renewed": 0,
    }
    objects.put(LOCK, json.dumps(claim | changes).encode())


def test_the_claim_of_a_dead_process_elsewhere_ends_by_itself(objects):
    write_claim(objects)
    with pytest.raises(StoreBusy, match="4711 on elsewhere"):
        hold_lease(objects, LOCK, label="2021-12").__enter__()
    time.sleep(LEASE_SECONDS + 2)
    with hold_lease(objects, LOCK, label="2021-12"):
        assert claim(objects)["pid"] == os.getpid()


def test_the_claim_of_a_dead_process_on_this_machine_ends_at_once(objects):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    write_claim(objects, machine=lease._this_machine(), pid=dead.pid)
    with hold_lease(objects, LOCK, label="2021-12"):
        assert claim(objects)["pid"] == os.getpid()


def test_the_lock_of_a_local_store_that_was_copied_is_no_claim(objects):
    objects.put(LOCK, b"4711\n")
    with hold_lease(objects, LOCK, label="2021-12"):
        assert claim(objects)["pid"] == os.getpid()


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_a_wrong_length_of_claims_is_said(objects, monkeypatch, text):
    monkeypatch.setenv("CRAWLGAUGE_LEASE_SECONDS", text)
    with pytest.raises(StoreError, match="give a number of seconds"):
        hold_lease(objects, LOCK, label="2021-12").__enter__()


def test_who_was_stopped_while_another_took_over_stores_nothing(s3_place, make_list, tmp_path):
    """The process is stopped by the system, as one that is moved to another machine."""
    words = ["add", "2021-12", "-", "--replace", "--store", s3_place.store]
    stopped = subprocess.Popen(
        [sys.executable, "-m", "crawlgauge", *words],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while s3_place.holder("2021-12") != stopped.pid:
        assert stopped.poll() is None
        time.sleep(0.05)
    stopped.send_signal(signal.SIGSTOP)
    time.sleep(LEASE_SECONDS + 2)
    cg.add_crawl(s3_place.store, "2021-12", make_list(range(7)))
    stopped.send_signal(signal.SIGCONT)
    output, errors = stopped.communicate(b"http://a.org/\n", timeout=60)
    assert (stopped.returncode, output) == (1, b"")
    assert b"another one has taken over" in errors
    assert [item.crawl.n_urls for item in cg.list_crawls(s3_place.store)] == [7]
    s3_place.see_whole(["2021-12"])


def test_who_does_not_notice_that_another_has_published_cannot_overwrite_it(
    full_place, make_list, monkeypatch
):
    """Even if its claim seems to be renewed at the very last moment."""
    store = open_store(find_store(full_place.store))
    with store.writing("2021-12") as late, monkeypatch.context() as patch:
        full_place.delete(LOCK)
        cg.add_crawl(full_place.store, "2021-12", make_list(range(7)), replace=True)
        published = full_place.read("crawls/2021-12/manifest.json")
        original, n_calls = lease.Lease.renew, 0

        def renew(self):
            nonlocal n_calls
            # The claim's own thread renews it as well, sooner or later.
            n_calls += threading.current_thread() is threading.main_thread()
            if n_calls > 1:
                original(self)

        patch.setattr(lease.Lease, "renew", renew)
        with pytest.raises(StoreError, match="another one has taken over"):
            late._put_manifest(b"overwritten")
        assert n_calls == 2, "it was refused by the state of the manifest"
    assert full_place.read("crawls/2021-12/manifest.json") == published
    full_place.see_whole(["2021-06", "2021-12"])


def test_storage_that_ignores_conditions_is_refused(s3_place, make_list, monkeypatch):
    from s3fs import S3FileSystem

    original = S3FileSystem._call_s3

    async def ignore(self, method, *words, **options):
        options = {
            name: options[name] for name in options if name not in ("IfNoneMatch", "IfMatch")
        }
        return await original(self, method, *words, **options)

    monkeypatch.setattr(S3FileSystem, "_call_s3", ignore)
    with pytest.raises(StoreError, match=r"ignores If-None-Match.*keep the store on another"):
        cg.add_crawl(s3_place.store, "2021-12", make_list([1]))
    assert s3_place.names() == []
