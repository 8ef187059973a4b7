"""Fetch parts of remote objects, and notice when an object is no longer the same."""

from typing import TYPE_CHECKING, Any, Protocol

from crawlgauge.remote.faults import ObjectChanged
from crawlgauge.remote.file_systems import file_system, run
from crawlgauge.remote.names import is_web, scheme_of, without_credentials
from crawlgauge.remote.remote_facts import RemoteFacts, facts_of_info

if TYPE_CHECKING:
    from fsspec.spec import AbstractFileSystem

__all__ = ["Fetcher", "find_fetcher"]

_PIECE_BYTES = 1 << 18


class Fetcher(Protocol):
    """Fetches parts of one object.

    Attributes
    ----------
    notices_change
        Whether `fetch` notices by itself that the object has changed.
    """

    notices_change: bool

    def describe(self) -> RemoteFacts:
        """Ask the server what it has."""

    def fetch(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        """Append the bytes from `start` to `end` as they come; fewer only at the object's end.

        What came before a fault is there when it is raised.

        Raises
        ------
        ObjectChanged
            If the object is not the one that `facts` tell of.
        """

    def close(self) -> None:
        """End all connections."""


def find_fetcher(address: str) -> Fetcher:
    """Return what fetches parts of the object at an address."""
    system = file_system(address)
    if is_web(address):
        from crawlgauge.remote.web_fetching import WebFetcher

        return WebFetcher(system, address)
    if scheme_of(address) in ("s3", "s3a"):
        return _S3Fetcher(system, address)
    return _PlainFetcher(system, address)


class _PlainFetcher:
    """Fetches from whatever fsspec knows."""

    notices_change = False

    def __init__(self, system: "AbstractFileSystem", address: str) -> None:
        self._system = system
        self._address = address

    def describe(self) -> RemoteFacts:
        info = self._info()
        if info.get("type") == "directory":
            raise IsADirectoryError(self._address)
        return facts_of_info(info)

    def fetch(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        del facts
        if self._system.async_impl:
            got = run(self._system, self._system._cat_file(self._address, start=start, end=end))  # noqa: SLF001 - fsspec's asynchronous methods
        else:
            got = self._system.cat_file(self._address, start=start, end=end)
        into += got

    def close(self) -> None:
        pass

    def _info(self) -> dict[str, Any]:
        if self._system.async_impl:
            return dict(run(self._system, self._system._info(self._address)))  # noqa: SLF001 - as above
        return dict(self._system.info(self._address))


class _S3Fetcher(_PlainFetcher):
    """Fetches from S3, which says with each answer which version it is of."""

    notices_change = True

    def fetch(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        run(self._system, self._get(start, end, facts, into))

    async def _get(self, start: int, end: int, facts: RemoteFacts, into: bytearray) -> None:
        bucket, key, version = self._system.split_path(self._address)
        request = {"Bucket": bucket, "Key": key, "Range": f"bytes={start}-{end - 1}"}
        if version is not None:
            request["VersionId"] = version
        answer = await self._system._call_s3("get_object", **request)  # noqa: SLF001 - fsspec's asynchronous methods
        async with answer["Body"] as body:
            if facts.version != facts_of_info(answer).version:
                raise ObjectChanged(without_credentials(self._address))
            while piece := await body.read(_PIECE_BYTES):
                into += piece
