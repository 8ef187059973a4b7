"""Names of remote objects are shown without what is secret in them."""

import pytest

from crawlgauge.remote.names import conceal, is_remote, local_name, reveal, without_credentials
from crawlgauge.remote.remote_path import RemotePath, to_path

pytestmark = pytest.mark.usefixtures("fresh_settings")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:pw@example.org/a", "https://example.org/a"),
        ("https://token@example.org:8443/a", "https://example.org:8443/a"),
        ("https://a:b@c@example.org/a", "https://example.org/a"),
        ("ftp://me:pw@example.org/a@b", "ftp://example.org/a@b"),
        ("https://h/a?X-Amz-Credential=1&X-Amz-Signature=2&x-amz-date=3", "https://h/a"),
        ("https://h/a?versionId=7&X-Amz-Signature=2", "https://h/a?versionId=7"),
        ("https://h/a?AWSAccessKeyId=1&Signature=2&Expires=3", "https://h/a"),
        ("https://h/a?X-Goog-Signature=1&alt=media", "https://h/a?alt=media"),
        ("https://h/a?sv=2022&sr=b&sig=abc%3D&se=2030&sp=r", "https://h/a"),
        ("https://h/a?access_token=1&b=2", "https://h/a?b=2"),
        ("https://h/a?api_key=1", "https://h/a"),
        ("https://h/a?page=1", "https://h/a?page=1"),
        ("s3://bucket/a?.gz", "s3://bucket/a?.gz"),
        ("crawls/me:pw@example.cdx?sig=1", "crawls/me:pw@example.cdx?sig=1"),
    ],
)
def test_addresses_are_shown_without_credentials(address, shown):
    assert without_credentials(address) == shown


def test_what_was_cut_off_is_put_back_when_an_object_is_opened():
    address = "https://me:pw@example.org/a"
    assert reveal(conceal(address)) == address
    assert reveal("https://example.org/b") == "https://example.org/b"


def test_remote_names_are_told_from_paths():
    assert is_remote("s3://b/k")
    assert is_remote("abfs://b/k")
    assert not is_remote("C://crawls")
    assert not is_remote("crawls/a.cdx")
    assert not is_remote("file:///a")


def test_file_addresses_are_local_paths(tmp_path):
    file = tmp_path / "a b.txt"
    file.write_text("x")
    assert to_path(file.as_uri()).read_text() == "x"
    assert local_name("file://localhost/a") == "/a"


def test_paths_have_the_parts_that_local_ones_have():
    path = RemotePath("s3://bucket/folder/a.cdx.gz")
    assert (path.name, path.suffix, path.stem) == ("a.cdx.gz", ".gz", "a.cdx")
    assert path.parts == ("s3://bucket", "folder", "a.cdx.gz")
    assert str(path.parent) == "s3://bucket/folder"
    assert str(path.parent.parent.parent) == "s3://bucket"
    assert path.parent / "a.cdx.gz" == path
    assert len({path, RemotePath("s3://bucket/folder/a.cdx.gz")}) == 1
    assert str(path.with_suffix(".loc")) == "s3://bucket/folder/a.cdx.loc"
    assert str(path / "/root.txt") == "s3://bucket/root.txt"
    assert str(path / "gs://other/b") == "gs://other/b"


def test_credentials_go_along_to_neighbours_but_signatures_do_not():
    path = RemotePath("https://me:pw@example.org/a/index.idx?sig=1")
    assert path.name == "index.idx"
    neighbour = path.with_name("part.gz")
    assert str(neighbour) == "https://example.org/a/part.gz"
    assert reveal(str(neighbour)) == "https://me:pw@example.org/a/part.gz"
    assert "pw" not in repr(path) + str(path)
