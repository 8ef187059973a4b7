"""From what the user names (files, folders, globs, lists, stdin) to the files to read."""

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import STDIN, read_whole
from crawlgauge.sources.remote import (
    AnyPath,
    RemotePath,
    conceal,
    expand_remote,
    find_root,
    is_remote,
    local_name,
    to_path,
)

__all__ = ["STDIN", "InputFiles", "can_be_reread", "find_inputs", "identify_file"]

_MAX_LIST_BYTES = 1 << 28
"""Names of a million files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFiles:
    """The files that the user's words stand for.

    Parameters
    ----------
    names
        As the user named them, in order; ``-`` is standard input. Remote ones are without
        credentials, which this process remembers.
    repeated
        Names of files that were given more than once and are read once only.
    sizes
        Sizes of remote files in bytes by name, where their servers have told.
    """

    names: tuple[str, ...]
    repeated: tuple[str, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)


def find_inputs(words: Iterable[str], *, base: AnyPath | None = None) -> InputFiles:
    """Find the files that the user's words stand for.

    Parameters
    ----------
    words
        Files, folders (all files below, hidden ones left out), globs, ``@list.txt`` (a file that
        names inputs, one a line, relative to its own folder) and ``-`` for standard input. Files,
        folders, globs and lists may also be remote: ``s3://bucket/folder/*.gz``.
    base
        Folder that relative paths start from; the working folder if not given.

    Raises
    ------
    SourceError
        If a word stands for nothing that can be read.
    """
    names: list[str] = []
    repeated: list[str] = []
    sizes: dict[str, int] = {}
    seen: set[object] = set()
    for found in _expand_all(words, base):
        name = str(found)
        if isinstance(found, RemotePath) and found.known_facts().st_size >= 0:
            sizes[name] = found.known_facts().st_size
        identity = identify_file(name)
        if identity in seen:
            repeated.append(name)
        else:
            seen.add(identity)
            names.append(name)
    if not names:
        raise SourceError("no input was named; give files, folders, globs, @list.txt or -")
    return InputFiles(names=tuple(names), repeated=tuple(repeated), sizes=sizes)


def _expand_all(words: Iterable[str], base: AnyPath | None) -> Iterator[str | RemotePath]:
    plain: list[str] = []
    for word in words:
        if word.startswith("@"):
            yield from _expand_plain(plain, base)
            plain = []
            yield from _expand_list(_below(base, word[1:]))
        else:
            plain.append(word)
    yield from _expand_plain(plain, base)


def _expand_plain(words: list[str], base: AnyPath | None) -> Iterator[str | RemotePath]:
    """Expand words that are no lists; of all that are remote, the servers are asked at once."""
    places = [None if word in ("", STDIN) else _below(base, word) for word in words]
    remote = (path for path in places if isinstance(path, RemotePath))
    expanded = iter(expand_remote(remote))
    for word, path in zip(words, places, strict=True):
        if isinstance(path, RemotePath):
            yield from next(expanded)
        else:
            yield from _expand(word, base if isinstance(base, Path) else None)


def _expand(word: str, base: Path | None) -> Iterator[str]:
    if word == STDIN:
        yield word
        return
    if not word:
        raise SourceError("an input is named by an empty word")
    word = local_name(word)
    path = _local_below(base, word)
    kind = _find(path)
    if kind is not None and stat.S_ISDIR(kind.st_mode):
        found = sorted(
            str(file)
            for file in path.rglob("*")
            if not file.is_dir()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
        if not found:
            raise SourceError(f"the folder {word} holds no files")
        yield from found
    elif kind is not None:
        yield str(path)
    elif glob.has_magic(word):
        matches = glob.iglob(word, root_dir=base, recursive=True)  # noqa: PTH207 - as users write it
        found = sorted(
            str(name) for name in (_local_below(base, m) for m in matches) if not name.is_dir()
        )
        if not found:
            raise SourceError(f"no file matches {word}")
        yield from found
    else:
        raise SourceError(f"there is no file {path}")


def _expand_list(path: AnyPath) -> Iterator[str | RemotePath]:
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
            shown = "@" * word.startswith("@") + conceal(word.removeprefix("@"))
            raise SourceError(
                f"the list of inputs {path} names {shown!r}; only files, folders and globs may "
                "stand in a list"
            )
    base = path.parent
    if isinstance(path, RemotePath) and not is_remote(words[0]):
        base = find_root(path, words[0])
    yield from _expand_plain(words, base)


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
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error


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
