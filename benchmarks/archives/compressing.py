"""Files compressed as archives compress them: gzip, one member."""

from collections.abc import Iterable
from pathlib import Path

from isal import igzip

__all__ = ["write_gzip"]

LEVEL = 2
"""igzip's own scale; its files are about a tenth larger than those of ``gzip -6``."""


def write_gzip(path: Path, blocks: Iterable[bytes]) -> int:
    """Write blocks to a gzip file; return their size when uncompressed."""
    size = 0
    with igzip.open(path, "wb", compresslevel=LEVEL) as file:
        for block in blocks:
            size += file.write(block)
    return size
