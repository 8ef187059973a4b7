"""Remote objects are read whole and right, whatever the network does, or not at all."""

import random
import threading
import time

import pytest
from faulty_proxy import Fault

from crawlgauge.remote import remote_file, retrying
from crawlgauge.remote.faults import ObjectChanged, RemoteFault
from crawlgauge.remote.interruption import interruptible
from crawlgauge.remote.remote_path import to_path

CHUNK = 1 << 17


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let a small object take many blocks, most of them fetched ahead."""
    monkeypatch.setattr(remote_file, "BLOCK_BYTES", 1 << 19)
    monkeypatch.setattr(remote_file, "_AHEAD_BYTES", 1 << 18)


@pytest.fixture
def content():
    return random.Random(7).randbytes(5_000_000)


def read_on(file):
    while file.read(CHUNK):
        pass


def read_in_chunks(name):
    with to_path(name).open("rb", reads_ahead=True) as file:
        return b"".join(iter(lambda: file.read(CHUNK), b""))


def test_an_object_is_read_from_beginning_to_end(bucket, content):
    assert read_in_chunks(bucket.put("a", content)) == content


def test_an_object_is_read_in_any_order(bucket, content):
    chance = random.Random(1)
    with to_path(bucket.put("a", content)).open("rb") as file:
        for _ in range(40):
            start, n_bytes = chance.randrange(len(content)), chance.choice([0, 1, 99, 10**5, 10**7])
            assert file.seek(start) == start
            assert file.read(n_bytes) == content[start : start + n_bytes]
            assert file.tell() == min(start + n_bytes, len(content))
        file.seek(-10, 2)
        assert file.read() == content[-10:]


def test_empty_objects_are_empty(bucket, web):
    web.files["/empty"] = b""
    assert to_path(bucket.put("empty", b"")).read_bytes() == b""
    assert to_path(f"{web.url}/empty").read_bytes() == b""


def test_reading_goes_on_at_the_byte_where_the_connection_broke(bucket, proxy, content):
    proxy.faults = lambda method, _path, number: (
        Fault(drop_after=100_000) if method == "GET" and number % 3 else Fault()
    )
    assert read_in_chunks(bucket.put("a", content)) == content
    starts = [int(part[6:].partition("-")[0]) for _, _, part, _ in proxy.log if part]
    assert starts == sorted(starts)
    sent = [n_bytes for method, _, _, n_bytes in proxy.log if method == "GET"]
    assert sum(sent) == len(content), "nothing is fetched twice"


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_busy_servers_are_asked_again(bucket, proxy, content, status):
    proxy.faults = lambda _method, _path, number: Fault(status=status if number % 3 else None)
    assert read_in_chunks(bucket.put("a", content)) == content


def test_a_server_that_falls_silent_is_asked_again(bucket, proxy, content):
    proxy.faults = lambda method, _path, number: Fault(
        stall_seconds=3.0 if method == "GET" and number == 4 else 0.0
    )
    assert read_in_chunks(bucket.put("a", content)) == content


@pytest.mark.parametrize("seed", range(3))
def test_all_faults_together_change_nothing(bucket, proxy, content, seed):
    chance = random.Random(seed)

    def faults(_method, _path, number):
        if number % 4 == 0:
            return Fault()
        return chance.choice(
            [Fault(drop_after=chance.randrange(200_000)), Fault(status=503), Fault()]
        )

    proxy.faults = faults
    assert read_in_chunks(bucket.put("a", content)) == content


def test_a_server_that_stays_busy_is_given_up_with_a_message(bucket, proxy, monkeypatch):
    monkeypatch.setattr(retrying, "_MAX_PAUSE_SECONDS", 0.01)
    name = bucket.put("a", b"x")
    proxy.faults = lambda _method, _path, _number: Fault(status=503)
    with pytest.raises(RemoteFault) as caught:
        to_path(name).read_bytes()
    assert "its server does not answer as it should" in caught.value.strerror
    assert "503" in caught.value.strerror


def test_an_object_that_changes_while_it_is_read_is_an_error(bucket, content):
    name = bucket.put("a", content)
    with to_path(name).open("rb", reads_ahead=True) as file:
        file.read(CHUNK)
        bucket.put("a", content[::-1])
        with pytest.raises(ObjectChanged, match="changed while it was being read"):
            read_on(file)


def test_an_object_that_is_deleted_while_it_is_read_is_an_error(bucket, content):
    name = bucket.put("a", content)
    with to_path(name).open("rb", reads_ahead=True) as file:
        file.read(CHUNK)
        bucket.client.delete_object(Bucket=bucket.name, Key="a")
        with pytest.raises(RemoteFault, match="deleted while it was being read"):
            read_on(file)


def test_what_is_missing_is_said(bucket):
    with pytest.raises(FileNotFoundError) as caught:
        to_path(f"{bucket.url}/none").read_bytes()
    assert caught.value.strerror == "there is no such object"
    with pytest.raises(FileNotFoundError) as caught:
        to_path("s3://no-such-bucket/none").read_bytes()
    assert caught.value.strerror == "there is no such bucket"


def test_denied_access_is_said_at_once_with_advice(bucket, proxy):
    name = bucket.put("a", b"x")
    proxy.faults = lambda _method, _path, _number: Fault(status=403)
    with pytest.raises(PermissionError) as caught:
        to_path(name).read_bytes()
    assert "denies access" in caught.value.strerror
    assert "FSSPEC_S3_ANON=true" in caught.value.strerror
    assert not proxy.log


@pytest.mark.usefixtures("other_settings")
def test_missing_credentials_are_said_with_advice(bucket, monkeypatch, tmp_path):
    name = bucket.put("a", b"x")
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(PermissionError) as caught:
        to_path(name).read_bytes()
    assert "no credentials were found" in caught.value.strerror
    assert "FSSPEC_S3_ANON=true" in caught.value.strerror


@pytest.mark.parametrize("word", ["true", "True", "1"])
@pytest.mark.usefixtures("other_settings")
def test_public_objects_are_read_without_credentials(bucket, monkeypatch, word):
    name = bucket.put("a", b"x")
    bucket.client.put_object_acl(Bucket=bucket.name, Key="a", ACL="public-read")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("FSSPEC_S3_ANON", word)
    assert to_path(name).read_bytes() == b"x"


def test_an_unreachable_server_is_said(fresh_settings, impatient):  # noqa: ARG001 - for what they do
    with pytest.raises(RemoteFault, match="cannot be reached"):
        to_path("http://127.0.0.1:9/a").read_bytes()


def test_waiting_ends_as_soon_as_nobody_wants_the_answer(bucket, proxy, content):
    name = bucket.put("a", content)
    file = to_path(name).open("rb", reads_ahead=True)
    file.read(CHUNK)
    proxy.faults = lambda _method, _path, _number: Fault(stall_seconds=60.0)
    is_over = threading.Event()

    def check():
        if is_over.is_set():
            raise KeyboardInterrupt

    threading.Timer(0.2, is_over.set).start()
    start = time.monotonic()
    with interruptible(check), pytest.raises(KeyboardInterrupt):
        file.read()
    file.close()
    assert time.monotonic() - start < 30


class TestWeb:
    """Files of web servers."""

    def test_parts_are_asked_for_where_the_server_sends_them(self, web, content):
        web.files["/a"] = content
        assert read_in_chunks(f"{web.url}/a") == content
        with to_path(f"{web.url}/a").open("rb") as file:
            file.seek(-5, 2)
            assert file.read() == content[-5:]

    @pytest.mark.parametrize("states_length", [True, False])
    def test_servers_without_parts_are_read_as_one_stream(self, web, content, states_length):
        web.files["/a"] = content
        web.takes_ranges, web.states_length = False, states_length
        assert read_in_chunks(f"{web.url}/a") == content
        assert web.n_requests == 2, "one to ask what it is, and one for all of it"

    def test_a_broken_stream_goes_on_where_it_broke(self, web, content):
        web.files["/a"] = content
        web.takes_ranges = False
        web.drop_after = [10, 1_000_000, 2_000_000, 3_000_000]
        assert read_in_chunks(f"{web.url}/a") == content

    def test_a_broken_stream_of_a_file_that_has_no_version_is_an_error(self, web, content):
        web.files["/a"] = content
        web.takes_ranges = web.states_tag = False
        web.drop_after = [10, 1_000_000]
        with pytest.raises(RemoteFault, match="save it to a file first"):
            read_in_chunks(f"{web.url}/a")

    @pytest.mark.parametrize("takes_ranges", [True, False])
    def test_a_file_that_changes_is_an_error(self, web, content, takes_ranges):
        web.files["/a"] = content
        web.takes_ranges = takes_ranges
        web.drop_after = [10, 1_000_000, 1_000_000]
        with to_path(f"{web.url}/a").open("rb", reads_ahead=True) as file:
            file.read(CHUNK)
            web.files["/a"] = content[::-1]
            with pytest.raises(ObjectChanged):
                read_on(file)

    def test_what_must_be_read_in_any_order_needs_a_server_that_sends_parts(self, web, content):
        web.files["/a"] = content
        web.takes_ranges = False
        with (
            to_path(f"{web.url}/a").open("rb") as file,
            pytest.raises(RemoteFault, match="only sends whole files"),
        ):
            file.seek(-5, 2)

    def test_user_and_password_are_sent_and_not_shown(self, web):
        web.files["/a"] = b"x"
        web.password = "bWU6aHVudGVyMg=="  # noqa: S105 - of me:hunter2
        address = f"http://me:hunter2@127.0.0.1:{web.port}/a"
        assert to_path(address).read_bytes() == b"x"
        assert str(to_path(address)) == f"{web.url}/a"
        with pytest.raises(PermissionError) as caught:
            to_path(f"http://me:wrong-one@127.0.0.1:{web.port}/a").read_bytes()
        assert "wrong-one" not in str(caught.value)

    def test_missing_files_are_said(self, web):
        with pytest.raises(FileNotFoundError):
            to_path(f"{web.url}/none").read_bytes()
        assert not to_path(f"{web.url}/none").exists()


def test_signed_addresses_are_read(bucket, proxy):
    bucket.put("a", b"x")
    signed = bucket.client.generate_presigned_url(
        "get_object", Params={"Bucket": bucket.name, "Key": "a"}
    )
    path = to_path(signed)
    assert path.read_bytes() == b"x"
    assert str(path).endswith(f"/{bucket.name}/a")
    assert not proxy.log
