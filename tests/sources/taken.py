"""What a reader of tables takes of one input, for the tests of these readers."""

import io
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from crawlgauge.core.batch import NO_CODE, NO_STATUS, NO_TIME
from crawlgauge.core.captures import Collector, hash_text
from crawlgauge.errors import DamagedInput
from crawlgauge.keys.rules import RAW
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.what_counts import Settings, WhatCounts


class Row(NamedTuple):
    """What is known of a capture."""

    time: int | None
    status: int | None
    mime: bytes | None
    digest: bytes | None
    group: bytes | None
    is_revisit: bool


@dataclass
class Taken:
    """All that was taken: captures are known by their URLs."""

    urls: Counter = field(default_factory=Counter)
    rows: dict = field(default_factory=dict)
    n_not_fetched: int = 0
    rejected: Counter = field(default_factory=Counter)
    excluded: Counter = field(default_factory=Counter)
    examples: list = field(default_factory=list)
    damages: list = field(default_factory=list)

    def of(self, url):
        """Return what is known of the last capture of a URL."""
        return self.rows[hash_text(_encode(url))]


def urls(*names):
    """Return what `Taken.urls` is if these were taken, in whatever order."""
    return Counter(hash_text(_encode(name)) for name in names)


def _encode(name):
    return name.encode() if isinstance(name, str) else name


def read(reader, stream, **wishes):
    """Read a stream to its end."""
    usual = {"key_rule": RAW, "counts": WhatCounts(status="any"), "levels": ("url", "content")}
    settings = Settings(is_split=True, **{**usual, **wishes})
    found, batches = Taken(), []
    collector = Collector(settings, batches.append)
    intake = Intake(stream.name, collector)
    with stream:
        for _ in reader(stream, intake, settings):
            pass
    collector.flush()
    types, groups = settings.names.types.texts(), settings.names.groups.texts()
    for batch in batches:
        found.rejected.update(batch.rejected)
        found.excluded.update(batch.excluded)
        found.n_not_fetched += len(batch.left_out)
        digests = batch.digests or [None] * len(batch.rows)
        for row, digest, group in zip(batch.rows, digests, batch.groups, strict=True):
            found.urls[int(row["key"])] += 1
            found.rows[int(row["key"])] = Row(
                time=None if row["time"] == NO_TIME else int(row["time"]),
                status=None if row["status"] == NO_STATUS else int(row["status"]),
                mime=None if row["mime"] == NO_CODE else types[row["mime"]],
                digest=digest,
                group=None if group == NO_CODE else groups[group],
                is_revisit=bool(row["is_revisit"]),
            )
    found.examples, found.damages = intake.examples, stream.damages
    return found


def read_bytes(reader, data, *, name="input", keep_damaged=False, **wishes):
    """Read an input from its bytes."""
    stream = Stream(name, open_file=lambda: io.BytesIO(data), keep_damaged=keep_damaged)
    return read(reader, stream, **wishes)


class GivenBlocks:
    """A stream that is cut into the given blocks, of which the first pass for its beginning."""

    name = "input"
    path = None

    def __init__(self, *blocks):
        self._blocks = [block for block in blocks if block]
        self.n_read = sum(map(len, self._blocks))
        self.damages = []

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        return None

    def beginning(self):
        return b"".join(self._blocks)[: 1 << 20]

    def blocks(self):
        return iter(self._blocks)

    def report(self, damage):
        raise DamagedInput(damage)
