"""Writing files so that a kill at any moment leaves the old one or the new one, never half."""

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from crawlgauge.errors import StoreError
from crawlgauge.remote.remote_path import AnyPath, RemotePath

__all__ = [
    "PARTIAL_PREFIX",
    "check_room",
    "create_file",
    "explain_os_error",
    "partial_file",
    "remove_if_abandoned",
    "replace_file",
    "sync_folder",
    "write_durably",
]

PARTIAL_PREFIX = ".partial-"
"""Files of this name are unfinished: they belong to a running process or are leftovers."""


@contextmanager
def partial_file(folder: Path, name: str) -> Iterator[Path]:
    """Give the path of an unfinished file, to be renamed; whatever is left of it is deleted.

    Parameters
    ----------
    folder
        Where; it must exist.
    name
        What the file will be, for people who look into the folder.
    """
    partial = folder / f"{PARTIAL_PREFIX}{os.getpid()}-{threading.get_ident()}-{name}"
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def remove_if_abandoned(partial: Path) -> None:
    """Delete an unfinished file unless the process that its name tells is alive."""
    pid = partial.name.removeprefix(PARTIAL_PREFIX).partition("-")[0]
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        partial.unlink(missing_ok=True)
    except PermissionError:
        return  # It lives, and belongs to somebody else.


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
        # A process that has just made the file may have tidied the partial one away.
        with suppress(FileExistsError, FileNotFoundError):
            path.hardlink_to(partial)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that renames in `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_room(folder: Path, n_bytes: int, what: str) -> None:
    """See that the disk has room for what is about to be written.

    Parameters
    ----------
    folder
        Where; it must exist.
    n_bytes
        How much room is needed.
    what
        What for, as the beginning of a sentence.

    Raises
    ------
    StoreError
        If there is less.
    """
    with explain_os_error("write", folder):
        free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise StoreError(
            f"no room in {folder}: {what} needs about {_megabytes(n_bytes)}, and "
            f"{_megabytes(free)} are free. Free some space, or keep a part of the crawl with "
            "--sample; the store is whole"
        )


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


@contextmanager
def explain_os_error(action: str, path: AnyPath) -> Iterator[None]:
    """Turn the system's errors within the block into a `StoreError` that says what to do.

    Parameters
    ----------
    action
        What was being done, such as ``write``.
    path
        To what.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        advice = {
            errno.ENOSPC: "; free some space and run the command again, the store is whole",
            errno.EDQUOT: "; free some space and run the command again, the store is whole",
            errno.EACCES: "; check who may write there",
            errno.EROFS: "; choose another store with --store",
        }.get(error.errno or 0, "")
        if isinstance(path, RemotePath) and error.errno == errno.EACCES:
            advice = ""  # The reason says it.
        raise StoreError(f"cannot {action} {path}: {reason}{advice}") from error
