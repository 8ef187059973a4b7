"""What a WACZ file's datapackage.json says of the files in it: their sizes and checksums."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crawlgauge.sources.zip_member import Checksum

__all__ = ["Resource", "parse_package"]

_DEFAULT_ALGORITHM = "sha256"
_ALGORITHMS = frozenset({"md5", "sha1", "sha224", "sha256", "sha384", "sha512"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A file that datapackage.json lists.

    Parameters
    ----------
    path
        Its name in the ZIP file.
    n_bytes
        Its size, if stated.
    checksum
        What it hashes to, if stated in a way that is known.
    """

    path: str
    n_bytes: int | None
    checksum: Checksum | None


def parse_package(text: bytes) -> tuple[Resource, ...]:
    r"""Return the files that a datapackage.json lists.

    Versions 1.0 of WACZ state size and checksum as ``stats`` and ``hashing``, later ones as
    ``bytes`` and ``hash``.

    Parameters
    ----------
    text
        The document.

    Raises
    ------
    ValueError
        If it is no such document.

    Examples
    --------
    >>> parse_package(b'{"resources": [{"path": "archive/a.warc", "bytes": 2730}]}')
    (Resource(path='archive/a.warc', n_bytes=2730, checksum=None),)
    """
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    entries = document.get("resources", []) if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it is no data package")  # noqa: TRY004 - the document's, not the caller's
    return tuple(
        _read_entry(entry)
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("path"), str)
    )


def _read_entry(entry: Mapping[str, Any]) -> Resource:
    stats = entry.get("stats")
    stats = stats if isinstance(stats, dict) else {}
    n_bytes = entry.get("bytes", stats.get("bytes"))
    algorithm, digest = entry.get("hashing", _DEFAULT_ALGORITHM), stats.get("hash")
    if isinstance(entry.get("hash"), str):
        before, _, digest = entry["hash"].rpartition(":")
        algorithm = before or algorithm
    return Resource(
        path=entry["path"],
        n_bytes=n_bytes if isinstance(n_bytes, int) else None,
        checksum=_known_checksum(algorithm, digest),
    )


def _known_checksum(algorithm: object, digest: object) -> Checksum | None:
    if not isinstance(algorithm, str) or not isinstance(digest, str):
        return None
    algorithm, digest = algorithm.lower().replace("-", ""), digest.lower()
    if algorithm not in _ALGORITHMS:
        return None
    is_whole = len(digest) == 2 * hashlib.new(algorithm).digest_size
    return Checksum(algorithm=algorithm, digest=digest) if is_whole else None
