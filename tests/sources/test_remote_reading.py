"""Remote objects are read whole and right, whatever the network does, or not at all."""

import errno
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from remote_servers import KEYS, SECRET, bucket, impatient, proxy, s3_client, s3_server, web  # noqa: F401

import crawlgauge
from crawlgauge.sources import remote
from crawlgauge.sources.remote import (
    ObjectChanged,
    RemoteFault,
    RemotePath,
    interruptible,
    to_path,
)

from faulty_proxy import Fault  # isort: skip - found by remote_servers

# ruff: noqa: F811 - the fixtures
CHUNK = 1 << 17
SOURCE = str(Path(crawlgauge.__file__).parents[1])


@pytest.fixture
def content():
    return random.Random(7).randbytes(5_000_000)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Let an object take many blocks, most of them fetched ahead."""
    monkeypatch.setattr(remote, "BLOCK_BYTES", 1 << 18)


def read_on(file):
    return b"".join(iter(lambda: file.read(CHUNK), b""))


def read_in_chunks(name):
    with to_path(name).open(reads_ahead=True) as file:
        return read_on(file)


def test_an_object_is_read_from_beginning_to_end(bucket, content):
    name = bucket.put("a", content)
    assert read_in_chunks(name) == content
    assert to_path(name).read_bytes() == content


@pytest.mark.parametrize("reads_ahead", [True, False])
def test_an_object_is_read_in_any_order(bucket, content, reads_ahead):
    chance = random.Random(1)
    with to_path(bucket.put("a", content)).open(reads_ahead=reads_ahead) as file:
        assert file.seekable()
        for _ in range(40):
            start, n_bytes = chance.randrange(len(content)), chance.choice([0, 1, 99, 10**5, 10**7])
            assert file.seek(start) == start
            assert file.read(n_bytes) == content[start : start + n_bytes]
            assert file.tell() == min(start + n_bytes, len(content))
        file.seek(-10, 2)
        assert file.read() == content[-10:]
        buffer = bytearray(20)
        file.seek(-15, 2)
        assert (file.readinto(buffer), buffer[:15]) == (15, content[-15:])
        file.seek(10**8)
        assert file.read() == b""


def test_of_a_part_no_more_is_fetched_than_that(bucket, proxy, content):
    path = to_path(bucket.put("a", content))
    assert b"".join(path.read_part(1_000_000, 2_000_000)) == content[1_000_000:2_000_000]
    assert proxy.n_sent("/a") <= 1_000_000 + 1


def test_who_looks_at_the_beginning_alone_fetches_little(bucket, proxy, content):
    with to_path(bucket.put("a", content)).open(reads_ahead=True) as file:
        file.read(100)
    assert proxy.n_sent("/a") <= 1 << 16


def test_empty_objects_are_empty(bucket, web):
    web.files["/empty"] = b""
    assert to_path(bucket.put("empty", b"")).read_bytes() == b""
    assert to_path(f"{web.url}/empty").read_bytes() == b""


@pytest.mark.parametrize(
    "key", ["x y", "a+b", "a%20b", "ä/ö", "a[1].gz", "a?b", "a#b", "*", "a\\b", "a&b=c", "~a", " a"]
)
def test_keys_are_taken_as_they_are_written(bucket, key):
    assert to_path(bucket.put(key, key.encode())).read_bytes() == key.encode()


@pytest.mark.parametrize("key", ["a//b", "a/../b", "./a"])
def test_keys_that_cannot_be_asked_for_are_refused_and_never_read_as_others(bucket, key):
    bucket.put("a/b", b"another")
    bucket.put("a", b"another")
    bucket.put("b", b"another")
    with pytest.raises(RemoteFault, match="cannot be asked for"):
        to_path(bucket.put(key, b"x")).read_bytes()


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
        stall_seconds=3.0 if method == "GET" and number == 2 else 0.0
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


def test_a_server_that_stays_busy_is_given_up_with_a_message(bucket, proxy, monkeypatch, caplog):
    monkeypatch.setattr(remote, "_MAX_PAUSE_SECONDS", 0.01)
    name = bucket.put("a", b"x")
    proxy.faults = lambda _method, _path, _number: Fault(status=503)
    with pytest.raises(RemoteFault) as caught:
        to_path(name).read_bytes()
    assert "its server does not answer as it should (status 503)" in caught.value.strerror
    assert caught.value.filename == name
    assert any("trying again" in text for text in caplog.messages), "long waiting is said"


def test_an_object_that_changes_while_it_is_read_is_an_error(bucket, content):
    name = bucket.put("a", content)
    with to_path(name).open(reads_ahead=True) as file:
        file.read(CHUNK)
        bucket.put("a", content[::-1])
        with pytest.raises(ObjectChanged, match="changed while it was being read"):
            read_on(file)


def test_a_pinned_version_is_the_only_one_that_is_read(bucket, proxy, content):
    path = to_path(bucket.put("a", content))
    pinned = RemotePath(path.address, path.stat(), is_pinned=True)
    n_asked = len(proxy.log)
    assert pinned.stat() == pinned.known_facts()
    assert pinned.is_file()
    assert len(proxy.log) == n_asked, "nobody is asked for it again"
    assert pinned.read_bytes() == content
    bucket.put("a", content[::-1])
    with pytest.raises(ObjectChanged):
        pinned.read_bytes()
    assert path.read_bytes() == content[::-1]


def test_an_object_that_is_deleted_while_it_is_read_is_an_error(bucket, content):
    name = bucket.put("a", content)
    with to_path(name).open(reads_ahead=True) as file:
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
    assert not to_path(f"{bucket.url}/none").exists()


def test_size_and_version_are_told(bucket):
    name = bucket.put("a", b"abc")
    facts = to_path(name).stat()
    assert (facts.st_size, facts.takes_ranges) == (3, True)
    assert facts.version == "etag:900150983cd24fb0d6963f7d28e17f72"
    bucket.put("a", b"abd")
    assert not facts.is_same(to_path(name).stat())


def test_two_who_delete_at_once_have_both_deleted(bucket):
    path = to_path(bucket.put("a", b"x"))
    errors = []

    def delete():
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=delete) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, bucket.keys()) == ([], [])
    with pytest.raises(FileNotFoundError):
        path.unlink()


class TestCredentials:
    """They are found where others find them, and what is missing is said with advice."""

    def test_denied_access_is_said_at_once(self, bucket, proxy):
        name = bucket.put("a", b"x")
        proxy.faults = lambda _method, _path, _number: Fault(status=403)
        with pytest.raises(PermissionError) as caught:
            to_path(name).read_bytes()
        assert "denies access" in caught.value.strerror
        assert "AWS_SKIP_SIGNATURE=true" in caught.value.strerror
        assert sum(proxy.counts.values()) <= 2

    def test_missing_ones_are_said(self, bucket, monkeypatch):
        name = bucket.put("a", b"x")
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(PermissionError) as caught:
            to_path(name).read_bytes()
        assert "no usable credentials were found" in caught.value.strerror
        assert "AWS_SKIP_SIGNATURE=true" in caught.value.strerror

    @pytest.mark.parametrize("missing", [["AWS_ACCESS_KEY_ID"], ["AWS_SECRET_ACCESS_KEY"], KEYS])
    def test_half_of_them_or_a_machine_without_a_role_are_none(self, bucket, monkeypatch, missing):
        name = bucket.put("a", b"x")
        for variable in missing:
            monkeypatch.delenv(variable)
        monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
        with pytest.raises(PermissionError, match="no usable credentials were found"):
            to_path(name).read_bytes()

    @pytest.mark.parametrize("word", ["true", "True", "1"])
    def test_public_objects_are_read_without(self, bucket, monkeypatch, word):
        name = bucket.put("a", b"x")
        bucket.client.put_object_acl(Bucket=bucket.name, Key="a", ACL="public-read")
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_SKIP_SIGNATURE", word)
        assert to_path(name).read_bytes() == b"x"

    @pytest.mark.parametrize("profile", ["default", "other"])
    def test_files_of_amazons_own_tools_are_read(
        self, bucket, proxy, monkeypatch, tmp_path, profile
    ):
        name = bucket.put("a", b"x")
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.delenv(variable)
        monkeypatch.delenv("AWS_ENDPOINT_URL")
        monkeypatch.setenv("AWS_PROFILE", profile)
        folder = tmp_path / ".aws"
        folder.mkdir()
        keys = f"aws_access_key_id = somebody\naws_secret_access_key={SECRET}\n"
        (folder / "credentials").write_text(f"[{profile}]\n{keys}[third]\nregion = x\n")
        section = "default" if profile == "default" else f"profile {profile}"
        (folder / "config").write_text(
            f"[{section}]\nregion=eu-west-1\nendpoint_url = {proxy.url}\n"
        )
        assert to_path(name).read_bytes() == b"x"

    def test_a_broken_file_is_named_and_not_shown(self, bucket, monkeypatch, tmp_path):
        name = bucket.put("a", b"x")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "broken"))
        (tmp_path / "broken").write_text(f"aws_secret_access_key = {SECRET}\n")
        with pytest.raises(PermissionError, match="broken cannot be understood") as caught:
            to_path(name).read_bytes()
        assert SECRET not in str(caught.value)

    def test_the_endpoint_of_s3_goes_before_the_general_one(self, bucket, proxy, monkeypatch):
        name = bucket.put("a", b"x")
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        assert to_path(name).read_bytes() == b"x"

    @pytest.mark.parametrize("fault", [Fault(status=403), Fault(status=503), Fault(drop_after=0)])
    def test_no_secret_is_told_whatever_happens(self, bucket, proxy, monkeypatch, caplog, fault):
        monkeypatch.setattr(remote, "_MAX_PAUSE_SECONDS", 0.01)
        caplog.set_level(logging.DEBUG, "crawlgauge")
        name = bucket.put("a", b"x" * 100)
        proxy.faults = lambda *_: fault
        with pytest.raises(OSError) as caught:  # noqa: PT011 - of any kind
            to_path(name).read_bytes()
        told = [str(caught.value), repr(caught.value.__cause__), *caplog.messages]
        assert SECRET not in str(told)
        assert "somebody" not in str(told)


class TestThisMachine:
    """What is wrong with this machine is said as what it is, and never as damage."""

    @pytest.fixture
    def no_files(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = []
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(64, len([*Path("/dev/fd").iterdir()])), before[1])
        )
        try:
            while True:
                files.append(open(os.devnull, "rb"))  # noqa: PTH123, SIM115 - quickly
        except OSError:
            yield
        finally:
            for file in files:
                file.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

    @pytest.mark.parametrize("kind", ["s3", "http"])
    def test_too_many_open_files(self, bucket, web, monkeypatch, request, kind):
        name = bucket.put("a", b"x") if kind == "s3" else f"{web.url}/a"
        web.files["/a"] = b"x"
        # A bucket that nobody has a connection to yet.
        monkeypatch.setenv("AWS_REGION", f"other-{kind}")
        request.getfixturevalue("no_files")
        with pytest.raises(OSError, match="Too many open files on this machine") as caught:
            to_path(name).read_bytes()
        assert caught.value.errno == errno.EMFILE

    def test_no_further_threads(self, web, monkeypatch):
        web.files["/a"] = b"x"

        def fail(_):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", fail)
        with pytest.raises(OSError, match="no further thread") as caught:
            to_path(f"{web.url}/a").read_bytes()
        assert caught.value.errno == errno.EAGAIN

    def test_storage_that_was_used_before_a_fork(self, bucket):
        path = to_path(bucket.put("a", b"x"))
        assert path.read_bytes() == b"x"
        receive, send = os.pipe()
        child = os.fork()
        if not child:
            try:
                path.read_bytes()
            except OSError as error:
                os.write(send, str(error.strerror).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert b"before this process was forked off" in os.read(receive, 999)
        os.close(receive)
        os.close(send)


@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_an_unreachable_server_is_said(bucket, monkeypatch, scheme):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(RemoteFault, match=r"cannot be reached .*refused"):
        to_path(f"{scheme}://127.0.0.1:9/a" if scheme == "http" else f"{bucket.url}/a").stat()


class TestInterruption:
    """Nobody has to wait for a network."""

    @pytest.mark.parametrize("kind", ["s3", "http"])
    @pytest.mark.parametrize("moment", ["stat", "read", "retry"])
    def test_waiting_ends_as_soon_as_nobody_wants_the_answer(
        self, bucket, proxy, web, content, monkeypatch, kind, moment
    ):
        monkeypatch.setattr(remote, "_SILENCE_SECONDS", 60.0)
        monkeypatch.setattr(remote, "_FIRST_PAUSE_SECONDS", 60.0 if moment == "retry" else 0.01)
        name = bucket.put("a", content) if kind == "s3" else f"{web.url}/a"
        web.files["/a"] = content
        file = None if moment == "stat" else to_path(name).open(reads_ahead=True)
        if file is not None:
            file.read(1)
        status = 503 if moment == "retry" else None
        proxy.faults = lambda *_: Fault(stall_seconds=30.0 * (status is None), status=status)
        is_ended = threading.Event()
        if moment == "stat":
            proxy.on_request = lambda *_: is_ended.wait(30)
        web.rules = lambda request: web.reply(request, 503) if status else not is_ended.wait(30)
        is_over = threading.Event()

        def check():
            if is_over.is_set():
                raise KeyboardInterrupt

        threading.Timer(0.3, is_over.set).start()
        start = time.monotonic()
        with interruptible(check), pytest.raises(KeyboardInterrupt):
            to_path(name).stat() if file is None else read_on(file)
        if file is not None:
            file.close()
        assert time.monotonic() - start < 3
        is_ended.set()

    @pytest.mark.parametrize("kind", ["s3", "http"])
    def test_ctrl_c_ends_a_slow_read_at_once_and_cleanly(self, bucket, proxy, web, kind):
        name = bucket.put("a", b"x" * 1000) if kind == "s3" else f"{web.url}/a"
        proxy.faults = lambda *_: Fault(stall_seconds=30.0)
        is_ended, is_asked = threading.Event(), threading.Event()
        web.rules = lambda _request: is_asked.set() or not is_ended.wait(30)
        code = (
            "import sys\nfrom crawlgauge.sources.remote import to_path\n"
            "try:\n    to_path(sys.argv[1]).read_bytes()\n"
            "except KeyboardInterrupt:\n    sys.exit(130)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, name],
            env={**os.environ, "PYTHONPATH": SOURCE},
            stderr=subprocess.PIPE,
        )
        while not proxy.counts and not is_asked.is_set():
            time.sleep(0.05)
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
        is_ended.set()
        assert time.monotonic() - start < 3
        assert (process.returncode, message) == (130, b"")

    def test_a_process_that_ends_in_the_middle_of_reading_ahead_ends_cleanly(self, bucket, content):
        name = bucket.put("a", content)
        code = (
            "import sys\nfrom crawlgauge.sources import remote\nremote.BLOCK_BYTES = 1 << 17\n"
            "file = remote.to_path(sys.argv[1]).open(reads_ahead=True)\n"
            "file.read(400_000)\nsys.exit(3)\n"
        )
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-c", code, name],
                env={**os.environ, "PYTHONPATH": SOURCE},
                capture_output=True,
                check=False,
            )
            assert (done.returncode, done.stderr) == (3, b"")


def test_signed_addresses_are_read(bucket, proxy):
    bucket.put("a", b"x")
    signed = bucket.client.generate_presigned_url(
        "get_object", Params={"Bucket": bucket.name, "Key": "a"}
    )
    path = to_path(signed)
    assert path.read_bytes() == b"x"
    assert str(path).endswith(f"/{bucket.name}/a")
    assert not proxy.log
