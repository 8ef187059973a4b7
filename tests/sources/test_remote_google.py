"""Objects on Google Cloud Storage are read, from a server that speaks as it does."""

import random

import pytest
from remote_servers import google, impatient  # noqa: F401 - fixtures

from crawlgauge.sources.remote import ObjectChanged, expand_remote, to_path

# ruff: noqa: F811 - the fixtures


def test_objects_folders_and_globs_are_found(google):
    google.objects = {"2021/a.txt": b"1", "2021/b.txt": b"22", "2021/deep/c.txt": b"333"}
    (found,) = expand_remote([to_path("gs://bucket/2021/*.txt")])
    assert [str(path) for path in found] == ["gs://bucket/2021/a.txt", "gs://bucket/2021/b.txt"]
    assert [path.known_facts().st_size for path in found] == [1, 2]
    assert len(expand_remote([to_path("gs://bucket/2021/")])[0]) == 3
    assert to_path("gs://bucket/2021").is_dir()


def test_objects_are_read_in_any_order(google):
    content = google.objects["a b"] = random.Random(2).randbytes(300_000)
    path = to_path("gs://bucket/a b")
    assert path.read_bytes() == content
    assert path.stat().version == "etag:1"
    with path.open() as file:
        file.seek(-9, 2)
        assert file.read() == content[-9:]


def test_an_object_that_changes_while_it_is_read_is_an_error(google):
    google.objects["a"] = random.Random(2).randbytes(300_000)
    with to_path("gs://bucket/a").open() as file:
        file.read(10)
        google.generation = 2
        with pytest.raises(ObjectChanged):
            file.read()


def test_a_missing_object_is_said(google):  # noqa: ARG001 - for what it does
    with pytest.raises(FileNotFoundError) as caught:
        to_path("gs://bucket/none").read_bytes()
    assert caught.value.strerror == "there is no such object"


def test_credentials_that_are_none_are_said(google, monkeypatch, tmp_path):
    google.objects["a"] = b"x"
    monkeypatch.delenv("GOOGLE_SKIP_SIGNATURE")
    for content in (None, "{", '{"private_key": "hunter2"}'):
        if content is not None:
            (tmp_path / "key.json").write_text(content)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
        with pytest.raises(PermissionError, match="no usable credentials") as caught:
            to_path("gs://bucket/a").read_bytes()
        assert "GOOGLE_SKIP_SIGNATURE=true" in caught.value.strerror
        assert "hunter2" not in str(caught.value)
