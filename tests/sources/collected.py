"""What a reader of records hands over of one input, for the tests of the readers."""

import io
import re
from dataclasses import dataclass, field
from itertools import chain

from crawlgauge.core.captures import Collector
from crawlgauge.core.fields import parse_time
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.what_counts import Settings, WhatCounts

PAGE = re.compile(rb"\s*(?:https?|ftps?):", re.IGNORECASE)
LEVELS = {"url": ("url",), "content": ("url", "content"), "text": ("url", "content", "text")}


@dataclass
class Row:
    """A capture as a reader has found it."""

    url: bytes
    time: int | None
    status: int | None
    mime: bytes | None
    digest: bytes | None
    group: bytes | None
    text: int


@dataclass
class Collected:
    """All that a reader has handed over."""

    rows: list = field(default_factory=list)
    rejected: dict = field(default_factory=dict)
    excluded: dict = field(default_factory=dict)
    examples: list = field(default_factory=list)
    damages: list = field(default_factory=list)

    @property
    def urls(self):
        return [row.url for row in self.rows]

    def column(self, name):
        return [getattr(row, name) for row in self.rows]


class Recorder:
    """Stands before a collector and remembers the captures that it takes."""

    def __init__(self, settings, found):
        self._found = found
        self._collector = Collector(settings, self._sink)
        self.begin = self._collector.begin
        self.exclude, self.reject = self._collector.exclude, self._collector.reject
        self.flush = self._collector.flush

    def add(self, url, *, time=None, status=None, mime=None, digest=None, group=None, text=0):
        fields = {"time": time, "status": status, "mime": mime, "digest": digest, "group": group}
        reason = self._collector.add(url, **fields, text=text)
        if reason is None and PAGE.match(url):
            seconds = None if time is None else parse_time(time)
            number = int(status) if status else None
            self._found.rows.append(Row(url.strip(), seconds, number, mime, digest, group, text))
        return reason

    def _sink(self, batch):
        for counts, more in (
            (self._found.rejected, batch.rejected),
            (self._found.excluded, batch.excluded),
        ):
            for reason, n_records in more.items():
                counts[reason] = counts.get(reason, 0) + n_records


class CutStream(Stream):
    """A stream whose blocks are cut anew, so that records run over their ends."""

    def __init__(self, *arguments, block_bytes, **options):
        super().__init__(*arguments, **options)
        self._block_bytes = block_bytes
        self._begun = b""

    def beginning(self):
        self._begun = self._begun or next(super().blocks(), b"")
        return self._begun

    def blocks(self):
        begun, self._begun = self._begun, b""
        for block in chain([begun], super().blocks()):
            for start in range(0, len(block), self._block_bytes):
                yield block[start : start + self._block_bytes]


def read_records(
    reader, data, *, name="folder/x", keep=False, level="url", group=None, block_bytes=1 << 30
):
    """Read an input from its bytes."""
    found = Collected()
    settings = Settings(
        counts=WhatCounts(status="any"),
        levels=LEVELS[level],
        group=group,
        is_split=group is not None,
        keep_damaged=keep,
    )
    recorder = Recorder(settings, found)
    intake = Intake(name, recorder)
    with CutStream(
        name, open_file=lambda: io.BytesIO(data), keep_damaged=keep, block_bytes=block_bytes
    ) as stream:
        for _ in reader(stream, intake, settings):
            pass
    recorder.flush()
    found.examples, found.damages = intake.examples, stream.damages
    return found
