"""WACZ: a ZIP file of WARC files and their index, read in place."""

import errno
import hashlib
import json
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from copy import copy
from functools import partial
from itertools import chain, pairwise
from typing import Any, BinaryIO, NamedTuple

from crawlgauge.errors import SourceError, printable
from crawlgauge.sources.decompress import Broken, Stream, check_expansion
from crawlgauge.sources.what_counts import DEFAULT_MAX_EXPANSION, Settings

_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""Of a ZIP file with and without members."""
_HEADER_BYTES = 30
_CHUNK_BYTES = 1 << 17

_ZIP_ERRORS = (
    *(zipfile.BadZipFile, RuntimeError, EOFError, ValueError, OverflowError),
    *(struct.error, zlib.error),
)
"""What `zipfile` raises where bytes make no sense: of versions that there are not, names that are
no text, places that are no numbers."""

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

    Yields
    ------
    Stream
        To be read before the next one is asked for.

    Raises
    ------
    SourceError
        If it is another ZIP file, holds no captures, or no honest program has made it so.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    _, file = stream.open_in_place("a ZIP file")
    with file:
        archive = _open_archive(stream, file)
        if archive is None:
            return
        members = _check_members(archive, stream.name)
        chosen = _choose(members, stream.name, needs_bodies=settings.keeps_texts)
        resources = _read_resources(stream, archive, members)
        _compare(stream, members, resources)
        for info in chosen:
            name = _name_member(stream, info.filename)
            resource = resources.get(info.filename)
            pieces = _read_member(archive, info, settings.max_expansion, resource)
            try:
                first = next(pieces, b"")
            except Broken as error:
                stream.report_loss(str(error), "all of it", byte=0, file=name)
                continue
            yield Stream(
                name,
                open_file=partial(_Member, chain([first], pieces)),
                max_expansion=settings.max_expansion,
                keep_damaged=settings.keep_damaged,
            )


# ------------------------------------------------------------------------- the ZIP file's directory


def _open_archive(stream: Stream, file: BinaryIO) -> zipfile.ZipFile | None:
    """Return the ZIP file, or None if its directory is lost."""
    try:
        return zipfile.ZipFile(file)
    except _ZIP_ERRORS as error:
        cause = error.__context__
        if isinstance(cause, OSError) and cause.errno != errno.EINVAL:
            # zipfile takes whatever goes wrong for a sign that there is no directory.
            raise cause from None
        reason = (
            "the directory at its end, without which a ZIP file cannot be read, is missing or "
            f"wrong ({error})"
        )
        stream.report_loss(reason, "all of it")
        return None


def _check_members(archive: zipfile.ZipFile, source: str) -> dict[str, zipfile.ZipInfo]:
    """Return the files in the ZIP file by name."""
    infos = archive.infolist()
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        if info.filename in members:
            raise SourceError(
                f"{source} holds two files called {info.filename!r}; nobody can tell which "
                "counts. Pack it anew"
            )
        parts = re.split(r"[/\\]", info.filename)
        if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", info.filename):
            raise SourceError(
                f"{source} holds a file called {info.filename!r}, which leads out of the ZIP "
                "file as in no WACZ; do not trust it"
            )
        members[info.filename] = info
    in_order = sorted(infos, key=lambda info: info.header_offset)
    for info, following in pairwise(in_order):
        if info.header_offset + _HEADER_BYTES + info.compress_size > following.header_offset:
            raise SourceError(
                f"{source}: its files {info.filename!r} and {following.filename!r} lie over "
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
    stream: Stream, archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]
) -> dict[str, _Resource]:
    """Return what datapackage.json lists, by name; nothing if there is none.

    Versions 1.0 of WACZ state size and checksum as ``stats`` and ``hashing``, later ones as
    ``bytes`` and ``hash``.
    """
    info = members.get(_PACKAGE)
    if info is None:
        _log.warning("%s has no %s; its files cannot be compared with it", stream.name, _PACKAGE)
        return {}
    try:
        if info.file_size > _MAX_PACKAGE_BYTES:
            raise ValueError(f"it has {info.file_size:,} bytes")  # noqa: TRY301 - one report for all
        document = json.loads(b"".join(_read_member(archive, info, DEFAULT_MAX_EXPANSION)))
        entries = document.get("resources", []) if isinstance(document, dict) else None
        if not isinstance(entries, list):
            raise ValueError("it is no data package")  # noqa: TRY004, TRY301 - the document's
    except (Broken, ValueError, RecursionError) as error:
        cause = "it is nested too deeply" if isinstance(error, RecursionError) else error
        lost = "the sizes and checksums of the WACZ's files"
        place = _name_member(stream, _PACKAGE)
        stream.report_loss(f"it cannot be understood ({cause})", lost, file=place)
        return {}
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
        stream.report_loss(reason, lost, file=_name_member(stream, path))


# --------------------------------------------------------------------------------- one file in it


class _Member:
    """A file in the ZIP file, as a file that is read once, in pieces as they come."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _n_bytes: int) -> bytes:
        return next(self._pieces, b"")

    def close(self) -> None:
        pass


def _read_member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    max_expansion: float,
    resource: _Resource | None = None,
) -> Iterator[bytes]:
    """Yield the content of a file in the ZIP file, all that can be read before a break.

    `Broken` if it is not where the directory says, cannot be decompressed, ends early, or is not
    what the directory and datapackage.json say.
    """
    check_expansion(info.compress_size, info.file_size, max_expansion)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Broken("it is compressed in a way that WACZ files are not")
    if info.header_offset < 0:
        raise Broken("it does not begin where the ZIP file's directory says")
    digest = hashlib.new(resource.algorithm) if resource and resource.algorithm else None
    crc = n_bytes = 0
    unchecked = copy(info)
    # Where it is wrong, zipfile would lose the last bytes.
    del unchecked.CRC
    try:
        with archive.open(unchecked) as file:
            while piece := file.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]  # wrong stub
                n_bytes += len(piece)
                crc = zlib.crc32(piece, crc)
                if digest is not None:
                    digest.update(piece)
                yield piece
    except _ZIP_ERRORS as error:
        raise Broken(f"it cannot be unpacked ({error})") from error
    if n_bytes < info.file_size:
        raise Broken(f"it ends after {n_bytes:,} of {info.file_size:,} bytes")
    if crc != info.CRC:
        raise Broken("its checksum is wrong, so that what was read may be wrong too")
    if digest is not None and resource is not None and digest.hexdigest() != resource.digest:
        raise Broken(
            f"its {resource.algorithm} is not the one that {_PACKAGE} states, so that what was "
            "read may be wrong"
        )
