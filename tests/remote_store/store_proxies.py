"""Proxies before the server of a store: what is sent through them, and listings that lag."""

import io

from faulty_proxy import FaultyProxy


class StoreProxy(FaultyProxy):
    """Takes what is sent in any case, also where it then answers with a fault."""

    def __init__(self, url) -> None:
        super().__init__("127.0.0.1", int(url.rpartition(":")[2]))

    def handle(self, request):
        stream = request.rfile
        n_bytes = int(request.headers.get("Content-Length") or 0)
        request.rfile = io.BytesIO(stream.read(n_bytes))
        try:
            super().handle(request)
        finally:
            request.rfile = stream


class LaggingProxy(StoreProxy):
    """Shows listings as they were when they were first asked for, as long as it is late."""

    def __init__(self, url) -> None:
        super().__init__(url)
        self.is_late = False
        self._seen = {}

    def _pass_on(self, request):
        answer = super()._pass_on(request)
        if request.command == "GET" and "list-type" in request.path:
            seen = self._seen.setdefault(request.path, answer)
            return seen if self.is_late else answer
        return answer
