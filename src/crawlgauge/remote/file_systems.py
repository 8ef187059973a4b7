"""The file systems of fsspec that addresses are opened by, with the settings that it finds."""

import os
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.remote.interruption import POLL_SECONDS, check_interruption
from crawlgauge.remote.names import scheme_of, without_credentials

if TYPE_CHECKING:
    from fsspec.spec import AbstractFileSystem

__all__ = ["file_system", "run"]

INSTALL = "pip install 'crawlgauge[remote]'"
_WEB = frozenset({"http", "https"})
_S3 = frozenset({"s3", "s3a"})
_WITH_HOST = _WEB | _S3 | {"gs", "gcs"}
_NO = frozenset({"false", "no", "0", ""})
"""What people write into the environment, where it is all text, and any text is true."""

_MAX_ANSWER_SECONDS = 300.0
"""Libraries notice themselves when nothing comes for some seconds; this is for when they do not."""

_file_systems: dict[tuple[int, str], "AbstractFileSystem"] = {}
_lock = threading.Lock()

T = TypeVar("T")


def file_system(address: str) -> "AbstractFileSystem":
    """Return the file system of an address, one for each scheme, of all threads.

    Settings are fsspec's own: its configuration files, ``FSSPEC_S3_ENDPOINT_URL`` and its like,
    and what the libraries beneath find, such as ``AWS_PROFILE``.

    Parameters
    ----------
    address
        A remote name.

    Raises
    ------
    CrawlgaugeError
        If it names no bucket or server, nobody knows the scheme, or what reads it is not installed.
    """
    scheme = scheme_of(address) or ""
    if scheme in _WITH_HOST and not address.partition("://")[2].partition("/")[0]:
        what = "server" if scheme in _WEB else "bucket"
        raise CrawlgaugeError(f"{address} names no {what}; write {scheme}://{what}/…")
    with _lock:
        # A process that was forked from this one has no thread in which its connections live.
        key = os.getpid(), scheme
        if key not in _file_systems:
            _file_systems[key] = _make(scheme, address)
        return _file_systems[key]


def run(
    system: "AbstractFileSystem",
    coroutine: Coroutine[Any, Any, T],
    timeout_seconds: float = _MAX_ANSWER_SECONDS,
) -> T:
    """Wait for what an asynchronous file system is asked for, unless interrupted.

    Parameters
    ----------
    system
        Runs the coroutine in its own thread.
    coroutine
        What to do.
    timeout_seconds
        How long to wait at most.

    Raises
    ------
    TimeoutError
        If it takes longer.
    """
    import asyncio
    import concurrent.futures

    future = asyncio.run_coroutine_threadsafe(coroutine, system.loop)
    n_polls = max(1, round(timeout_seconds / POLL_SECONDS))
    try:
        for _ in range(n_polls):
            check_interruption()
            concurrent.futures.wait([future], timeout=POLL_SECONDS)
            if future.done():
                return future.result()
    finally:
        future.cancel()
    raise TimeoutError(f"no answer within {timeout_seconds:.0f} s")


def _make(scheme: str, address: str) -> "AbstractFileSystem":
    try:
        import fsspec
    except ImportError as error:
        raise CrawlgaugeError(
            f"{without_credentials(address)} is a remote address; to read it, install what "
            f"crawlgauge needs for that: {INSTALL}"
        ) from error
    try:
        # Its retries are not those that other users of fsspec in this process expect.
        system = fsspec.filesystem(scheme, skip_instance_cache=True, **_settings(scheme))
    except ImportError as error:
        raise CrawlgaugeError(
            f"to read {without_credentials(address)}, install what crawlgauge needs for that: "
            f"{INSTALL} ({error})"
        ) from error
    except ValueError as error:
        raise CrawlgaugeError(
            f"{without_credentials(address)}: nothing is known of addresses that begin with "
            f"{scheme}://; s3://, gs://, https:// and file:// are, and what fsspec knows"
        ) from error
    if scheme in _S3:
        # Retries are counted in one place, in which they can also be interrupted.
        system.retries = 1
    return system


def _settings(scheme: str) -> dict[str, Any]:
    """Return what is set differently from what the user's configuration of fsspec says."""
    import fsspec.config

    fsspec.config.set_conf_env(fsspec.config.conf)
    given = fsspec.config.conf.get(scheme, {})
    settings: dict[str, Any] = {"use_listings_cache": False}
    if scheme in _WEB:
        own: dict[str, Any] = {"auto_decompress": False, "trust_env": True}
        settings["client_kwargs"] = {**own, **given.get("client_kwargs", {})}
    if scheme in _S3:
        own = {"retries": {"total_max_attempts": 1, "mode": "standard"}}
        settings["config_kwargs"] = {**own, **given.get("config_kwargs", {})}
        if isinstance(anonymous := given.get("anon"), str):
            settings["anon"] = anonymous.lower() not in _NO
    return settings
