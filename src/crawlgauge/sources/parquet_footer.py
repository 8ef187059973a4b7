"""What the footer of a Parquet file says, and whether its pages are as it says.

Who decodes a file takes numbers in it for granted, such as how much memory to ask for, and may end
the whole process where they are wrong. So they are looked at here before, as are the checksums of
pages. Footer and page headers are written in Thrift's compact protocol.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, NamedTuple
from zlib import crc32

__all__ = ["MAGIC", "BrokenParquet", "Chunk", "Footer", "RowGroup", "check_pages", "read_footer"]

MAGIC: Final = b"PAR1"
"""Stands at both ends of a file."""
_TAIL_BYTES = 8
_MAX_FOOTER_BYTES = 1 << 28
_MAX_PAGE_BYTES = 1 << 28
"""Writers make pages of a megabyte; who reads one holds all of it."""
_MAX_NUMBER = 1 << 48
_HEADER_BYTES, _MAX_HEADER_BYTES = 1 << 12, 1 << 24
_PART_BYTES = 1 << 20
# Numbers of fields, and of what stands in them, as the format has them.
_SCHEMA, _N_ROWS, _GROUPS, _ORDERS, _ENCRYPTION = 2, 3, 4, 7, 8
_CHECKSUM = 4
_REPEATED = 2
_N_REPETITIONS, _N_TYPES, _N_CODECS, _N_ENCODINGS = 3, 8, 8, 10
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
    reader = _Reader(file.read(length))
    leaves: list[_Leaf] = []
    groups: list[RowGroup] = []
    n_rows, others = 0, set()
    for number, kind in reader.fields():
        if number == _SCHEMA:
            leaves = _read_schema(reader.value(kind))
        elif number == _N_ROWS:
            n_rows = _to_number(reader.value(kind))
        elif number == _GROUPS:
            # One by one: there may be many.
            n_groups = range(reader.count(kind))
            groups += [_read_group(reader.struct(), leaves, start, bounded) for _ in n_groups]
        else:
            others.add(number)
            reader.value(kind)
    if sum(group.n_rows for group in groups) != n_rows:
        raise BrokenParquet("the numbers of rows contradict each other")
    if _ORDERS not in others:
        # Nobody knows which values are the least and the greatest.
        groups = [group._replace(bounds=None) for group in groups]
    is_encrypted = _ENCRYPTION in others
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
        header, n_header = _read_page_header(file, place, chunk.end)
        place += n_header
        kind, n_plain, n_bytes = (_to_number(header.get(number)) for number in (1, 2, 3))
        if n_bytes > chunk.end - place or n_plain > _MAX_PAGE_BYTES:
            raise BrokenParquet(f"a page is said to have {max(n_bytes, n_plain):,} bytes")
        if kind in _DETAILS:
            details = header.get(_DETAILS[kind])
            if not isinstance(details, dict):
                raise BrokenParquet("a page is not described")
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


def _read_page_header(file: BinaryIO, place: int, end: int) -> "tuple[_Struct, int]":
    n_bytes = _HEADER_BYTES
    while True:
        file.seek(place)
        reader = _Reader(file.read(min(n_bytes, end - place)))
        try:
            return reader.struct(), reader.place
        except _TooShort:
            if n_bytes >= min(end - place, _MAX_HEADER_BYTES):
                raise
            n_bytes *= 16


def _check_sum(file: BinaryIO, place: int, n_bytes: int, expected: object) -> None:
    file.seek(place)
    found = 0
    for first in range(0, n_bytes, _PART_BYTES):
        found = crc32(file.read(min(_PART_BYTES, n_bytes - first)), found)
    if not isinstance(expected, int) or found != expected % (1 << 32):
        raise BrokenParquet("the checksum of a page is wrong")


# --------------------------------------------------------------------------- schema and row groups


class _Leaf(NamedTuple):
    path: tuple[bytes, ...]
    is_repeated: bool


def _read_schema(elements: object) -> list[_Leaf]:
    """Return the columns of a schema, which is written as a tree, the parents first."""
    leaves: list[_Leaf] = []
    # For each structure that goes on: its path, whether it is repeated, how many members it lacks.
    open_ones: list[tuple[tuple[bytes, ...], bool, int]] = []
    for element in elements if isinstance(elements, list) else ():
        if not isinstance(element, dict) or not isinstance(name := element.get(4), bytes):
            raise BrokenParquet("a column has no name")
        path: tuple[bytes, ...] = ()
        is_repeated = False
        if open_ones:
            above, is_above, n_missing = open_ones.pop()
            path, is_repeated = (*above, name), is_above or element.get(3) == _REPEATED
            if n_missing > 1:
                open_ones.append((above, is_above, n_missing - 1))
        elif leaves:
            raise BrokenParquet("a column belongs nowhere")
        _to_number(element.get(3, 0), below=_N_REPETITIONS)
        n_children = _to_number(element.get(5, 0))
        if n_children:
            open_ones.append((path, is_repeated, n_children))
        elif path:
            _to_number(element.get(1), below=_N_TYPES)
            leaves.append(_Leaf(path, is_repeated))
        if len(path) > _MAX_DEPTH:
            raise BrokenParquet("its structures are too deep")
    if open_ones:
        raise BrokenParquet("columns are missing")
    return leaves


def _read_group(struct: "_Struct", leaves: list[_Leaf], end: int, bounded: bytes) -> RowGroup:
    columns, n_rows = struct.get(1), _to_number(struct.get(3))
    if not isinstance(columns, list) or len(columns) != len(leaves):
        raise BrokenParquet("a row group lacks columns")
    chunks: list[Chunk] = []
    bounds = None
    for column, leaf in zip(columns, leaves, strict=True):
        facts = column.get(3) if isinstance(column, dict) else None
        if not isinstance(facts, dict) or facts.get(3) != list(leaf.path):
            raise BrokenParquet("a row group has other columns than the file")
        n_values, n_plain, n_bytes, start = (_to_number(facts.get(k)) for k in (5, 6, 7, 9))
        _to_number(facts.get(1), below=_N_TYPES)
        _to_number(facts.get(4), below=_N_CODECS)
        for encoding in facts.get(2) or ():
            _to_number(encoding, below=_N_ENCODINGS)
        # Pages of a dictionary stand before those that refer to it.
        dictionary = _to_number(facts.get(11, 0))
        start = dictionary if 0 < dictionary < start else start
        # A summary of other files has no data at all.
        if end > len(MAGIC) and n_values and not len(MAGIC) <= start <= start + n_bytes <= end:
            raise BrokenParquet("a column does not stand in the file")
        if n_values != n_rows and not leaf.is_repeated:
            raise BrokenParquet("the numbers of values contradict each other")
        chunks.append(Chunk(leaf.path, start, start + n_bytes, n_values, n_plain))
        if leaf.path == (bounded,) and isinstance(statistics := facts.get(12), dict):
            least, greatest = statistics.get(6), statistics.get(5)
            if isinstance(least, bytes) and isinstance(greatest, bytes):
                bounds = least, greatest
    return RowGroup(n_rows, tuple(chunks), bounds)


def _to_number(value: object, below: int = _MAX_NUMBER) -> int:
    if not isinstance(value, int) or not 0 <= value < below:
        raise BrokenParquet("a number in it is missing or wrong")
    return value


# ------------------------------------------------------------------------------------------ Thrift

_Struct = Mapping[int, Any]
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_WIDTHS = {_I16: 16, _I32: 32, _I64: 64}
_MAX_DEPTH = 32


class _TooShort(BrokenParquet):
    """It goes on behind the bytes that are there."""

    def __init__(self) -> None:
        super().__init__("it ends early")


class _Reader:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each field of a structure; the value is to be read by then."""
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._signed(16)
            yield number, byte & 15

    def struct(self, depth: int = 0) -> _Struct:
        return {number: self.value(kind, depth) for number, kind in self.fields()}

    def count(self, kind: int) -> int:
        """Return how many structures a list has."""
        size, inner = self._list_header()
        if kind != _LIST or (inner != _STRUCT and size):
            raise BrokenParquet("it has something else where a list should be")
        return size

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
            raise _TooShort
        return size, byte & 15

    def _take(self, n_bytes: int) -> bytes:
        taken = self._data[self.place : self.place + n_bytes]
        if len(taken) < n_bytes:
            raise _TooShort
        self.place += n_bytes
        return taken

    def _byte(self) -> int:
        try:
            byte = self._data[self.place]
        except IndexError:
            raise _TooShort from None
        self.place += 1
        return byte

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
