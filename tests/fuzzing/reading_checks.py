"""What must hold whatever the bytes of an input are."""

import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import byte_stream
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.request import Request

__all__ = ["BrokenPromise", "check_reading", "read_all"]

FIELDS = frozenset({"key", "time", "status", "mime", "digest"})
USUAL_CHUNK_BYTES = byte_stream._CHUNK_BYTES
SMALL_CHUNK_BYTES = 57
"""So few that most things are cut by the border of a chunk."""
MAX_SMALL_CHUNKS = 20_000
TOO_LONG = ("rejected", "too-long")


class BrokenPromise(AssertionError):  # noqa: N818 - the name says what happened
    """Something was read that no reader may give."""


@dataclass
class Reading:
    """All that came of reading an input once."""

    rows: list[tuple[object, ...]] = field(default_factory=list)
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    damages: list[str] = field(default_factory=list)
    error: SourceError | None = None


def _promise(holds, what):
    if not holds:
        raise BrokenPromise(what)


def _check_batch(batch):
    _promise(batch.url.null_count == 0, "a URL is null")
    for column in batch.columns().values():
        column.validate(full=True)
    counts = (*batch.rejected.values(), *batch.excluded.values())
    _promise(all(type(count) is int and count > 0 for count in counts), f"counts are {counts}")
    for example in batch.examples:
        _promise(example.reason in batch.rejected, f"no record was rejected for {example.reason}")
        _promise(example.text.isprintable(), f"an example shows {example.text!r}")


def _check_message(text, path):
    _promise(text.isprintable(), f"a message is {text!r}")
    text.encode()
    _promise(path.parent.name in text, f"a message does not name the file: {text}")


def read_all(path: Path, *, keep_damaged: bool, group: str | None = None) -> Reading:
    """Read a file with all fields, checking each batch."""
    reader = ArchiveReader(
        InputFiles(names=(str(path),), repeated=()),
        Request(fields=FIELDS, group=group),
        keep_damaged=keep_damaged,
    )
    found = Reading()
    try:
        for batch in reader.captures():
            _check_batch(batch)
            columns = batch.columns()
            found.rows += zip(*(column.to_pylist() for column in columns.values()), strict=True)
            found.left.update({("rejected", reason): n for reason, n in batch.rejected.items()})
            found.left.update({("excluded", reason): n for reason, n in batch.excluded.items()})
    except SourceError as error:
        found.error = error
        _check_message(str(error), path)
    found.damages = [str(damage) for damage in reader.damages]
    for damage in found.damages:
        _check_message(damage, path)
    return found


def check_reading(path: Path, *, group: str | None = None) -> Reading:
    """Read a file in all ways and compare what comes of them; return what was kept.

    Raises
    ------
    BrokenPromise
        If they do not go together. Whatever else is raised is a reader's fault too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped = read_all(path, keep_damaged=False, group=group)
        kept = read_all(path, keep_damaged=True, group=group)
        # How much can be read before a break or a refusal depends on the chunks.
        is_whole = stopped.error is None
        again = _read_again(path, group, is_whole=is_whole)
    _promise(not stopped.damages, "damage was got over that should have stopped reading")
    lost = Counter(stopped.rows) - Counter(kept.rows)
    _promise(not lost, f"lost by keeping what is damaged: {list(lost)[:3]}")
    if isinstance(stopped.error, DamagedInput):
        _promise(kept.damages or kept.error, "damage is not reported where it is got over")
    else:
        _promise(str(kept.error) == str(stopped.error), f"kept: {kept.error}; {stopped.error}")
        _promise((kept.rows, kept.left) == (stopped.rows, stopped.left), "whole, but read apart")
        _promise(not kept.damages or kept.error, f"damage of a whole file: {kept.damages}")
    # Where the first line is longer than a block, its format is told from what is at hand of it.
    if TOO_LONG not in kept.left + again.left:
        _check_alike(kept, again)
    return kept


def _check_alike(kept, again):
    _promise(str(kept.error) == str(again.error), f"{kept.error}; again {again.error}")
    _promise(kept.rows == again.rows, "other captures when read again")
    _promise(kept.left == again.left, f"left out {kept.left}, when read again {again.left}")
    _promise(kept.damages == again.damages, f"{kept.damages}; again {again.damages}")


def _read_again(path, group, *, is_whole):
    if is_whole:
        n_bytes = max(SMALL_CHUNK_BYTES, path.stat().st_size // MAX_SMALL_CHUNKS)
        byte_stream._CHUNK_BYTES = n_bytes
    try:
        return read_all(path, keep_damaged=True, group=group)
    finally:
        byte_stream._CHUNK_BYTES = USUAL_CHUNK_BYTES
