"""Tell whether inputs are what a crawl was made from, without reading more than is needed."""

from collections.abc import Iterable

from crawlgauge.errors import SourceError
from crawlgauge.provenance import Input
from crawlgauge.remote.names import is_remote
from crawlgauge.remote.remote_path import RemotePath
from crawlgauge.sources.byte_stream import fingerprint
from crawlgauge.sources.inputs import InputFiles, can_be_reread
from crawlgauge.sources.measured_file import VERSION_CHECKSUM, version_as_input

__all__ = ["fingerprint_all", "recognise"]

_UNREAD = "unread:"
"""What begins the checksum of what is known to be new without being read; no other begins so."""


def fingerprint_all(inputs: InputFiles, known: Iterable[Input]) -> tuple[Input, ...] | None:
    """Return sizes and checksums of the inputs, or None if they can be read but once.

    Parameters
    ----------
    inputs
        The inputs.
    known
        What they are going to be compared with; see `recognise`.
    """
    if not all(map(can_be_reread, inputs.names)):
        return None
    entries = tuple(known)
    return tuple(recognise(name, entries) for name in inputs.names)


def recognise(name: str, known: Iterable[Input]) -> Input:
    """Return name, size and checksum of an input, to be compared with those of known ones.

    A remote one is only read where nothing else tells whether it is one of them: not if its server
    states the version that was read before, nor if none of them has its size.

    Parameters
    ----------
    name
        The input.
    known
        What it is going to be compared with.

    Raises
    ------
    SourceError
        If it cannot be read.
    """
    if not is_remote(name):
        return fingerprint(name)
    try:
        facts = RemotePath(name).stat()
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror or error}") from error
    alike = [entry for entry in known if entry.n_bytes == facts.st_size or facts.st_size < 0]
    if facts.version is not None:
        for entry in alike:
            if entry.name == name and entry.version == facts.version:
                return entry
    if all(entry.checksum.startswith(VERSION_CHECKSUM) for entry in alike):
        if facts.version is not None and facts.st_size >= 0:
            return version_as_input(name, facts)
        return Input(name=name, checksum=_UNREAD, n_bytes=facts.st_size)
    return fingerprint(name)
