"""One process writes a crawl; it loses its claim when it dies or is out of touch for too long."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))

from remote_servers import (
    bucket,  # noqa: F401 - a fixture
    impatient,  # noqa: F401 - a fixture
    proxy,  # noqa: F401 - a fixture
    s3_client,  # noqa: F401 - a fixture
    s3_server,  # noqa: F401 - a fixture
)

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources import remote
from crawlgauge.sources.remote import RemotePath
from crawlgauge.store.objects import LEASE_VARIABLE, Lease, Objects

from faulty_proxy import Fault  # isort: skip

# ruff: noqa: F811 - the fixtures
LOCK = "crawls/2021-12/lock"
SECONDS = 3


@pytest.fixture
def objects(bucket, monkeypatch):
    monkeypatch.setenv(LEASE_VARIABLE, str(SECONDS))
    return Objects(RemotePath(f"{bucket.url}/store"))


def hold(objects):
    return Lease(objects, LOCK, "2021-12")


def claim(objects):
    return json.loads(objects.read(LOCK).content)


def write_claim(objects, **changes):
    known = {
        "owner": "4711 on elsewhere",
        "machine": "another",
        "pid": os.getpid(),
        "token": "t",
        "seconds": SECONDS,
        "n_renewed": 0,
    }
    objects.put(LOCK, json.dumps(known | changes).encode())


def test_a_claim_is_renewed_while_it_is_held_and_gone_afterwards(objects):
    with hold(objects):
        before = claim(objects)
        time.sleep(1.5 * SECONDS)
        after = claim(objects)
        assert after["token"] == before["token"]
        assert after["n_renewed"] > before["n_renewed"]
        with pytest.raises(StoreBusy, match=r"written by another process \(\d+ on .*try again in"):
            hold(objects).__enter__()
    assert objects.read(LOCK) is None


def test_of_many_who_come_at_once_one_holds_the_claim(objects):
    held, is_over = [], threading.Event()

    def come(number):
        with suppress(StoreBusy), hold(objects):
            held.append(number)
            is_over.wait(2)

    threads = [threading.Thread(target=come, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    assert len(held) == 1
    is_over.set()
    for thread in threads:
        thread.join()


def test_the_claim_of_a_dead_process_elsewhere_ends_by_itself(objects):
    write_claim(objects)
    with pytest.raises(StoreBusy, match="4711 on elsewhere"):
        hold(objects).__enter__()
    time.sleep(SECONDS + 2)
    with hold(objects):
        assert claim(objects)["pid"] == os.getpid()


def test_the_claim_of_a_dead_process_on_this_machine_ends_at_once(objects):
    with hold(objects):
        machine = claim(objects)["machine"]
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    write_claim(objects, machine=machine, pid=dead.pid)
    with hold(objects):
        assert claim(objects)["pid"] == os.getpid()


@pytest.mark.parametrize(
    "content",
    [
        b"4711\n",
        b"",
        b"\xff\xfe",
        b"null",
        b"[1, 2]",
        b"[" * 100_000,
        b'{"owner": "x"}',
        b'{"owner": "x", "machine": "y", "pid": "z", "seconds": 60}',
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": "long"}',
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": null}',
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": NaN}',
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": -Infinity}',
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": -5}',
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": 1' + b"0" * 400 + b"}",
        b'{"owner": "x", "machine": "y", "pid": 1, "seconds": 1' + b"0" * 9000 + b"}",
    ],
)
def test_what_is_no_claim_keeps_nobody_out(objects, content):
    """As the lock of a local store that was copied."""
    objects.put(LOCK, content)
    with hold(objects):
        assert claim(objects)["pid"] == os.getpid()


@pytest.mark.parametrize("seconds", [10**12, 1e300, float("inf"), 3600, "1e12"])
def test_no_claim_is_believed_for_longer_than_an_hour(objects, proxy, monkeypatch, seconds):
    write_claim(objects, seconds=seconds)
    with pytest.raises(StoreBusy, match=r"try again in 3[56]\d\d s"):
        hold(objects).__enter__()
    later = "%a, %d %b %Y %H:%M:%S GMT"
    monkeypatch.setattr(
        proxy._server.RequestHandlerClass,
        "date_time_string",
        lambda _: time.strftime(later, time.gmtime(time.time() + 3610)),
    )
    with hold(Objects(objects._place)):
        pass


@pytest.mark.parametrize("pid", [0, -1, 10**30, 2**31, 1.5, True, "1"])
def test_numbers_of_processes_that_cannot_be_do_no_harm(objects, pid):
    with hold(objects):
        machine = claim(objects)["machine"]
    write_claim(objects, machine=machine, pid=pid)
    with suppress(StoreBusy), hold(objects):
        pass


def test_names_of_owners_do_no_harm(objects):
    write_claim(objects, owner="\x1b[2Jme\n\u202e" + "x" * 10_000)
    with pytest.raises(StoreBusy) as caught:
        hold(objects).__enter__()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan", "3601", "1e12"])
def test_a_wrong_length_of_claims_is_said(objects, monkeypatch, text):
    monkeypatch.setenv(LEASE_VARIABLE, text)
    with pytest.raises(StoreError, match="give a number of seconds"):
        hold(objects).__enter__()


def test_who_has_lost_the_claim_is_told_and_leaves_it_to_the_other(objects):
    with hold(objects) as lease:
        write_claim(objects)
        with pytest.raises(StoreError, match="another one has taken over"):
            lease.renew()
        with pytest.raises(StoreError, match="another one has taken over"):
            lease.renew()
    assert claim(objects)["owner"] == "4711 on elsewhere"


def test_who_has_lost_the_claim_without_knowing_leaves_it_to_the_other(objects):
    with hold(objects):
        write_claim(objects)
    assert claim(objects)["owner"] == "4711 on elsewhere"


def test_storage_out_of_reach_for_a_while_costs_no_claim(objects, proxy, caplog):
    with hold(objects) as lease:
        proxy.faults = lambda *_: Fault(status=503)
        time.sleep(SECONDS / 2)
        proxy.faults = lambda *_: Fault()
        lease.renew()
    assert objects.read(LOCK) is None
    assert not [record for record in caplog.records if "cannot be deleted" in record.message]


def test_a_claim_that_cannot_be_given_up_is_said_and_nothing_worse(objects, proxy, caplog):
    with hold(objects):
        proxy.faults = lambda *_: Fault(status=403)
    assert "cannot be deleted" in caplog.text


def test_giving_up_does_not_wait_for_a_renewal_that_hangs(objects, proxy, monkeypatch):
    monkeypatch.setattr(remote, "_SILENCE_SECONDS", 60.0)
    is_ended = threading.Event()
    with hold(objects):
        renewer = threading.Event()

        def block(method, _path):
            if method == "PUT" and not renewer.is_set():
                renewer.set()
                is_ended.wait(20)

        proxy.on_request = block
        assert renewer.wait(SECONDS)
        start = time.monotonic()
    assert time.monotonic() - start < 5
    is_ended.set()


@pytest.mark.parametrize(
    "ignored", [["If-None-Match"], ["If-Match"], ["If-None-Match", "If-Match"]]
)
def test_storage_that_ignores_conditions_is_refused(objects, proxy, bucket, ignored):
    original = proxy._pass_on

    def ignore(request):
        for name in ignored:
            if request.command == "PUT":
                del request.headers[name]
        return original(request)

    proxy._pass_on = ignore
    with pytest.raises(StoreError, match=r"ignores If-None-Match.*keep the store on another"):
        hold(objects).__enter__()
    assert bucket.keys() == []
