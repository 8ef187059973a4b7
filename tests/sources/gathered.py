"""What a reader gives of one input, gathered over all batches, for the tests of the readers."""

import io
from collections import Counter
from dataclasses import dataclass, field

from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request

ALL = frozenset({"key", "time", "status", "mime", "digest"})


@dataclass
class Everything:
    """All that the batches of one input hold."""

    columns: dict = field(default_factory=dict)
    rejected: Counter = field(default_factory=Counter)
    excluded: Counter = field(default_factory=Counter)
    examples: list = field(default_factory=list)
    damages: list = field(default_factory=list)

    def __getitem__(self, name):
        return self.columns.get(name, [])

    @property
    def urls(self):
        return self["url"]


def gather(batches):
    found = Everything()
    for batch in batches:
        for name, column in batch.columns().items():
            found.columns.setdefault(name, []).extend(column.to_pylist())
        found.rejected.update(batch.rejected)
        found.excluded.update(batch.excluded)
        found.examples += batch.examples
    return found


def read_bytes(reader, data, *, name="input", keep_damaged=False, fields=ALL, **wishes):
    """Read an input from its bytes."""
    with ByteStream(name, open_file=lambda: io.BytesIO(data), keep_damaged=keep_damaged) as stream:
        found = gather(reader(stream, Request(fields=fields, **wishes)))
    found.damages = stream.damages
    return found


class GivenBlocks:
    """A stream that is cut into the given blocks."""

    name = "list.txt"
    damages = ()

    def __init__(self, *blocks):
        self._blocks = [block for block in blocks if block]

    def beginning(self):
        return next(iter(self._blocks), b"")

    def blocks(self):
        return iter(self._blocks)
