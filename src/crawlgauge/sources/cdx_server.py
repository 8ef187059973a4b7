"""CDX servers, asked directly: one query, page by page, at a polite rate, resumed where it stopped.

Wayback's server gives pages by a key that each page ends with, those of pywb and Common Crawl by
number, others the whole answer at once; the first answer tells. Each page is kept in the user's
cache as soon as it is whole, so that a query that was interrupted asks only for the rest, whatever
store it is for. What is read afterwards is what the server said, by the readers of these formats.
"""

import errno
import fcntl
import gzip
import hashlib
import json
import logging
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from crawlgauge.errors import QUERY_PREFIX, SourceError
from crawlgauge.sources import remote
from crawlgauge.sources.captures import readable
from crawlgauge.sources.columns import name_number
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.lines import WARNING
from crawlgauge.sources.what_counts import Settings

CACHE_VARIABLE: Final = "CRAWLGAUGE_CACHE"
"""Where pages are kept until their crawl is stored; else the user's cache, ``~/.cache``."""

_COLLECTIONS = "collinfo.json"
_OURS = frozenset({"output", "fl", "fields", "showNumPages", "showResumeKey"})
"""Left out of what the user writes: these are chosen by what is needed."""
_CUTTING = frozenset({"limit", "offset", "page", "resumeKey", "closest", "fastLatest", "sort"})
"""Ask for a part of an answer."""
_FILTERING = frozenset({"filter", "collapse", "from", "to"})

_ROWS_PER_PAGE = 100_000
"""Fewer than Wayback's server gives at most."""
_NO_LIMIT = 1_000_000_000
"""Told to servers that otherwise cut an answer and do not say so, as pywb does."""
_MAX_REFUSALS = 3
_REFUSAL_SECONDS = 60.0
"""Who goes on asking is blocked for an hour, and longer each time."""
_LOCK_SECONDS = 0.05
_KEPT_SECONDS = 7 * 86_400.0
"""Pages that are older are asked for again: the archive has grown since."""
_TAIL_BYTES = 1 << 16
_HEAD_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 18
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_OK, _NOT_FOUND, _BAD_REQUEST, _TOO_MANY, _BUSY = 200, 404, 400, 429, 503

_JSON_KEY = re.compile(
    rb',\s*\[\s*\]\s*,\s*\[\s*("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))+")\s*\]\s*\]\s*\Z'
)
_TEXT_KEY = re.compile(rb"(?:\A|\n)[ \t\r]*\n(\S+)\s*\Z")
_NO_CAPTURES = re.compile(rb"no captures found|not found: ", re.IGNORECASE)
_EMPTY = re.compile(rb"\s*(?:\[\s*(?:\[[^\[\]]*\])?\s*\]\s*)?")
_ENDINGS = {b"[": b"]", b"{": b"}"}
_ROWS_OF = {"cdx", "cdxj", "jsonl", "server-json"}
_HOST_ALONE = re.compile(r"(https?://)?[^/]+/?")
_NAMES_URL = re.compile(rb'"(url|original)')

_log = logging.getLogger(__name__)


def is_query(name: str) -> bool:
    """Tell whether an input is a query of a CDX server.

    Examples
    --------
    >>> is_query("cdx+https://web.archive.org/cdx/search/cdx?url=example.org")
    True
    """
    return name.startswith(QUERY_PREFIX)


def to_query(word: str) -> str:
    """Return a query as it is shown, stored and asked, with wildcards as the kind of match.

    Parameters
    ----------
    word
        ``cdx+https://HOST/PATH?url=…``, with whatever else the server understands.

    Raises
    ------
    SourceError
        If it names no URL, or asks for a part of the answer only.

    Examples
    --------
    >>> to_query("cdx+https://example.net/cdx?url=*.example.org&output=json")
    'cdx+https://example.net/cdx?url=example.org&matchType=domain'
    """
    if not (remote.is_web(word) and remote.is_remote(word)):
        raise SourceError(
            f"{QUERY_PREFIX} stands before https:// or http://, the address of a server"
        )
    address, _, text = word.partition("?")
    pairs = [pair for pair in parse_qsl(text, keep_blank_values=True) if pair[0] not in _OURS]
    names = {name for name, _ in pairs}
    if cutting := sorted(_CUTTING & names):
        raise SourceError(
            f"{address} is asked for all that it holds, page by page; leave out {cutting[0]}="
        )
    if not {"url", "urlkey", "key"} & names:
        raise SourceError(f"{address}: the query says of no URL what the server holds; add ?url=")
    for at, (name, value) in enumerate(pairs):
        if name != "url" or "matchType" in names:
            continue
        if value.startswith("*."):
            pairs[at : at + 1] = [(name, value[2:].removesuffix("/*")), ("matchType", "domain")]
        elif value.endswith("*"):
            pairs[at : at + 1] = [(name, value[:-1]), ("matchType", "prefix")]
    return str(remote.RemotePath(f"{address}?{_encode(pairs)}"))


def list_collections(word: str, rate_per_minute: float) -> dict[str, str] | None:
    """Return the query of each collection that a server lists, by its name; None for one query.

    Parameters
    ----------
    word
        ``cdx+https://HOST/collinfo.json?url=…``, or any other query.
    rate_per_minute
        How often a server may be asked.

    Raises
    ------
    SourceError
        If the list cannot be fetched, or leads to another server.
    """
    path, _, text = word.partition("?")
    if not path.endswith(f"/{_COLLECTIONS}"):
        return None
    to_query(word)
    address = path.removeprefix(QUERY_PREFIX)

    def fetch() -> bytes:
        with (
            _take_turn(urlsplit(address).netloc, rate_per_minute),
            remote.request_web("GET", address, address) as answer,
        ):
            return answer.read()

    with remote.as_source_error(address):
        listing = remote.with_retries(fetch, address)
    try:
        apis = _read_collections(json.loads(listing))
    except (ValueError, TypeError, KeyError) as error:
        raise SourceError(
            f"{address} is no list of collections, each with id and cdx-api"
        ) from error
    found: dict[str, str] = {}
    for name, api in apis.items():
        place = urlsplit(urljoin(address, api))
        if place.hostname != urlsplit(address).hostname:
            raise SourceError(
                f"{address} says that {name} is served elsewhere, at {place.hostname}; if that is "
                f"right, ask there: {remote.conceal(f'{QUERY_PREFIX}{api}?{text}')}"
            )
        # A server behind another does not know its own scheme and port.
        own = urlsplit(address)._replace(path=place.path).geturl()
        found[name] = to_query(f"{QUERY_PREFIX}{own}?{text}")
    return found


def _read_collections(document: Any) -> dict[str, str]:  # noqa: ANN401 - whatever a server says
    """Return where each collection is asked for, as Common Crawl or as pywb lists them."""
    if isinstance(document, dict):
        names = [str(name) for kind in ("fixed", "dynamic") for name in document[kind]]
        return {name: f"{quote(name)}/cdx" for name in names}
    return {str(entry["id"]): str(entry["cdx-api"]) for entry in document}


def forget_answers(names: Iterable[str]) -> None:
    """Delete the pages of queries that are in the store now."""
    for name in filter(is_query, names):
        for folder in _find_cache().glob(f"{_digest(name)}-*"):
            _forget(folder)


def _forget_old_answers() -> None:
    for folder in _find_cache().glob("*-*/"):
        with suppress(FileNotFoundError):
            first = folder / _FIRST_PAGE
            since = (first if first.exists() else folder).stat().st_mtime
            if time.time() - since > _KEPT_SECONDS:
                _forget(folder)


def _forget(folder: Path) -> None:
    """Delete the pages of a query, unless somebody is asking it."""
    with suppress(OSError), _hold(folder / "lock", ""):
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------------------------------- answers


class _Page(NamedTuple):
    """A page that is kept: JSON, and beside it the rows, compressed."""

    n_pages: int | None
    mark: str
    """Differs for other content; empty where there is none."""
    next: dict[str, str] | None
    """What to ask for next."""

    @classmethod
    def load(cls, path: Path) -> "_Page":
        if not path.with_suffix(_ROWS).stat().st_size:
            raise FileNotFoundError(path)
        return cls(**json.loads(path.read_bytes()))


def _read_rows(path: Path) -> Iterator[bytes]:
    """Yield the rows of a page that is kept."""
    try:
        with gzip.open(path.with_suffix(_ROWS)) as rows:
            yield from iter(partial(rows.read, _CHUNK_BYTES), b"")
    except (OSError, EOFError, zlib.error) as error:
        path.unlink(missing_ok=True)
        message = "a page of it that was kept is damaged, and is fetched anew if you try again"
        raise OSError(errno.EIO, message, str(path)) from error


_FIRST_PAGE, _ROWS = "00000.page", ".rows"
_FIRST_STEP = {"showNumPages": "true"}


class _Got(NamedTuple):
    """What has come of a request: rows in a file, or a refusal."""

    head: bytes = b""
    tail: bytes = b""
    n_rows: int = 0
    mark: str = ""
    refusal: str = ""


class Answer:
    """What a server answers to a query, as a file that is read once; see `Stream`.

    Pages are asked for unless they are kept from before.

    Parameters
    ----------
    name
        The query, made by `to_query`.
    settings
        What is wanted of its captures, and how often to ask.
    report
        Called with why a page is missing, and what is lost by it; it raises if that is an error.
    on_bytes
        Called with how many bytes have come, how many pages there are so far, and how many there
        will be, if that is known.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        report: Callable[[str, str], None],
        on_bytes: Callable[[int, int, int | None], None],
    ) -> None:
        _forget_old_answers()
        self._name, self._report, self._on_bytes = name, report, on_bytes
        self._address = remote.RemotePath(name).address.removeprefix(QUERY_PREFIX)
        asked = dict(parse_qsl(urlsplit(name).query))
        self._is_filtered = bool(_FILTERING & asked.keys())
        self._rate = settings.rate_per_minute
        fields = ["timestamp", "original", "mimetype", "statuscode"]
        fields += ["urlkey"] * (settings.rule == "given") + ["digest"] * settings.keeps_digests
        group = [] if settings.group is None else [settings.group]
        self._wayback = ",".join(fields + group)
        # As pywb calls them; it passes over names that it does not know.
        names = {"original": "url", "mimetype": "mime", "statuscode": "status"}
        self._pywb = ",".join(names.get(field, field) for field in fields + group)
        # Columns that are known by their number, where they have no names.
        self._plain = ",".join(["urlkey,timestamp,url,mime,status,digest,length", *group])
        self._folder = _find_cache() / f"{_digest(name)}-{_digest(self._wayback)}"
        self._part = self._folder / "part"
        self._n_pages = self._n_kept = self._n_bytes = self._n_requests = self._n_refusals = 0
        self._n_pages_said: int | None = None
        self._lock = _hold(self._folder / "lock", name)
        self._pieces = self._read()
        self.is_complete = False
        if "matchType" not in asked and _HOST_ALONE.fullmatch(asked.get("url", "")):
            _log.warning(
                "%s asks for one page; for a whole site write url=*.example.org, and all of it "
                "between quotation marks",
                name,
            )

    def read(self, _n_bytes: int) -> bytes:
        """Return what comes next; nothing at the end."""
        return next(self._pieces, b"")

    def close(self) -> None:
        """Let others ask the same; what was fetched stays until it is forgotten."""
        self._pieces.close()
        self._part.unlink(missing_ok=True)
        self._lock.close()
        n_kept = sum(1 for _ in self._folder.glob("*.page"))
        if n_kept and not self.is_complete:
            _log.info(
                "%s: %s kept; the same command fetches only the rest",
                *(self._name, name_number(n_kept, "page")),
            )

    def summary(self, n_rows: int) -> str:
        """Say how many rows and pages there are, and what it took to get them."""
        kept = f", {self._n_kept:,} of them fetched before" if self._n_kept else ""
        requests = name_number(self._n_requests, "request")
        found = f"{name_number(n_rows, 'row')}, {name_number(self._n_pages, 'page')}"
        return f"{found}{kept}; {self._n_bytes:,} bytes in {requests}"

    def _read(self) -> Generator[bytes, None, None]:
        """Yield the rows of all pages that can be had."""
        number, page = 0, _Page(None, "", None)
        step: dict[str, str] | None = _FIRST_STEP
        while step is not None:
            path = self._folder / f"{number:05d}.page"
            try:
                page = _Page.load(path)
                self._n_kept += 1
            except (FileNotFoundError, ValueError, TypeError):
                try:
                    page = self._fetch(path, step, page)
                except OSError as error:
                    if error.errno in _NO_ROOM:
                        raise _cannot_keep(error) from error
                    raise
            number, step = number + 1, page.next
            if page.mark:
                self._n_pages, self._n_pages_said = self._n_pages + 1, page.n_pages
                self._on_bytes(0, self._n_pages, page.n_pages)
                yield from _read_rows(path)
                # Lines and arrays of the next page begin on a line of their own.
                yield b"\n"
        self.is_complete = True

    @staticmethod
    def _by_number(number: int, fields: str) -> dict[str, str]:
        return {"output": "json", "fl": fields, "limit": str(_NO_LIMIT), "page": str(number)}

    def _by_key(self, key: str = "", limit: int | None = None) -> dict[str, str]:
        step = {"output": "json", "fl": self._wayback, "limit": str(limit or _ROWS_PER_PAGE)}
        return {**step, "showResumeKey": "true", **({"resumeKey": key} if key else {})}

    def _fetch(self, path: Path, step: dict[str, str], before: _Page) -> _Page:
        """Fetch a page, and keep it."""
        if step is _FIRST_STEP:
            return self._fetch_first(path)
        if "page" in step:
            return self._fetch_numbered(path, step, before.n_pages or 0, before.mark)
        got = self._ask(step)
        key = _find_key(got.tail)
        reason = got.refusal
        if key is not None and key == step.get("resumeKey"):
            reason = reason or "its server gives the same resume key again and again"
        if reason:
            self._report_missing(path, reason, "all that follows")
            return _Page(None, "", None)
        return self._keep(path, got, None, None if key is None else self._by_key(key))

    def _fetch_first(self, path: Path) -> _Page:
        """Find out how the server gives its pages, by the first of them."""
        got = self._ask({**_FIRST_STEP, "fl": self._plain, "limit": str(_NO_LIMIT)})
        found = _read_value(got.head)
        n_pages = found.get("pages") if isinstance(found, dict) else found
        if not isinstance(n_pages, int):
            n_pages = None
            if not got.refusal:
                return self._keep(path, got, None, None)
        elif isinstance(found, dict):
            # A server as pywb's. Wayback's says a bare number, and its pages by number are those of
            # an index that lags behind; keys are of all there is.
            return self._fetch_numbered(path, self._by_number(0, self._pywb), n_pages, "")
        got = self._ask(self._by_key())
        if got.refusal:
            raise remote.RemoteFault(
                f"{got.refusal}; is the address that of a CDX server?", self._name
            )
        key = _find_key(got.tail)
        # Several pages fit into one answer where few of their rows are wanted.
        is_all = (n_pages in (None, 1) or self._is_filtered) and got.n_rows < _ROWS_PER_PAGE
        if key is not None or is_all:
            return self._keep(path, got, None, None if key is None else self._by_key(key))
        # There must be more, but it gives no keys.
        if n_pages is not None:
            return self._fetch_numbered(path, self._by_number(0, self._wayback), n_pages, "")
        got = self._ask(self._by_key(limit=_NO_LIMIT))
        if got.refusal:
            raise remote.RemoteFault(f"{got.refusal} when asked for all rows", self._name)
        return self._keep(path, got, None, None)

    def _fetch_numbered(
        self, path: Path, step: dict[str, str], n_pages: int, mark_before: str
    ) -> _Page:
        """Fetch a page by its number, of as many as there are said to be."""
        got, number = self._ask(step), int(step["page"])
        if number >= n_pages and (got.refusal or got.mark in ("", mark_before)):
            # As it should be, behind the last.
            return self._keep(path, got._replace(mark=""), n_pages, None)
        # One more than there are said to be is asked for: some servers count wrongly.
        following = self._by_number(number + 1, step["fl"])
        if got.refusal:
            reason = f"its server says that there are {n_pages:,} pages, but {got.refusal}"
            self._report_missing(path, reason, "its rows")
            return _Page(n_pages, "", following)
        if number >= n_pages:
            _log.info("%s: there are more pages than its server says", self._name)
        return self._keep(path, got, max(n_pages, number + 1), following)

    def _report_missing(self, path: Path, reason: str, lost: str) -> None:
        self._report(f"page {int(path.stem) + 1} of it is missing: {reason}", lost)

    def _keep(
        self, path: Path, got: _Got, n_pages: int | None, following: dict[str, str] | None
    ) -> _Page:
        """Put a page that is whole in its place, in one step.

        What has no rows, or is not all by its server's own words, may be otherwise the next time,
        and is read but this once.
        """
        page = _Page(n_pages, got.mark, following)
        if got.mark:
            self._part.replace(path.with_suffix(_ROWS))
            if WARNING not in got.tail:
                self._part.write_text(json.dumps(page._asdict()))
                self._part.replace(path)
        return page

    # ------------------------------------------------------------------------------- one request

    def _ask(self, step: dict[str, str]) -> _Got:
        """Ask until there is an answer that is whole; tell why there is none as a refusal."""
        joint = "&" if "?" in self._address else "?"
        address = f"{self._address}{joint}{_encode(step.items())}"
        self._n_refusals = 0
        try:
            return remote.with_retries(lambda: self._ask_once(address), self._name)
        except remote.RemoteFault as fault:
            if fault.status in (0, _TOO_MANY, _BUSY):
                raise
            return _Got(refusal=str(fault.strerror))

    def _ask_once(self, address: str) -> _Got:
        from urllib.error import HTTPError

        with _take_turn(urlsplit(address).netloc, self._rate) as put_off:
            self._n_requests += 1
            try:
                answer = remote.request_web("GET", address, self._name, {"Accept-Encoding": "gzip"})
            except HTTPError as error:
                if error.code in (_BAD_REQUEST, _NOT_FOUND):
                    with error:
                        text = error.read(_HEAD_BYTES)
                    is_empty = error.code == _NOT_FOUND and _NO_CAPTURES.search(text)
                    return _Got(refusal="" if is_empty else f"it answers with status {error.code}")
                fault = self._judge_fault(error)
                put_off(getattr(fault, "pause", 0.0))
                raise fault from None
            with answer:
                return self._save(answer)

    def _judge_fault(self, error: Exception) -> Exception:
        """Stay away for longer where a server asks for that, and give up before it blocks us."""
        fault = remote.explain(error, self._name)
        if isinstance(fault, remote.PassingFault) and fault.status in (_TOO_MANY, _BUSY):
            self._n_refusals += 1
            if self._n_refusals == _MAX_REFUSALS:
                return remote.RemoteFault(
                    f"its server refuses to answer so often (status {fault.status}); try again in "
                    "an hour, or with a lower --rate",
                    *(self._name, fault.status),
                )
            fault.pause = fault.pause or _REFUSAL_SECONDS
        return fault

    def _save(self, answer: Any) -> _Got:  # noqa: ANN401 - http.client's, loaded late
        """Write an answer to a file as it comes; without the key at its end, if it has one."""
        is_packed = answer.headers.get("Content-Encoding") == "gzip"
        unpack = zlib.decompressobj(31) if is_packed else None
        head = tail = b""
        n_lines = n_arrays = 0
        mark = hashlib.sha256()
        with self._part.open("wb") as part:
            with gzip.GzipFile("", "wb", 1, part) as file:
                while piece := answer.read1(_CHUNK_BYTES):
                    self._n_bytes += len(piece)
                    remote.count_fetched(len(piece))
                    self._on_bytes(len(piece), self._n_pages, self._n_pages_said)
                    data = piece if unpack is None else unpack.decompress(piece)
                    head += data[: _HEAD_BYTES - len(head)]
                    n_lines += data.count(b"\n")
                    n_arrays += data.count(b"],")
                    mark.update(data)
                    tail += data
                    file.write(tail[:-_TAIL_BYTES])
                    tail = tail[-_TAIL_BYTES:]
                found = _JSON_KEY.search(tail)
                file.write(tail if found is None else tail[: found.start()] + b"]")
            part.flush()
            os.fsync(part.fileno())
        start = head.lstrip()[:1]
        is_cut = unpack is not None and (not unpack.eof or bool(unpack.unused_data))
        if answer.length or is_cut or not tail.rstrip().endswith(_ENDINGS.get(start, b"")):
            raise remote.PassingFault("the answer ended early", self._name, _OK)
        is_empty = len(head) < _HEAD_BYTES and _EMPTY.fullmatch(head) is not None
        refusal = "" if is_empty else _judge_rows(head)
        is_whole = tail[-1:] in (b"\n", b"") or start == b"["
        # No line end need follow a single value, such as a count.
        if not refusal and not is_whole and _read_value(head) is None:
            raise remote.PassingFault("the answer ended early", self._name, _OK)
        kept = "" if is_empty else mark.hexdigest()[:16]
        return _Got(head, tail, max(n_lines, n_arrays), kept, refusal)


def _read_value(text: bytes) -> Any:  # noqa: ANN401 - whatever a server says
    """Return what an answer says that is a single value, or None."""
    with suppress(ValueError):
        return json.loads(text)
    return None


def _judge_rows(head: bytes) -> str:
    """Return why an answer that begins so is none, or nothing."""
    kind = find_format(head, Settings(), "").name
    if kind in _ROWS_OF and (kind != "jsonl" or _NAMES_URL.search(head)):
        return ""
    said = repr(readable(head.lstrip().split(b"\n")[0]))
    return f"it answers with {'a web page' if said[1:2] == '<' else said}, not with rows"


def _find_key(tail: bytes) -> str | None:
    if found := _JSON_KEY.search(tail):
        return str(json.loads(found[1].decode("utf-8", errors="replace")))
    # Some servers answer in lines whatever they are asked for.
    found = None if tail.rstrip().endswith(b"]") else _TEXT_KEY.search(tail)
    return None if found is None else found[1].decode("utf-8", errors="replace")


# --------------------------------------------------------------------------- the cache, and manners


def _find_cache() -> Path:
    stated = os.environ.get(CACHE_VARIABLE)
    if stated:
        return Path(stated)
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "crawlgauge"


@contextmanager
def _take_turn(host: str, rate_per_minute: float) -> Iterator[Callable[[float], None]]:
    """Wait until a server may be asked again; of all processes on this machine, one asks at a time.

    The file holds the time before which nobody may ask; what is given puts it off for longer.
    """
    with _open_kept(_find_cache() / f"{quote(host, safe='')}.turn") as file:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            remote.sleep(_LOCK_SECONDS)
        file.seek(0)
        text = file.read(32)
        seconds = 60 / rate_per_minute
        with suppress(ValueError):
            # Clocks may have been set back.
            longest = max(seconds, remote.MAX_ASKED_SECONDS)
            remote.sleep(min(float(text or 0) - time.time(), longest))
        pauses = [seconds]
        try:
            _write_time(file, seconds)
            yield pauses.append
        finally:
            # The server has seen the request by now.
            _write_time(file, max(pauses))


def _write_time(file: BinaryIO, seconds: float) -> None:
    file.truncate(0)
    file.write(f"{time.time() + seconds:.3f}".encode())
    file.flush()


def _hold(path: Path, name: str) -> BinaryIO:
    """Keep others from asking the same at the same time."""
    file = _open_kept(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        message = "another process asks the same; try again when it has ended"
        raise OSError(errno.EAGAIN, message, name) from None
    return file


def _open_kept(path: Path) -> BinaryIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+b")
    except OSError as error:
        raise _cannot_keep(error) from error


def _cannot_keep(error: OSError) -> SourceError:
    return SourceError(
        f"what a server answers cannot be kept in {_find_cache()}: "
        f"{os.strerror(error.errno or errno.EIO)}; name another folder by {CACHE_VARIABLE}"
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _encode(pairs: Iterable[tuple[str, str]]) -> str:
    return urlencode(list(pairs), safe=":/*,!()~")
