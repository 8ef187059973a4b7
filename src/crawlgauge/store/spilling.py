"""A folder beside the crawls for what does not fit into memory; gone when its process ends.

::

    crawlgauge.store/spill/4711-0/
      lock           held as long as the process lives
      run-0.keys     sorted 64-bit keys
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import StoreBusy
from crawlgauge.store.files import check_room, explain_os_error
from crawlgauge.store.locking import acquire_lock

__all__ = ["SPILL_FOLDER", "SpillFolder", "remove_abandoned"]

SPILL_FOLDER = "spill"
_KEY_BYTES = 8


class SpillFolder:
    """Takes up runs of keys on the disk; made when the first one comes.

    Parameters
    ----------
    store
        The store's folder: the disk with room for the crawl's set.
    """

    def __init__(self, store: Path) -> None:
        self._parent = store / SPILL_FOLDER
        self._folder: Path | None = None
        self._lock: int | None = None
        self._n_runs = 0

    def write_run(self, parts: Iterable[NDArray[np.uint64]], n_most: int) -> NDArray[np.uint64]:
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
        with explain_os_error("write", self._parent):
            folder = self._open()
            check_room(folder, n_most * _KEY_BYTES, "what does not fit into --memory")
            path = folder / f"run-{self._n_runs}.keys"
            self._n_runs += 1
            n_keys = 0
            with path.open("wb") as file:
                for part in parts:
                    file.write(np.ascontiguousarray(part).data)
                    n_keys += part.size
            if n_keys == 0:
                return np.empty(0, dtype=np.uint64)
            return np.memmap(path, dtype=np.uint64, mode="r", shape=(n_keys,))

    def _open(self) -> Path:
        if self._folder is None:
            number = 0
            while True:
                folder = self._parent / f"{os.getpid()}-{number}"
                try:
                    self._lock = acquire_lock(folder)
                except StoreBusy:
                    number += 1  # Another command of the same process.
                else:
                    self._folder = folder
                    break
        return self._folder

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._folder is None or self._lock is None:
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)
        _remove_if_empty(self._parent)


def remove_abandoned(store: Path) -> None:
    """Delete what processes left behind that were killed.

    Parameters
    ----------
    store
        The store's folder.
    """
    parent = store / SPILL_FOLDER
    try:
        folders = list(parent.iterdir())
    except FileNotFoundError:
        return
    for folder in folders:
        try:
            lock = acquire_lock(folder)
        except StoreBusy:
            continue  # Its process lives.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
    _remove_if_empty(parent)


def _remove_if_empty(parent: Path) -> None:
    try:
        parent.rmdir()
    except OSError:
        return  # Another process spills here, or has just taken the folder away.
