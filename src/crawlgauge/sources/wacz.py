"""WACZ: a ZIP file of WARC files and their index, read in place."""

import logging
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import BinaryIO, cast

from crawlgauge.damage import Damage
from crawlgauge.errors import SourceError
from crawlgauge.remote.faults import RemoteFault
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.feed import BrokenStream
from crawlgauge.sources.left_out import printable
from crawlgauge.sources.request import DEFAULT_MAX_EXPANSION
from crawlgauge.sources.wacz_package import Resource, parse_package
from crawlgauge.sources.zip_member import ZipMember

__all__ = ["looks_like_wacz", "open_wacz"]

_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""Of a ZIP file with and without members."""
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 1

_FIRST_BYTES = 1 << 20
"""More than a stream takes at first, which must not fail: it tells the compression by that."""

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
_MAX_PACKAGE_BYTES = 1 << 26
"""It has a few lines for each file, of which there are hundreds at most."""
_FOLDERS = ("indexes/", "archive/")
_INDEX = re.compile(r"indexes/.+\.cdxj?(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_WARC = re.compile(r"archive/.+\.warc(\.(gz|bz2|xz|zst))?", re.IGNORECASE)

_log = logging.getLogger(__name__)


def looks_like_wacz(beginning: bytes) -> bool:
    """Tell whether an input is a ZIP file, as WACZ files are.

    Parameters
    ----------
    beginning
        Its first bytes.
    """
    return beginning.startswith(_MAGICS)


def open_wacz(
    stream: ByteStream,
    *,
    max_expansion: float = DEFAULT_MAX_EXPANSION,
    keep_damaged: bool = False,
    needs_bodies: bool = False,
) -> Iterator[ByteStream]:
    """Yield the files of a WACZ in which its captures are: its indexes, or else its WARC files.

    Nothing is extracted. Sizes and checksums of what is read are compared with the ZIP file's
    directory and with datapackage.json; whether a signature is valid does not matter here.

    Parameters
    ----------
    stream
        The WACZ, which must be a file on disk.
    max_expansion, keep_damaged
        As for the streams that are yielded.
    needs_bodies
        Whether what was captured is needed: its WARC files then come before its indexes.

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
    chosen = _choose(members, stream.name, needs_bodies=needs_bodies)
    resources = _read_resources(stream, path, members)
    _compare(stream, members, resources)
    for info in chosen:
        resource = resources.get(info.filename)
        open_member = partial(
            ZipMember,
            path,
            info,
            max_expansion=max_expansion,
            checksum=None if resource is None else resource.checksum,
        )
        name = _name_member(stream, info.filename)
        if _begins_well(stream, name, open_member):
            yield ByteStream(
                name,
                open_file=cast("partial[BinaryIO]", open_member),
                max_expansion=max_expansion,
                keep_damaged=keep_damaged,
            )


def _find_file(stream: ByteStream) -> AnyPath:
    if stream.path is None or not stream.path.is_file():
        raise SourceError(
            f"{stream.name} is a ZIP file, which must be read from its end; save it to a file first"
        )
    with stream.path.open("rb") as file:
        if not looks_like_wacz(file.read(4)):
            raise SourceError(
                f"{stream.name} is compressed as a whole, but a ZIP file must be read from its "
                "end; decompress it first"
            )
    stream.read_in_place()
    return stream.path


def _list_members(stream: ByteStream, path: AnyPath) -> dict[str, zipfile.ZipInfo] | None:
    """Return the members by name, or None if the directory is lost."""
    try:
        with path.open("rb") as opened, zipfile.ZipFile(opened) as file:
            infos = file.infolist()
    except _DIRECTORY_ERRORS as error:
        if isinstance(error.__context__, RemoteFault):
            # zipfile takes whatever goes wrong for a sign that there is no directory.
            raise error.__context__ from None
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
        _refuse_path(info.filename, stream.name)
        members[info.filename] = info
    _refuse_overlaps(infos, stream.name)
    return members


def _refuse_path(name: str, source: str) -> None:
    parts = re.split(r"[/\\]", name)
    if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", name):
        raise SourceError(
            f"{source} holds a file called {name!r}, which leads out of the ZIP file as in no "
            "WACZ; do not trust it"
        )


def _refuse_overlaps(infos: list[zipfile.ZipInfo], source: str) -> None:
    in_order = sorted(infos, key=lambda info: info.header_offset)
    for info, following in pairwise(in_order):
        if info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size > following.header_offset:
            raise SourceError(
                f"{source}: its files {info.filename!r} and {following.filename!r} lie over each "
                "other, as in no WACZ; do not trust it"
            )


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


def _read_resources(
    stream: ByteStream, path: AnyPath, members: Mapping[str, zipfile.ZipInfo]
) -> dict[str, Resource]:
    """Return what datapackage.json lists, by name; nothing if there is none."""
    info = members.get(_PACKAGE)
    if info is None:
        _log.warning("%s has no %s; its files cannot be compared with it", stream.name, _PACKAGE)
        return {}
    try:
        resources = parse_package(_read_whole(path, info))
    except (BrokenStream, ValueError) as error:
        stream.report(
            Damage(
                file=f"{stream.name}!/{_PACKAGE}",
                byte=None,
                reason=f"it cannot be understood ({error})",
                lost="the sizes and checksums of the WACZ's files",
            )
        )
        return {}
    return {resource.path: resource for resource in resources}


def _read_whole(path: AnyPath, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > _MAX_PACKAGE_BYTES:
        raise ValueError(f"it has {info.file_size:,} bytes")
    with closing(ZipMember(path, info, max_expansion=DEFAULT_MAX_EXPANSION)) as member:
        return b"".join(iter(partial(member.read, info.file_size), b""))


def _compare(
    stream: ByteStream,
    members: Mapping[str, zipfile.ZipInfo],
    resources: Mapping[str, Resource],
) -> None:
    """Report indexes and WARC files that are missing or have another size than they should."""
    for resource in resources.values():
        if not resource.path.startswith(_FOLDERS):
            continue
        info = members.get(resource.path)
        if info is None:
            reason, lost = f"{_PACKAGE} lists it, but it is missing", "all of it"
        elif resource.n_bytes not in (None, info.file_size):
            reason = f"it has {info.file_size:,} bytes, and {_PACKAGE} says {resource.n_bytes:,}"
            lost = "what has been cut off or replaced"
        else:
            continue
        name = _name_member(stream, resource.path)
        stream.report(Damage(file=name, byte=None, reason=reason, lost=lost))


def _name_member(stream: ByteStream, name: str) -> str:
    return f"{stream.name}!/{printable(name)}"


def _begins_well(stream: ByteStream, name: str, open_member: partial[ZipMember]) -> bool:
    """Tell whether anything of a member can be read, and report it if not."""
    try:
        with closing(open_member()) as member:
            member.read(_FIRST_BYTES)
    except BrokenStream as error:
        stream.report(Damage(file=name, byte=0, reason=str(error), lost="all of it"))
        return False
    return True
