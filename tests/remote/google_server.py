"""As much of Google Cloud Storage on loopback as reading takes."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

__all__ = ["GoogleServer"]

_OBJECTS = re.compile(r"(?:/download)?/storage/v1/b/([^/]+)/o(?:/(.+))?")


class GoogleServer:
    """Serves the objects of one bucket.

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

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        split = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        found = _OBJECTS.fullmatch(split.path)
        name = unquote(found[2]) if found and found[2] else None
        if found is None or (name is not None and name not in self.objects):
            self._send(request, 404, b'{"error": {"code": 404, "message": "Not Found"}}')
        elif name is None:
            self._send(request, 200, json.dumps(self._list(found[1], query)).encode())
        elif query.get("alt") == "media":
            body = self.objects[name]
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
            part = body if asked is None else body[int(asked[1]) : int(asked[2]) + 1]
            self._send(request, 200 if asked is None else 206, part)
        else:
            self._send(request, 200, json.dumps(self._describe(found[1], name)).encode())

    def _describe(self, bucket, name):
        return {
            "kind": "storage#object",
            "bucket": bucket,
            "name": name,
            "size": str(len(self.objects[name])),
            "generation": str(self.generation),
            "etag": "same",
            "mediaLink": f"{self.url}/download/storage/v1/b/{bucket}/o/{name}?alt=media",
            "updated": "2026-01-01T00:00:00Z",
            "timeCreated": "2026-01-01T00:00:00Z",
        }

    def _list(self, bucket, query):
        prefix, cut = query.get("prefix", ""), query.get("delimiter")
        names = [name for name in sorted(self.objects) if name.startswith(prefix)]
        below = {
            n: n[len(prefix) :].partition(cut)[0] for n in names if cut and cut in n[len(prefix) :]
        }
        return {
            "kind": "storage#objects",
            "items": [self._describe(bucket, name) for name in names if name not in below],
            "prefixes": sorted({f"{prefix}{part}{cut}" for part in below.values()}),
        }

    @staticmethod
    def _send(request, status, body):
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
