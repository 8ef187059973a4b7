"""Files on object storage and on web servers: what an address means, and how it is read.

From top to bottom: names and what is kept secret of them, what goes wrong, waiting and trying
again, buckets (through obstore), web servers (through the standard library), files, paths, and what
the user's words stand for.

What goes wrong with storage is an `OSError`, as of local files: its `strerror` says what is wrong
and what to do. It is never a sign of damage. An address that cannot be right is a `SourceError`.
"""

import errno
import fnmatch
import functools
import hashlib
import io
import logging
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from urllib.parse import quote, unquote, urljoin, urlsplit

from crawlgauge._version import __version__
from crawlgauge.errors import SourceError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from http.client import HTTPResponse

BLOCK_BYTES: Final = 1 << 23
"""A request takes some 50 ms before its first byte comes; 8 MB take longer on most networks."""
REDIRECT_VARIABLE = "CRAWLGAUGE_REDIRECT_HOSTS"
"""Servers that others may send on to, such as ``cdn.example.org,*.example.net``."""

_log = logging.getLogger(__name__)
T = TypeVar("T")
S = TypeVar("S")

# --- Names -----------------------------------------------------------------------------------

_SCHEME = re.compile(r"(?:cdx\+)?([A-Za-z][A-Za-z0-9+.-]+)://")
"""Of two letters at least: one is a drive of Windows. Queries of servers have it behind a word."""
_NETRC = "~/.netrc; an @ that belongs to the address itself is written as %40"
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a profile with keys in ~/.aws",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS or `gcloud auth application-default login`",
    "https": _NETRC,
    "http": _NETRC,
}
"""Of the schemes that are known: where they come from."""
_SECRET = re.compile(
    # Amazon's and Google's signatures, and their older forms.
    r"x-(amz|goog)-.*|awsaccesskeyid|googleaccessid|signature|expires|policy|key-pair-id"
    # Azure's shared access signatures.
    r"|sig|s[vtepr]|spr|sip|ss|srt|sks\w*|skoid|sktid|skt|ske|skv"
    # What others call them.
    r"|.*(token|secret|passw|pwd|auth|credential|session|api_?key|jwt|hmac|signature).*",
    re.IGNORECASE,
)
_MAYBE_SECRET = re.compile(r"(?<![^?&])(key|code|hash|md5)=(?!~)([^&]+)", re.IGNORECASE)
"""What may also tell one file from another: it is replaced by a digest."""
_addresses: dict[str, str] = {}
"""Of names that are shown without what is secret: the addresses that they stand for."""


def is_remote(name: str) -> bool:
    """Tell whether a name is the address of something that is not on this machine.

    Raises
    ------
    SourceError
        If it is an address that nothing can be read from, or that holds a password.

    Examples
    --------
    >>> is_remote("gs://bucket/key"), is_remote("file:///data/a.cdx"), is_remote("a.cdx")
    (True, False, False)
    """
    scheme, rest = _scheme_of(name), name.partition("://")[2]
    place = re.split(r"[/?#]" if is_web(name) else "/", rest, maxsplit=1)[0]
    if scheme in ("", "file"):
        return False
    if scheme not in _CREDENTIALS:
        problem = "cannot be read; s3://, gs://, https://, http://, file:// and cdx+https:// can"
    elif "@" in rest and (is_web(name) or not re.fullmatch("[a-z0-9][a-z0-9._-]*", place)):
        # Passwords hold any character, so nobody can tell where one ends: nothing is shown.
        problem = "holds a user name or a password, which are not taken there; they are taken from "
        problem += _CREDENTIALS[scheme]
    elif not place:
        problem = f"names no {'server' if is_web(name) else 'bucket'}"
    else:
        return True
    raise SourceError(f"an address that begins with {scheme}:// {problem}")


def is_web(name: str) -> bool:
    """Tell whether a name is an address on the web, where there are no folders nor globs."""
    return _scheme_of(name) in ("http", "https")


def local_name(name: str) -> str:
    """Return the path that a ``file://`` address means, and any other path as it is.

    Examples
    --------
    >>> local_name("file:///data/my%20crawl.cdx"), local_name("my%20crawl.cdx")
    ('/data/my crawl.cdx', 'my%20crawl.cdx')
    """
    if _scheme_of(name) != "file":
        return name
    return unquote(re.sub(r"^localhost(?=/)", "", name.partition("://")[2]))


def conceal(name: str) -> str:
    """Return the name that an address is shown and stored by, without what is secret in it.

    What was left out stays in this process's memory, and is put back when the address is opened.

    Parameters
    ----------
    name
        An address, or a path, which is returned as it is.

    Raises
    ------
    SourceError
        As of `is_remote`.

    Examples
    --------
    >>> conceal("https://example.org/a.gz?part=1&X-Amz-Signature=0f3a")
    'https://example.org/a.gz?part=1'
    """
    if not is_remote(name):
        return name
    scheme, _, rest = name.partition("://")
    shown = address = f"{scheme.lower()}://{rest}"
    if is_web(name) and "?" in name:
        before, _, query = address.partition("?")
        kept = [pair for pair in query.split("&") if not _SECRET.fullmatch(pair.partition("=")[0])]
        shown = _MAYBE_SECRET.sub(_digest_value, f"{before}?{'&'.join(kept)}" if kept else before)
        _addresses[shown] = _addresses.get(address, address)
    return shown


def _digest_value(found: re.Match[str]) -> str:
    return f"{found[1]}=~{hashlib.sha256(found[2].encode()).hexdigest()[:8]}"


def _scheme_of(name: str) -> str:
    found = _SCHEME.match(name)
    return found[1].lower() if found else ""


def _has_magic(name: str) -> bool:
    """Tell whether a remote name is a pattern; on the web a question mark begins a query."""
    return not set(name).isdisjoint("*[" if is_web(name) else "*?[")


# --- What goes wrong -------------------------------------------------------------------------

_PASSING_STATUSES = frozenset({408, 425, 429, *range(500, 600)} - {501, 505})
_NETWORK_ERRORS = frozenset(
    {errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT}
    | {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EAGAIN}
)
"""All others are of this machine: too many open files, no memory, no access."""
_NO_CREDENTIALS = re.compile(r"Missing\w*Key|\w+Credentials|/latest/api/token|[mM]etadata[/.]")
_LIBRARIES = ("obstore", "pyo3_runtime", "http", "urllib", "ssl", "socket")


class RemoteFault(OSError):  # noqa: N818 - the name says what there is
    """Remote storage has not done what it was asked for, in spite of all retries.

    Parameters
    ----------
    message
        What is wrong, and what to try.
    name
        The object, as it may be shown.
    status
        What its server has answered with; 0 if it has not.
    """

    def __init__(self, message: str, name: str, status: int = 0) -> None:
        super().__init__(errno.EIO, message, name)
        self.status = status


@contextmanager
def as_source_error(name: object) -> Iterator[None]:
    """Turn the system's errors within the block into a `SourceError` that says what of."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror or error}") from error


class ObjectChanged(RemoteFault):
    """An object is no longer the one of which the beginning was read."""

    def __init__(self, name: str) -> None:
        message = "it was changed while it was being read; try again when nobody writes to it"
        super().__init__(message, name)


class PassingFault(RemoteFault):
    """A fault that may pass by itself; its server may have asked to be left alone for a while.

    Parameters
    ----------
    reason
        What is wrong.
    name, status
        As of `RemoteFault`.
    pause
        For how many seconds.
    is_reached
        Whether the server has answered at all.
    """

    def __init__(
        self, reason: str, name: str, status: int = 0, *, pause: float = 0, is_reached: bool = True
    ) -> None:
        said = "does not answer as it should" if is_reached else "cannot be reached"
        super().__init__(f"its server {said} ({reason})", name, status)
        self.pause, self.is_reached = pause, is_reached


def explain(error: Exception, shown: str) -> Exception:  # noqa: C901, PLR0912 - a list of cases
    """Tell from what a library has raised what to say; obstore puts all of it into texts alone.

    Nothing of these texts is passed on, since they may hold what is secret.

    Parameters
    ----------
    error
        What was raised.
    shown
        The object that it concerns, as it may be shown.
    """
    cause = found if isinstance(found := getattr(error, "reason", 0), OSError) else error
    kind, text = type(cause).__name__, str(cause)
    library = type(cause).__module__.partition(".")[0]
    if kind == "HTTPError":
        return _explain_answer(error, shown)
    if isinstance(cause, ImportError):
        message = f"to read or write {shown}, install what crawlgauge needs for that: "
        return SourceError(f"{message}pip install '.[remote]' in its checkout")
    is_explained = getattr(cause, "filename", None) == shown
    if is_explained or not (library in _LIBRARIES or isinstance(cause, OSError | ValueError)):
        return cause
    if _NO_CREDENTIALS.search(text):
        return _deny("no usable credentials were found", shown)
    if kind in ("PreconditionError", "AlreadyExistsError"):
        return _explain_status(412, text, shown)
    if status := re.search(r"status code: (\d{3})", text):
        return _explain_status(int(status[1]), text, shown)
    if "certificate" in text and "No CA" not in text:
        return RemoteFault("its server's certificate is not to be trusted", shown)
    if kind in ("InvalidPathError", "InvalidURL") or isinstance(cause, ValueError):
        message = "it cannot be asked for: there may be no spaces, nor // or .. between names"
        return RemoteFault(message, shown)
    if "configured region" in text:
        return RemoteFault("its bucket is in another region; say in which by AWS_REGION", shown)
    if kind == "gaierror" or "dns error" in text:
        return PassingFault("no such server", shown, is_reached=False)
    number = int(code[1]) if (code := re.search(r"\bcode: (\d+)", text)) else None
    if library == "builtins":
        number = getattr(cause, "errno", None)
    try:
        # Where no file can be opened, obstore speaks of something else.
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as own:
        number = own.errno
    if number and number not in _NETWORK_ERRORS:
        return OSError(number, f"{os.strerror(number)} on this machine", shown)
    if not number and library == "obstore" and "HttpError" not in text:
        return RemoteFault(f"the library that reads it has failed ({kind})", shown)
    is_reached = number in (None, errno.ECONNRESET, errno.EPIPE) and "kind: Connect" not in text
    reason = os.strerror(number) if number else "the connection broke, or nothing came for long"
    return PassingFault(reason, shown, is_reached=is_reached)


def _explain_answer(error: Any, shown: str) -> OSError:  # noqa: ANN401 - urllib's, loaded late
    from email.utils import parsedate_to_datetime

    asked = error.headers.get("Retry-After", "")
    pause = float(asked) if re.fullmatch("[0-9]+", asked) else 0.0
    with suppress(ValueError):
        pause = pause or parsedate_to_datetime(asked).timestamp() - time.time()
    with error:
        return _explain_status(error.code, error.read(4096).decode("latin-1"), shown, pause)


def _explain_status(status: int, text: str, shown: str, pause: float = 0) -> OSError:
    code = found[1] if (found := re.search(r"<Code>(\w+)</Code>", text)) else ""
    said = f"status {status} {code}".strip()
    if status in (404, 410) or code == "NoSuchBucket":
        what = "bucket" if code == "NoSuchBucket" else "object"
        return FileNotFoundError(errno.ENOENT, f"there is no such {what}", shown)
    if status in (409, 412, 416):
        return FileExistsError(errno.EEXIST, "it is not as it was", shown)
    if status in (401, 403, 407):
        return _deny(f"its server denies access ({said})", shown)
    if status in _PASSING_STATUSES or code in ("SlowDown", "RequestTimeout"):
        return PassingFault(said, shown, status, pause=pause)
    return RemoteFault(f"its server does not answer as it should ({said})", shown, status)


def _deny(problem: str, shown: str) -> PermissionError:
    scheme = _scheme_of(shown)
    message = f"{problem}; credentials are taken from {_CREDENTIALS[scheme]}"
    if prefix := {"s3": "AWS", "gs": "GOOGLE"}.get(scheme):
        message += f", and public data is read without any by {prefix}_SKIP_SIGNATURE=true"
    return PermissionError(errno.EACCES, message, shown)


# --- Waiting, and trying again ---------------------------------------------------------------

_POLL_SECONDS = 0.1
"""How long somebody who has pressed Ctrl-C may have to wait for each thread."""
_MAX_ATTEMPTS, _MAX_UNREACHED = 8, 4
"""An address that cannot be reached is more often wrong than its server is down."""
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.5, 20.0
"""All of them last most of a minute, longer than servers take to recover."""
MAX_ASKED_SECONDS = 120.0
"""Who is asked to stay away for longer is told so, and does not wait."""
_SILENCE_SECONDS = 20.0
"""A server from which nothing comes for so long is asked anew."""
_local = threading.local()


class _Closed(Exception):  # noqa: N818 - it is no error
    """Nobody wants to know any more."""


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Let whatever this thread waits for meanwhile be given up.

    Parameters
    ----------
    check
        Called often while waiting; it raises when waiting shall end, as may those before it.
    """
    before = getattr(_local, "checks", ())
    _local.checks = (*before, check)
    try:
        yield
    finally:
        _local.checks = before


def _check_interruption() -> None:
    for check in getattr(_local, "checks", ()):
        check()


def sleep(seconds: float) -> None:
    """Wait, unless interrupted."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        _check_interruption()
        time.sleep(min(left, _POLL_SECONDS))


def wait_for(job: "Future[T]") -> T:
    """Return the result of what another thread does, unless interrupted meanwhile.

    The system may hand a signal to any thread. If it is another one, a main thread that waits
    without a limit hears of it when its waiting is over.
    """
    from concurrent.futures import wait

    while not job.done():
        _check_interruption()
        wait([job], _POLL_SECONDS)
    return job.result()


def map_in_threads(
    pool: "Executor", action: Callable[[S], T], items: Iterable[S]
) -> Generator[T, None, None]:
    """Yield what an action gives for each item, in order; begin no more of them if interrupted."""
    jobs = [pool.submit(action, item) for item in items]
    try:
        yield from map(wait_for, jobs)
    finally:
        for job in jobs:
            job.cancel()


class _Pump(Generic[T]):
    """What may block, done by a thread that is left to itself when nobody waits any more.

    Neither obstore nor a socket lets itself be interrupted. (Requests by obstore's asynchronous
    face could be, but those that are under way when a process ends crash it.)
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._items = items
        self._ready: queue.Queue[T | BaseException | None] = queue.Queue(maxsize=1)
        self._is_closed = False
        try:
            # It must not keep the process from its end.
            threading.Thread(target=self._work, name="remote", daemon=True).start()
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, "no further thread can be started here") from error

    def take(self) -> T | None:
        """Return the next item, or None at the end; raise what the thread has met."""
        while True:
            with suppress(queue.Empty):
                item = self._ready.get(timeout=_POLL_SECONDS)
                if isinstance(item, BaseException):
                    raise item
                return item
            _check_interruption()

    def close(self) -> None:
        """Let the thread end."""
        self._is_closed = True

    def _work(self) -> None:
        with suppress(_Closed), interruptible(self._check):
            try:
                for item in self._items:
                    self._put(item)
                self._put(None)
            except BaseException as error:  # noqa: BLE001 - raised again by whoever takes
                self._put(error)

    def _put(self, item: T | BaseException | None) -> None:
        while True:
            self._check()
            with suppress(queue.Full):
                return self._ready.put(item, timeout=_POLL_SECONDS)

    def _check(self) -> None:
        if self._is_closed:
            raise _Closed


def with_retries(action: Callable[[], T], shown: str) -> T:
    """Do something that may be done more than once, until it succeeds or fails for good.

    Parameters
    ----------
    action
        What to do; it runs in another thread, and goes on there if this one is interrupted.
    shown
        The object that it concerns, as it may be shown.

    Raises
    ------
    OSError
        If it fails for good; it says what is wrong. `FileExistsError` stands for a condition that
        was not met.
    """
    pump: _Pump[tuple[T]] = _Pump(_insist(lambda _: iter([(action(),)]), shown))
    with closing(pump):
        return pump.take()[0]  # type: ignore[index]


def _insist(begin: Callable[[int], Iterator[Any]], shown: str, at: int = 0) -> Iterator[Any]:
    """Yield what comes, and begin anew behind it where it breaks, as long as there is hope."""
    import random

    n_failed = 0
    while True:
        try:
            for item in begin(at):
                yield item
                # Nothing is no progress.
                at, n_failed = at + len(item), 0 if len(item) else n_failed
        except Exception as error:  # noqa: BLE001 - of libraries that need not be loaded
            fault = explain(error, shown)
        else:
            return
        n_failed += 1
        if not isinstance(fault, PassingFault):
            raise fault
        if fault.pause > MAX_ASKED_SECONDS:
            message = f"its server asks to come back in {fault.pause:.0f} s; try again then"
            raise RemoteFault(message, shown, fault.status)
        if n_failed >= (_MAX_ATTEMPTS if fault.is_reached else _MAX_UNREACHED):
            raise fault
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** (n_failed - 1), _MAX_PAUSE_SECONDS)
        # By chance, so that readers who failed together do not come together.
        pause = max(pause * random.uniform(0.5, 1), fault.pause)  # noqa: S311 - no secret
        # Most faults pass soon, and are nobody's concern.
        level = logging.INFO if n_failed < _MAX_UNREACHED - 1 else logging.WARNING
        _log.log(level, "%s: %s; trying again in %.0f s", shown, fault.strerror, pause)
        sleep(pause)


# --- Buckets ---------------------------------------------------------------------------------

_AWS_SETTINGS = (
    ("access_key_id", "aws_access_key_id", {"AWS_ACCESS_KEY_ID"}),
    ("secret_access_key", "aws_secret_access_key", {"AWS_ACCESS_KEY_ID"}),
    ("session_token", "aws_session_token", {"AWS_ACCESS_KEY_ID"}),
    ("region", "region", {"AWS_REGION", "AWS_DEFAULT_REGION"}),
    ("endpoint", "endpoint_url", {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"}),
)
"""As obstore calls them, as Amazon's own tools do, and what in the environment goes before."""
_OTHER_CREDENTIALS = re.compile("AWS_(ACCESS_KEY_ID|SKIP_SIGNATURE|WEB_IDENTITY|CONTAINER_).*")
_process: dict[str, int] = {}
_count_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFacts:
    """What a server says of an object.

    Parameters
    ----------
    st_size
        Its size in bytes, named as `os.stat_result` names it; -1 where the server does not say.
    version
        What is never the same for other bytes at the same address, such as ``etag:0cc175b9``;
        None where the server states no such thing.
    mark
        What will most likely differ for other bytes: the version, a weak one, or a time.
    takes_ranges
        Whether its server sends parts of it.
    """

    st_size: int
    version: str | None = None
    mark: str | None = None
    takes_ranges: bool = True

    def is_same(self, other: "RemoteFacts") -> bool:
        """Tell whether the object is as it was, as far as its server lets one know."""
        return self.st_size == other.st_size and self.mark == other.mark


def _make_facts(size: int, tag: str | None, modified: object, ranges: bool = True) -> RemoteFacts:
    version = f"etag:{tag[1:-1]}" if tag and re.fullmatch(r'"[^"]+"', tag) else None
    mark = version or tag or (None if modified is None else str(modified))
    return RemoteFacts(st_size=size, version=version, mark=mark, takes_ranges=ranges)


def open_bucket(path: "RemotePath", *, is_upload: bool = False, endpoint: str = "") -> Any:  # noqa: ANN401 - obstore's
    """Return the bucket of an object, as obstore knows it: a request is one attempt.

    Parameters
    ----------
    path
        Anything in the bucket.
    is_upload
        Whether much will be sent: then silence means nothing, and obstore tries again by itself.
    endpoint
        Another one than the user's, with the bucket in it.

    Raises
    ------
    OSError
        If there are no credentials.
    """
    if _process.setdefault("number", os.getpid()) != os.getpid():
        message = "storage was in use before this process was forked off; start it by 'spawn'"
        raise RemoteFault(message, str(path))
    scheme, _, rest = str(path).partition("://")
    settings = _read_aws_files(str(path)) if scheme == "s3" else {}
    if endpoint:
        settings |= {"endpoint": endpoint, "virtual_hosted_style_request": "true"}
    # What obstore finds there by itself.
    found = tuple(item for item in os.environ.items() if item[0].startswith(("AWS_", "GOOGLE_")))
    silence = None if is_upload else _SILENCE_SECONDS
    return _open_bucket(scheme, rest.partition("/")[0], tuple(settings.items()), found, silence)


@functools.lru_cache(maxsize=64)
def _open_bucket(
    scheme: str, bucket: str, settings: tuple[Any, ...], _environment: object, silence: float | None
) -> Any:  # noqa: ANN401 - obstore's
    from obstore.store import GCSStore, S3Store

    client: dict[str, Any] = {"allow_http": True, "user_agent": _AGENT, "timeout": "5min"}
    if silence:
        client |= {"timeout": "1h", "read_timeout": f"{round(1000 * silence)}ms"}
    options: Any = {"client_options": client, "retry_config": {"max_retries": 0 if silence else 8}}
    return (S3Store if scheme == "s3" else GCSStore)(bucket, **dict(settings), **options)


def _read_aws_files(shown: str) -> dict[str, str]:
    """Return what the files of Amazon's own tools say, which obstore does not read."""
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    names = (("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials"))
    files = [Path(os.environ.get(variable) or f"~/.aws/{name}") for variable, name in names]
    try:
        parser.read([path.expanduser() for path in files], encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        # The parser's own message shows the line, and what is secret in it.
        message = f"{files[0]} or {files[1]} cannot be understood"
        raise PermissionError(errno.EACCES, message, shown) from None
    profile = os.environ.get("AWS_PROFILE") or "default"
    sections = [name for name in (f"profile {profile}", profile) if parser.has_section(name)]
    found = {key: text for name in sections for key, text in parser[name].items()}
    given = {name for name, text in os.environ.items() if text and text.lower() != "false"}
    settings = {
        name: found[theirs]
        for name, theirs, variables in _AWS_SETTINGS
        if theirs in found and not given & variables
    }
    has_any = "access_key_id" in settings or any(map(_OTHER_CREDENTIALS.fullmatch, given))
    if not has_any and "AWS_EC2_METADATA_DISABLED" in given:
        # Obstore would ask the machine's own service for them all the same.
        raise _deny("no usable credentials were found", shown)
    return settings


def _describe_object(path: "RemotePath") -> RemoteFacts:
    import obstore

    bucket = open_bucket(path)
    try:
        return _read_meta(obstore.head(bucket, path.key))
    except FileNotFoundError:
        # This answer also tells what is missing, the object or the bucket.
        return _read_meta(obstore.get(bucket, path.key).meta)


def _stream_object(
    path: "RemotePath", start: int, end: int | None, facts: RemoteFacts
) -> Iterator[bytes]:
    import obstore

    tag = None if facts.version is None else f'"{facts.version.removeprefix("etag:")}"'
    part: Any = {"offset": start} if end is None else (start, end)
    answer = obstore.get(open_bucket(path), path.key, options={"range": part, "if_match": tag})
    if not facts.is_same(_read_meta(answer.meta)):
        raise ObjectChanged(str(path))
    yield from map(bytes, answer.stream(min_chunk_size=1))


def _read_meta(meta: Any) -> RemoteFacts:  # noqa: ANN401 - obstore's
    return _make_facts(meta["size"], meta["e_tag"], meta["last_modified"])


# --- Web servers -----------------------------------------------------------------------------

_AGENT = f"crawlgauge/{__version__}"
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_PARTIAL, _NOT_SATISFIABLE = 206, 416


def request_web(
    method: str, address: str, shown: str, headers: Mapping[str, str] | None = None
) -> "HTTPResponse":
    """Ask a web server once, and return its answer, to be read and closed.

    Parameters
    ----------
    method, address
        What is asked for.
    shown
        Its name, for messages: the address may be secret.
    headers
        Sent along.

    Raises
    ------
    OSError
        What went wrong, as urllib says it; `with_retries` explains it.
    """
    import urllib.request as web

    opener = web.OpenerDirector()
    for handler in (web.ProxyHandler, web.HTTPHandler, web.HTTPSHandler, web.HTTPErrorProcessor):
        opener.add_handler(handler())
    opener.add_handler(web.HTTPDefaultErrorHandler())
    for _ in range(5):
        # What people write, and servers send on to, has letters that may not be sent so.
        parts = urlsplit(quote(address, safe="%/:=&?~#+!$,;'@()*[]"))
        host = unquote(parts.netloc).encode("idna").decode()
        target = parts._replace(netloc=host, fragment="").geturl()
        own = {"User-Agent": _AGENT, "Accept-Encoding": "identity", **_log_in(parts.hostname)}
        request = web.Request(target, headers={**own, **(headers or {})}, method=method)  # noqa: S310 - checked
        try:
            return opener.open(request, timeout=_SILENCE_SECONDS)  # type: ignore[no-any-return]
        except web.HTTPError as error:
            if error.code == _NOT_SATISFIABLE:
                return error  # type: ignore[return-value]
            if error.code not in (301, 302, 303, 307, 308) or "Location" not in error.headers:
                raise
            with error:
                address = urljoin(target, error.headers["Location"])
        _check_redirect(target, address, shown)
    raise RemoteFault("its server sends on again and again", shown)


def _check_redirect(source: str, target: str, shown: str) -> None:
    """See that a server does not lead to where the user has not wanted to go."""
    old, new = urlsplit(source), urlsplit(target)
    ports = {"http": 80, "https": 443}
    came, goes = ((p.scheme, p.port or ports.get(p.scheme), p.hostname) for p in (old, new))
    if goes == came or (came[1], *goes) == (80, "https", 443, old.hostname):
        return
    message = f"its server sends on to {new.scheme}://{new.hostname or ''}, "
    if new.scheme != "https" or "@" in new.netloc or not _is_public(new.hostname):
        message += "which is not followed: only https:// on public servers is. If you want it"
        raise RemoteFault(f"{message}, give that address itself", shown)
    allowed = os.environ.get(REDIRECT_VARIABLE, "").lower().split(",")
    if not any(fnmatch.fnmatchcase(new.hostname or "", name.strip()) for name in allowed):
        message += "another server; give that address itself, or allow it by"
        raise RemoteFault(f"{message} {REDIRECT_VARIABLE}={new.hostname}", shown)


def _is_public(host: str | None) -> bool:
    from ipaddress import ip_address
    from socket import getaddrinfo

    found = {str(info[4][0]).partition("%")[0] for info in getaddrinfo(host, None)}
    return all(ip_address(number).is_global for number in found)


def _log_in(host: str | None) -> dict[str, str]:
    import netrc
    from base64 import b64encode

    try:
        name, _, password = netrc.netrc(os.environ.get("NETRC")).hosts[host or ""]
    except (OSError, KeyError, netrc.NetrcParseError):
        return {}
    return {"Authorization": f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"}


def _describe_web(path: "RemotePath") -> RemoteFacts:
    """Ask for one byte: signed addresses are of no use to ask for the headers alone."""
    with request_web("GET", path.address, str(path), {"Range": "bytes=0-0"}) as answer:
        return _read_headers(answer, str(path))[0]


def _stream_web(
    path: "RemotePath", start: int, end: int | None, facts: RemoteFacts
) -> Iterator[bytes]:
    if start and not facts.takes_ranges and facts.mark is None:
        message = "the connection broke, and its server sends no parts of it nor says whether it is"
        raise RemoteFault(f"{message} still the same; save it to a file first", str(path))
    last = "" if end is None else end - 1
    part = {"Range": f"bytes={start}-{last}"} if facts.takes_ranges else {}
    with request_web("GET", path.address, str(path), part) as answer:
        now, at, stop = _read_headers(answer, str(path))
        if not facts.is_same(now) or at > start:
            raise ObjectChanged(str(path))
        if stop < 0 and not answer.chunked:
            _log.warning("%s: its server says no length: if it ends early, nobody can tell", path)
        while (end is None or at < end) and (piece := answer.read1(1 << 18)):
            yield piece[max(start - at, 0) : None if end is None else end - at]
            at += len(piece)
    if at < (stop if end is None else end):
        raise ConnectionResetError(errno.ECONNRESET, "the answer ended early")


def _read_headers(answer: "HTTPResponse", shown: str) -> tuple[RemoteFacts, int, int]:
    """Return what it is of which a part comes, and at which bytes that begins and ends."""
    size = -1 if answer.length is None else answer.length
    size = 0 if answer.status == _NOT_SATISFIABLE else size
    begin, stop = 0, size
    if is_part := answer.status == _PARTIAL:
        found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if found is None:
            raise RemoteFault("its server does not say which part of it comes", shown)
        begin, stop, size = int(found[1]), int(found[2]) + 1, int(found[3])
    tag, modified = answer.headers.get("ETag"), answer.headers.get("Last-Modified")
    return _make_facts(size, tag, modified, is_part), begin, stop


# --- Files -----------------------------------------------------------------------------------

_FIRST_BYTES = 1 << 16
"""Many look at the first bytes of a file only; who reads on gets more with each request."""


class RemoteFile(io.BufferedIOBase):
    """A remote object, opened for reading; made by `RemotePath.open`.

    Faults that pass are got over: reading goes on at the byte where it broke.

    Attributes
    ----------
    name
        The object, as it may be shown.
    facts
        What its server said of it when it was opened. If it is another by now, that is an error.
    """

    def __init__(self, path: "RemotePath", *, reads_ahead: bool) -> None:
        self.name, self.facts = str(path), path.stat()
        self._path, self._reads_ahead = path, reads_ahead
        self._size = self.facts.st_size
        self._pump: _Pump[bytes] | None = None
        self._at = self._start = self._n_next = 0
        self._last: int | None = 0
        self._data = b""

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell whether it can be read in any order."""
        return self.facts.takes_ranges

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place.

        Raises
        ------
        RemoteFault
            If its server sends no parts of files.
        """
        place = max(offset + (0, self._at, self.facts.st_size)[whence], 0)
        if place != self._at and not self.facts.takes_ranges:
            message = "it must be read in any order, but its server only sends whole files"
            raise RemoteFault(f"{message}; save it to a file first", self.name)
        self._at = place
        return place

    def read(self, size: int | None = -1) -> bytes:
        """Return so many bytes, fewer only at the end; all that are left if `size` is negative.

        Raises
        ------
        OSError
            If they cannot be fetched, or the object is no longer the same.
        """
        n_left = (1 << 62) if size is None or size < 0 else size
        pieces = []
        while n_left and (piece := self._look(n_left)):
            pieces.append(piece)
            self._at += len(piece)
            n_left -= len(piece)
        return b"".join(pieces)

    read1 = read

    def close(self) -> None:
        """Close the file, and let its connections end."""
        if self._pump is not None:
            self._pump.close()
        super().close()

    def _look(self, n_wanted: int) -> bytes:
        """Return some bytes from the present place on; none at the end."""
        offset = self._at - self._start
        if not 0 <= offset < len(self._data):
            self._data = self._load(n_wanted, is_next=offset == len(self._data))
            self._start, offset = self._at, 0
        return self._data[offset : offset + n_wanted]

    def _load(self, n_wanted: int, *, is_next: bool) -> bytes:
        if self.closed or 0 <= self._size <= self._at:
            return b""
        if self._pump is None or self._at == self._last or not is_next:
            self._begin(n_wanted, is_next=is_next)
        try:
            data = self._pump.take()  # type: ignore[union-attr]
        except FileNotFoundError:
            raise RemoteFault("it was deleted while it was being read", self.name) from None
        except FileExistsError:
            raise ObjectChanged(self.name) from None
        self._size = self._at if data is None else self._size
        return data or b""

    def _begin(self, n_wanted: int, *, is_next: bool) -> None:
        """Ask for what comes from the present place on: first for little, then for more."""
        if self._pump is not None:
            self._pump.close()
        n_more = max(2 * self._n_next, _FIRST_BYTES) if is_next else _FIRST_BYTES
        self._n_next = min(n_more, BLOCK_BYTES)
        end = self._at + max(min(n_wanted, 2 * BLOCK_BYTES), self._n_next)
        # Who only looks what a file is has stopped before anything is fetched ahead.
        is_ahead = self._reads_ahead and self._n_next == BLOCK_BYTES
        last = self._size if is_ahead else min(end, self._size)
        self._last = last if self.facts.takes_ranges else None
        pieces = _fetch(self._path, self.facts, self._at, self._last)
        self._pump = _Pump(_gather(pieces, BLOCK_BYTES))


def count_fetched(n_bytes: int = 0) -> int:
    """Return how many bytes of files this process has fetched so far, with these."""
    with _count_lock:
        _process["fetched"] = _process.get("fetched", 0) + n_bytes
        return _process["fetched"]


def _fetch(path: "RemotePath", facts: RemoteFacts, start: int, end: int | None) -> Iterator[bytes]:
    """Yield what stands between two places, however often the connection breaks."""
    stream = _stream_web if is_web(str(path)) else _stream_object

    def begin(at: int) -> Iterator[bytes]:
        return iter(()) if at == end else stream(path, at, end, facts)

    for piece in _insist(begin, str(path), start):
        count_fetched(len(piece))
        yield piece


def _gather(pieces: Iterable[bytes], n_bytes: int) -> Iterator[bytes]:
    got = bytearray()
    for piece in pieces:
        got += piece
        if len(got) >= n_bytes:
            yield bytes(got)
            got.clear()
    if got:
        yield bytes(got)


# --- Paths -----------------------------------------------------------------------------------


class RemotePath:
    """The address of an object, or of a folder of objects, with what is used of `pathlib.Path`.

    Its text is without what is secret.

    Parameters
    ----------
    address
        With a scheme, such as ``s3://bucket/folder/file``.
    facts
        Its size and version, where a listing has told.
    is_pinned
        Whether that version alone is wanted: reading any other is an error, and nobody is asked for
        it again.

    Raises
    ------
    SourceError
        If it is no address that can be read.
    """

    def __init__(
        self, address: str, facts: RemoteFacts | None = None, *, is_pinned: bool = False
    ) -> None:
        self._name, self._facts, self._is_pinned = conceal(address), facts, is_pinned

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"RemotePath({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self._name.rstrip("/") == other._name.rstrip("/")

    def __hash__(self) -> int:
        return hash(self._name.rstrip("/"))

    def __lt__(self, other: "RemotePath") -> bool:
        return self._name < other._name

    def __truediv__(self, other: str) -> "RemotePath":
        base = "/".join(self.parts[:1] if other.startswith("/") else self.parts)
        return RemotePath(other if is_remote(other) else f"{base}/{other.lstrip('/')}")

    @property
    def address(self) -> str:
        """What it is opened by; it may be secret."""
        return _addresses.get(self._name, self._name)

    @property
    def parts(self) -> tuple[str, ...]:
        """The scheme with the bucket or server, then folders, then the name."""
        scheme, _, rest = self._name.partition("://")
        path = rest.partition("?")[0] if is_web(self._name) else rest
        first, *others = path.rstrip("/").split("/")
        return (f"{scheme}://{first}", *others)

    @property
    def key(self) -> str:
        """The object's name in its bucket."""
        return "/".join(self.parts[1:])

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1] if self.key else ""

    @property
    def is_folder(self) -> bool:
        """Whether it is written as a folder of a bucket, with a slash at its end."""
        return not is_web(self._name) and (self._name.endswith("/") or not self.key)

    @property
    def parent(self) -> "RemotePath":
        """The folder that it is in."""
        return RemotePath("/".join(self.parts[:-1])) if self.key else self

    def with_suffix(self, suffix: str) -> "RemotePath":
        """Return the path with another ending."""
        return self.parent / PurePosixPath(self.name).with_suffix(suffix).name

    def stat(self) -> RemoteFacts:
        """Ask for size and version of an object.

        Raises
        ------
        OSError
            If there is none, or it cannot be looked at.
        """
        if self._is_pinned and self._facts is not None:
            return self._facts
        describe = _describe_web if is_web(self._name) else _describe_object
        return with_retries(lambda: describe(self), self._name)

    def known_facts(self) -> RemoteFacts:
        """Return what a listing has told of an object, or else ask."""
        return self._facts or self.stat()

    def exists(self) -> bool:
        """Tell whether there is an object or folder."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Tell whether there is an object."""
        with suppress(FileNotFoundError):
            return not self.is_folder and bool(self.stat())
        return False

    def is_dir(self) -> bool:
        """Tell whether there are objects below."""
        with suppress(FileNotFoundError):
            return not is_web(self._name) and self.ask("list", take=any)
        return False

    def open(self, *, reads_ahead: bool = False) -> RemoteFile:
        """Open an object for reading, in any order.

        Parameters
        ----------
        reads_ahead
            Whether it will be read forwards, so that a thread fetches blocks ahead.

        Raises
        ------
        OSError
            If it cannot be opened; `strerror` says why, and what to do.
        """
        return RemoteFile(self, reads_ahead=reads_ahead)

    def read_bytes(self) -> bytes:
        """Return all of an object."""
        with self.open(reads_ahead=True) as file:
            return file.read()

    def read_part(self, start: int, end: int) -> Generator[bytes, None, None]:
        """Yield what stands between two places, and fetch nothing else.

        Parameters
        ----------
        start, end
            The places, in bytes.

        Raises
        ------
        OSError
            If it cannot be fetched.
        """
        with closing(_Pump(_fetch(self, self.stat(), start, end))) as pump:
            while (piece := pump.take()) is not None:
                yield piece

    def glob(self, pattern: str) -> Iterator["RemotePath"]:
        """Yield the objects below that match a pattern, part by part, in order; ``**`` is any.

        Parameters
        ----------
        pattern
            Relative to this folder.
        """
        first, _, rest = pattern.partition("/")
        if not _has_magic(first):
            path = self / (first + "/" if rest else first)
            yield from path.glob(rest) if rest else filter(RemotePath.is_file, [path])
        elif first == "**" or (rest and not _has_magic(rest)):
            # To ask for one name in each of many folders takes longer than to list them all.
            n_own, parts = len(self.parts), pattern.split("/")
            yield from (path for path in self.below() if _match(path.parts[n_own:], parts))
        else:
            found = self.ask("list_with_delimiter", take=dict)
            folders = [self / f"/{name}/" for name in found["common_prefixes"]]
            for path in folders if rest else self._to_objects(found["objects"], folders):
                if fnmatch.fnmatchcase(path.name, first):
                    yield from path.glob(rest) if rest else [path]

    def below(self) -> list["RemotePath"]:
        """Return all objects below, in order, never from a listing that was taken before."""
        return self._to_objects(self.ask("list", take=lambda found: found.collect()))

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete an object; if another process does so at the same time, both have.

        Raises
        ------
        OSError
            If it cannot be deleted, or if there is none and `missing_ok` is false.
        """
        if not missing_ok:
            self.stat()
        with suppress(FileNotFoundError):
            self.ask("delete")

    def ask(
        self, method: str, *words: object, take: Callable[[Any], Any] = bool, **options: object
    ) -> Any:  # noqa: ANN401 - whatever obstore answers
        """Have obstore do something with this object, or with what is below.

        Parameters
        ----------
        method
            Its function.
        *words, **options
            What it takes beside the bucket and the object's name.
        take
            Applied to the answer where that may still fail.

        Raises
        ------
        OSError
            What went wrong, after retries.
        """

        def ask() -> Any:  # noqa: ANN401 - as above
            import obstore

            if is_web(self._name):
                message = "files on web servers are only read: they are neither listed nor deleted"
                raise RemoteFault(f"{message}; name each, or a list as @list.txt", self._name)
            bucket = open_bucket(self, is_upload=method == "put" and "chunk_size" in options)
            return take(getattr(obstore, method)(bucket, self.key, *words, **options))

        return with_retries(ask, self._name)

    def _to_objects(
        self, found: Iterable[Any], folders: Iterable["RemotePath"] = ()
    ) -> list["RemotePath"]:
        paths = sorted(RemotePath(f"{self.parts[0]}/{x['path']}", _read_meta(x)) for x in found)
        # Some programs mark folders by empty objects, of which obstore cuts the slash off.
        above = {path.parts[:n] for path in paths for n in range(len(path.parts))}
        above |= {path.parts for path in (self, *folders)}
        return [
            p for p in paths if p.known_facts().st_size or (p.parts not in above and p.is_file())
        ]


AnyPath = Path | RemotePath


def to_path(name: str) -> AnyPath:
    """Return the path that a name means, on this machine or not.

    Parameters
    ----------
    name
        A path, a ``file://`` address or a remote one.

    Raises
    ------
    SourceError
        If it is an address that cannot be read.
    """
    return RemotePath(name) if is_remote(name) else Path(local_name(name))


def _match(parts: tuple[str, ...], patterns: list[str]) -> bool:
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        return _match(parts, patterns[1:]) or _match(parts[1:], patterns)
    return fnmatch.fnmatchcase(parts[0], patterns[0]) and _match(parts[1:], patterns[1:])


# --- What the user's words stand for ---------------------------------------------------------

_MAX_REQUESTS = 16
"""At once: a list may name thousands of objects, and each answer takes some 50 ms."""


def expand_remote(paths: Iterable[RemotePath]) -> list[list[RemotePath]]:
    """Return the objects that each of the paths stands for, with their sizes.

    Parameters
    ----------
    paths
        Objects, folders (all objects below, hidden ones left out) and globs.

    Raises
    ------
    SourceError
        If one stands for nothing that can be read.
    """
    from concurrent.futures import ThreadPoolExecutor

    is_over = threading.Event()

    def check() -> None:
        if is_over.is_set():
            raise _Closed

    def expand(path: RemotePath) -> list[RemotePath]:
        with interruptible(check), as_source_error(path):
            return _expand(path)

    pool = ThreadPoolExecutor(_MAX_REQUESTS, thread_name_prefix="expanding")
    try:
        # As anything else, so that it can be interrupted.
        return with_retries(lambda: list(pool.map(expand, paths)), "")
    finally:
        is_over.set()
        pool.shutdown(wait=False, cancel_futures=True)


def find_root(listing: RemotePath, word: str) -> RemotePath:
    """Return the folder that the names in a remote list start from.

    That is the list's own, or else the root of its bucket or server, as in Common Crawl's lists.

    Parameters
    ----------
    listing
        The list.
    word
        The first name in it.

    Raises
    ------
    SourceError
        If nobody can tell.
    """
    with as_source_error(listing):
        if _has_magic(word) or word.endswith("/") or (listing.parent / word).is_file():
            return listing.parent
        return listing / "/" if (listing / f"/{word}").is_file() else listing.parent


def _expand(path: RemotePath) -> list[RemotePath]:
    first, *others = path.parts
    n_fixed = next((n for n, part in enumerate(others) if _has_magic(part)), len(others))
    base, pattern = RemotePath("/".join([first, *others[:n_fixed], ""])), "/".join(others[n_fixed:])
    if _has_magic(first) and not is_web(first):
        raise SourceError(f"{path}: the bucket must be named; only what is in it can be a pattern")
    if not pattern and not path.is_folder:
        try:
            return [RemotePath(path.address, path.stat())]
        except FileNotFoundError:
            if not path.is_dir():
                raise
    n_own, found = len(base.parts), base.glob(pattern) if pattern else path.below()
    shown = [file for file in found if not any(part[:1] == "." for part in file.parts[n_own:])]
    if not shown and pattern and path.is_file():
        return [path]
    if not shown:
        what = f"no object matches {path}" if pattern else f"the folder {path} holds no objects"
        raise SourceError(what)
    return shown
