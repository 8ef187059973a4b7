"""What the user's words stand for on remote storage."""

import gzip

import pytest
from faulty_proxy import Fault

from crawlgauge.errors import CrawlgaugeError, SourceError
from crawlgauge.remote import file_systems
from crawlgauge.sources.inputs import find_inputs
from crawlgauge.sources.progress import total_bytes

KEYS = ("2021/a.cdx.gz", "2021/b.cdx.gz", "2021/.hidden.gz", "2021/deep/c.cdx.gz", "2022/d.txt")


@pytest.fixture
def archive(bucket):
    for number, key in enumerate(KEYS):
        bucket.put(key, b"x" * (number + 1))
    return bucket


def names(*words, **options):
    return find_inputs(words, **options).names


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("2021/a.cdx.gz", [0]),
        ("2021/", [0, 1, 3]),
        ("2021", [0, 1, 3]),
        ("", [0, 1, 3, 4]),
        ("/", [0, 1, 3, 4]),
        ("2021/*.gz", [0, 1]),
        ("2021/?.cdx.gz", [0, 1]),
        ("2021/[b-z].cdx.gz", [1]),
        ("*/*.gz", [0, 1]),
        ("202?/deep/*", [3]),
        ("2021/*/c.cdx.gz", [3]),
        ("**/*.gz", [0, 1, 3]),
    ],
)
def test_objects_folders_and_globs(archive, word, expected):
    found = names(f"{archive.url}/{word}" if word != "/" else archive.url)
    assert found == tuple(f"{archive.url}/{KEYS[place]}" for place in expected)


def test_sizes_are_known_from_listings_without_asking_for_each(archive, proxy):
    files = find_inputs([f"{archive.url}/2021/*.gz"])
    assert total_bytes(files) == 3
    assert not [method for method, *_ in proxy.log if method == "HEAD"]


def test_objects_named_twice_are_read_once(archive):
    found = find_inputs([f"{archive.url}/2021/a.cdx.gz", f"{archive.url}/2021/*.gz"])
    assert len(found.names) == 2
    assert found.repeated == (f"{archive.url}/2021/a.cdx.gz",)


def test_a_key_that_looks_like_a_pattern_can_be_named(bucket):
    name = bucket.put("a[1].gz", b"x")
    assert names(name) == (name,)


def test_lists_name_neighbours_and_other_places(archive, tmp_path, bucket):
    (tmp_path / "local.txt").write_text("x")
    absolute = f"{archive.url}/2022/d.txt"
    bucket.put("2021/list.txt", f"# of 2021\na.cdx.gz\n\ndeep/\n{absolute}\n".encode())
    expected = (*(f"{archive.url}/{KEYS[place]}" for place in (0, 3)), absolute)
    assert names(f"@{archive.url}/2021/list.txt") == expected
    (tmp_path / "list.txt").write_text(f"local.txt\n{absolute}\n")
    assert names(f"@{tmp_path}/list.txt") == (str(tmp_path / "local.txt"), absolute)


def test_lists_of_common_crawl_start_from_the_root_of_the_bucket(archive, bucket):
    lines = "".join(f"{KEYS[place]}\n" for place in (0, 1))
    bucket.put("crawl-data/CC/cc-index.paths.gz", gzip.compress(lines.encode()))
    expected = tuple(f"{archive.url}/{KEYS[place]}" for place in (0, 1))
    assert names(f"@{archive.url}/crawl-data/CC/cc-index.paths.gz") == expected


def test_the_order_of_words_stays(archive, tmp_path):
    local = tmp_path / "local.txt"
    local.write_text("x")
    words = [f"{archive.url}/2022/d.txt", str(local), "-", f"{archive.url}/2021/a.cdx.gz"]
    assert names(*words) == tuple(words)


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
        names(f"{archive.url}/{word}")


def test_buckets_must_be_named(s3_environment):  # noqa: ARG001 - for what it does
    with pytest.raises(SourceError, match="the bucket must be named"):
        names("s3://*/a")
    for word in ("s3://", "s3:///a", "gs://"):
        with pytest.raises(CrawlgaugeError, match="names no bucket"):
            names(word)
    with pytest.raises(CrawlgaugeError, match="names no server"):
        names("https:///a")
    with pytest.raises(SourceError, match="there is no such bucket"):
        names("s3://nobody-has-this/a")


def test_web_servers_have_no_folders(web):
    web.files["/a.gz"] = b"xyz"
    assert find_inputs([f"{web.url}/a.gz"]).sizes == {f"{web.url}/a.gz": 3}
    with pytest.raises(SourceError, match="web servers have no folders"):
        names(f"{web.url}/*.gz")
    with pytest.raises(SourceError, match="there is no such object"):
        names(f"{web.url}/b/")


def test_a_busy_server_is_asked_for_its_listing_again(archive, proxy):
    proxy.faults = lambda _method, _path, number: Fault(status=503 if number % 3 < 2 else None)
    assert len(names(f"{archive.url}/2021/")) == 3


def test_an_object_that_a_listing_does_not_show_yet_can_be_named(archive, proxy):
    """A listing may lag: what is named is asked for itself."""
    lagging = f"/{archive.name}"
    proxy.faults = lambda _method, path, _number: Fault(
        status=404 if path.rstrip("/") == lagging else None
    )
    assert names(f"{archive.url}/2021/a.cdx.gz") == (f"{archive.url}/2021/a.cdx.gz",)


def test_unknown_schemes_and_missing_packages_are_said(fresh_settings, monkeypatch):  # noqa: ARG001
    with pytest.raises(CrawlgaugeError, match="nothing is known of addresses that begin with"):
        names("gopher://example.org/a")
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    monkeypatch.setattr(file_systems, "_file_systems", {})
    with pytest.raises(CrawlgaugeError, match=r"pip install 'crawlgauge\[remote\]'"):
        names("s3://bucket/a")


def test_any_file_system_of_fsspec_can_be_read(fresh_settings):  # noqa: ARG001 - for what it does
    import fsspec

    fsspec.filesystem("memory").pipe({"/2021/a.txt": b"http://example.org/a\n", "/2021/b.txt": b""})
    assert names("memory://2021/*.txt") == ("memory://2021/a.txt", "memory://2021/b.txt")
