"""A folder for what does not fit into memory, or is not yet stored; gone when its process ends.

::

    crawlgauge.store/spill/4711-0/      of a remote store: /tmp/crawlgauge-1000/4711-0/
      lock           held as long as the process lives
      run-0.keys     sorted 64-bit keys
"""

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources.remote import AnyPath, RemotePath
from crawlgauge.store.files import acquire_lock, check_room, close_quietly, explain_os_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlgauge.store.key_set import Keys

SPILL_FOLDER = "spill"
_KEY_BYTES = 8


class SpillFolder:
    """Takes up runs of keys and other files on the disk; made when the first one comes.

    Parameters
    ----------
    store
        The store: the disk with room for the crawl's set, unless it is remote.
    """

    def __init__(self, store: AnyPath) -> None:
        self._parent = _parent_of(store)
        self._is_in_temporary_folder = isinstance(store, RemotePath)
        self._folder: Path | None = None
        self._lock: int | None = None
        self._n_runs = 0

    def write_run(self, parts: "Iterable[Keys]", n_most: int) -> "Keys":
        """Write sorted keys to the disk, and give them back as an array that is mapped from there.

        Parameters
        ----------
        parts
            One after the other in rising order.
        n_most
            How many keys there are at most.

        Raises
        ------
        StoreError
            If there is no room, or the folder cannot be written.
        """
        # Whoever only lists crawls does not wait for numpy.
        import numpy as np

        from crawlgauge.core.machine import Mapping

        with explain_os_error("write", self._parent):
            folder = self.open()
            check_room(folder, n_most * _KEY_BYTES, "what does not fit into --memory")
            path = folder / f"run-{self._n_runs}.keys"
            self._n_runs += 1
            with path.open("wb") as file:
                for part in parts:
                    file.write(np.ascontiguousarray(part).data)
            return np.frombuffer(memoryview(Mapping(path)), np.uint64)

    def open(self) -> Path:
        """Return the folder, which is made if need be."""
        if self._folder is None and self._is_in_temporary_folder:
            _make_own(self._parent)
        number = 0
        while self._folder is None:
            folder = self._parent / f"{os.getpid()}-{number}"
            with suppress(StoreBusy):  # Another command of the same process has it.
                self._lock, self._folder = acquire_lock(folder), folder
            number += 1
        return self._folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._folder is None or self._lock is None:
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        close_quietly(self._lock)
        _remove_if_empty(self._parent)


def remove_abandoned(store: AnyPath) -> None:
    """Delete what processes left behind that were killed.

    Parameters
    ----------
    store
        The store.
    """
    parent = _parent_of(store)
    try:
        if isinstance(store, RemotePath) and not _is_own(parent):
            return
        folders = [entry for entry in parent.iterdir() if entry.is_dir()]
    except FileNotFoundError:
        return
    for folder in folders:
        with suppress(StoreBusy, OSError):  # Its process lives, or it belongs to another user.
            lock = acquire_lock(folder)
            shutil.rmtree(folder, ignore_errors=True)
            close_quietly(lock)
    _remove_if_empty(parent)


def _remove_if_empty(parent: Path) -> None:
    with suppress(OSError):  # Another process spills here, or has just taken the folder away.
        parent.rmdir()


def _parent_of(store: AnyPath) -> Path:
    if isinstance(store, RemotePath):
        return Path(tempfile.gettempdir()) / f"crawlgauge-{os.getuid()}"
    return store / SPILL_FOLDER


def _make_own(parent: Path) -> None:
    """Make a folder where everybody may make some, for this user alone."""
    with suppress(FileExistsError):
        parent.mkdir(mode=0o700)
    if not _is_own(parent):
        raise StoreError(f"{parent} belongs to somebody else; name another place with TMPDIR")


def _is_own(parent: Path) -> bool:
    found = parent.lstat()
    return found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode)
