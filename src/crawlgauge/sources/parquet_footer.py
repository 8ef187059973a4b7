"""What the footer of a Parquet file says, and whether its pages are as it says.

Who decodes a file takes numbers in it for granted, such as how much memory to ask for, and may end
the whole process where they are wrong. So they are looked at here before, as are the checksums of
pages. Footer and page headers are written in Thrift's compact protocol.
"""

from typing import Any, BinaryIO, Final, NamedTuple
from zlib import crc32

__all__ = ["MAGIC", "BrokenParquet", "Chunk", "Footer", "RowGroup", "check_pages", "read_footer"]

MAGIC: Final = b"PAR1"
"""Stands at both ends of a file."""
_TAIL_BYTES = 8
_MAX_FOOTER_BYTES = 1 << 25
_MAX_PAGE_BYTES = 1 << 28
"""Writers make pages of a megabyte; who reads one holds all of it."""
_MAX_NUMBER = 1 << 48
_HEADER_BYTES = 1 << 18
"""More than the header of a page has, with its least and greatest values."""
_PART_BYTES = 1 << 20
# Numbers of fields, and of what stands in them, as the format has them.
_N_ROWS, _GROUPS, _ORDERS, _ENCRYPTION = 3, 4, 7, 8
_CHECKSUM = 4
_N_TYPES, _N_CODECS, _N_ENCODINGS = 8, 8, 10
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_DETAILS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}
"""Kinds of pages that hold values, and the fields of their headers that describe them."""
_ENCODINGS = {_DATA: (2, 3, 4), _DICTIONARY: (2,), _DATA_2: (4,)}
"""The fields of these that tell how the values are written."""


class BrokenParquet(Exception):  # noqa: N818 - the name says what there is
    """A file, or a part of it, that is no Parquet any more."""


class Chunk(NamedTuple):
    """A column of a row group, as pages that follow each other."""

    path: tuple[bytes, ...]  # its name, with those of the structures around it before it
    start: int
    end: int
    n_values: int
    n_plain_bytes: int  # when decompressed


class RowGroup(NamedTuple):
    """Rows that stand together."""

    n_rows: int
    chunks: tuple[Chunk, ...]
    bounds: tuple[bytes, bytes] | None  # the least and the greatest value of one column


class Footer(NamedTuple):
    """What a file holds."""

    groups: tuple[RowGroup, ...]
    n_rows: int
    start: int  # of the footer itself
    is_encrypted: bool

    @property
    def describes_others(self) -> bool:
        """Whether it is a summary such as ``_metadata``: a footer of rows in other files."""
        return self.n_rows > 0 and self.start == len(MAGIC)


def read_footer(file: BinaryIO, n_bytes: int, *, bounded: bytes) -> Footer:
    """Read and check the footer of a file.

    Parameters
    ----------
    file
        It can be read in any order.
    n_bytes
        Its size.
    bounded
        The column whose least and greatest values are wanted.

    Raises
    ------
    BrokenParquet
        If there is none, or it cannot be true.
    """
    file.seek(max(0, n_bytes - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    start = n_bytes - _TAIL_BYTES - length
    if len(tail) < _TAIL_BYTES or not tail.endswith(MAGIC):
        raise BrokenParquet(f"the file does not end with {MAGIC.decode()}")
    if start < len(MAGIC) or length > _MAX_FOOTER_BYTES:
        raise BrokenParquet(f"it is said to have {length:,} bytes")
    file.seek(start)
    footer = _Reader(file.read(length)).struct()
    n_rows = _to_number(footer.get(_N_ROWS))
    groups = [
        _read_group(_to_struct(group), start, bounded) for group in _to_list(footer.get(_GROUPS))
    ]
    if sum(group.n_rows for group in groups) != n_rows:
        raise BrokenParquet("the numbers of rows contradict each other")
    if _ORDERS not in footer:
        # Nobody knows which values are the least and the greatest.
        groups = [group._replace(bounds=None) for group in groups]
    is_encrypted = _ENCRYPTION in footer
    return Footer(groups=tuple(groups), n_rows=n_rows, start=start, is_encrypted=is_encrypted)


def check_pages(file: BinaryIO, chunk: Chunk) -> None:
    """See that a column's pages are where they should be, with their checksums if they have any.

    Parameters
    ----------
    file
        It can be read in any order.
    chunk
        The column.

    Raises
    ------
    BrokenParquet
        If they are not.
    """
    place, n_values = chunk.start, 0
    while place < chunk.end:
        file.seek(place)
        reader = _Reader(file.read(min(_HEADER_BYTES, chunk.end - place)))
        header = reader.struct()
        place += reader.place
        kind, n_plain, n_bytes = (_to_number(header.get(number)) for number in (1, 2, 3))
        if n_bytes > chunk.end - place or n_plain > _MAX_PAGE_BYTES:
            raise BrokenParquet(f"a page is said to have {max(n_bytes, n_plain):,} bytes")
        if kind in _DETAILS:
            details = _to_struct(header.get(_DETAILS[kind]))
            n_here = _to_number(details.get(1))
            for number in _ENCODINGS[kind]:
                _to_number(details.get(number), below=_N_ENCODINGS)
            if kind != _DICTIONARY:
                n_values += n_here
            elif n_here > n_plain:
                raise BrokenParquet(f"a dictionary is said to have {n_here:,} values")
        if _CHECKSUM in header:
            _check_sum(file, place, n_bytes, header[_CHECKSUM])
        place += n_bytes
    if n_values != chunk.n_values:
        raise BrokenParquet(f"there are {n_values:,} values instead of {chunk.n_values:,}")


def _check_sum(file: BinaryIO, place: int, n_bytes: int, expected: object) -> None:
    file.seek(place)
    found = 0
    for first in range(0, n_bytes, _PART_BYTES):
        found = crc32(file.read(min(_PART_BYTES, n_bytes - first)), found)
    if not isinstance(expected, int) or found != expected % (1 << 32):
        raise BrokenParquet("the checksum of a page is wrong")


# ------------------------------------------------------------------------------------- row groups


def _read_group(struct: "_Struct", end: int, bounded: bytes) -> RowGroup:
    n_rows = _to_number(struct.get(3))
    chunks: list[Chunk] = []
    bounds = None
    for column in _to_list(struct.get(1)):
        facts = _to_struct(_to_struct(column).get(3))
        path = tuple(_to_list(facts.get(3)))
        if not path:
            raise BrokenParquet("a column has no name")
        n_values, n_plain, n_bytes, start = (_to_number(facts.get(k)) for k in (5, 6, 7, 9))
        _to_number(facts.get(1), below=_N_TYPES)
        _to_number(facts.get(4), below=_N_CODECS)
        for encoding in _to_list(facts.get(2)):
            _to_number(encoding, below=_N_ENCODINGS)
        # Pages of a dictionary stand before those that refer to it.
        dictionary = _to_number(facts.get(11, 0))
        start = dictionary if 0 < dictionary < start else start
        # A summary of other files has no data at all.
        if end > len(MAGIC) and n_values and not len(MAGIC) <= start <= start + n_bytes <= end:
            raise BrokenParquet("a column does not stand in the file")
        chunks.append(Chunk(path, start, start + n_bytes, n_values, n_plain))
        if path == (bounded,) and isinstance(statistics := facts.get(12), dict):
            least, greatest = statistics.get(6), statistics.get(5)
            if isinstance(least, bytes) and isinstance(greatest, bytes):
                bounds = least, greatest
    return RowGroup(n_rows, tuple(chunks), bounds)


def _to_number(value: object, below: int = _MAX_NUMBER) -> int:
    if not isinstance(value, int) or not 0 <= value < below:
        raise BrokenParquet("a number in it is missing or wrong")
    return value


def _to_struct(value: object) -> "_Struct":
    if not isinstance(value, dict):
        raise BrokenParquet("something is not described in it")
    return value


def _to_list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BrokenParquet("it has something else where a list should be")
    return value


# ------------------------------------------------------------------------------------------ Thrift

_Struct = dict[int, Any]
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_WIDTHS = {_I16: 16, _I32: 32, _I64: 64}
_MAX_DEPTH = 32
_ENDS_EARLY = "it ends early"


class _Reader:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> _Struct:
        found: _Struct = {}
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._signed(16)
            found[number] = self.value(byte & 15, depth)
        return found

    def value(self, kind: int, depth: int = 0) -> object:
        if kind in _WIDTHS:
            return self._signed(_WIDTHS[kind])
        if kind == _BINARY:
            return self._take(self._number())
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if depth > _MAX_DEPTH:
            raise BrokenParquet("its structures are too deep")
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            size, inner = self._list_header()
            return [self._item(inner, depth) for _ in range(size)]
        if kind == _MAP:
            size = self._number()
            kinds = self._byte() if size else 0
            return [
                (self._item(kinds >> 4, depth), self._item(kinds & 15, depth)) for _ in range(size)
            ]
        if kind in (_BYTE, _DOUBLE):
            return self._take(1 if kind == _BYTE else 8)
        raise BrokenParquet("it has a value of unknown kind")

    def _item(self, kind: int, depth: int) -> object:
        # Within lists, each truth value takes a byte.
        return self._take(1) if kind in (_TRUE, _FALSE) else self.value(kind, depth + 1)

    def _list_header(self) -> tuple[int, int]:
        byte = self._byte()
        size = byte >> 4
        if size == 15:  # noqa: PLR2004 - stands for all that are longer
            size = self._number()
        if size > len(self._data) - self.place:
            raise BrokenParquet(_ENDS_EARLY)
        return size, byte & 15

    def _take(self, n_bytes: int) -> bytes:
        taken = self._data[self.place : self.place + n_bytes]
        if len(taken) < n_bytes:
            raise BrokenParquet(_ENDS_EARLY)
        self.place += n_bytes
        return taken

    def _byte(self) -> int:
        return self._take(1)[0]

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:  # noqa: PLR2004 - more than any number has
                raise BrokenParquet("a number in it has no end")
        return number | byte << shift

    def _signed(self, width: int) -> int:
        number = self._number()
        number = (number >> 1) ^ -(number & 1)
        if not -(1 << width - 1) <= number < 1 << width - 1:
            raise BrokenParquet("a number in it is too large")
        return number
