"""Read one member of a ZIP file in place, giving out all that can be read before a break."""

import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from crawlgauge.sources.feed import BrokenStream

__all__ = ["Checksum", "ZipMember"]

_HEADER_BYTES = 30
_HEADER_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1
_INPUT_BYTES = 1 << 14
"""What an error takes with it stays small so."""
_MIN_EXPANDED_BYTES = 1 << 28
"""Below this an expansion harms nobody, however large the ratio."""


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
        path: Path,
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
        self._inflater = (
            zlib.decompressobj(-zlib.MAX_WBITS)
            if info.compress_type == zipfile.ZIP_DEFLATED
            else None
        )
        self._n_left = info.compress_size
        self._n_out = self._crc = 0
        self._file = path.open("rb")
        try:
            self._pass_header()
        except BaseException:
            self._file.close()
            raise

    def read(self, n_bytes: int) -> bytes:
        """Return at most so many bytes, and none at the end.

        Raises
        ------
        BrokenStream
            If the member ends early, or is not what the directory and the checksum say.
        """
        n_left = self._info.file_size - self._n_out
        data = self._next(min(n_bytes, n_left)) if n_left else b""
        self._n_out += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._hash is not None:
            self._hash.update(data)
        if not data:
            self._check_whole()
        self._check_expansion()
        return data

    def close(self) -> None:
        """Close the ZIP file."""
        self._file.close()

    def _pass_header(self) -> None:
        header = b""
        # Of a wrong directory it comes out negative.
        if self._info.header_offset >= 0:
            self._file.seek(self._info.header_offset)
            header = self._file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES or not header.startswith(_HEADER_MAGIC):
            raise BrokenStream("it does not begin where the ZIP file's directory says")
        n_name = int.from_bytes(header[26:28], "little")
        n_extra = int.from_bytes(header[28:30], "little")
        self._file.seek(n_name + n_extra, 1)

    def _next(self, n_bytes: int) -> bytes:
        return self._take(n_bytes) if self._inflater is None else self._inflate(n_bytes)

    def _take(self, n_bytes: int) -> bytes:
        data = self._file.read(min(n_bytes, self._n_left))
        if not data and n_bytes and self._n_left:
            raise BrokenStream("the ZIP file ends within it")
        self._n_left -= len(data)
        return data

    def _inflate(self, n_bytes: int) -> bytes:
        inflater = self._inflater
        while inflater is not None and not inflater.eof:
            given = inflater.unconsumed_tail or self._take(_INPUT_BYTES)
            try:
                data = inflater.decompress(given, n_bytes)
            except zlib.error as error:
                raise BrokenStream(f"its compressed data are wrong ({error})") from error
            if data:
                return data
            if not given:
                raise BrokenStream("its compressed data end early")
        return b""

    def _check_whole(self) -> None:
        n_bytes = self._info.file_size
        if self._n_out < n_bytes:
            raise BrokenStream(
                f"its content ends after {self._n_out:,} bytes, but the ZIP file's directory "
                f"tells of {n_bytes:,}"
            )
        if self._next(1):
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

    def _check_expansion(self) -> None:
        n_in = max(self._info.compress_size - self._n_left, 1)
        if self._n_out < _MIN_EXPANDED_BYTES or self._n_out <= self._max_expansion * n_in:
            return
        raise BrokenStream(
            f"it has expanded to more than {self._max_expansion:,.0f} times its size, as no "
            "archive file does; if it is one, allow more with --max-expansion"
        )
