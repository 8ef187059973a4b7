"""Make the folder of a store, and take it away if nothing came to be in it."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

from crawlgauge.errors import StoreError
from crawlgauge.store.files import PARTIAL_PREFIX, create_file
from crawlgauge.store.spilling import SPILL_FOLDER

__all__ = ["CACHE", "CRAWLS", "STORE_FILE", "STORE_SCHEMA", "create_store", "remove_if_empty"]

STORE_SCHEMA = "crawlgauge.store/1"
STORE_FILE = "store.json"
CRAWLS = "crawls"
CACHE = "cache"


def remove_if_empty(path: Path) -> None:
    """Take a store away that holds no crawls; one that does is left as it is."""
    # A folder that is not empty cannot be removed, also when another process has just begun.
    with suppress(OSError):
        (path / CRAWLS).rmdir()
        shutil.rmtree(path / CACHE, ignore_errors=True)
        (path / STORE_FILE).unlink(missing_ok=True)
        path.rmdir()


def create_store(path: Path, key_rule: str) -> None:
    """Make a store where there is none; one that is there is left as it is.

    Parameters
    ----------
    path
        The store's folder.
    key_rule
        Name and version of the rule for its keys.

    Raises
    ------
    StoreError
        If there is a file, or a folder of other files.
    """
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; name a folder for the store")
    leftovers = list(path.glob(f"{PARTIAL_PREFIX}*"))
    if not (path / STORE_FILE).exists():
        own = {CRAWLS, CACHE, SPILL_FOLDER, *(leftover.name for leftover in leftovers)}
        if path.is_dir() and any(entry.name not in own for entry in path.iterdir()):
            raise StoreError(f"{path} is a folder of other files; name another for the store")
        (path / CRAWLS).mkdir(parents=True, exist_ok=True)
        document = {"schema": STORE_SCHEMA, "key_rule": key_rule}
        try:
            create_file(path / STORE_FILE, json.dumps(document).encode())
        except OSError:
            remove_if_empty(path)
            raise
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
