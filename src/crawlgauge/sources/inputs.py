"""From what the user names (files, folders, globs, lists, stdin) to the files to read."""

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawlgauge.errors import SourceError

__all__ = ["STDIN", "InputFiles", "find_inputs", "identify_file"]

STDIN = "-"
"""Stands for standard input wherever a file is expected."""

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFiles:
    """The files that the user's words stand for.

    Parameters
    ----------
    names
        As the user named them, in order; ``-`` is standard input.
    repeated
        Names of files that were given more than once and are read once only.
    """

    names: tuple[str, ...]
    repeated: tuple[str, ...]


def find_inputs(words: Iterable[str], *, base: Path | None = None) -> InputFiles:
    """Find the files that the user's words stand for.

    Parameters
    ----------
    words
        Files, folders (all files below, hidden ones left out), globs, ``@list.txt`` (a file that
        names inputs, one a line, relative to its own folder) and ``-`` for standard input.
    base
        Folder that relative paths start from; the working folder if not given.

    Raises
    ------
    SourceError
        If a word stands for nothing that can be read.
    """
    names: list[str] = []
    repeated: list[str] = []
    seen: set[object] = set()
    for name in _expand_all(words, base):
        identity = identify_file(name)
        if identity in seen:
            repeated.append(name)
        else:
            seen.add(identity)
            names.append(name)
    if not names:
        raise SourceError("no input was named; give files, folders, globs, @list.txt or -")
    return InputFiles(names=tuple(names), repeated=tuple(repeated))


def _expand_all(words: Iterable[str], base: Path | None) -> Iterator[str]:
    for word in words:
        if word.startswith("@"):
            yield from _expand_list(_below(base, word[1:]))
        else:
            yield from _expand(word, base)


def _expand(word: str, base: Path | None) -> Iterator[str]:
    if word == STDIN:
        yield word
        return
    if not word:
        raise SourceError("an input is named by an empty word")
    if _REMOTE.match(word):
        raise SourceError(f"{word} is a remote address; copy it to this machine and name the copy")
    path = _below(base, word)
    kind = _find(path)
    if kind is not None and stat.S_ISDIR(kind.st_mode):
        found = sorted(
            str(file)
            for file in path.rglob("*")
            if not file.is_dir() and not _is_hidden(file.relative_to(path))
        )
        if not found:
            raise SourceError(f"the folder {word} holds no files")
        yield from found
    elif kind is not None:
        yield str(path)
    elif glob.has_magic(word):
        matches = glob.iglob(word, root_dir=base, recursive=True)  # noqa: PTH207 - as users write it
        found = sorted(
            str(name) for name in (_below(base, m) for m in matches) if not name.is_dir()
        )
        if not found:
            raise SourceError(f"no file matches {word}")
        yield from found
    else:
        raise SourceError(f"there is no file {path}")


def _expand_list(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceError(f"cannot read the list of inputs {path}: {error.strerror}") from error
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
            raise SourceError(
                f"the list of inputs {path} names {word!r}; only files, folders and globs may "
                "stand in a list"
            )
        yield from _expand(word, path.parent)


def _below(base: Path | None, word: str) -> Path:
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


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def identify_file(name: str) -> object:
    """Return what two names of the same file have in common."""
    if name == STDIN:
        return STDIN
    found = _find(Path(name))
    if found is None:
        raise SourceError(f"there is no file {name}; it may be a link that leads nowhere")
    # Pipes such as bash's <(...) all differ, though some systems number them alike.
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else name
