"""Where the store is: as given, as the environment says, or in the working folder."""

import os

from crawlgauge.sources.remote import AnyPath, RemotePath, to_path

StrPath = str | os.PathLike[str]

DEFAULT_STORE = "crawlgauge.store"
STORE_VARIABLE = "CRAWLGAUGE_STORE"


def find_store(path: StrPath | RemotePath | None = None) -> AnyPath:
    """Return the store's folder, on this machine or on remote storage.

    Parameters
    ----------
    path
        As given; None for what the environment or else the working folder says.
    """
    if isinstance(path, RemotePath):
        return path
    return to_path(os.fspath(path or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE))
