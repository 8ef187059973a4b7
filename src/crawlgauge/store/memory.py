"""How much memory a command may take."""

import os
import re
from pathlib import Path

from crawlgauge.errors import StoreError

__all__ = ["MIN_MEMORY", "default_memory", "parse_memory"]

MIN_MEMORY = 256 << 20
"""What reading and sorting take in any case, measured with room to spare."""

_SHARE_OF_MACHINE = 4
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def default_memory() -> int:
    """Return a quarter of the machine's memory, or of the container's where it has less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _CONTAINER_LIMIT.exists():
        limit = _CONTAINER_LIMIT.read_text(encoding="ascii").strip()
        total = min(total, int(limit)) if limit.isdigit() else total
    return max(MIN_MEMORY, total // _SHARE_OF_MACHINE)


def parse_memory(text: str) -> int:
    """Read an amount of memory as people write it.

    Raises
    ------
    StoreError
        If it is none, or too little to work with.

    Examples
    --------
    >>> parse_memory("2G") == parse_memory("2048 MiB") == 2 << 30
    True
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise StoreError(f"{text!r} is no amount of memory; write it as 2G, 512M or 1.5 GiB")
    n_bytes = int(float(match[1]) * (1 << _UNITS[match[2].upper()]))
    if n_bytes < MIN_MEMORY:
        raise StoreError(
            f"{text} of memory is too little to read archives with; give at least "
            f"{MIN_MEMORY >> 20}M"
        )
    return n_bytes
