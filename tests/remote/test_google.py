"""Objects on Google Cloud Storage are read, from a server that speaks as it does."""

import random

import pytest
from google_server import GoogleServer

import crawlgauge as cg
from crawlgauge.remote import remote_file
from crawlgauge.remote.faults import ObjectChanged
from crawlgauge.remote.file_systems import file_system
from crawlgauge.remote.remote_path import to_path
from crawlgauge.sources.inputs import find_inputs


@pytest.fixture
def google(fresh_settings, impatient, monkeypatch):  # noqa: ARG001 - for what they do
    server = GoogleServer()
    monkeypatch.setenv("FSSPEC_GS_TOKEN", "anon")
    monkeypatch.setenv("FSSPEC_GS_ENDPOINT_URL", server.url)
    monkeypatch.setattr(remote_file, "_FIRST_BYTES", 1 << 10)
    yield server
    server.close()


def test_the_file_system_of_google_is_asked(google):  # noqa: ARG001 - for what it does
    system = file_system("gs://bucket/a")
    assert type(system).__name__ == "GCSFileSystem"
    assert system is file_system("gs://other/b")


def test_objects_folders_and_globs_are_found(google):
    google.objects = {"2021/a.txt": b"1", "2021/b.txt": b"22", "2021/deep/c.txt": b"333"}
    files = find_inputs(["gs://bucket/2021/*.txt"])
    assert files.names == ("gs://bucket/2021/a.txt", "gs://bucket/2021/b.txt")
    assert sum(files.sizes.values()) == 3
    assert len(find_inputs(["gs://bucket/2021/"]).names) == 3


def test_objects_are_read_in_any_order(google):
    content = google.objects["a"] = random.Random(2).randbytes(300_000)
    path = to_path("gs://bucket/a")
    assert path.read_bytes() == content
    assert path.stat().version == "generation:1"
    with path.open("rb") as file:
        file.seek(-9, 2)
        assert file.read() == content[-9:]


def test_an_object_that_changes_while_it_is_read_is_an_error(google):
    google.objects["a"] = random.Random(2).randbytes(300_000)
    with to_path("gs://bucket/a").open("rb") as file:
        file.read(10)
        google.generation = 2
        with pytest.raises(ObjectChanged):
            file.read()


def test_a_missing_object_is_said(google):  # noqa: ARG001 - for what it does
    with pytest.raises(FileNotFoundError) as caught:
        to_path("gs://bucket/none").read_bytes()
    assert caught.value.strerror == "there is no such object"


def test_a_crawl_is_added(google, tmp_path):
    google.objects["urls.txt"] = b"http://example.org/a\nhttp://example.org/b\n"
    added = cg.add_crawl(tmp_path / "store", "2021-12", "gs://bucket/urls.txt")
    assert added.crawl_set.crawl.n_urls == 2
    again = cg.add_crawl(tmp_path / "store", "2021-12", "gs://bucket/urls.txt")
    assert again.outcome == "unchanged"
