"""Read one member of a ZIP file in place, giving out all that can be read before a break."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO

from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.sources.expansion import check_expansion
from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.gzip_member import inflate
from crawlgauge.sources.member_decompressor import WrongData

__all__ = ["Checksum", "ZipMember"]

_HEADER_BYTES = 30
_HEADER_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1
_CHUNK_BYTES = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """What a member's bytes should hash to.

    Parameters
    ----------
    algorithm
        As `hashlib` calls it.
    digest
        In hexadecimal digits.
    """

    algorithm: str
    digest: str


class ZipMember:
    """A member of a ZIP file, as a file that is read once from its beginning.

    `zipfile` compares the checksum before it gives out the last bytes, and loses them if it is
    wrong.

    Parameters
    ----------
    path
        The ZIP file.
    info
        The member, as the ZIP file's directory describes it.
    max_expansion
        How many times its compressed size the member may have.
    checksum
        What its bytes should hash to, if that is known.

    Raises
    ------
    BrokenStream
        If it does not begin where the directory says, or cannot be decompressed.
    """

    def __init__(
        self,
        path: AnyPath,
        info: zipfile.ZipInfo,
        *,
        max_expansion: float,
        checksum: Checksum | None = None,
    ) -> None:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BrokenStream("it is compressed in a way that WACZ files are not")
        if info.flag_bits & _ENCRYPTED:
            raise BrokenStream("it is encrypted")
        self._info = info
        self._max_expansion = max_expansion
        self._checksum = checksum
        self._hash = None if checksum is None else hashlib.new(checksum.algorithm)
        self._n_left = info.compress_size
        self._n_out = self._crc = 0
        self._file = _open_content(path, info)
        is_deflated = info.compress_type == zipfile.ZIP_DEFLATED
        self._pieces = inflate(Feed(self._chunks())) if is_deflated else self._chunks()
        self._piece, self._at = b"", 0

    def read(self, n_bytes: int) -> bytes:
        """Return at most so many bytes, and none at the end.

        Raises
        ------
        BrokenStream
            If the member ends early, or is not what the directory and the checksum say.
        """
        n_left = self._info.file_size - self._n_out
        data = self._take(min(n_bytes, n_left)) if n_left else b""
        self._n_out += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._hash is not None:
            self._hash.update(data)
        if not data:
            self._check_whole()
        n_in = self._info.compress_size - self._n_left
        check_expansion(n_in, self._n_out, self._max_expansion)
        return data

    def close(self) -> None:
        """Close the ZIP file."""
        self._file.close()

    def _chunks(self) -> Iterator[bytes]:
        """Yield what is stored in the ZIP file."""
        while self._n_left:
            data = self._file.read(min(_CHUNK_BYTES, self._n_left))
            if not data:
                raise BrokenStream("the ZIP file ends within it")
            self._n_left -= len(data)
            yield data

    def _take(self, n_bytes: int) -> bytes:
        """Return at most so many bytes of the content, and none at its end."""
        if self._at == len(self._piece):
            try:
                self._piece, self._at = next(self._pieces, b""), 0
            except WrongData as error:
                # Where, is counted in the compressed bytes, of which nobody else knows.
                raise BrokenStream(str(error)) from error
        data = self._piece[self._at : self._at + n_bytes]
        self._at += len(data)
        return data

    def _check_whole(self) -> None:
        n_bytes = self._info.file_size
        if self._n_out < n_bytes:
            raise BrokenStream(
                f"its content ends after {self._n_out:,} bytes, but the ZIP file's directory "
                f"tells of {n_bytes:,}"
            )
        if self._take(1):
            raise BrokenStream(
                f"its content goes on after the {n_bytes:,} bytes of which the ZIP file's "
                "directory tells"
            )
        if self._crc != self._info.CRC:
            raise BrokenStream("its checksum is wrong, so that what was read may be wrong too")
        if (
            self._hash is not None
            and self._checksum is not None
            and self._hash.hexdigest() != self._checksum.digest
        ):
            raise BrokenStream(
                f"its {self._checksum.algorithm} is not the one that datapackage.json states, so "
                "that what was read may be wrong"
            )


def _open_content(path: AnyPath, info: zipfile.ZipInfo) -> BinaryIO:
    """Return the ZIP file, open where the content of a member begins."""
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        header = b""
        # Of a wrong directory it comes out negative.
        if info.header_offset >= 0:
            file.seek(info.header_offset)
            header = file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES or not header.startswith(_HEADER_MAGIC):
            raise BrokenStream("it does not begin where the ZIP file's directory says")
        n_name = int.from_bytes(header[26:28], "little")
        n_extra = int.from_bytes(header[28:30], "little")
        file.seek(n_name + n_extra, 1)
        stack.pop_all()
        return file
