"""From what the user names (files, folders, globs, lists, stdin) to the files to read."""

import glob
import logging
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from crawlgauge.errors import SourceError
from crawlgauge.sources import remote
from crawlgauge.sources.cdx_server import is_query, list_collections, to_query
from crawlgauge.sources.decompress import STDIN, read_whole
from crawlgauge.sources.folders import choose_files
from crawlgauge.sources.remote import AnyPath, RemotePath, is_remote, local_name, to_path
from crawlgauge.sources.what_counts import DEFAULT_RATE

_MAX_LIST_BYTES = 1 << 28
"""Names of a million files."""
_log = logging.getLogger(__name__)
_INDEX_PREFIX, _INDEX = "ccindex+", "cluster.idx"
"""Stands before the folder of a ZipNum cluster on a server, where nobody can list what is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFiles:
    """The files that the user's words stand for.

    Parameters
    ----------
    names
        As the user named them, in order; ``-`` is standard input. Remote ones are without
        credentials, which this process remembers.
    sizes
        Sizes of remote files in bytes by name, where their servers have told.
    """

    names: tuple[str, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)


def find_inputs(
    words: Iterable[str],
    *,
    base: AnyPath | None = None,
    rate_per_minute: float = DEFAULT_RATE,
    is_stated: bool = False,
) -> InputFiles:
    """Find the files that the user's words stand for.

    Parameters
    ----------
    words
        Files, folders (what of them holds captures, see `choose_files`), globs, ``@list.txt`` (a
        file that names inputs, one a line, relative to its own folder) and ``-`` for standard
        input. Files, folders, globs and lists may also be remote: ``s3://bucket/folder/*.gz``. A
        query of a CDX server is ``cdx+https://HOST/PATH?url=…``, the index of a ZipNum cluster
        ``ccindex+https://HOST/FOLDER/``.
    base
        Folder that relative paths start from; the working folder if not given.
    rate_per_minute
        How often a CDX server may be asked which collections it has.
    is_stated
        Whether the user says what format the files are of: then all of a folder are meant.

    Raises
    ------
    SourceError
        If a word stands for nothing that can be read.
    """
    names: list[str] = []
    sizes: dict[str, int] = {}
    seen: set[object] = set()
    for found in _expand_all(_expand_servers(words, rate_per_minute), base, is_stated):
        name = str(found)
        if isinstance(found, RemotePath) and found.known_facts().st_size >= 0:
            sizes[name] = found.known_facts().st_size
        identity = identify_file(name)
        if identity in seen:
            _log.warning("%s was named more than once; it is read once", name)
        else:
            seen.add(identity)
            names.append(name)
    if not names:
        raise SourceError("no input was named; give files, folders, globs, @list.txt or -")
    return InputFiles(names=tuple(names), sizes=sizes)


def _expand_servers(words: Iterable[str], rate_per_minute: float) -> Iterator[str]:
    """Yield what words of servers stand for, and other words as they are."""
    for word in words:
        if is_query(word):
            collections = list_collections(word, rate_per_minute)
            yield from (to_query(word),) if collections is None else collections.values()
        elif word.startswith(_INDEX_PREFIX):
            address = word.removeprefix(_INDEX_PREFIX)
            is_index = address.endswith(".idx")
            yield address if is_index else f"{address.rstrip('/')}/{_INDEX}"
        else:
            yield word


def _expand_all(
    words: Iterable[str], base: AnyPath | None, is_stated: bool
) -> Iterator[str | AnyPath]:
    for is_list, some in groupby(words, lambda word: word.startswith("@")):
        if is_list:
            for word in some:
                yield from _expand_list(_below(base, word[1:]), is_stated)
        else:
            yield from _expand_plain(list(some), base, is_stated)


def _expand_plain(
    words: list[str], base: AnyPath | None, is_stated: bool
) -> Iterator[str | AnyPath]:
    """Expand words that are no lists; of all that are remote, the servers are asked at once."""
    places = {
        word: _below(base, word) for word in words if word not in ("", STDIN) and not is_query(word)
    }
    elsewhere = [path for path in places.values() if isinstance(path, RemotePath)]
    expanded = dict(zip(elsewhere, remote.expand_remote(elsewhere), strict=True))
    for word in words:
        path = places.get(word)
        if isinstance(path, RemotePath):
            files = expanded[path]
            is_folder = len(files) > 1 and not glob.has_magic(path.name)
            yield from choose_files(path, files, is_stated=is_stated) if is_folder else files
        elif path is not None:
            yield from _expand(local_name(word), path, base, is_stated)
        elif word:
            yield word
        else:
            raise SourceError("an input is named by an empty word")


def _expand(word: str, path: Path, base: AnyPath | None, is_stated: bool) -> Iterator[str]:
    kind = _find(path)
    if kind is not None and stat.S_ISDIR(kind.st_mode):
        found = sorted(
            file
            for file in path.rglob("*")
            if not file.is_dir()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
        if not found:
            raise SourceError(f"the folder {word} holds no files")
        yield from map(str, choose_files(path, found, is_stated=is_stated))
    elif kind is not None:
        yield str(path)
    elif glob.has_magic(word):
        own = base if isinstance(base, Path) else None
        matches = glob.iglob(word, root_dir=own, recursive=True)  # noqa: PTH207 - as users write it
        matching = sorted(
            str(name) for name in (_local_below(own, m) for m in matches) if not name.is_dir()
        )
        if not matching:
            raise SourceError(f"no file matches {word}")
        yield from matching
    else:
        raise SourceError(f"there is no file {path}")


def _expand_list(path: AnyPath, is_stated: bool) -> Iterator[str | AnyPath]:
    try:
        text = read_whole(str(path), max_bytes=_MAX_LIST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"the list of inputs {path} is no UTF-8 text; it must name one input a line"
        ) from error
    words = [line.strip() for line in text.splitlines()]
    words = [word for word in words if word and not word.startswith("#")]
    if not words:
        raise SourceError(f"the list of inputs {path} names no input")
    for word in words:
        if word.startswith("@") or word == STDIN:
            shown = "@" * word.startswith("@") + remote.conceal(word.removeprefix("@"))
            raise SourceError(
                f"the list of inputs {path} names {shown!r}; only files, folders and globs may "
                "stand in a list"
            )
    words = list(_expand_servers(words, DEFAULT_RATE))
    base = path.parent
    if isinstance(path, RemotePath) and not is_remote(words[0]):
        base = remote.find_root(path, words[0])
    yield from _expand_plain(words, base, is_stated)


def _below(base: AnyPath | None, word: str) -> AnyPath:
    if is_remote(word):
        return to_path(word)
    return base / word if isinstance(base, RemotePath) else _local_below(base, local_name(word))


def _local_below(base: Path | None, word: str) -> Path:
    # Shells do this, but not in quotation marks, which globs need.
    path = Path(word).expanduser() if word.startswith("~/") else Path(word)
    return path if base is None else base / path


def _find(path: Path) -> os.stat_result | None:
    """Return what the system knows of a file or folder, or None if there is none."""
    # No file's name has a zero byte in it, which is a ValueError.
    missing = suppress(FileNotFoundError, NotADirectoryError, ValueError)
    with remote.as_source_error(path), missing:
        return path.stat()
    return None


def identify_file(name: str) -> object:
    """Return what two names of the same file have in common."""
    if name == STDIN or is_remote(name):
        return name
    found = _find(Path(name))
    if found is None:
        raise SourceError(f"there is no file {name}; it may be a link that leads nowhere")
    # Pipes such as bash's <(...) all differ, though some systems number them alike.
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else name


def can_be_reread(name: str) -> bool:
    """Tell whether an input can be read more than once: no pipe, nor standard input."""
    return is_remote(name) or (name != STDIN and Path(name).is_file())
