"""Tables in Arrow's file format (IPC), uncompressed, written so that their columns can be mapped.

Only writing is needed: whoever wrote a file has noted where its columns begin, and reads those
bytes when he has compared their checksum. Other programs (Polars, pandas, DuckDB) read the files as
they read any Arrow file.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import flatbuffers
import numpy as np
from numpy.typing import NDArray

_MAGIC = b"ARROW1\0\0"
_VERSION = 4  # V5, of all files since Arrow 1.0
_SCHEMA, _DICTIONARY_BATCH, _RECORD_BATCH = 1, 2, 3
_INT, _UTF8, _TIMESTAMP = 2, 5, 10
_OFFSET = "UOffsetTRelative"
_ALIGNMENT = 64
"""Of all buffers, as Arrow recommends it."""

_Block = tuple[int, int, int]
"""Where a message begins, how long it is itself, and how long what it tells of."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of integers, or of texts that integers stand for.

    Parameters
    ----------
    name
        What it is called.
    values
        Integers; where there are texts, their places among these.
    is_valid
        Which of the values are known; None if all are.
    texts
        Different texts, in ASCII.
    is_time
        Whether the values are seconds since 1970 in UTC.
    """

    name: str
    values: NDArray[np.integer]
    is_valid: NDArray[np.bool_] | None = None
    texts: Sequence[bytes] | None = None
    is_time: bool = False


class TableFile:
    """A table that comes in batches of rows; each message in the file says what follows it.

    Parameters
    ----------
    file
        Open for writing, at its beginning.
    columns
        What the columns are called and consist of.
    """

    def __init__(self, file: BinaryIO, columns: Sequence[Column]) -> None:
        self._file, self._columns = file, columns
        self._batches: list[_Block] = []
        self._dictionaries: list[_Block] = []
        file.write(_MAGIC)
        self._write_message(_SCHEMA, self._schema({}), 0)

    def write(self, *columns: NDArray[np.unsignedinteger]) -> list[int]:
        """Write further rows, a column after the other; return where each column begins."""
        contents = [part for column in columns for part in (b"", column.data.cast("B"))]
        places = self._write_batch(columns[0].size, [0] * len(columns), contents)
        return [place for place, _ in places[1::2]]

    def write_columns(self) -> dict[str, list[int]]:
        """Write the columns with all their values.

        Returns
        -------
        dict
            For each column where its buffers are in the file, as offset and length: validity (of
            no length if all values are known) and values; for texts also their bounds and bytes.
        """
        contents, n_nulls, texts_at = [], [], {}
        for number, column in enumerate(self._columns):
            if column.texts is not None:
                bounds = np.cumsum([0, *map(len, column.texts)], dtype=np.int32)
                buffers = [b"", bounds.tobytes(), b"".join(column.texts)]
                places = self._write_batch(len(column.texts), [0], buffers, dictionary=number)
                texts_at[column.name] = [*places[1], *places[2]]
            valid = np.empty(0, np.bool_) if column.is_valid is None else column.is_valid
            n_nulls.append(int(np.count_nonzero(~valid)))
            bits = np.packbits(valid, bitorder="little").tobytes() if n_nulls[-1] else b""
            contents += [bits, column.values.tobytes()]
        places = self._write_batch(self._columns[0].values.size, n_nulls, contents)
        return {
            column.name: [*validity, *values, *texts_at.get(column.name, ())]
            for column, validity, values in zip(
                self._columns, places[::2], places[1::2], strict=True
            )
        }

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write where everything is, and what the file says of itself; there must be rows."""
        self._file.write(struct.pack("<Ii", 0xFFFFFFFF, 0))
        builder, schema = self._schema(metadata)
        blocks = [_write_numbers(builder, found) for found in (self._dictionaries, self._batches)]
        slots = (0, "Int16", _VERSION), (1, _OFFSET, schema), (2, _OFFSET, blocks[0])
        builder.Finish(_write_object(builder, 5, *slots, (3, _OFFSET, blocks[1])))
        footer = bytes(builder.Output())
        self._file.write(footer + struct.pack("<i", len(footer)) + _MAGIC[:6])

    def _write_message(
        self, kind: int, header: tuple[flatbuffers.Builder, int], n_bytes: int
    ) -> _Block:
        """Write a message that so many bytes will follow, so that they begin at a round place."""
        builder, place = header
        slots = (0, "Int16", _VERSION), (1, "Uint8", kind), (2, _OFFSET, place)
        builder.Finish(_write_object(builder, 5, *slots, (3, "Int64", n_bytes)))
        content = bytes(builder.Output())
        start = self._file.tell()
        content += bytes(-(start + 8 + len(content)) % _ALIGNMENT)
        self._file.write(struct.pack("<Ii", 0xFFFFFFFF, len(content)) + content)
        return start, 8 + len(content), n_bytes

    def _write_batch(
        self,
        n_rows: int,
        n_nulls: Sequence[int],
        contents: Sequence[bytes | memoryview],
        dictionary: int | None = None,
    ) -> list[tuple[int, int]]:
        """Write buffers with the message that tells of them; return where each is."""
        buffers, place = [], 0
        for content in contents:
            buffers.append((place, len(content)))
            place += len(content) + -len(content) % _ALIGNMENT
        builder, batch = _describe_batch(n_rows, n_nulls, buffers)
        kind, blocks = _RECORD_BATCH, self._batches
        if dictionary is not None:
            batch = _write_object(builder, 3, (0, "Int64", dictionary), (1, _OFFSET, batch))
            kind, blocks = _DICTIONARY_BATCH, self._dictionaries
        blocks.append(self._write_message(kind, (builder, batch), place))
        start = self._file.tell()
        for content in contents:
            self._file.write(content)
            self._file.write(bytes(-len(content) % _ALIGNMENT))
        return [(start + offset, length) for offset, length in buffers]

    def _schema(self, metadata: Mapping[str, str]) -> tuple[flatbuffers.Builder, int]:
        """Return what says which columns there are, and what they are."""
        builder = flatbuffers.Builder(1024)
        fields = _write_vector(
            builder, [_write_field(builder, *item) for item in enumerate(self._columns)]
        )
        pairs = []
        for key, value in metadata.items():
            texts = builder.CreateString(key), builder.CreateString(value)
            pairs.append(_write_object(builder, 2, (0, _OFFSET, texts[0]), (1, _OFFSET, texts[1])))
        entries = _write_vector(builder, pairs)
        return builder, _write_object(builder, 4, (1, _OFFSET, fields), (2, _OFFSET, entries))


class KeysFile(TableFile):
    """A table of one column of keys in one batch, of which nobody knows how many will come.

    Parameters
    ----------
    file
        Open for writing, at its beginning; it is gone back to there in the end.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, [Column("key", np.empty(0, np.uint64))])
        self._start, self._n_keys = file.tell(), 0
        self._write_header(1)
        self.offset = file.tell()
        """Where the keys begin."""

    def add(self, keys: NDArray[np.uint64]) -> None:
        """Write further keys."""
        self._file.write(np.ascontiguousarray(keys, "<u8").data)
        self._n_keys += keys.size

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write all that can be told of the keys when they are known; there must be some."""
        self._write_header(self._n_keys)
        self._file.seek(self.offset + 8 * self._n_keys)
        super().finish(metadata)

    def _write_header(self, n_keys: int) -> None:
        """Write what stands before the keys: it has the same length, however many they are."""
        self._file.seek(self._start)
        header = _describe_batch(n_keys, [0], [(0, 0), (0, 8 * n_keys)])
        self._batches = [self._write_message(_RECORD_BATCH, header, 8 * n_keys)]


def _describe_batch(
    n_rows: int, n_nulls: Sequence[int], buffers: Sequence[tuple[int, int]]
) -> tuple[flatbuffers.Builder, int]:
    """Return what says how long columns are, and where their buffers are."""
    builder = flatbuffers.Builder(1024)
    nodes = _write_numbers(builder, [(n_rows, n_null) for n_null in n_nulls])
    places = _write_numbers(builder, buffers)
    slots = (0, "Int64", n_rows), (1, _OFFSET, nodes), (2, _OFFSET, places)
    return builder, _write_object(builder, 4, *slots)


def _write_field(builder: flatbuffers.Builder, number: int, column: Column) -> int:
    name = builder.CreateString(column.name)
    children = _write_vector(builder, [])
    dtype, dictionary = column.values.dtype, 0
    bits, is_signed = (0, "Int32", 8 * dtype.itemsize), (1, "Bool", dtype.kind == "i")
    kind, of_kind = _INT, _write_object(builder, 2, bits, is_signed)
    if column.texts is not None:
        dictionary = _write_object(builder, 3, (0, "Int64", number), (1, _OFFSET, of_kind))
        kind, of_kind = _UTF8, _write_object(builder, 0)
    elif column.is_time:
        zone = builder.CreateString("UTC")
        kind, of_kind = _TIMESTAMP, _write_object(builder, 2, (1, _OFFSET, zone))
    return _write_object(
        builder,
        7,
        (0, _OFFSET, name),
        (1, "Bool", column.is_valid is not None),
        (2, "Uint8", kind),
        (3, _OFFSET, of_kind),
        (4, _OFFSET, dictionary),
        (5, _OFFSET, children),
    )


def _write_object(builder: flatbuffers.Builder, n_slots: int, *slots: tuple[int, str, int]) -> int:
    """Write an object: of those of its slots that are not empty, number, kind and content."""
    builder.StartObject(n_slots)
    for number, kind, content in slots:
        getattr(builder, f"Prepend{kind}Slot")(number, content, 0)
    return int(builder.EndObject())


def _write_vector(builder: flatbuffers.Builder, places: Sequence[int]) -> int:
    builder.StartVector(4, len(places), 4)
    for place in reversed(places):
        builder.PrependUOffsetTRelative(place)
    return int(builder.EndVector())


def _write_numbers(builder: flatbuffers.Builder, rows: Sequence[tuple[int, ...]]) -> int:
    """Write structures of 64-bit numbers; one of 32 bits and its padding is the same as these."""
    builder.StartVector(8 * sum(map(len, rows[:1])), len(rows), 8)
    for number in reversed([number for row in rows for number in row]):
        builder.PrependInt64(number)
    return int(builder.EndVector())
