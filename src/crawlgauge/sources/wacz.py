"""WACZ: a ZIP file of WARC files and their index, read in place."""

import errno
import hashlib
import json
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from crawlgauge.damage import Damage
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import printable
from crawlgauge.sources.decompress import Broken, Feed, Stream, check_expansion, inflate
from crawlgauge.sources.what_counts import DEFAULT_MAX_EXPANSION, Settings

if TYPE_CHECKING:
    from crawlgauge.sources.remote import AnyPath

__all__ = ["looks_like_wacz", "open_wacz"]

_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""Of a ZIP file with and without members."""
_HEADER_BYTES = 30
_ENCRYPTED = 1
_CHUNK_BYTES = 1 << 17

_DIRECTORY_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    EOFError,
    ValueError,
    OverflowError,
    struct.error,
)
"""What `zipfile` raises where the bytes of a directory make no sense: of versions that there are
not, names that are no text, places that are no numbers."""

_PACKAGE = "datapackage.json"
_MAX_PACKAGE_BYTES = 1 << 22
"""It has a few lines for each file, of which there are hundreds at most. A document may take twenty
times its size in memory."""
_FOLDERS = ("indexes/", "archive/")
_INDEX = re.compile(r"indexes/.+\.cdxj?(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_WARC = re.compile(r"archive/.+\.warc(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_ALGORITHMS = frozenset({"md5", "sha1", "sha224", "sha256", "sha384", "sha512"})

_log = logging.getLogger(__name__)


def looks_like_wacz(beginning: bytes) -> bool:
    """Tell whether an input that begins with these bytes is a ZIP file, as WACZ files are."""
    return beginning.startswith(_MAGICS)


def open_wacz(stream: Stream, settings: Settings) -> Iterator[Stream]:
    """Yield the files of a WACZ in which its captures are: its indexes, or else its WARC files.

    Where texts of pages are wanted, its WARC files come before its indexes. Nothing is extracted.
    Sizes and checksums of what is read are compared with the ZIP file's directory and with
    datapackage.json; whether a signature is valid does not matter here.

    Parameters
    ----------
    stream
        The WACZ, which must be a file that can be read in any order.
    settings
        What is wanted of its captures.

    Raises
    ------
    SourceError
        If it is another ZIP file, holds no captures, or no honest program has made it so.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    path = _find_file(stream)
    members = _list_members(stream, path)
    if members is None:
        return
    chosen = _choose(members, stream.name, needs_bodies=settings.keeps_texts)
    resources = _read_resources(stream, path, members)
    _compare(stream, members, resources)
    for info in chosen:
        name = _name_member(stream, info.filename)
        read = partial(
            _read_member, path, info, settings.max_expansion, resources.get(info.filename)
        )
        with closing(read()) as pieces:
            begins_well = _begins_well(stream, name, pieces)
        if begins_well:
            yield Stream(
                name,
                open_file=partial(_open_member, read),
                max_expansion=settings.max_expansion,
                keep_damaged=settings.keep_damaged,
            )


def _find_file(stream: Stream) -> "AnyPath":
    if stream.path is None or not stream.path.is_file():
        raise SourceError(
            f"{stream.name} is a ZIP file, which must be read from its end; save it to a file first"
        )
    with _open(stream.path) as file:
        if not looks_like_wacz(file.read(4)):
            raise SourceError(
                f"{stream.name} is compressed as a whole, but a ZIP file must be read from its "
                "end; decompress it first"
            )
    stream.read_in_place()
    return stream.path


def _open(path: "AnyPath") -> BinaryIO:
    return path.open("rb") if isinstance(path, Path) else cast("BinaryIO", path.open())


# ------------------------------------------------------------------------- the ZIP file's directory


def _list_members(stream: Stream, path: "AnyPath") -> dict[str, zipfile.ZipInfo] | None:
    """Return the members by name, or None if the directory is lost."""
    try:
        with _open(path) as opened, zipfile.ZipFile(opened) as file:
            infos = file.infolist()
    except _DIRECTORY_ERRORS as error:
        cause = error.__context__
        if isinstance(cause, OSError) and cause.errno != errno.EINVAL:
            # zipfile takes whatever goes wrong for a sign that there is no directory.
            raise cause from None
        stream.report(
            Damage(
                file=stream.name,
                byte=None,
                reason="the directory at its end, without which a ZIP file cannot be read, is "
                f"missing or wrong ({error})",
                lost="all of it",
            )
        )
        return None
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        if info.filename in members:
            raise SourceError(
                f"{stream.name} holds two files called {info.filename!r}; nobody can tell which "
                "counts. Pack it anew"
            )
        parts = re.split(r"[/\\]", info.filename)
        if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", info.filename):
            raise SourceError(
                f"{stream.name} holds a file called {info.filename!r}, which leads out of the ZIP "
                "file as in no WACZ; do not trust it"
            )
        members[info.filename] = info
    in_order = sorted(infos, key=lambda info: info.header_offset)
    for info, following in pairwise(in_order):
        if info.header_offset + _HEADER_BYTES + info.compress_size > following.header_offset:
            raise SourceError(
                f"{stream.name}: its files {info.filename!r} and {following.filename!r} lie over "
                "each other, as in no WACZ; do not trust it"
            )
    return members


def _choose(
    members: Mapping[str, zipfile.ZipInfo], source: str, *, needs_bodies: bool
) -> list[zipfile.ZipInfo]:
    if _PACKAGE not in members and not any(name.startswith(_FOLDERS) for name in members):
        raise SourceError(
            f"{source} is a ZIP file, but no WACZ: it has no archive/, indexes/ or {_PACKAGE}; "
            "unpack it and name the files that were in it"
        )
    filled = [info for info in members.values() if info.file_size]
    indexes = [info for info in filled if _INDEX.fullmatch(info.filename)]
    archives = [info for info in filled if _WARC.fullmatch(info.filename)]
    chosen = archives or indexes if needs_bodies else indexes or archives
    if not chosen:
        raise SourceError(
            f"{source} is a WACZ without captures: it has no indexes/*.cdx, *.cdxj or "
            "archive/*.warc files that are not empty"
        )
    for info in chosen:
        if info.flag_bits & _ENCRYPTED:
            name = printable(info.filename)
            raise SourceError(f"{source}: {name} in it is encrypted; decrypt it first")
    return sorted(chosen, key=lambda info: info.filename)


def _name_member(stream: Stream, name: str) -> str:
    return f"{stream.name}!/{printable(name)}"


# --------------------------------------------------------------------------------- datapackage.json


class _Resource(NamedTuple):
    """What datapackage.json tells of a file; None for what it does not tell in a known way."""

    n_bytes: int | None
    algorithm: str | None
    digest: str


def _read_resources(
    stream: Stream, path: "AnyPath", members: Mapping[str, zipfile.ZipInfo]
) -> dict[str, _Resource]:
    """Return what datapackage.json lists, by name; nothing if there is none."""
    info = members.get(_PACKAGE)
    if info is None:
        _log.warning("%s has no %s; its files cannot be compared with it", stream.name, _PACKAGE)
        return {}
    try:
        if info.file_size > _MAX_PACKAGE_BYTES:
            raise ValueError(f"it has {info.file_size:,} bytes")  # noqa: TRY301 - one report for all
        return _parse_package(b"".join(_read_member(path, info, DEFAULT_MAX_EXPANSION, None)))
    except (Broken, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        stream.report(
            Damage(
                file=f"{stream.name}!/{_PACKAGE}",
                byte=None,
                reason=f"it cannot be understood ({reason})",
                lost="the sizes and checksums of the WACZ's files",
            )
        )
        return {}


def _parse_package(text: bytes) -> dict[str, _Resource]:
    """Return the files that a datapackage.json lists; `ValueError` if it is none.

    Versions 1.0 of WACZ state size and checksum as ``stats`` and ``hashing``, later ones as
    ``bytes`` and ``hash``.
    """
    document = json.loads(text)
    entries = document.get("resources", []) if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it is no data package")  # noqa: TRY004 - the document's, not the caller's
    return {
        entry["path"]: _read_entry(entry)
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("path"), str)
    }


def _read_entry(entry: Mapping[str, Any]) -> _Resource:
    stats = entry.get("stats")
    stats = stats if isinstance(stats, dict) else {}
    n_bytes = entry.get("bytes", stats.get("bytes"))
    algorithm, digest = entry.get("hashing", "sha256"), stats.get("hash")
    if isinstance(entry.get("hash"), str):
        before, _, digest = entry["hash"].rpartition(":")
        algorithm = before or algorithm
    algorithm, digest = str(algorithm).lower().replace("-", ""), str(digest).lower()
    is_known = algorithm in _ALGORITHMS and len(digest) == 2 * hashlib.new(algorithm).digest_size
    n_bytes = n_bytes if isinstance(n_bytes, int) else None
    return _Resource(n_bytes, algorithm if is_known else None, digest)


def _compare(
    stream: Stream, members: Mapping[str, zipfile.ZipInfo], resources: Mapping[str, _Resource]
) -> None:
    """Report indexes and WARC files that are missing or have another size than they should."""
    for path, resource in resources.items():
        if not path.startswith(_FOLDERS):
            continue
        info = members.get(path)
        if info is None:
            reason, lost = f"{_PACKAGE} lists it, but it is missing", "all of it"
        elif resource.n_bytes not in (None, info.file_size):
            reason = f"it has {info.file_size:,} bytes, and {_PACKAGE} says {resource.n_bytes:,}"
            lost = "what has been cut off or replaced"
        else:
            continue
        name = _name_member(stream, path)
        stream.report(Damage(file=name, byte=None, reason=reason, lost=lost))


# --------------------------------------------------------------------------------- one file in it


class _Member:
    """A file in the ZIP file, as a file that is read once, in pieces as they come."""

    def __init__(self, pieces: Generator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _n_bytes: int) -> bytes:
        return next(self._pieces, b"")

    def close(self) -> None:
        self._pieces.close()


def _open_member(read: Callable[[], Generator[bytes]]) -> BinaryIO:
    return cast("BinaryIO", _Member(read()))


def _begins_well(stream: Stream, name: str, pieces: Iterator[bytes]) -> bool:
    """Tell whether anything of a file can be read, and report it if not."""
    try:
        next(pieces, b"")
    except Broken as error:
        stream.report(Damage(file=name, byte=0, reason=str(error), lost="all of it"))
        return False
    return True


def _read_member(
    path: "AnyPath", info: zipfile.ZipInfo, max_expansion: float, resource: _Resource | None
) -> Generator[bytes]:
    """Yield the content of a file in the ZIP file, all that can be read before a break.

    `zipfile` compares the checksum before it gives out the last bytes, and loses them if it is
    wrong. `Broken` if it does not begin where the directory says, cannot be decompressed, ends
    early, or is not what the directory and datapackage.json say.
    """
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Broken("it is compressed in a way that WACZ files are not")
    if info.flag_bits & _ENCRYPTED:
        raise Broken("it is encrypted")
    digest = hashlib.new(resource.algorithm) if resource and resource.algorithm else None
    crc = n_out = 0
    with _open(path) as file:
        for piece in _inflate(file, info, max_expansion):
            known = piece[: info.file_size - n_out]
            n_out += len(piece)
            crc = zlib.crc32(known, crc)
            if digest is not None:
                digest.update(known)
            if known:
                yield known
            if n_out > info.file_size:
                raise Broken(
                    f"its content goes on after the {info.file_size:,} bytes of which the ZIP "
                    "file's directory tells"
                )
    if n_out < info.file_size:
        raise Broken(
            f"its content ends after {n_out:,} bytes, but the ZIP file's directory tells of "
            f"{info.file_size:,}"
        )
    if crc != info.CRC:
        raise Broken("its checksum is wrong, so that what was read may be wrong too")
    if digest is not None and resource is not None and digest.hexdigest() != resource.digest:
        raise Broken(
            f"its {resource.algorithm} is not the one that datapackage.json states, so that what "
            "was read may be wrong"
        )


def _inflate(file: BinaryIO, info: zipfile.ZipInfo, max_expansion: float) -> Iterator[bytes]:
    """Yield all that a file in the ZIP file stands for."""
    header = b""
    # Of a wrong directory it comes out negative.
    if info.header_offset >= 0:
        file.seek(info.header_offset)
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGICS[0]):
        raise Broken("it does not begin where the ZIP file's directory says")
    file.seek(sum(struct.unpack("<HH", header[26:30])), 1)  # behind name and extra fields
    feed = Feed(_read_stored(file, info.compress_size))
    is_stored = info.compress_type == zipfile.ZIP_STORED
    n_out = 0
    try:
        for piece in iter(feed.take_some, b"") if is_stored else inflate(feed):
            yield piece
            n_out += len(piece)
            check_expansion(feed.place, n_out, max_expansion)
    except Broken as error:
        # Where, is counted in the compressed bytes, of which nobody else knows.
        raise Broken(str(error), is_bomb=error.is_bomb) from error


def _read_stored(file: BinaryIO, n_left: int) -> Iterator[bytes]:
    """Yield what is stored in the ZIP file."""
    while n_left:
        data = file.read(min(_CHUNK_BYTES, n_left))
        if not data:
            raise Broken("the ZIP file ends within it")
        n_left -= len(data)
        yield data
