"""A lock for each crawl, which the system takes back when its process ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crawlgauge.errors import StoreBusy

__all__ = ["LOCK_NAME", "acquire_lock", "hold_lock"]

LOCK_NAME = "lock"
_PAUSE = 0.02


@contextmanager
def hold_lock(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Keep every other process from writing in `folder`, which is made if it is missing.

    Parameters
    ----------
    folder
        The folder of one crawl; its name is the crawl's label.
    patience
        Seconds to wait for another process.

    Raises
    ------
    StoreBusy
        If another process holds the lock.
    """
    handle = _wait_for_lock(folder, patience)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        _remove_if_empty(folder)
        os.close(handle)


def acquire_lock(folder: Path) -> int:
    """Take the lock of a folder, which is made if it is missing, without waiting.

    Returns
    -------
    int
        The lock is had until this file is closed.

    Raises
    ------
    StoreBusy
        If another process has it.
    """
    path = folder / LOCK_NAME
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # Another process removed the emptied folder in between.
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(handle, 32).decode("ascii", errors="replace").strip()
            os.close(handle)
            raise StoreBusy(
                f"crawl {folder.name!r} is being written by another process"
                f"{f' ({owner})' if owner else ''}; wait until it has finished"
            ) from None
        if _is_same_file(handle, path):
            return handle
        os.close(handle)  # The file was removed and made anew before the lock was had.


def _wait_for_lock(folder: Path, patience: float) -> int:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with suppress(StoreBusy):
            return acquire_lock(folder)
        time.sleep(_PAUSE)
    return acquire_lock(folder)


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _remove_if_empty(folder: Path) -> None:
    """Leave no folder behind that holds nothing but the lock."""
    with suppress(FileNotFoundError):  # Somebody deleted the whole store meanwhile.
        if [entry.name for entry in folder.iterdir()] == [LOCK_NAME]:
            (folder / LOCK_NAME).unlink()
            folder.rmdir()
