"""Where the store is: as given, as the environment says, or in the working folder."""

import os
from pathlib import Path

__all__ = ["DEFAULT_STORE", "STORE_VARIABLE", "StrPath", "find_store"]

StrPath = str | os.PathLike[str]

DEFAULT_STORE = "crawlgauge.store"
STORE_VARIABLE = "CRAWLGAUGE_STORE"


def find_store(path: StrPath | None = None) -> Path:
    """Return the store's folder.

    Parameters
    ----------
    path
        As given; None for what the environment or else the working folder says.
    """
    return Path(path or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE)
