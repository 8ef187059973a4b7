"""One process writes a crawl; it loses its claim when it dies or is out of touch for too long."""

import signal
import threading
import time

import pytest
from store_places import LEASE_SECONDS

import crawlgauge as cg
from crawlgauge.errors import StoreError
from crawlgauge.locations import find_store
from crawlgauge.store import objects
from crawlgauge.store.catalogue import open_store

LOCK = "crawls/2021-12/lock"


def test_who_was_stopped_while_another_took_over_stores_nothing(s3_place, make_list, start):
    """The process is stopped by the system, as one that is moved to another machine."""
    stopped = start("add", "2021-12", "-", "--replace", "--store", s3_place.store)
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
        original, n_calls = objects.Lease.renew, 0

        def renew(self):
            nonlocal n_calls
            # The claim's own thread renews it as well, sooner or later.
            n_calls += threading.current_thread() is threading.main_thread()
            if n_calls > 1:
                original(self)

        patch.setattr(objects.Lease, "renew", renew)
        with pytest.raises(StoreError, match="another one has taken over"):
            late._put_manifest(b"overwritten")
        assert n_calls == 2, "it was refused by the state of the manifest"
    assert full_place.read("crawls/2021-12/manifest.json") == published
    full_place.see_whole(["2021-06", "2021-12"])
