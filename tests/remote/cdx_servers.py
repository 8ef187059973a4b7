"""CDX servers on loopback: stand-ins for Wayback's, pywb's and OutbackCDX, which may misbehave."""

import gzip
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote_plus, unquote_plus, urlsplit

__all__ = ["CdxServer", "read_rows", "write_cluster"]

NAMES = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
PYWB_NAMES = ("urlkey", "timestamp", "url", "mime", "status", "digest", "length")


def read_rows(*files):
    """Return the captures of CDX files of 11 columns, as servers hold them, in order."""
    lines = [line for file in files for line in file.read_text().splitlines()]
    cells = [line.split() for line in lines if not line.startswith(" CDX")]
    return sorted([*row[:6], row[8]] for row in cells)


def write_cluster(folder, rows, block_lines=50, n_parts=5):
    """Write a cluster as Common Crawl lays it out, of key, time, URL and status of each row."""
    folder.mkdir(parents=True)
    blocks = [rows[at : at + block_lines] for at in range(0, len(rows), block_lines)]
    index, parts = [], [bytearray() for _ in range(n_parts)]
    for number, block in enumerate(blocks):
        lines = "".join(
            f'{key} {time} {{"url": "{url}", "mime": "text/html", "status": "{status}"}}\n'
            for key, time, url, status in block
        )
        at = number * n_parts // len(blocks)
        packed = gzip.compress(lines.encode(), 6, mtime=0)
        name = f"cdx-{at:05d}.gz"
        index.append(
            f"{block[0][0]} {block[0][1]}\t{name}\t{len(parts[at])}\t{len(packed)}\t{number + 1}\n"
        )
        parts[at] += packed
    for at, part in enumerate(parts):
        (folder / f"cdx-{at:05d}.gz").write_bytes(part)
    (folder / "cluster.idx").write_text("".join(index))
    return folder


class CdxServer:
    """Answers queries from rows in memory.

    Attributes
    ----------
    kind
        ``wayback``, ``wayback-without-keys``, ``pywb`` (a cluster with pages), ``pywb-plain`` or
        ``outbackcdx``.
    rows
        What it holds, in order.
    page_rows
        How many rows a page has at most.
    n_pages_said
        How many pages it says there are; None for the truth.
    rules
        Called with the number of each request and its parameters before anything else; returns
        None, or a fault: a status, a status with a number of seconds to stay away, ``drop`` (the
        connection breaks), ``cut`` (rows are missing at the end, of an answer without a length),
        ``warn`` (OutbackCDX's last line), or what it says with status 200.
    seen
        When each request came, and its parameters.
    """

    def __init__(self, kind, rows) -> None:
        self.kind, self.rows, self.page_rows = kind, rows, 20
        self.n_pages_said = None
        self.rules = lambda _number, _parameters: None
        self.seen, self.agents = [], set()
        self.others = {}
        self._lock = threading.Lock()
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

    def asked(self, name):
        """Return what was asked for by a parameter, in order."""
        return [parameters[name] for _, parameters in self.seen if name in parameters]

    def answer(self, request) -> None:
        split = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        with self._lock:
            number = len(self.seen)
            self.seen.append((time.monotonic(), query))
            self.agents.add(request.headers.get("User-Agent"))
        if split.path in self.others:
            self._send(request, 200, self.others[split.path])
            return
        fault = self.rules(number, query)
        if fault and isinstance(fault, int | tuple):
            status, *pause = fault if isinstance(fault, tuple) else (fault,)
            headers = {"Retry-After": str(pause[0])} if pause else {}
            self._send(request, status, b"Too many or too busy", headers)
        elif isinstance(fault, bytes):
            self._send(request, 200, fault)
        else:
            status, body = getattr(self, "_" + self.kind.partition("-")[0])(query, fault)
            self._send(request, status, body, fault=fault)

    def _select(self, query):
        url, kind = query["url"].removesuffix("/"), query.get("matchType", "exact")
        host, _, path = url.partition("://")[2 if "://" in url else 0].partition("/")
        prefix = ",".join(reversed(host.split(".")))
        ends = {"domain": (",", ")"), "host": (")",), "prefix": (f")/{path}",)}[kind]
        return [row for row in self.rows if row[0].startswith(tuple(prefix + e for e in ends))]

    def _wayback(self, query, _fault):
        rows = self._select(query)
        if "showNumPages" in query:
            return 200, f"{self._count(rows)}\n".encode()
        if "page" in query:
            first = int(query["page"]) * self.page_rows
            return 200, self._to_json(rows[first : first + self.page_rows], query, ())
        if "resumeKey" in query:
            # As in the servlet: decoded once by the parameters, and once more.
            key, time_ = unquote_plus(query["resumeKey"]).removesuffix("!").split(" ")
            rows = [row for row in rows if (row[0], row[1]) > (key, time_)]
        limit = min(int(query.get("limit", self.page_rows)), self.page_rows)
        page = rows[:limit]
        # Keys tell rows apart by these alone.
        while page and len(page) < len(rows) and rows[len(page)][:2] == page[-1][:2]:
            page.append(rows[len(page)])
        more = len(page) < len(rows) and query.get("showResumeKey") == "true"
        key = quote_plus(f"{page[-1][0]} {page[-1][1]}!") if more else ""
        if self.kind == "wayback-without-keys":
            key = ""
        return 200, self._to_json(page, query, ([], [key]) if key else ())

    def _to_json(self, rows, query, behind):
        assert query.get("output") == "json"
        names = query["fl"].split(",")
        places = [NAMES.index(name) for name in names]
        found = [names, *([row[at] for at in places] for row in rows)] if rows else []
        return ("[" + ",\n".join(map(json.dumps, [*found, *behind])) + "]\n").encode()

    def _pywb(self, query, _fault):
        rows = self._select(query)
        limit = int(query.get("limit", 100_000))
        names = query["fl"].split(",")
        if self.kind == "pywb-plain":
            lines = []
            for row in rows[:limit]:
                found = dict(zip(PYWB_NAMES, row, strict=True))
                kept = {name: found[name] for name in names[2:] if found[name] != "-"}
                lines.append(f"{row[0]} {row[1]} {json.dumps(kept)}\n")
            return 200, "".join(lines).encode()
        n_pages = -(-len(rows) // self.page_rows)
        if "showNumPages" in query:
            said = self._count(rows)
            return 200, json.dumps({"pages": said, "pageSize": 1, "blocks": said}).encode()
        number = int(query.get("page", 0))
        if number >= n_pages:
            return 400, json.dumps({"message": f"Page {number} invalid"}).encode()
        page = rows[number * self.page_rows : (number + 1) * self.page_rows]
        found = [dict(zip(PYWB_NAMES, row, strict=True)) for row in page]
        kept = ({name: row[name] for name in names if row[name] != "-"} for row in found)
        return 200, "".join(json.dumps(row) + "\n" for row in kept).encode()

    def _outbackcdx(self, query, fault):
        places = [PYWB_NAMES.index(name) for name in query["fl"].split(",")]
        rows = self._select(query)[: int(query.get("limit", 1 << 62))]
        rows = rows[: len(rows) // 2] if fault == "warn" else rows
        lines = [" ".join(row[at] for at in places) + "\n" for row in rows]
        if fault == "warn":
            lines.append("warning: output may be incomplete, error occurred processing captures\n")
        return 200, "".join(lines).encode()

    def _count(self, rows):
        n_pages = -(-len(rows) // self.page_rows)
        return n_pages if self.n_pages_said is None else self.n_pages_said

    def _send(self, request, status, body, headers=None, fault=None) -> None:
        if fault == "cut":
            body = body[: len(body) // 2]
        elif "gzip" in request.headers.get("Accept-Encoding", ""):
            body, headers = gzip.compress(body), {**(headers or {}), "Content-Encoding": "gzip"}
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        if fault == "cut":
            request.close_connection = True
        else:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if fault == "drop":
            request.close_connection = True
            body = body[: len(body) // 2]
        request.wfile.write(body)
