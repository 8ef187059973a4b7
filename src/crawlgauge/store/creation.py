"""Make a store, and take it away if nothing came to be in it."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

from crawlgauge.errors import StoreError
from crawlgauge.remote.remote_path import AnyPath, RemotePath
from crawlgauge.store.files import PARTIAL_PREFIX, create_file
from crawlgauge.store.spilling import SPILL_FOLDER

__all__ = ["CACHE", "CRAWLS", "STORE_FILE", "STORE_SCHEMA", "create_store", "remove_if_empty"]

STORE_SCHEMA = "crawlgauge.store/1"
STORE_FILE = "store.json"
CRAWLS = "crawls"
CACHE = "cache"


def remove_if_empty(path: AnyPath) -> None:
    """Take a store away that holds no crawls; one that does is left as it is."""
    if isinstance(path, RemotePath):
        _remove_remote_if_empty(path)
        return
    # A folder that is not empty cannot be removed, also when another process has just begun.
    with suppress(OSError):
        (path / CRAWLS).rmdir()
        shutil.rmtree(path / CACHE, ignore_errors=True)
        (path / STORE_FILE).unlink(missing_ok=True)
        path.rmdir()


def create_store(path: AnyPath, key_rule: str) -> None:
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
    document = json.dumps({"schema": STORE_SCHEMA, "key_rule": key_rule}).encode()
    if isinstance(path, RemotePath):
        _create_remote(path, document)
    else:
        _create_local(path, document)


def _create_local(path: Path, document: bytes) -> None:
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; name a folder for the store")
    leftovers = list(path.glob(f"{PARTIAL_PREFIX}*"))
    if not (path / STORE_FILE).exists():
        if path.is_dir() and not all(_is_own(entry.name) for entry in path.iterdir()):
            raise _of_others(path)
        (path / CRAWLS).mkdir(parents=True, exist_ok=True)
        try:
            create_file(path / STORE_FILE, document)
        except OSError:
            remove_if_empty(path)
            raise
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)


def _is_own(name: str) -> bool:
    """Tell whether something belongs to a store; another process may just be making the same."""
    return name in {STORE_FILE, CRAWLS, CACHE, SPILL_FOLDER} or name.startswith(PARTIAL_PREFIX)


def _create_remote(path: RemotePath, document: bytes) -> None:
    from crawlgauge.remote.objects import Conflict
    from crawlgauge.remote.s3_objects import objects_at

    objects = objects_at(path)
    if objects.head(STORE_FILE) is not None:
        return
    own = (STORE_FILE, f"{CRAWLS}/", f"{CACHE}/")
    if any(entry.name and not entry.name.startswith(own) for entry in objects.listed("")):
        raise _of_others(path)
    with suppress(Conflict):  # Another process was first by a hair.
        objects.put_new(STORE_FILE, document)


def _remove_remote_if_empty(path: RemotePath) -> None:
    from crawlgauge.remote.s3_objects import objects_at

    with suppress(OSError):
        objects = objects_at(path)
        if not objects.listed(f"{CRAWLS}/"):
            for entry in objects.listed(f"{CACHE}/"):
                objects.delete(entry.name)
            objects.delete(STORE_FILE)


def _of_others(path: AnyPath) -> StoreError:
    return StoreError(f"{path} is a folder of other files; name another for the store")
