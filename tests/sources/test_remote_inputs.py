"""What the user's words stand for on remote storage."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from remote_servers import bucket, impatient, proxy, s3_client, s3_server, web  # noqa: F401

import crawlgauge
from crawlgauge.errors import SourceError
from crawlgauge.sources.remote import expand_remote, find_root, interruptible, to_path

from faulty_proxy import Fault  # isort: skip - found by remote_servers

# ruff: noqa: F811 - the fixtures
KEYS = ("2021/a.cdx.gz", "2021/b.cdx.gz", "2021/.hidden.gz", "2021/deep/c.cdx.gz", "2022/d.txt")


@pytest.fixture
def archive(bucket):
    for number, key in enumerate(KEYS):
        bucket.put(key, b"x" * (number + 1))
    return bucket


def expand(*words):
    return [[str(path) for path in found] for found in expand_remote(map(to_path, words))]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("/2021/a.cdx.gz", [0]),
        ("/2021/", [0, 1, 3]),
        ("/2021", [0, 1, 3]),
        ("/", [0, 1, 3, 4]),
        ("", [0, 1, 3, 4]),
        ("/2021/*.gz", [0, 1]),
        ("/2021/?.cdx.gz", [0, 1]),
        ("/2021/[b-z].cdx.gz", [1]),
        ("/*/*.gz", [0, 1]),
        ("/202?/deep/*", [3]),
        ("/2021/*/c.cdx.gz", [3]),
        ("/**/*.gz", [0, 1, 3]),
        ("/202*/*/*", [3]),
    ],
)
def test_objects_folders_and_globs(archive, word, expected):
    assert expand(archive.url + word) == [[f"{archive.url}/{KEYS[place]}" for place in expected]]


def test_many_words_are_asked_for_at_once_and_stay_in_order(archive, proxy):
    proxy.on_request = lambda *_: time.sleep(0.2)
    words = [f"{archive.url}/{key}" for key in KEYS[:2] + KEYS[3:]] * 4
    start = time.monotonic()
    assert expand(*words) == [[word] for word in words]
    assert time.monotonic() - start < 0.2 * len(words)


def test_thousands_of_objects_are_listed(archive):
    names = [f"many/{number:04}" for number in range(1100)]
    for name in names:
        archive.put(name, b"x")
    (found,) = expand(f"{archive.url}/many/")
    assert found == [f"{archive.url}/{name}" for name in names]


def test_sizes_are_known_from_listings_without_asking_for_each(archive, proxy):
    (found,) = expand_remote([to_path(f"{archive.url}/2021/*.gz")])
    assert [path.known_facts().st_size for path in found] == [1, 2]
    assert not [method for method, *_ in proxy.log if method == "HEAD"]


def test_a_key_that_looks_like_a_pattern_can_be_named(bucket):
    name = bucket.put("a[1].gz", b"x")
    assert expand(name) == [[name]]


def test_folders_that_are_marked_by_empty_objects_are_no_objects(bucket):
    for key in ("f/", "f/g/", "f/lone/"):
        bucket.put(key, b"")
    names = [
        bucket.put(key, key[-1:].encode() * (key != "f/empty")) for key in ("f/empty", "f/g/b")
    ]
    assert expand(f"{bucket.url}/f/", bucket.url, f"{bucket.url}/f/*") == [names, names, names[:1]]


def test_names_in_a_list_start_from_its_folder_or_from_the_root(archive):
    listing = to_path(archive.put("2021/paths.txt", b"x"))
    assert find_root(listing, "a.cdx.gz") == listing.parent
    assert find_root(listing, "2022/d.txt") == to_path(archive.url)
    assert find_root(listing, "none") == find_root(listing, "*.gz") == listing.parent


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("2023/", "the folder .* holds no objects"),
        ("2023/*.gz", "no object matches"),
        ("none.gz", "there is no such object"),
    ],
)
def test_what_stands_for_nothing_is_an_error(archive, word, message):
    with pytest.raises(SourceError, match=message):
        expand(f"{archive.url}/{word}")


@pytest.mark.usefixtures("bucket")
def test_buckets_must_be_named_and_be_there():
    with pytest.raises(SourceError, match="the bucket must be named"):
        expand("s3://*/a")
    for word in ("s3://nobody-has-this/a", "s3://nobody-has-this/", "s3://nobody-has-this/*"):
        with pytest.raises(SourceError, match="there is no such bucket"):
            expand(word)


def test_web_servers_have_no_folders(web):
    web.files["/a.gz"] = b"xyz"
    (found,) = expand_remote([to_path(f"{web.url}/a.gz?url=*.example.org")])
    assert [path.known_facts().st_size for path in found] == [3]
    with pytest.raises(SourceError, match="files on web servers are only read"):
        expand(f"{web.url}/*.gz")
    with pytest.raises(SourceError, match="there is no such object"):
        expand(f"{web.url}/b/")


def test_a_busy_server_is_asked_for_its_listing_again(archive, proxy):
    proxy.faults = lambda _method, _path, number: Fault(status=503 if number % 3 < 2 else None)
    assert len(expand(f"{archive.url}/2021/")[0]) == 3


def test_an_object_that_a_listing_does_not_show_yet_can_be_named(archive, proxy):
    """A listing may lag: what is named is asked for itself."""
    lagging = f"/{archive.name}"
    proxy.faults = lambda _method, path, _number: Fault(
        status=404 if path.rstrip("/") == lagging else None
    )
    assert expand(f"{archive.url}/2021/a.cdx.gz") == [[f"{archive.url}/2021/a.cdx.gz"]]


def test_waiting_for_listings_can_be_interrupted(archive, proxy):
    is_over, is_ended = threading.Event(), threading.Event()
    proxy.on_request = lambda *_: is_ended.wait(30)

    def check():
        if is_over.is_set():
            raise KeyboardInterrupt

    threading.Timer(0.3, is_over.set).start()
    start = time.monotonic()
    with interruptible(check), pytest.raises(KeyboardInterrupt):
        expand(f"{archive.url}/2021/", f"{archive.url}/2022/")
    assert time.monotonic() - start < 3
    is_ended.set()


def test_only_buckets_need_the_library_and_the_message_says_what_to_install(web):
    web.files["/a"] = b"x"
    code = (
        "import sys\nsys.modules['obstore'] = None\n"
        "from crawlgauge.errors import SourceError\n"
        "from crawlgauge.sources.remote import to_path\n"
        "print(to_path(sys.argv[1]).read_bytes())\n"
        "for name in ('s3://bucket/a', 'gs://bucket/a'):\n"
        "    try:\n        to_path(name).stat()\n"
        "    except SourceError as error:\n        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, f"{web.url}/a"],
        env={**os.environ, "PYTHONPATH": str(Path(crawlgauge.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    first, *others = done.stdout.splitlines()
    assert first == "b'x'"
    assert len(others) == 2
    assert all("pip install '.[remote]'" in line for line in others)
