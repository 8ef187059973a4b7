"""Fetch parts of files from web servers, of which some send whole files only."""

import re
from typing import TYPE_CHECKING, Any

from crawlgauge.remote.faults import ObjectChanged, RemoteFault
from crawlgauge.remote.file_systems import run
from crawlgauge.remote.names import without_credentials
from crawlgauge.remote.remote_facts import RemoteFacts

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from fsspec.spec import AbstractFileSystem

__all__ = ["WebFetcher"]

_PARTIAL = 206
_NOT_SATISFIABLE = 416
_SILENCE_SECONDS = 20.0
"""A server from which nothing comes for so long is asked anew."""
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_PIECE_BYTES = 1 << 18


class WebFetcher:
    """Fetches parts of one file from a web server.

    Parameters
    ----------
    system
        Holds the connections.
    address
        The file's.
    """

    notices_change = True

    def __init__(self, system: "AbstractFileSystem", address: str) -> None:
        self._system = system
        self._address = address
        self._shown = without_credentials(address)
        self._whole: ClientResponse | None = None
        self._at = 0

    def describe(self) -> RemoteFacts:
        """Ask for the first byte: signed addresses are of no use to ask for the headers alone."""
        return run(self._system, self._describe())

    def fetch(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        """Append the bytes from `start` to `end`."""
        fetch = self._fetch_part if facts.takes_ranges else self._fetch_on
        run(self._system, fetch(start, end, facts, into))

    def close(self) -> None:
        """End the connection, if one is open."""
        if self._whole is not None:
            self._system.loop.call_soon_threadsafe(self._whole.close)
            self._whole = None

    async def _describe(self) -> RemoteFacts:
        async with await self._ask("bytes=0-0") as answer:
            if answer.status == _NOT_SATISFIABLE:
                return _facts(answer, 0, takes_ranges=True)
            answer.raise_for_status()
            if answer.status == _PARTIAL:
                return _facts(answer, self._total(answer, 0), takes_ranges=True)
            return _facts(answer, _content_length(answer), takes_ranges=False)

    async def _fetch_part(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        async with await self._ask(f"bytes={start}-{end - 1}") as answer:
            if answer.status == _NOT_SATISFIABLE:
                raise ObjectChanged(self._shown)
            answer.raise_for_status()
            if answer.status != _PARTIAL:
                raise ConnectionError("the server has sent all where it was asked for a part")
            now = _facts(answer, self._total(answer, start), takes_ranges=True)
            if not facts.is_same(now):
                raise ObjectChanged(self._shown)
            async for piece in answer.content.iter_chunked(_PIECE_BYTES):
                into += piece

    async def _fetch_on(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        """Read on in the one answer that the server gives; if it breaks, in another from there."""
        if self._whole is None or self._at != start:
            await self._begin(start, facts)
        whole = self._whole
        if whole is None:
            raise ConnectionError("the connection was closed")
        try:
            while self._at < end:
                piece = await whole.content.read(min(_PIECE_BYTES, end - self._at))
                if not piece:
                    break
                into += piece
                self._at += len(piece)
        except BaseException:
            whole.close()
            self._whole = None
            raise

    async def _begin(self, start: int, facts: RemoteFacts) -> None:
        if self._whole is not None:
            self._whole.close()
            self._whole = None
        if start and facts.mark is None:
            raise RemoteFault(
                "the connection broke, and its server sends no parts of it nor says whether it is "
                "still the same; save it to a file first",
                self._shown,
            )
        answer = await self._ask(None)
        try:
            answer.raise_for_status()
            await self._pass_over(answer, start, facts)
        except BaseException:
            answer.close()
            raise
        self._whole, self._at = answer, start

    async def _pass_over(self, answer: "ClientResponse", n_bytes: int, facts: RemoteFacts) -> None:
        if not facts.is_same(_facts(answer, _content_length(answer), takes_ranges=False)):
            raise ObjectChanged(self._shown)
        while n_bytes:
            piece = await answer.content.read(min(_PIECE_BYTES, n_bytes))
            if not piece:
                raise ObjectChanged(self._shown)
            n_bytes -= len(piece)

    async def _ask(self, part: str | None) -> "ClientResponse":
        from aiohttp import ClientTimeout

        session = await self._system.set_session()
        options: dict[str, Any] = dict(self._system.kwargs)
        headers = {**options.pop("headers", {}), "Accept-Encoding": "identity"}
        if part is not None:
            headers["Range"] = part
        options.setdefault(
            "timeout",
            ClientTimeout(total=None, sock_connect=_SILENCE_SECONDS, sock_read=_SILENCE_SECONDS),
        )
        answer: ClientResponse = await session.get(
            self._system.encode_url(self._address), headers=headers, **options
        )
        return answer

    def _total(self, answer: "ClientResponse", start: int) -> int:
        found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != start:
            raise RemoteFault("its server sends other parts of it than asked for", self._shown)
        return int(found[2])


def _content_length(answer: "ClientResponse") -> int:
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else -1


def _facts(answer: "ClientResponse", n_bytes: int, *, takes_ranges: bool) -> RemoteFacts:
    tag = answer.headers.get("ETag", "").strip()
    is_strong = tag.startswith('"')
    version = "etag:" + tag.strip('"') if is_strong and tag.strip('"') else None
    return RemoteFacts(
        st_size=n_bytes,
        version=version,
        mark=version or tag or answer.headers.get("Last-Modified"),
        takes_ranges=takes_ranges,
    )
