"""Servers on loopback: S3, a proxy in front of it that does harm, and a web server."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("remote", "sources", "fuzzing")]

from remote_servers import (  # noqa: E402, F401 - fixtures
    bucket,
    impatient,
    proxy,
    s3_client,
    s3_server,
    web,
)
