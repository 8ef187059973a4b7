"""From the inputs that the user names to their captures, whatever the format."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.formats import find_format
from crawlgauge.sources.inputs import InputFiles, identify_file
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.sources.request import Request
from crawlgauge.sources.wacz import looks_like_wacz, open_wacz
from crawlgauge.sources.zipnum import (
    ClusterPart,
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

if TYPE_CHECKING:
    from crawlgauge.provenance import Input

__all__ = ["ArchiveReader"]

_log = logging.getLogger(__name__)


class ArchiveReader:
    """Reads inputs of any format, one after the other.

    Parameters
    ----------
    files
        The inputs.
    request
        What is wanted of them.
    keep_damaged
        Whether to keep what can be read of damaged inputs, instead of stopping.
    progress
        Told how far reading has come.

    Attributes
    ----------
    inputs
        Name, size and checksum of what was read so far.
    damages
        What was damaged so far.
    """

    def __init__(
        self,
        files: InputFiles,
        request: Request,
        *,
        keep_damaged: bool = False,
        progress: ReadingProgress | None = None,
    ) -> None:
        self._files = files
        self._request = request
        self._keep_damaged = keep_damaged
        self._progress = progress or ReadingProgress()
        self._known = {identify_file(name) for name in files.names}
        self.inputs: list[Input] = []
        self.damages: list[Damage] = []

    def captures(self) -> Iterator[Captures]:
        """Yield the captures of all inputs in batches.

        Raises
        ------
        SourceError
            If an input cannot be read or understood.
        DamagedInput
            If it is damaged and damaged inputs are not to be kept.
        """
        for name in self._files.repeated:
            _log.warning("%s was named more than once; it is read once", name)
        for name in self._files.names:
            yield from self._read_input(name)

    def _read_input(self, name: str, through: str | None = None) -> Iterator[Captures]:
        n_found = 0
        self._progress.file = name
        with self._stream(name) as stream:
            for captures in self._read_stream(stream):
                n_found += len(captures) + sum(captures.excluded.values())
                self._progress.add_captures(len(captures))
                yield captures
            self.damages.extend(stream.damages)
            self.inputs.append(stream.finish(through))
        if n_found == 0 and len(self._files.names) > 1:
            _log.warning("%s holds no captures", name)

    def _stream(self, name: str) -> ByteStream:
        return ByteStream(
            name,
            on_bytes=self._progress.add_bytes,
            max_expansion=self._request.max_expansion,
            keep_damaged=self._keep_damaged,
        )

    def _read_stream(self, stream: ByteStream) -> Iterator[Captures]:
        beginning = _beginning(stream)
        if looks_like_wacz(beginning):
            for member in open_wacz(
                stream,
                max_expansion=self._request.max_expansion,
                keep_damaged=self._keep_damaged,
            ):
                with member:
                    yield from self._read_stream(member)
                    self.damages.extend(member.damages)
        elif looks_like_zipnum_index(beginning):
            yield from self._read_parts(stream)
        elif looks_like_zipnum_locations(beginning):
            _log.info("%s tells where the parts of a ZipNum cluster are; passed over", stream.name)
        else:
            kind = find_format(beginning, self._request, stream.name)
            yield from kind.read(stream, self._request)

    def _read_parts(self, stream: ByteStream) -> Iterator[Captures]:
        """Read the parts of a ZipNum cluster that are not inputs themselves; see to all sizes."""
        for part in read_cluster(stream).parts:
            n_bytes = part.path.stat().st_size
            if n_bytes < part.n_bytes:
                stream.report(_cut_part(part, n_bytes))
            if identify_file(str(part.path)) not in self._known:
                self._known.add(identify_file(str(part.path)))
                yield from self._read_input(str(part.path), through=stream.name)


def _beginning(stream: ByteStream) -> bytes:
    """Return the first bytes that can be read."""
    while True:
        try:
            return stream.beginning()
        except DamagedInput as error:
            if not stream.recover(error):
                return b""


def _cut_part(part: ClusterPart, n_bytes: int) -> Damage:
    return Damage(
        file=str(part.path),
        byte=n_bytes,
        reason=f"it ends there, but its cluster's index tells of {part.n_bytes:,} bytes",
        lost="all that stood behind",
    )
