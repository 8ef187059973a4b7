"""A proxy on loopback in front of a server, which does to its answers what networks do."""

import http.client
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Fault", "FaultyProxy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to an answer; with nothing given, all goes well.

    Parameters
    ----------
    drop_after
        The connection breaks after so many bytes of the body.
    status
        The server is busy, and answers with this.
    stall_seconds
        Nothing comes for so long, after the first bytes.
    is_stale
        The answer is the one that the same request got first, as of a listing that lags.
    is_lost
        What was asked for is done, and nothing is answered.
    """

    drop_after: int | None = None
    status: int | None = None
    stall_seconds: float = 0.0
    is_stale: bool = False
    is_lost: bool = False


class FaultyProxy:
    """Passes requests on to a server, and faults to those who asked.

    Attributes
    ----------
    faults
        Called with method, path and how often that was asked for; returns what shall happen.
    log
        Method, path and range of each request, and how many bytes were sent.
    counts
        How often each method and path was asked for.
    on_request
        Called with method and path before each request is passed on.
    """

    def __init__(self, host: str, port: int) -> None:
        self.reset()
        self._target = host, port
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                proxy.handle(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do  # noqa: N815

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # At 0.5 s, which is usual, the server's end would take longer than most tests.
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def reset(self) -> None:
        """Do no harm, and forget what was."""
        self.faults = lambda _method, _path, _number: Fault()
        self.on_request = lambda _method, _path: None
        self.log: list[tuple[str, str, str | None, int]] = []
        self.counts: dict[tuple[str, str], int] = {}
        self._first_answers: dict[tuple[str, str], tuple[int, list[tuple[str, str]], bytes]] = {}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def n_sent(self, path: str) -> int:
        """Return how many bytes were sent of an object."""
        return sum(n_bytes for _, asked, _, n_bytes in self.log if asked.endswith(path))

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        with self._lock:
            number = self.counts.get((request.command, path), 0)
            self.counts[request.command, path] = number + 1
        self.on_request(request.command, path)
        fault = self.faults(request.command, path, number)
        if fault.status is not None:
            self._answer(request, fault.status, [], b"")
            return
        answer = self._pass_on(request)
        if fault.is_lost:
            request.close_connection = True
            return
        first = self._first_answers.setdefault((request.command, request.path), answer)
        status, headers, body = first if fault.is_stale else answer
        if fault.drop_after is not None:
            body = body[: fault.drop_after]
        if fault.stall_seconds:
            self._answer(request, status, headers, body[: len(body) // 2])
            request.wfile.flush()
            time.sleep(fault.stall_seconds)
        self.log.append((request.command, path, request.headers.get("Range"), len(body)))
        if not fault.stall_seconds:
            self._answer(request, status, headers, body)
        if fault.drop_after is not None or fault.stall_seconds:
            request.close_connection = True

    def _pass_on(self, request):
        n_bytes = int(request.headers.get("Content-Length") or 0)
        connection = http.client.HTTPConnection(*self._target)
        headers = {k: v for k, v in request.headers.items() if k.lower() != "connection"}
        connection.request(request.command, request.path, request.rfile.read(n_bytes), headers)
        answer = connection.getresponse()
        body = answer.read()
        left_out = {"connection", "transfer-encoding", "content-length", "date", "server"}
        kept = [(k, v) for k, v in answer.getheaders() if k.lower() not in left_out]
        length = answer.headers.get("Content-Length")
        kept.append(("Content-Length", length if length is not None else str(len(body))))
        connection.close()
        return answer.status, kept, body

    @staticmethod
    def _answer(request, status, headers, body):
        try:
            request.send_response(status)
            for name, value in headers:
                request.send_header(name, value)
            if not headers:
                request.send_header("Content-Length", "0")
            request.end_headers()
            if request.command != "HEAD":
                request.wfile.write(body)
        except OSError:
            # Whoever asked has gone.
            request.close_connection = True
