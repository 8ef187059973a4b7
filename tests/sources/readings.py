"""What comes of reading inputs, capture by capture, for the tests of all that reads them."""

import io
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import NamedTuple

from crawlgauge.core.batch import NO_CODE, NO_STATUS, NO_TIME
from crawlgauge.core.captures import REASONS, Collector, hash_text
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import RAW
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import read_inputs
from crawlgauge.sources.what_counts import Settings, WhatCounts

CONTENT = ("url", "content")
TEXT = ("url", "content", "text")


class Row(NamedTuple):
    """What is known of a capture."""

    url: bytes
    time: int | None
    status: int | None
    mime: bytes | None
    digest: bytes | None
    group: bytes | None
    is_revisit: bool
    text: int | None


@dataclass
class Found:
    """All that was taken of inputs, and what was left."""

    rows: list[Row] = field(default_factory=list)
    keys: set[int] = field(default_factory=set)
    rejected: Counter = field(default_factory=Counter)
    excluded: Counter = field(default_factory=Counter)
    examples: list = field(default_factory=list)
    damages: list = field(default_factory=list)
    inputs: tuple = ()

    @property
    def told(self):
        """What must be the same for inputs that say the same."""
        return sorted(self.rows, key=repr), self.rejected, self.excluded

    @property
    def urls(self):
        """In order of their bytes: lines that are odd are taken after others."""
        return sorted(row.url for row in self.rows)

    def column(self, name):
        return [getattr(row, name) for row in self.rows]

    def of(self, url):
        """Return what is known of the last capture of a URL."""
        return next(row for row in reversed(self.rows) if row.url == urls(url)[0])


def urls(*names):
    """Return what `Found.urls` is if these were taken, in whatever order."""
    return sorted(name.encode() if isinstance(name, str) else name for name in names)


def keys(*names):
    """Return what `Found.keys` is if these are the keys of an index."""
    return {hash_text(name) for name in urls(*names)}


class _Target(list):
    """Takes the batches of inputs, and wants all that is in them."""

    key_threshold = row_threshold = 1 << 64
    add = list.append


def make_settings(**wishes):
    """Return settings by which all is kept of all captures that were fetched."""
    usual = {"key_rule": RAW, "counts": WhatCounts(status="any"), "levels": CONTENT}
    return Settings(is_split=True, **{**usual, **wishes, "names": Names()})


def read_files(*paths, keep=False, n_threads=0, **wishes):
    """Read files of any format."""
    files = InputFiles(names=tuple(map(str, paths)))

    def run(settings, target):
        result = read_inputs(files, settings, target, n_threads=n_threads)
        return result.examples, result.damages, result.inputs

    return _gather(run, {"keep_damaged": keep, **wishes})


def read_data(data, name="input", **wishes):
    """Read a file that has these bytes."""
    with tempfile.TemporaryDirectory(prefix="reading-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return read_files(path, **wishes)


def read_streams(reader, open_stream, **wishes):
    """Read a stream by the reader of one format."""

    def run(settings, target):
        stream = open_stream()
        collector = Collector(settings, target.append)
        intake = Intake(stream.name, collector)
        with stream:
            for _ in reader(stream, intake, settings):
                pass
        collector.flush()
        return intake.examples, stream.damages, ()

    return _gather(run, wishes)


def read_bytes(reader, data, *, name="input", keep=False, block_bytes=None, cuts=(), **wishes):
    """Read bytes, in one block or cut into several, by the reader of one format."""
    if block_bytes is not None:
        cuts = range(block_bytes, len(data), block_bytes)
    wishes["keep_damaged"] = keep
    return read_streams(reader, lambda: _CutStream(name, data, keep, cuts), **wishes)


def read_blocks(reader, *blocks, **wishes):
    """Read blocks by the reader of one format."""
    return read_bytes(reader, b"".join(blocks), cuts=[*accumulate(map(len, blocks))], **wishes)


class _CutStream(Stream):
    """A stream whose blocks are cut anew, so that records run over their ends."""

    def __init__(self, name, data, keep, cuts):
        super().__init__(name, open_file=lambda: io.BytesIO(data), keep_damaged=keep)
        self._cuts, self._n_given, self._begun = sorted(cuts), 0, None

    def beginning(self):
        if self._begun is None:
            self._begun = next(super().blocks(), b"")
        return self._begun

    def blocks(self):
        begun, self._begun = self._begun or b"", b""
        for block in chain([begun], super().blocks()):
            places = (place - self._n_given for place in self._cuts)
            bounds = [0, *(place for place in places if 0 < place < len(block)), len(block)]
            self._n_given += len(block)
            yield from (block[start:end] for start, end in pairwise(bounds) if start < end)


def _gather(run, wishes):
    """Read twice, since either digests are kept or URLs; put together what came of it."""
    settings, target = make_settings(**wishes), _Target()
    examples, damages, inputs = run(settings, target)
    found = Found(examples=list(examples), damages=list(damages), inputs=inputs)
    named = _Target()
    run(make_settings(**wishes, keeps_urls=True), named)
    names = chain.from_iterable(batch.digests for batch in named)
    for batch in target:
        found.rejected.update(batch.rejected)
        found.excluded.update(batch.excluded)
        found.excluded.update(REASONS[reason] for reason in batch.left_out["reason"])
        found.keys.update(batch.keys.tolist())
        assert batch.n_captures == len(batch.keys) == len(batch.rows)
        found.rows += _list_rows(batch, names, settings.names)
    assert next(names, None) is None
    return found


def _list_rows(batch, names, known):
    nothing = [None] * len(batch.rows)
    types, groups = known.types.texts(), known.groups.texts()
    columns = (batch.rows, batch.digests or nothing, batch.groups)
    texts = nothing if batch.texts is None else batch.texts.tolist()
    for row, digest, group, text in zip(*columns, texts, strict=True):
        yield Row(
            url=next(names),
            time=None if row["time"] == NO_TIME else int(row["time"]),
            status=None if row["status"] == NO_STATUS else int(row["status"]),
            mime=None if row["mime"] == NO_CODE else types[row["mime"]],
            digest=digest,
            group=None if group == NO_CODE else groups[group],
            is_revisit=bool(row["is_revisit"]),
            text=text,
        )
