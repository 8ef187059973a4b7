"""Where all of a store is; files that a kill leaves as they were or shall be; locks on folders.

::

    crawlgauge.store/
      store.json                 by which rule URLs are the same
      crawls/LABEL/              manifest.json, a file for each set, one for attributes, a lock
      anchors/NAME.json          what is known from elsewhere
      cache/                     counts and the like, which can be lost
      spill/                     what does not fit into memory, while a process runs
"""

import errno
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources.remote import AnyPath, RemotePath

STORE_FILE = "store.json"
CRAWLS = "crawls"
CACHE = "cache"
ANCHORS = "anchors"

PARTIAL_PREFIX = ".partial-"
"""Files of this name are unfinished: they belong to a running process or are leftovers."""

LOCK_NAME = "lock"
_PAUSE = 0.02
_WITHOUT_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""What systems answer whose files can have but one name."""


@contextmanager
def partial_file(folder: Path, name: str) -> Iterator[Path]:
    """Give the path of an unfinished file, to be renamed; whatever is left of it is deleted.

    Its name tells the process, and the thread, whose file it is.

    Parameters
    ----------
    folder
        Where the finished file will be, so that renaming is one step.
    name
        The finished file's name, or the last part of it.
    """
    partial = folder / f"{PARTIAL_PREFIX}{os.getpid()}-{threading.get_ident()}-{name}"
    try:
        yield partial
    finally:
        with suppress(OSError):  # Whoever writes next cleans up.
            partial.unlink(missing_ok=True)


def remove_if_abandoned(partial: Path) -> None:
    """Delete an unfinished file unless the process that its name tells is alive."""
    pid = partial.name.removeprefix(PARTIAL_PREFIX).partition("-")[0]
    if not pid.isdecimal() or not is_alive(int(pid)):
        partial.unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs on this machine, whoever it belongs to."""
    try:
        with suppress(PermissionError):
            os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    return True


@contextmanager
def write_durably(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing and see to it that all is on the disk in the end."""
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, data: bytes) -> None:
    """Make or replace a file: at any moment there is the old content or the new, whole."""
    with partial_file(path.parent, path.name) as partial:
        with write_durably(partial) as file:
            file.write(data)
        partial.replace(path)
    sync_folder(path.parent)


def create_file(path: Path, data: bytes) -> None:
    """Make a file, whole; if it exists, also when another process is first by a hair, leave it."""
    with partial_file(path.parent, path.name) as partial:
        with write_durably(partial) as file:
            file.write(data)
        try:
            path.hardlink_to(partial)
        except (FileExistsError, FileNotFoundError):
            pass  # A process that has just made it may have tidied the partial one away.
        except OSError as error:
            if error.errno not in _WITHOUT_LINKS:
                raise
            if not path.exists():
                partial.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that renames in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_room(folder: Path, n_bytes: int, what: str) -> None:
    """See that the disk has room for what is about to be written.

    Raises
    ------
    StoreError
        If it has not, with how much is missing.
    """
    with explain_os_error("write", folder):
        free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise StoreError(
            f"no room in {folder}: {what} needs about {n_bytes / 1e6:,.1f} MB, and "
            f"{free / 1e6:,.1f} MB are free. Free some space, or keep a part of the crawl with "
            "--sample; the store is whole"
        )


@contextmanager
def explain_os_error(action: str, path: AnyPath) -> Iterator[None]:
    """Turn the system's errors within the block into a `StoreError` that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        advice = {
            errno.ENOSPC: "; free some space and run the command again, the store is whole",
            errno.EDQUOT: "; free some space and run the command again, the store is whole",
            errno.EACCES: "; check who may use it",
            errno.EROFS: "; choose another store with --store",
            errno.EMFILE: "; allow more open files (ulimit -n)",
        }.get(error.errno or 0, "")
        if isinstance(path, RemotePath):
            advice = ""  # The reason says it.
        raise StoreError(f"cannot {action} {path}: {reason}{advice}") from error


@contextmanager
def hold_lock(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Keep every other process from writing in a folder, which is made if it is missing.

    The system takes the lock back when its process ends, however it ends.

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
    handle = acquire_lock(folder, patience=patience)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        _remove_if_empty(folder)
        close_quietly(handle)


def close_quietly(handle: int) -> None:
    """Close a file that holds nothing to be kept: it is closed also where the system complains."""
    with suppress(OSError):
        os.close(handle)


def acquire_lock(folder: Path, *, patience: float = 0.0) -> int:
    """Take the lock of a folder, which is made if it is missing.

    Parameters
    ----------
    folder
        The folder.
    patience
        Seconds to wait for another process.

    Returns
    -------
    int
        The lock is had until this file is closed.

    Raises
    ------
    StoreBusy
        If another process has it.
    """
    path, end = folder / LOCK_NAME, time.monotonic() + patience
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # Another process removed the emptied folder, or its parent, in between.
        except FileExistsError:
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                raise
            continue  # As above, between two looks of mkdir.
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(handle, 32).decode("ascii", errors="replace").strip()
            close_quietly(handle)
            if time.monotonic() < end:
                time.sleep(_PAUSE)
                continue
            raise StoreBusy(
                f"crawl {folder.name!r} is being written by another process"
                f"{f' ({owner})' if owner else ''}; wait until it has finished"
            ) from None
        except OSError:
            close_quietly(handle)
            raise
        if _is_same_file(handle, path):
            return handle
        close_quietly(handle)  # The file was removed and made anew before the lock was had.


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _remove_if_empty(folder: Path) -> None:
    """Leave no folder behind that holds nothing but the lock, unless the system wants it."""
    with suppress(OSError):  # Whoever writes next cleans up.
        if [entry.name for entry in folder.iterdir()] == [LOCK_NAME]:
            (folder / LOCK_NAME).unlink()
            folder.rmdir()
