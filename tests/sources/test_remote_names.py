"""Names of remote objects: what they mean, and that nothing secret in them is ever shown."""

import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge
from crawlgauge.errors import SourceError
from crawlgauge.sources.remote import (
    RemotePath,
    conceal,
    expand_remote,
    is_remote,
    local_name,
    to_path,
)

PASSWORDS = [
    "hunter2",
    "wJal/rXU",
    "a?b",
    "c#d",
    "e@f",
    "g+h",
    "i%2Fj",
    "k:l",
    "/?#@+%",
    "12/34",
    "9",
]
PLACES = [
    "{scheme}://me:{password}@place/a.txt",
    "{scheme}://me:{password}@place:8080/a.txt?part=1",
    "{scheme}://{password}@place/a.txt",
    "{scheme}://AKIA:{password}@place/folder/*.gz",
    "{scheme}://:{password}@place",
]


@pytest.mark.parametrize("scheme", ["s3", "gs", "http", "https", "S3", "HTTPS"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("password", PASSWORDS)
def test_addresses_with_passwords_are_refused_and_not_shown(scheme, place, password):
    if "//{password}@" in place and password == "12/34" and scheme in ("s3", "S3", "gs"):  # noqa: S105
        pytest.skip("without a user name these are a bucket and a key: nobody can tell")
    address = place.format(scheme=scheme, password=password)
    for use in (
        is_remote,
        conceal,
        to_path,
        RemotePath,
        lambda name: RemotePath("s3://b/a") / name,
    ):
        with pytest.raises(SourceError, match="holds a user name or a password") as caught:
            use(address)
        assert caught.value.__cause__ is None
        assert "://" in str(caught.value)
        assert address.partition("://")[2] not in str(caught.value)
        assert "place" not in str(caught.value)


def test_an_at_sign_may_stand_where_it_can_be_no_password():
    assert str(to_path("s3://bucket/me@example.org/a")) == "s3://bucket/me@example.org/a"
    assert str(to_path("https://h/me%40example.org/a")) == "https://h/me%40example.org/a"
    assert to_path("crawls/me:pw@example.cdx?sig=1") == Path("crawls/me:pw@example.cdx?sig=1")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://h/a?X-Amz-Credential=1&X-Amz-Signature=2&x-amz-date=3", "https://h/a"),
        ("https://h/a?versionId=7&X-Amz-Signature=2", "https://h/a?versionId=7"),
        ("https://h/a?AWSAccessKeyId=1&Signature=2&Expires=3", "https://h/a"),
        ("https://h/a?X-Goog-Signature=1&alt=media", "https://h/a?alt=media"),
        ("https://h/a?sv=2022&sr=b&sig=abc%3D&se=2030&sp=r", "https://h/a"),
        ("https://h/a?access_token=1&b=2", "https://h/a?b=2"),
        ("https://h/a?api_key=1", "https://h/a"),
        ("https://h/a?page=1", "https://h/a?page=1"),
        ("HTTPS://h/a?url=*.example.org&limit=5", "https://h/a?url=*.example.org&limit=5"),
        ("s3://bucket/a?.gz", "s3://bucket/a?.gz"),
        ("S3://bucket/a", "s3://bucket/a"),
    ],
)
def test_addresses_are_shown_without_signatures_and_opened_with_them(address, shown):
    path = RemotePath(address)
    assert str(path) == conceal(address) == shown
    assert path.address.lower() == address.lower()
    assert RemotePath(shown).address.lower() == address.lower(), "this process remembers"


def test_what_may_be_secret_or_tell_files_apart_is_not_shown_but_tells_them_apart():
    names = {conceal(f"https://h/get?key={value}") for value in ("AIza-1", "AIza-2", "AIza-1")}
    assert len(names) == 2
    assert "AIza" not in str(names)
    assert all(conceal(name) == name for name in names)
    assert RemotePath(names.pop()).address.startswith("https://h/get?key=AIza-")


@pytest.mark.parametrize(
    "name",
    [
        "gopher://h/a",
        "s3a://b/a",
        "hdfs://h/a",
        "memory://a",
        "ftp://me:pw@h/a",
        "x+y.z-1://",
        "abfs://",
    ],
)
def test_other_schemes_are_refused_with_those_that_are_known(name):
    for use in (is_remote, to_path, conceal, RemotePath):
        with pytest.raises(SourceError, match=r"cannot be read; s3://, gs://, https://, http://"):
            use(name)


def test_remote_names_are_told_from_paths():
    assert is_remote("s3://b/k")
    assert is_remote("HTTP://b")
    for name in ("C://crawls", "crawls/a.cdx", "file:///a", "a:b", "//h/a", "", "-", "1st://a"):
        assert not is_remote(name)
    for name in ("s3://", "s3:///a", "gs://", "https:///a", "https://?a"):
        with pytest.raises(SourceError, match=r"names no (bucket|server)"):
            to_path(name)


def test_file_addresses_are_local_paths(tmp_path):
    file = tmp_path / "a b.txt"
    file.write_text("x")
    assert to_path(file.as_uri()).read_text() == "x"
    assert local_name("file://localhost/a") == "/a"


def test_paths_have_the_parts_that_local_ones_have():
    path = RemotePath("s3://bucket/folder/a.cdx.gz")
    assert path.name == "a.cdx.gz"
    assert path.parts == ("s3://bucket", "folder", "a.cdx.gz")
    assert str(path.parent) == "s3://bucket/folder"
    assert str(path.parent.parent.parent) == "s3://bucket"
    assert path.parent / "a.cdx.gz" == path
    assert len({path, RemotePath("s3://bucket/folder/a.cdx.gz")}) == 1
    assert min([path, path.parent]) == path.parent
    assert str(path.with_suffix(".loc")) == "s3://bucket/folder/a.cdx.loc"
    assert str(path / "/root.txt") == "s3://bucket/root.txt"
    assert str(path / "gs://other/b") == "gs://other/b"
    assert RemotePath("s3://bucket/folder/").is_folder
    assert RemotePath("s3://bucket/folder/") == path.parent


def test_signatures_do_not_go_along_to_neighbours():
    path = RemotePath("https://example.org/a/index.idx?sig=1")
    assert path.name == "index.idx"
    neighbour = path.parent / "part.gz"
    assert neighbour.address == "https://example.org/a/part.gz"
    assert "sig" not in repr(path) + str(path)


def test_importing_and_naming_loads_nothing_that_takes_time():
    code = (
        "import sys\n"
        "from crawlgauge.sources.remote import RemotePath, is_remote\n"
        "RemotePath('https://h/a'), is_remote('s3://b/k')\n"
        "late = 'numpy obstore http.client urllib.request ssl socket asyncio email configparser "
        "concurrent.futures random netrc'\n"
        "print([name for name in late.split() if name in sys.modules])\n"
    )
    source = str(Path(crawlgauge.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_nothing_stands_for_nothing():
    assert expand_remote([]) == []
