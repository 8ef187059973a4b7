"""Places for a store, on the disk and on an S3-compatible server, that tests can look into."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import boto3
import fsspec.config
import pytest

import crawlgauge as cg
from crawlgauge.remote import file_systems, retrying

SERVER = Path(__file__).with_name("s3_server.py")
LEASE_SECONDS = 8
KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "do+not/tell+anybody"}
_numbers = itertools.count()


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
            manifest = json.loads(self.read(f"{folder}/manifest.json"))
            files = [
                entry["file"] for entry in (*manifest["sets"].values(), manifest["attributes"])
            ]
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


@pytest.fixture(scope="session")
def s3_url():
    """Start the server, and return its address."""
    server = subprocess.Popen(
        [sys.executable, SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    port = server.stdout.readline().strip()
    assert port, "the server does not start"
    yield f"http://127.0.0.1:{port}"
    server.kill()
    server.communicate()


@pytest.fixture
def use_s3(monkeypatch, s3_url, tmp_path):
    """Let S3 be the server, for this process and those that it starts."""

    def use(url=s3_url):
        settings = KEYS | {"AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("FSSPEC_S3_ENDPOINT_URL", url)
        monkeypatch.setenv("CRAWLGAUGE_LEASE_SECONDS", str(LEASE_SECONDS))
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        (tmp_path / "tmp").mkdir(exist_ok=True)
        monkeypatch.setattr("tempfile.tempdir", None)
        monkeypatch.setattr(fsspec.config, "conf", {})
        monkeypatch.setattr(file_systems, "_file_systems", {})
        monkeypatch.setattr(retrying, "_FIRST_PAUSE_SECONDS", 0.01)

    return use


@pytest.fixture
def s3_place(s3_url, use_s3):
    """Return a store on the server that is not made yet."""
    use_s3()
    client = boto3.client("s3", endpoint_url=s3_url)
    bucket = f"bucket-{os.getpid()}-{next(_numbers)}"
    client.create_bucket(Bucket=bucket)
    yield S3Place(client, bucket, "archives/store")
    client.close()


@pytest.fixture(params=["local", "s3"])
def place(request, tmp_path):
    """Return a store that is not made yet, on the disk or on the server."""
    if request.param == "local":
        return LocalPlace(tmp_path / "store")
    return request.getfixturevalue("s3_place")
