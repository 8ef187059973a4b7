"""A plain web server on loopback, with and without what servers may leave out."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["WebServer"]


class WebServer:
    """Serves files from memory.

    Attributes
    ----------
    files
        Contents by path.
    takes_ranges, states_tag, states_length
        What the server does.
    password
        Which user and password it wants, as ``user:password`` in base64; None for no one.
    drop_after
        For each request to come, after how many bytes the connection breaks; none left: never.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.takes_ranges = self.states_tag = self.states_length = True
        self.password: str | None = None
        self.drop_after: list[int] = []
        self.n_requests = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.n_requests += 1
        body = self.files.get(request.path.partition("?")[0])
        if self.password and request.headers.get("Authorization") != f"Basic {self.password}":
            self._send(request, 401, b"", {})
        elif body is None:
            self._send(request, 404, b"", {})
        elif self.takes_ranges and (asked := request.headers.get("Range")):
            start, end = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", asked).groups())
            if start >= len(body):
                self._send(request, 416, b"", {})
            else:
                place = f"bytes {start}-{min(end, len(body) - 1)}/{len(body)}"
                headers = {**self._tag(body), "Content-Range": place}
                self._send(request, 206, body[start : end + 1], headers)
        else:
            self._send(request, 200, body, self._tag(body))

    def _tag(self, body):
        return {"ETag": f'"{hash(body) & 0xFFFFFFFF:x}"'} if self.states_tag else {}

    def _send(self, request, status, body, headers):
        is_dropped = bool(self.drop_after) and len(body) > 1
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        if self.states_length:
            request.send_header("Content-Length", str(len(body)))
        if is_dropped or not self.states_length:
            request.close_connection = True
        request.end_headers()
        try:
            request.wfile.write(body[: self.drop_after.pop(0)] if is_dropped else body)
        except OSError:
            request.close_connection = True
