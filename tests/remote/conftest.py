"""Servers on loopback: moto's S3, a proxy in front of it that does harm, and a web server."""

import itertools
import logging
import os
import sys
from pathlib import Path

import boto3
import fsspec.config
import pytest
from moto.server import ThreadedMotoServer

from crawlgauge.remote import file_systems, names, retrying, web_fetching

# gcsfs asks Google what kind of bucket each is, wherever its other requests go.
os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fuzzing")]

from faulty_proxy import FaultyProxy  # noqa: E402 - found by the line above
from web_server import WebServer  # noqa: E402 - as above

SECRET = "do+not/tell+anybody"  # noqa: S105 - it is one for the tests
_numbers = itertools.count()


@pytest.fixture(scope="session")
def moto_server():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()
    server.stop()


@pytest.fixture
def impatient(monkeypatch):
    """Let retries come at once, and silence be noticed soon."""
    monkeypatch.setattr(retrying, "_FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(web_fetching, "_SILENCE_SECONDS", 0.5)


@pytest.fixture
def fresh_settings(monkeypatch):
    """Forget file systems and secrets of other tests."""
    monkeypatch.setattr(fsspec.config, "conf", {})
    monkeypatch.setattr(file_systems, "_file_systems", {})
    monkeypatch.setattr(names, "_addresses", {})
    fsspec.filesystem("memory").store.clear()


@pytest.fixture(scope="session")
def session_proxy(moto_server):
    found = FaultyProxy("127.0.0.1", moto_server[1])
    yield found
    found.close()


@pytest.fixture
def proxy(session_proxy):
    session_proxy.reset()
    return session_proxy


class Bucket:
    """A bucket that is filled directly and read through the proxy."""

    def __init__(self, client, name) -> None:
        self.client = client
        self.name = name
        self.url = f"s3://{name}"
        client.create_bucket(Bucket=name)

    def put(self, key, content):
        self.client.put_object(Bucket=self.name, Key=key, Body=content)
        return f"{self.url}/{key}"


_made_before = {}
"""File systems with the settings below, which take a second to make."""


@pytest.fixture
def s3_environment(monkeypatch, fresh_settings, impatient, proxy):  # noqa: ARG001 - for what they do
    """Let S3 be what is behind the proxy, for this process and those that it starts."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("FSSPEC_S3", '{"config_kwargs": {"read_timeout": 1, "connect_timeout": 2}}')
    monkeypatch.setenv("FSSPEC_S3_ENDPOINT_URL", proxy.url)
    monkeypatch.setattr(file_systems, "_file_systems", _made_before)


@pytest.fixture
def other_settings(s3_environment, monkeypatch):  # noqa: ARG001 - after it
    """Let the environment be looked at anew."""
    monkeypatch.setattr(file_systems, "_file_systems", {})


@pytest.fixture(scope="session")
def s3_client(moto_server):
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{moto_server[1]}",
        region_name="us-east-1",
        aws_access_key_id="somebody",
        aws_secret_access_key=SECRET,
    )
    yield client
    client.close()


@pytest.fixture
def bucket(s3_environment, s3_client):  # noqa: ARG001 - for what it does
    return Bucket(s3_client, f"bucket-{next(_numbers)}")


@pytest.fixture
def web(fresh_settings, impatient):  # noqa: ARG001 - for what they do
    server = WebServer()
    yield server
    server.close()


@pytest.fixture
def secret():
    """Return the secret key of the environment."""
    return SECRET
