"""An S3-compatible server on loopback, in a process of its own that outlives its clients.

It takes a free port and says which. It is moto's server, with two things that real ones have:
requests that change something are done one at a time, and a body that was cut off by a dying
client is no body.
"""

import io
import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

CHANGES = {"PUT", "POST", "DELETE"}


class QuietHandler(WSGIRequestHandler):
    """Answers requests, keeps connections, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log(self, *_):
        """Say nothing."""


def make_application():
    """Return moto's application with a lock around whatever changes something."""
    moto = DomainDispatcherApplication(create_backend_app)
    lock = threading.Lock()

    def application(environ, start_response):
        if environ["REQUEST_METHOD"] not in CHANGES:
            return moto(environ, start_response)
        n_bytes = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(n_bytes)
        if len(body) < n_bytes:
            start_response("400 Bad Request", [("Content-Length", "0")])
            return [b""]
        environ["wsgi.input"] = io.BytesIO(body)
        with lock:
            return list(moto(environ, start_response))

    return application


if __name__ == "__main__":
    server = make_server(
        "127.0.0.1", 0, make_application(), threaded=True, request_handler=QuietHandler
    )
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    server.serve_forever()
