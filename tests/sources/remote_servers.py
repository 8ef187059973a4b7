"""Servers on loopback for tests of remote storage: S3, Google's, the web, and one that harms."""

import itertools
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import boto3
import pytest

from crawlgauge.sources import remote

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "remote"), str(TESTS / "remote_store")]

from store_proxies import StoreProxy  # noqa: E402 - found by the line above
from web_server import WebServer  # noqa: E402 - as above

SECRET = "do+not/tell?any#body@all%"  # noqa: S105 - it is one for the tests
KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": SECRET}
_numbers = itertools.count()


@pytest.fixture
def impatient(monkeypatch, tmp_path):
    """Let retries come at once, silence be noticed soon, and nothing of the user's be found."""
    monkeypatch.setattr(remote, "_FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(remote, "_SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(remote, "_addresses", {})
    for name in os.environ:
        if name.startswith(("AWS_", "GOOGLE_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    # Nobody may ask the machine on which the tests run for credentials.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture(scope="session")
def s3_server():
    """Start an S3-compatible server in a process of its own, and return its address."""
    server = subprocess.Popen(
        [sys.executable, TESTS / "remote_store" / "s3_server.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    port = server.stdout.readline().strip()
    assert port, "the server does not start"
    yield f"http://127.0.0.1:{port}"
    server.kill()
    server.communicate()


@pytest.fixture(scope="session")
def s3_client(s3_server):
    client = boto3.client(
        "s3",
        endpoint_url=s3_server,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=SECRET,
    )
    yield client
    client.close()


@pytest.fixture
def proxy(s3_server):
    """Return a proxy in front of the server that does harm."""
    found = StoreProxy(s3_server)
    # Requests may be under way when a test has ended.
    found._server.handle_error = lambda *_: None
    yield found
    found.close()


class Bucket:
    """A bucket that is filled directly and read through the proxy."""

    def __init__(self, client) -> None:
        self.client = client
        self.name = f"bucket-{os.getpid()}-{next(_numbers)}"
        self.url = f"s3://{self.name}"
        client.create_bucket(Bucket=self.name)

    def put(self, key, content):
        self.client.put_object(Bucket=self.name, Key=key, Body=content)
        return f"{self.url}/{key}"

    def get(self, key):
        return self.client.get_object(Bucket=self.name, Key=key)["Body"].read()

    def keys(self):
        found = self.client.list_objects_v2(Bucket=self.name).get("Contents", ())
        return [entry["Key"] for entry in found]


@pytest.fixture
def bucket(s3_client, proxy, impatient, monkeypatch):  # noqa: ARG001 - for what it does
    """Return a bucket; S3 is what is behind the proxy, for this process and its children."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    return Bucket(s3_client)


class AnsweringServer(WebServer):
    """A web server that can be told how to answer.

    Attributes
    ----------
    rules
        Called with each request before anything else; who has answered returns true.
    seen
        Path and headers of each request.
    """

    def __init__(self) -> None:
        self.rules = lambda _request: False
        self.seen = []
        super().__init__()

    def answer(self, request):
        self.seen.append((request.path, dict(request.headers)))
        if not self.rules(request):
            super().answer(request)

    @staticmethod
    def reply(request, status, headers=(), body=b""):
        """Answer a request."""
        request.send_response(status)
        for name, value in dict(headers).items():
            request.send_header(name, value)
        if "Transfer-Encoding" not in dict(headers):
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
        return True


@pytest.fixture
def web(impatient):  # noqa: ARG001 - for what it does
    server = AnsweringServer()
    yield server
    server.close()


class GoogleServer:
    """As much of Google Cloud Storage as reading takes, in the form that obstore speaks.

    Attributes
    ----------
    objects
        Contents by name.
    generation
        Of all objects.
    """

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.generation = 1
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.answer(self)

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request):
        split = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        name = unquote(split.path).removeprefix("/bucket").strip("/")
        tag = f'"{self.generation:x}"'
        if "list-type" in query:
            self._send(request, 200, self._list(query), {})
        elif name not in self.objects:
            self._send(request, 404, b"<Error><Code>NoSuchKey</Code></Error>", {})
        elif request.headers.get("If-Match", tag) != tag:
            self._send(request, 412, b"<Error><Code>PreconditionFailed</Code></Error>", {})
        else:
            body, status = self.objects[name], 200
            headers = {"ETag": tag, "x-goog-generation": str(self.generation)}
            if asked := re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range", "")):
                start, end = int(asked[1]), int(asked[2] or len(body)) + 1
                status, size = 206, len(body)
                headers["Content-Range"] = f"bytes {start}-{min(end, size) - 1}/{size}"
                body = body[start:end]
            headers["Last-Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
            self._send(request, status, body, headers)

    def _list(self, query):
        prefix, cut = query.get("prefix", ""), query.get("delimiter")
        rows, folders = [], set()
        for name in sorted(name for name in self.objects if name.startswith(prefix)):
            below = name[len(prefix) :]
            if cut and cut in below:
                folders.add(prefix + below.partition(cut)[0] + cut)
            else:
                rows.append(
                    f"<Contents><Key>{escape(name)}</Key><Size>{len(self.objects[name])}</Size>"
                    "<LastModified>2026-01-01T00:00:00Z</LastModified>"
                    f'<ETag>"{self.generation:x}"</ETag></Contents>'
                )
        rows += [f"<CommonPrefixes><Prefix>{f}</Prefix></CommonPrefixes>" for f in sorted(folders)]
        return f"<ListBucketResult>{''.join(rows)}</ListBucketResult>".encode()

    @staticmethod
    def _send(request, status, body, headers):
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            request.send_header(name, value)
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)


@pytest.fixture
def google(impatient, monkeypatch):  # noqa: ARG001 - for what it does
    server = GoogleServer()
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "true")
    monkeypatch.setenv("GOOGLE_BASE_URL", server.url)
    yield server
    server.close()
