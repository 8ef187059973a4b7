"""Objects of a store on S3: made once, changed only as they were seen, deleted by whoever may."""

import os
import random
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))

from remote_servers import (
    SECRET,
    bucket,  # noqa: F401 - a fixture
    impatient,  # noqa: F401 - a fixture
    proxy,  # noqa: F401 - a fixture
    s3_client,  # noqa: F401 - a fixture
    s3_server,  # noqa: F401 - a fixture
)

from crawlgauge.sources import remote
from crawlgauge.sources.remote import RemoteFault, RemotePath, interruptible
from crawlgauge.store import objects as objects_module
from crawlgauge.store.objects import Conflict, Objects

from faulty_proxy import Fault  # isort: skip
from store_proxies import LaggingProxy  # isort: skip

# ruff: noqa: F811 - the fixtures


@pytest.fixture
def objects(bucket):
    return Objects(RemotePath(f"{bucket.url}/archives/store"))


@pytest.fixture
def large(tmp_path, monkeypatch):
    """Return a file that is sent in parts."""
    monkeypatch.setattr(objects_module, "_PART_BYTES", 5 << 20)
    path = tmp_path / "large"
    path.write_bytes(random.Random(1).randbytes(12_345_678))
    return path


def n_uploads(bucket):
    return len(bucket.client.list_multipart_uploads(Bucket=bucket.name).get("Uploads", ()))


def test_an_object_is_made_once_and_changed_only_as_it_was_seen(objects):
    first = objects.put_if("a", b"1", None)
    with pytest.raises(Conflict):
        objects.put_if("a", b"2", None)
    second = objects.put_if("a", b"3", first)
    with pytest.raises(Conflict):
        objects.put_if("a", b"4", first)
    with pytest.raises(Conflict):
        objects.delete_if("a", first)
    assert objects.read("a").content == b"3"
    assert objects.read("a").tag == objects.head("a").tag == second
    objects.delete_if("a", second)
    objects.delete_if("a", second)
    objects.delete("a")
    assert objects.read("a") is None
    assert objects.head("a") is None
    with pytest.raises(Conflict):
        objects.put_if("a", b"5", second)
    objects.put("a", b"6")
    objects.put("a", b"7")
    assert objects.read("a").content == b"7"


def test_the_server_itself_refuses_to_delete_what_has_changed(objects, proxy):
    """Also where it changes between the last look at it and the request."""
    tag = objects.put_if("a", b"1", None)
    other = Objects(RemotePath(str(objects._place)))

    def change(method, _path):
        if method == "DELETE":
            proxy.on_request = lambda *_: None
            other.put("a", b"2")

    proxy.on_request = change
    with pytest.raises(Conflict):
        objects.delete_if("a", tag)
    assert objects.read("a").content == b"2"


@pytest.mark.parametrize("status", [400, 405, 501])
def test_servers_that_know_no_conditions_for_deleting_are_used_as_well_as_can_be(
    objects, proxy, status
):
    tag = objects.put_if("a", b"1", None)
    proxy.faults = lambda method, *_: Fault(status=status if method == "DELETE" else None)
    with pytest.raises(Conflict):
        objects.delete_if("a", '"0"')
    objects.delete_if("a", tag)
    assert objects.head("a") is None


def test_names_sizes_and_ages_are_told_by_the_servers_clock(objects, bucket, proxy, monkeypatch):
    objects.put("crawls/a/1", b"123")
    objects.put("crawls/b", b"1")
    objects.put("other", b"1")
    bucket.put("archives/store2/crawls/c", b"1")
    # What this machine believes does not matter.
    late = "%a, %d %b %Y %H:%M:%S GMT"
    monkeypatch.setattr(
        proxy._server.RequestHandlerClass,
        "date_time_string",
        lambda _: time.strftime(late, time.gmtime(time.time() + 7200)),
    )
    found = objects.listed("crawls/")
    assert sorted((item.name, item.n_bytes) for item in found) == [
        ("crawls/a/1", 3),
        ("crawls/b", 1),
    ]
    assert all(7195 <= item.age <= 7210 for item in found)
    assert {item.name for item in objects.listed("")} == {"crawls/a/1", "crawls/b", "other"}
    before = objects.head("other").age
    time.sleep(1.2)
    assert objects.head("other").age >= before + 1


def test_thousands_of_objects_are_listed(objects, bucket):
    for number in range(1100):
        bucket.put(f"archives/store/many/{number:04}", b"")
    assert len(objects.listed("many/")) == 1100


@pytest.mark.parametrize("seed", range(3))
def test_connections_that_break_and_servers_that_are_busy_change_nothing(objects, proxy, seed):
    """A third of all requests fail, half of them after the server has done what was asked."""
    chance = random.Random(seed)
    kinds = [Fault()] * 4 + [Fault(drop_after=0), Fault(status=503)]
    proxy.faults = lambda *_: chance.choice(kinds)
    for number in range(10):
        tag = objects.put_if(f"{number}", b"1", None)
        with pytest.raises(Conflict):
            objects.put_if(f"{number}", b"other", None)
        tag = objects.put_if(f"{number}", b"2", tag)
        assert objects.read(f"{number}").content == b"2"
        if number % 2:
            objects.delete_if(f"{number}", tag)
        objects.delete("none")
    assert {item.name for item in objects.listed("")} == {"0", "2", "4", "6", "8"}


def test_an_answer_that_was_lost_is_no_conflict(objects, proxy):
    """The server has done it, and says so when it is asked again."""

    def lose(method, _path, number):
        return Fault(drop_after=0, stall_seconds=3.0) if method == "PUT" and not number else Fault()

    proxy.faults = lose
    tag = objects.put_if("a", b"1", None)
    assert objects.head("a").tag == tag
    proxy.counts.clear()
    tag = objects.put_if("a", b"2", tag)
    assert objects.read("a").tag == tag


def test_two_writers_at_once_are_never_both_content(objects):
    tag = objects.put_if("a", b"0", None)
    done = []

    def write(number):
        try:
            objects.put_if("a", b"%d" % number, tag)
            done.append(number)
        except Conflict:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [b"%d" % number for number in done] == [objects.read("a").content]


def test_two_removers_at_once_have_both_removed(objects):
    tag = objects.put_if("a", b"0", None)
    errors = []

    def remove():
        try:
            objects.delete_if("a", tag)
            objects.delete("a")
        except Exception as error:  # noqa: BLE001 - none is expected
            errors.append(error)

    threads = [threading.Thread(target=remove) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, objects.head("a")) == ([], None)


def test_listings_that_lag_mislead_nobody_who_asks_for_the_object(bucket, s3_server, monkeypatch):
    late = LaggingProxy(s3_server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", late.url)
    objects = Objects(RemotePath(f"{bucket.url}/store"))
    tag = objects.put_if("old", b"1", None)
    assert [item.name for item in objects.listed("")] == ["old"]
    late.is_late = True
    objects.put_if("new", b"1", None)
    objects.delete_if("old", tag)
    assert [item.name for item in objects.listed("")] == ["old"]
    assert (objects.head("old"), objects.head("new").n_bytes) == (None, 1)
    objects.delete("old")
    with pytest.raises(Conflict):
        objects.put_if("new", b"2", None)
    late.close()


class TestUploads:
    """Files of any size arrive whole, and leave nothing where they do not."""

    @pytest.mark.parametrize("n_bytes", [0, 1, 3_000_000])
    def test_a_small_file_is_sent_at_once(self, objects, bucket, proxy, tmp_path, n_bytes):
        content = random.Random(2).randbytes(n_bytes)
        (tmp_path / "file").write_bytes(content)
        objects.upload("crawls/file", tmp_path / "file")
        assert bucket.get("archives/store/crawls/file") == content
        assert not any(method == "POST" for method, _ in proxy.counts)

    def test_a_large_file_is_sent_in_parts(self, objects, bucket, proxy, large):
        objects.upload("large", large)
        assert bucket.get("archives/store/large") == large.read_bytes()
        assert proxy.counts["POST", f"/{bucket.name}/archives/store/large"] == 2
        assert n_uploads(bucket) == 0

    def test_faults_change_nothing(self, objects, bucket, proxy, large):
        chance = random.Random(3)
        proxy.faults = lambda *_: chance.choice([Fault(), Fault(), Fault(status=503)])
        objects.upload("large", large)
        assert bucket.get("archives/store/large") == large.read_bytes()
        assert n_uploads(bucket) == 0

    def test_what_cannot_be_sent_leaves_nothing(self, objects, bucket, proxy, large):
        proxy.faults = lambda method, *_: Fault(status=403 if method == "PUT" else None)
        with pytest.raises(PermissionError, match="denies access"):
            objects.upload("large", large)
        assert (bucket.keys(), n_uploads(bucket)) == ([], 0)
        with pytest.raises(FileNotFoundError):
            objects.upload("large", large.with_name("none"))

    def test_a_file_that_is_interrupted_leaves_nothing(self, objects, bucket, proxy, large):
        is_asked = threading.Event()

        def check():
            if is_asked.is_set():
                raise KeyboardInterrupt

        def wait(method, _path):
            if method == "PUT":
                is_asked.set()
                time.sleep(1)

        proxy.on_request = wait
        start = time.monotonic()
        with interruptible(check), pytest.raises(KeyboardInterrupt):
            objects.upload("large", large)
        assert time.monotonic() - start < 5
        time.sleep(1.5)
        assert objects.unfinished_uploads("") == []
        assert bucket.keys() == []

    def test_what_killed_processes_have_sent_is_found_and_thrown_away(self, objects, bucket):
        for key in ("store/crawls/a/1", "store/crawls/a/1", "store/crawls/b ü&?/2", "store2/x"):
            bucket.client.create_multipart_upload(Bucket=bucket.name, Key=f"archives/{key}")
        assert objects.unfinished_uploads("crawls/a/") == ["crawls/a/1"]
        assert objects.unfinished_uploads("") == ["crawls/a/1", "crawls/b ü&?/2"]
        for name in objects.unfinished_uploads("crawls/"):
            objects.abort_uploads(name)
        assert objects.unfinished_uploads("") == []
        assert n_uploads(bucket) == 1, "what is not the store's is left alone"

    @pytest.mark.parametrize("status", [400, 403, 405, 501])
    def test_who_may_not_list_them_goes_on_without(self, objects, proxy, status):
        proxy.faults = lambda method, *_: Fault(status=status if method == "GET" else None)
        assert objects.unfinished_uploads("") == []

    def test_a_lost_answer_to_the_last_request_is_no_failure(self, objects, bucket, proxy, large):
        n_posts = []

        def lose(method, path, _number):
            if method == "POST":
                n_posts.append(path)
            return Fault(status=500 if method == "POST" and len(n_posts) == 2 else None)

        proxy.faults = lambda *_: Fault()
        original = proxy._pass_on

        def pass_on(request):
            answer = original(request)
            if request.command == "POST" and "uploadId" in request.path and not n_posts:
                n_posts.append(request.path)
                return 503, [("Content-Length", "0")], b""
            return answer

        proxy._pass_on = pass_on
        objects.upload("large", large)
        assert n_posts
        assert bucket.get("archives/store/large") == large.read_bytes()


def test_a_store_is_only_written_on_s3():
    for place in ("gs://bucket/store", "https://example.org/store"):
        with pytest.raises(RemoteFault, match="from here they can only be read"):
            Objects(RemotePath(place))


def test_what_is_missing_denied_or_out_of_reach_is_said_as_such(objects, proxy, monkeypatch):
    monkeypatch.setattr(remote, "_MAX_PAUSE_SECONDS", 0.01)
    actions = [
        lambda: objects.put("a", b"1"),
        lambda: objects.put_if("a", b"1", None),
        lambda: objects.put_if("a", b"1", '"0"'),
        lambda: objects.read("a"),
        lambda: objects.head("a"),
        lambda: objects.listed(""),
        lambda: objects.delete("a"),
        lambda: objects.delete_if("a", '"0"'),
    ]
    for status, kind in ((403, PermissionError), (503, RemoteFault)):
        proxy.faults = lambda *_, status=status: Fault(status=status)
        for action in actions:
            with pytest.raises(kind) as caught:
                action()
            assert f"status {status}" in caught.value.strerror
            assert SECRET not in str(caught.value)
            assert "Signature" not in str(caught.value)
    proxy.faults = lambda *_: Fault()
    missing = Objects(RemotePath("s3://no-such-bucket/store"))
    for action in (lambda: missing.put("a", b"1"), lambda: missing.put_if("a", b"1", None)):
        with pytest.raises(FileNotFoundError, match="there is no such bucket"):
            action()
    with pytest.raises(FileNotFoundError, match="there is no such bucket"):
        missing.listed("")


def test_a_store_at_the_root_of_a_bucket_has_the_same_names(bucket):
    objects = Objects(RemotePath(bucket.url))
    objects.put("crawls/a", b"1")
    assert [item.name for item in objects.listed("")] == ["crawls/a"]
    assert objects.read("crawls/a").name == "crawls/a"
    assert bucket.keys() == ["crawls/a"]
    bucket.client.create_multipart_upload(Bucket=bucket.name, Key="crawls/b")
    assert objects.unfinished_uploads("") == ["crawls/b"]
    assert os.environ["AWS_ENDPOINT_URL"]
