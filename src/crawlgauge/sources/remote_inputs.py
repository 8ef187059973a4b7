"""Remote objects that the user's words stand for: objects, folders and globs."""

import threading
from collections.abc import Callable, Iterable
from posixpath import dirname

from crawlgauge.errors import SourceError
from crawlgauge.remote.interruption import interruptible
from crawlgauge.remote.names import is_web, reveal
from crawlgauge.remote.remote_path import RemotePath, has_magic

__all__ = ["expand_remote", "find_root"]

_MAX_REQUESTS = 16
"""At once: a list may name thousands of objects, and each answer takes some 50 ms."""


class _Given(Exception):  # noqa: N818 - it is no error
    """Nobody waits for the answers any more."""


def expand_remote(paths: Iterable[RemotePath]) -> list[list[RemotePath]]:
    """Return the objects that each of the paths stands for, with their sizes.

    Parameters
    ----------
    paths
        Objects, folders (all objects below, hidden ones left out) and globs.

    Raises
    ------
    SourceError
        If one stands for nothing that can be read.
    """
    from concurrent.futures import ThreadPoolExecutor

    waiting = list(paths)
    if not waiting:
        return []
    is_over = threading.Event()

    def check() -> None:
        if is_over.is_set():
            raise _Given

    def expand(path: RemotePath) -> list[RemotePath]:
        with interruptible(check):
            return _expand(path)

    pool = ThreadPoolExecutor(_MAX_REQUESTS, thread_name_prefix="asking")
    try:
        return list(pool.map(expand, waiting))
    finally:
        is_over.set()
        pool.shutdown(wait=False, cancel_futures=True)


def find_root(listing: RemotePath, word: str) -> RemotePath:
    """Return the folder that the names in a remote list start from.

    That is the list's own, or else the root of its bucket or server, as in Common Crawl's lists.

    Parameters
    ----------
    listing
        The list.
    word
        The first name in it.
    """
    if has_magic(word) or word.endswith("/"):
        return listing.parent
    root = RemotePath(reveal(str(listing / "/")))
    is_below_root = _ask(listing, lambda: not (listing.parent / word).is_file())
    return root if is_below_root and _ask(listing, (root / word).is_file) else listing.parent


def _ask(path: RemotePath, question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError as error:
        raise _unreadable(path, error) from error


def _expand(path: RemotePath) -> list[RemotePath]:
    try:
        return _find(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def _find(path: RemotePath) -> list[RemotePath]:
    name = str(path)
    if has_magic(name):
        if found := _glob(path):
            return found
        if is_web(name) or not path.is_file():
            raise SourceError(f"no object matches {name}")
    if path.is_folder and not is_web(name):
        return _below(path)
    try:
        return [RemotePath(reveal(name), path.stat())]
    except (FileNotFoundError, IsADirectoryError):
        if is_web(name) or not path.is_dir():
            raise
        return _below(path)


def _below(path: RemotePath) -> list[RemotePath]:
    n_own = len(path.parts)
    found = [file for file in path.rglob() if not _is_hidden(file.parts[n_own:])]
    if not found:
        raise SourceError(f"the folder {path} holds no objects")
    return found


def _glob(path: RemotePath) -> list[RemotePath]:
    scheme, _, rest = str(path).partition("://")
    # What stands before the first part with a magic character.
    cut = next(at for at in range(len(rest)) if has_magic(f"{scheme}://{rest[: at + 1]}"))
    folder = dirname(rest[:cut])
    if not folder:
        raise SourceError(f"{path}: the bucket must be named; only what is in it can be a pattern")
    pattern = rest[len(folder) + 1 :]
    base = RemotePath(f"{scheme}://{folder}/")
    n_own = len(base.parts)
    return [file for file in base.glob(pattern) if not _is_hidden(file.parts[n_own:])]


def _is_hidden(parts: tuple[str, ...]) -> bool:
    return any(part.startswith(".") for part in parts)


def _unreadable(path: RemotePath, error: OSError) -> SourceError:
    return SourceError(f"cannot read {path}: {error.strerror or error}")
