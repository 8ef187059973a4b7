"""Paths of remote objects, with the part of `pathlib.Path` that crawlgauge uses."""

import fnmatch
import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawlgauge.remote.faults import NO_BUCKET, RemoteFault
from crawlgauge.remote.fetching import find_fetcher
from crawlgauge.remote.file_systems import file_system, run
from crawlgauge.remote.names import conceal, is_remote, is_web, local_name, reveal
from crawlgauge.remote.remote_facts import RemoteFacts, facts_of_info
from crawlgauge.remote.remote_file import RemoteFile
from crawlgauge.remote.retrying import with_retries

__all__ = ["AnyPath", "RemotePath", "has_magic", "to_path"]

_MAGIC = frozenset("*?[")
_WEB_MAGIC = frozenset("*[")
"""In addresses on the web, a question mark begins a query."""


class RemotePath:
    """The address of an object, or of a folder of objects.

    Its text is without credentials. What goes wrong raises an `OSError` whose `strerror` says
    what it is, and what to do.

    Parameters
    ----------
    address
        With a scheme, such as ``s3://bucket/folder/file``.
    facts
        Its size and version, where a listing has told.
    """

    __slots__ = ("_facts", "_is_pinned", "_name")

    def __init__(self, address: str, facts: RemoteFacts | None = None) -> None:
        self._name = conceal(address)
        self._facts = facts
        self._is_pinned = False

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"RemotePath({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __lt__(self, other: "RemotePath") -> bool:
        return self._key < other._key

    def __truediv__(self, other: str) -> "RemotePath":
        if is_remote(other):
            return RemotePath(other)
        address = self._address.partition("?")[0] if is_web(self._name) else self._address
        if other.startswith("/"):
            scheme, _, rest = address.partition("://")
            address = f"{scheme}://{rest.partition('/')[0]}"
        return RemotePath(f"{address.rstrip('/')}/{other.lstrip('/')}")

    @property
    def _address(self) -> str:
        return reveal(self._name)

    @property
    def _key(self) -> str:
        return self._name.rstrip("/")

    @property
    def parts(self) -> tuple[str, ...]:
        """The scheme with the bucket or host, then folders, then the name."""
        scheme, _, rest = self._name.partition("://")
        if is_web(self._name):
            rest = rest.partition("?")[0]
        first, *others = [part for part in rest.split("/") if part] or [""]
        return (f"{scheme}://{first}", *others)

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1] if len(self.parts) > 1 else ""

    @property
    def is_folder(self) -> bool:
        """Whether it is written as a folder, with a slash at its end, as in listings."""
        return self._name.endswith("/")

    @property
    def suffix(self) -> str:
        """The ending of the name, with its dot."""
        return posixpath.splitext(self.name)[1]

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return posixpath.splitext(self.name)[0]

    @property
    def parent(self) -> "RemotePath":
        """The folder that it is in."""
        if len(self.parts) == 1:
            return self
        address = self._address.partition("?")[0] if is_web(self._name) else self._address
        return RemotePath(address.rstrip("/").rpartition("/")[0])

    def with_name(self, name: str) -> "RemotePath":
        """Return the path of another object in the same folder."""
        return self.parent / name

    def with_suffix(self, suffix: str) -> "RemotePath":
        """Return the path with another ending."""
        return self.with_name(self.stem + suffix)

    def pinned(self, facts: RemoteFacts) -> "RemotePath":
        """Return the path of an object of which one version alone is wanted.

        Parameters
        ----------
        facts
            That version. Reading any other is an error, and nobody is asked for it again.
        """
        path = RemotePath(self._address, facts)
        path._is_pinned = True
        return path

    def stat(self) -> RemoteFacts:
        """Ask for size and version of an object.

        Raises
        ------
        OSError
            If there is none, or it cannot be looked at.
        """
        if self._is_pinned and self._facts is not None:
            return self._facts
        fetcher = find_fetcher(self._address)
        return with_retries(fetcher.describe, self._address)

    def known_facts(self) -> RemoteFacts:
        """Return what a listing has told of an object, or else ask."""
        return self._facts or self.stat()

    def exists(self) -> bool:
        """Tell whether there is an object or folder."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Tell whether there is an object."""
        if self._name.endswith("/") and not is_web(self._name):
            return False
        try:
            self.stat()
        except (FileNotFoundError, IsADirectoryError):
            return False
        return True

    def is_dir(self) -> bool:
        """Tell whether there are objects below."""
        if is_web(self._name):
            return False
        try:
            return any(True for _ in self._list())
        except FileNotFoundError:
            return False

    def open(self, mode: str = "rb", *, reads_ahead: bool = False) -> BinaryIO:
        """Open an object for reading, in any order.

        Parameters
        ----------
        mode
            ``rb``.
        reads_ahead
            Whether it will be read from beginning to end.
        """
        if mode != "rb":
            raise ValueError(f"remote objects are opened with mode 'rb', not {mode!r}")
        facts = self._facts if self._is_pinned else None
        return cast("BinaryIO", RemoteFile(self._address, facts, reads_ahead=reads_ahead))

    def read_bytes(self) -> bytes:
        """Return all of an object."""
        with self.open("rb", reads_ahead=True) as file:
            return file.read()

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return all of an object, decoded."""
        return self.read_bytes().decode(encoding)

    def iterdir(self) -> Iterator["RemotePath"]:
        """Yield what is in a folder, in order; never from a listing that was taken before."""
        for info in sorted(self._list(), key=lambda info: str(info["name"])):
            yield self._from_info(info)

    def rglob(self, pattern: str = "*") -> Iterator["RemotePath"]:
        """Yield the objects below whose name matches, in order."""
        for path in self._find():
            if fnmatch.fnmatchcase(path.name, pattern):
                yield path

    def glob(self, pattern: str) -> Iterator["RemotePath"]:
        """Yield the objects below that match a pattern, part by part, in order; ``**`` is any.

        Parameters
        ----------
        pattern
            Relative to this folder.
        """
        first, _, rest = pattern.partition("/")
        if not rest and not has_magic(first):
            yield from filter(RemotePath.is_file, [self / first])
        elif not rest:
            for path in self._children():
                if not path.is_folder and fnmatch.fnmatchcase(path.name, first):
                    yield path
        elif not has_magic(first):
            yield from (self / (first + "/")).glob(rest)
        elif first == "**" or not has_magic(rest):
            # To ask for one name in each of many folders takes longer than to list them all.
            parts = pattern.split("/")
            n_own = len(self.parts)
            yield from (path for path in self._find() if _match(path.parts[n_own:], parts))
        else:
            for path in self._children():
                if path.is_folder and fnmatch.fnmatchcase(path.name, first):
                    yield from path.glob(rest)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete an object.

        Raises
        ------
        OSError
            If it cannot be deleted, or if there is none and `missing_ok` is false.
        """
        try:
            if not missing_ok:
                self.stat()
            with_retries(lambda: self._ask("rm_file"), self._name)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def _children(self) -> list["RemotePath"]:
        """Return what is in a folder; nothing if there is no such folder."""
        try:
            return list(self.iterdir())
        except FileNotFoundError as error:
            if error.strerror == NO_BUCKET:
                raise
            return []

    def _list(self) -> list[dict[str, Any]]:
        if is_web(self._name):
            raise _no_listing(self._name)
        found = with_retries(lambda: self._ask("ls", detail=True), self._name)
        own = self._own_name()
        return [info for info in found if str(info["name"]).strip("/") != own]

    def _find(self) -> list["RemotePath"]:
        if is_web(self._name):
            raise _no_listing(self._name)
        found = with_retries(lambda: self._ask("find", detail=True), self._name)
        own = self._own_name()
        return [
            self._from_info(info)
            for name, info in sorted(found.items())
            # Some programs mark folders by empty objects.
            if name.strip("/") != own and not name.endswith("/")
        ]

    def _own_name(self) -> str:
        stripped = file_system(self._address)._strip_protocol(self._address)  # noqa: SLF001 - fsspec's own way
        return str(stripped).strip("/")

    def _from_info(self, info: dict[str, Any]) -> "RemotePath":
        below = str(info["name"]).strip("/").removeprefix(self._own_name()).strip("/")
        if info.get("type") == "directory":
            return self / (below + "/")
        return RemotePath(reveal(str(self / below)), facts_of_info(info))

    def _ask(self, method: str, **options: object) -> Any:  # noqa: ANN401 - fsspec's answers
        system = file_system(self._address)
        system.invalidate_cache()
        if system.async_impl:
            return run(system, getattr(system, f"_{method}")(self._address, **options))
        return getattr(system, method)(self._address, **options)


AnyPath = Path | RemotePath


def to_path(name: str) -> AnyPath:
    """Return the path that a name means, on this machine or not.

    Parameters
    ----------
    name
        A path, a ``file://`` address or a remote one.
    """
    return RemotePath(name) if is_remote(name) else Path(local_name(name))


def has_magic(name: str) -> bool:
    """Tell whether a remote name is a pattern that stands for many."""
    return bool((_WEB_MAGIC if is_web(name) else _MAGIC) & set(name))


def _match(parts: tuple[str, ...], patterns: list[str]) -> bool:
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        return _match(parts, patterns[1:]) or _match(parts[1:], patterns)
    return fnmatch.fnmatchcase(parts[0], patterns[0]) and _match(parts[1:], patterns[1:])


def _no_listing(name: str) -> RemoteFault:
    return RemoteFault(
        "web servers have no folders that could be listed; name its files, or a list of them "
        "as @list.txt",
        name,
    )
