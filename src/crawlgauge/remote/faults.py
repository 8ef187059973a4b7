"""What goes wrong with remote storage: what passes by itself, and what to say of what does not.

All that this room raises is an `OSError`, as of local files, whose `strerror` says what is wrong
and what to do. The libraries beneath raise errors of a dozen kinds, most of them of packages that
need not be installed; they are told by the names of their classes and by the server's status.
"""

import errno
import socket
from collections.abc import Iterator

from crawlgauge.remote.names import scheme_of, without_credentials, without_secrets

__all__ = [
    "NO_BUCKET",
    "ObjectChanged",
    "RemoteFault",
    "explain",
    "is_storage_fault",
    "is_transient",
    "is_unreachable",
    "status_of",
]

_TOO_MANY = 429
_TIMED_OUT = 408
_SERVER_ERRORS = range(500, 600)
_NOT_IMPLEMENTED = 501
_NO_SUCH = frozenset({404, 410})
_DENIED = frozenset({401, 403})

_PASSING = frozenset(
    {
        # fsspec, aiohttp
        "FSTimeoutError",
        "ClientConnectionError",
        "ClientPayloadError",
        "ServerTimeoutError",
        # botocore and what it stands on
        "HTTPClientError",
        "IncompleteReadError",
        "ResponseStreamingError",
        "ResponseParserError",
        "ProtocolError",
        "IncompleteRead",
        # requests, which gcsfs borrows errors from
        "ChunkedEncodingError",
        "Timeout",
    }
)
_UNREACHABLE = frozenset({"ClientConnectorError", "EndpointConnectionError", "ConnectTimeoutError"})
_UNTRUSTED = frozenset({"ClientConnectorCertificateError", "ClientSSLError", "SSLError"})
_NO_CREDENTIALS = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError"}
)
_PASSING_NUMBERS = frozenset(
    {errno.EBUSY, errno.ETIMEDOUT, errno.ECONNRESET, errno.EPIPE, errno.EAGAIN}
)
_PASSING_CODES = frozenset({"SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout"})
_ANONYMOUS = {
    "s3": "FSSPEC_S3_ANON=true",
    "gs": "FSSPEC_GS_TOKEN=anon",
    "gcs": "FSSPEC_GCS_TOKEN=anon",
}


NO_BUCKET = "there is no such bucket"


class RemoteFault(OSError):  # noqa: N818 - the name says what there is
    """Remote storage has not done what it was asked for, in spite of all retries.

    Parameters
    ----------
    message
        What is wrong, and what to try.
    name
        The object, as it may be shown.
    """

    def __init__(self, message: str, name: str) -> None:
        super().__init__(errno.EIO, message, name)


class ObjectChanged(RemoteFault):
    """An object is no longer the one of which the beginning was read."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "it was changed while it was being read; try again when nobody writes to it", name
        )


def is_storage_fault(error: BaseException) -> bool:
    """Tell whether an error is one of storage, and no interruption nor a mistake in a program."""
    origin = type(error).__module__.partition(".")[0]
    return isinstance(error, OSError) or origin not in ("builtins", "crawlgauge")


def is_transient(error: BaseException) -> bool:
    """Tell whether a fault may pass: connections that drop, time out, servers that are busy."""
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError | RemoteFault):
        return False
    for fault in _chain(error):
        names = _class_names(fault)
        if names & (_UNTRUSTED | _NO_CREDENTIALS):
            return False
        status, code = status_of(fault), _code(fault)
        if status is not None or code is not None:
            return _is_passing_status(status) or code in _PASSING_CODES
        if isinstance(fault, TimeoutError | ConnectionError | socket.gaierror):
            return True
        if names & (_PASSING | _UNREACHABLE):
            return True
        if isinstance(fault, OSError) and fault.errno in _PASSING_NUMBERS:
            return True
    return False


def is_unreachable(error: BaseException) -> bool:
    """Tell whether no connection was made at all: the address may well be wrong."""
    return any(
        _class_names(fault) & _UNREACHABLE
        or isinstance(fault, ConnectionRefusedError | socket.gaierror)
        for fault in _chain(error)
    )


def explain(error: BaseException, name: str) -> OSError:
    """Return what to say of a fault that does not pass.

    Parameters
    ----------
    error
        What a library has raised.
    name
        The object, or its address.
    """
    shown = without_credentials(name)
    if isinstance(error, RemoteFault):
        return error
    status = next((found for found in map(status_of, _chain(error)) if found), None)
    codes = {_code(fault) for fault in _chain(error)}
    if any(_class_names(fault) & _NO_CREDENTIALS for fault in _chain(error)):
        return PermissionError(errno.EACCES, _no_credentials(shown), shown)
    if "NoSuchBucket" in codes or "bucket does not exist" in str(error):
        return FileNotFoundError(errno.ENOENT, NO_BUCKET, shown)
    if isinstance(error, FileNotFoundError) or status in _NO_SUCH:
        return FileNotFoundError(errno.ENOENT, "there is no such object", shown)
    if isinstance(error, PermissionError) or status in _DENIED:
        return PermissionError(errno.EACCES, _denied(shown), shown)
    if any(_class_names(fault) & _UNTRUSTED for fault in _chain(error)):
        return RemoteFault("its server's certificate is not to be trusted", shown)
    if isinstance(error, IsADirectoryError):
        return IsADirectoryError(errno.EISDIR, "it is a folder", shown)
    said = without_secrets(str(error)).partition("\n")[0] or type(error).__name__
    if is_unreachable(error):
        return RemoteFault(f"its server cannot be reached ({said})", shown)
    told = f"status {status}: " if status is not None and str(status) not in said else ""
    return RemoteFault(f"its server does not answer as it should ({told}{said})", shown)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that a server has answered with, if an error carries it."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(error, "status", None) or getattr(error, "code", None)
        status = status or getattr(response, "status_code", None)
    return int(status) if isinstance(status, int) or str(status).isdecimal() else None


def _code(error: BaseException) -> str | None:
    """Return the code by which S3 names a fault."""
    response = getattr(error, "response", None)
    found = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return None if found is None else str(found)


def _is_passing_status(status: int | None) -> bool:
    return status in (_TOO_MANY, _TIMED_OUT) or (
        status in _SERVER_ERRORS and status != _NOT_IMPLEMENTED
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    fault: BaseException | None = error
    seen: set[int] = set()
    while fault is not None and id(fault) not in seen:
        seen.add(id(fault))
        yield fault
        fault = fault.__cause__


def _class_names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _no_credentials(name: str) -> str:
    scheme = scheme_of(name) or ""
    usual = {
        "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a profile in ~/.aws",
        "gs": "GOOGLE_APPLICATION_CREDENTIALS or `gcloud auth application-default login`",
    }.get(scheme, "the settings of fsspec")
    anonymous = _ANONYMOUS.get(scheme)
    public = f"; public data is read without any by {anonymous}" if anonymous else ""
    return f"no credentials were found; give them by {usual}{public}"


def _denied(name: str) -> str:
    anonymous = _ANONYMOUS.get(scheme_of(name) or "")
    public = f"; public data is read without credentials by {anonymous}" if anonymous else ""
    return f"its server denies access; check the address and the credentials{public}"
