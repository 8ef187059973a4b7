"""Places for a store, on the disk and on an S3-compatible server, that tests can look into."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge as cg
from crawlgauge.store.documents import to_document

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))

from remote_servers import (  # noqa: F401 - fixtures
    KEYS,
    SECRET,
    impatient,
    s3_client,
    s3_server,
)

__all__ = [
    "KEYS",
    "LEASE_SECONDS",
    "SECRET",
    "LocalPlace",
    "S3Place",
    "change_document",
    "fill",
    "read_document",
]

LEASE_SECONDS = 5
SOURCE = Path(cg.__file__).parents[1]
_numbers = itertools.count()


def read_document(content):
    """Return what a file of the store says, without its checksum."""
    return json.loads(content)["content"]


def change_document(path, **changes):
    """Change what a file of the store says, as a newer version or somebody evil would do."""
    path.write_bytes(to_document(read_document(path.read_bytes()) | changes))


class LocalPlace:
    """A folder that is not made yet."""

    def __init__(self, store) -> None:
        self.store = store
        self.lock_at_rest = ["lock"]

    def below(self, name):
        """Return another place."""
        return LocalPlace(self.store / name)

    def names(self):
        """Return all files and folders."""
        return sorted(str(path.relative_to(self.store)) for path in self.store.rglob("*"))

    def exists(self):
        """Tell whether there is a store."""
        return (self.store / "store.json").exists()

    def holder(self, label):
        """Return the process that says to write a crawl."""
        lock = self.store / "crawls" / label / "lock"
        return int(lock.read_text() or 0) if lock.exists() else None

    def read(self, name):
        """Return the content of a file."""
        return (self.store / name).read_bytes()

    def write(self, name, content):
        """Change the content of a file."""
        (self.store / name).write_bytes(content)

    def see_whole(self, labels, *, others=()):
        """Check that crawls verify, and that nothing but their files is there."""
        findings = cg.verify_store(self.store)
        assert [item.label for item in findings] == sorted(labels)
        assert [item.problem for item in findings if item.problem] == []
        expected = ["store.json", *others]
        for label in labels:
            folder = f"crawls/{label}"
            manifest = read_document(self.read(f"{folder}/manifest.json"))
            files = [entry["file"] for entry in (*manifest["sets"], manifest["attributes"])]
            expected += [f"{folder}/{name}" for name in (*files, "manifest.json")]
            expected += [f"{folder}/{name}" for name in self.lock_at_rest]
        assert self.names() == sorted({*expected, *self.folders(expected)})

    @staticmethod
    def folders(names):
        """Return the folders that hold files."""
        return {str(parent) for name in names for parent in Path(name).parents} - {"."} | {"crawls"}


class S3Place(LocalPlace):
    """A prefix of a bucket."""

    def __init__(self, client, bucket, prefix) -> None:
        self.client, self.bucket, self.prefix = client, bucket, f"{prefix}/"
        self.store = f"s3://{bucket}/{prefix}"
        self.lock_at_rest = []

    def below(self, name):
        return S3Place(self.client, self.bucket, self.prefix + name)

    def names(self):
        where = {"Bucket": self.bucket, "Prefix": self.prefix}
        pages = self.client.get_paginator("list_objects_v2").paginate(**where)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        return sorted(key.removeprefix(self.prefix) for key in keys)

    def cached(self):
        """Return what is there that can be lost."""
        return [name for name in self.names() if name.startswith("cache/")]

    def n_uploads(self):
        """Return of how many objects some parts were sent."""
        return len(self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", ()))

    def exists(self):
        return "store.json" in self.names()

    def holder(self, label):
        name = f"crawls/{label}/lock"
        return json.loads(self.read(name))["pid"] if name in self.names() else None

    def read(self, name):
        return self.client.get_object(Bucket=self.bucket, Key=self.prefix + name)["Body"].read()

    def write(self, name, content):
        self.client.put_object(Bucket=self.bucket, Key=self.prefix + name, Body=content)

    def delete(self, name):
        """Delete an object."""
        self.client.delete_object(Bucket=self.bucket, Key=self.prefix + name)

    @staticmethod
    def folders(_):
        return set()


@pytest.fixture
def use_s3(monkeypatch, s3_server, impatient, tmp_path):  # noqa: ARG001, F811 - the fixtures
    """Let S3 be the server, or what stands before it, for this process and those it starts."""

    def use(url=s3_server):
        settings = KEYS | {"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": url}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("CRAWLGAUGE_LEASE_SECONDS", str(LEASE_SECONDS))
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        (tmp_path / "tmp").mkdir(exist_ok=True)
        monkeypatch.setattr("tempfile.tempdir", None)

    return use


@pytest.fixture
def s3_place(s3_client, use_s3):  # noqa: F811 - the fixture
    """Return a store on the server that is not made yet."""
    use_s3()
    bucket = f"store-{os.getpid()}-{next(_numbers)}"
    s3_client.create_bucket(Bucket=bucket)
    return S3Place(s3_client, bucket, "archives/store")


@pytest.fixture
def store(tmp_path):
    """Return the path of a store that is not made yet."""
    return tmp_path / "store"


@pytest.fixture(params=["local", "s3"])
def place(request, store):
    """Return a store that is not made yet, on the disk or on the server."""
    return LocalPlace(store) if request.param == "local" else request.getfixturevalue("s3_place")


def fill(store, make_list):
    """Make a store of two crawls of 100 URLs, 50 of them shared."""
    cg.add_crawl(store, "2021-06", make_list(range(100), "2021-06.txt"))
    cg.add_crawl(store, "2021-12", make_list(range(50, 150), "2021-12.txt"))


@pytest.fixture
def full_store(store, make_list):
    """Return the path of a store of two crawls of 100 URLs, 50 of them shared."""
    fill(store, make_list)
    return store


@pytest.fixture
def see_whole():
    """Check that a store is whole: crawls verify, and nothing but their files is there."""
    return lambda store, labels: LocalPlace(store).see_whole(labels)


@pytest.fixture
def environment():
    """Return an environment in which other processes find this crawlgauge."""
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def start(tmp_path):
    """Start the command line in another process; it is killed in the end if need be."""
    started = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "crawlgauge", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
