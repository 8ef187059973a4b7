"""Overlap tables from files: which format a file has is told from its content."""

import gzip
import hashlib
import io
import os
import sys
import zlib
from dataclasses import dataclass

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import from_csv, from_histories_csv
from crawlgauge.overlaps.json_table import from_json
from crawlgauge.overlaps.parquet_table import from_parquet
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Input, Provenance
from crawlgauge.sources.remote import conceal, to_path

__all__ = ["read_histories", "read_overlaps"]

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_STDIN = "-"
_MAX_BYTES = 1 << 28
"""What a compressed table may hold: pairs of 2,000 crawls, or all histories that are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """Content of a file, uncompressed, the name for messages, and what to record of it."""

    name: str
    content: bytes
    origin: Input

    def text(self) -> str:
        if self.content.startswith(_UTF16_MARKS):
            raise OverlapError(f"{self.name} is UTF-16 text; save it as UTF-8")
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise OverlapError(
                f"{self.name}, line {line}: byte 0x{self.content[error.start]:02x} is no UTF-8 "
                "text; give a CSV or JSON file saved as UTF-8, or a Parquet file"
            ) from error


def read_overlaps(path: str | os.PathLike[str]) -> OverlapTable:
    """Read an overlap table from a CSV, JSON or Parquet file, also compressed with gzip.

    Parameters
    ----------
    path
        The file; ``-`` is standard input. Its name does not matter.

    Returns
    -------
    OverlapTable
        With the provenance that the file holds; if it holds none, with the file as input.

    Raises
    ------
    OverlapError
        If there is no such file, or it holds no overlap table.
    """
    file = _load(path)
    provenance = Provenance(inputs=(file.origin,))
    if file.content.startswith(_PARQUET):
        return from_parquet(file.content, name=file.name, provenance=provenance)
    text = file.text()
    read = from_json if text.lstrip().startswith(("{", "[")) else from_csv
    return read(text, name=file.name, provenance=provenance)


def read_histories(
    histories_path: str | os.PathLike[str], crawls_path: str | os.PathLike[str]
) -> OverlapTable:
    """Read an overlap table from a CSV file of capture histories and one of their crawls.

    Parameters
    ----------
    histories_path
        Columns ``history,count`` or ``ch,freq``; ``-`` is standard input.
    crawls_path
        Columns ``label,date`` and optionally ``n_urls``; ``-`` is standard input.

    Raises
    ------
    OverlapError
        If a file cannot be read or the two contradict each other.
    """
    if os.fspath(histories_path) == os.fspath(crawls_path) == _STDIN:
        raise OverlapError("histories and crawls cannot both come from standard input")
    histories, crawls = _load(histories_path), _load(crawls_path)
    return from_histories_csv(
        histories.text(),
        crawls.text(),
        histories_name=histories.name,
        crawls_name=crawls.name,
        provenance=Provenance(inputs=(histories.origin, crawls.origin)),
    )


def _load(path: str | os.PathLike[str]) -> _File:
    given = conceal(os.fspath(path))
    name = "standard input" if given == _STDIN else given
    try:
        stored = sys.stdin.buffer.read() if given == _STDIN else to_path(given).read_bytes()
    except FileNotFoundError as error:
        raise OverlapError(f"{name}: there is no such file") from error
    except IsADirectoryError as error:
        raise OverlapError(f"{name} is a directory; give a file in it") from error
    except OSError as error:
        raise OverlapError(f"{name} cannot be read: {error.strerror or error}") from error
    checksum = f"sha256:{hashlib.sha256(stored).hexdigest()}"
    content = _uncompress(stored, name)
    if not content.removeprefix(_UTF8_MARK).strip():
        raise OverlapError(f"{name} is empty; an overlap table is needed")
    origin = Input(name=given, checksum=checksum, n_bytes=len(stored))
    return _File(name=name, content=content, origin=origin)


def _uncompress(stored: bytes, name: str) -> bytes:
    """Return what a file holds; the one place where a table is decompressed, within bounds."""
    if not stored.startswith(_GZIP):
        return stored
    try:
        content = gzip.GzipFile(fileobj=io.BytesIO(stored)).read(_MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise OverlapError(
            f"{name} is damaged gzip: {error}; fetch or compress the file again"
        ) from error
    if len(content) > _MAX_BYTES:
        raise OverlapError(
            f"{name} holds more than {_MAX_BYTES:,} bytes, as no overlap table does; see whether "
            "it is the file that you mean"
        )
    return content
