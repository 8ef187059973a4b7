"""What the letters of a CDX file's legend line mean, and what stands where if there is none."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources import record_kernel

__all__ = ["Layout", "find_columns", "guess_layout", "is_legend", "read_legend"]

_NAMES = MappingProxyType(
    {
        "A": "canonized-url",
        "B": "news-group",
        "C": "rulespace-category",
        "D": "compressed-dat-offset",
        "F": "canonized-frame",
        "G": "language-description",
        "H": "canonized-host",
        "I": "canonized-image",
        "J": "canonized-jump-point",
        "K": "fbis-changed",
        "L": "canonized-link",
        "M": "meta-tags",
        "N": "massaged-url",
        "P": "canonized-path",
        "Q": "language",
        "R": "canonized-redirect",
        "S": "compressed-size",
        "U": "uniqueness",
        "V": "compressed-offset",
        "X": "canonized-href-url",
        "Y": "canonized-src-url",
        "Z": "canonized-script-url",
        "a": "url",
        "b": "date",
        "c": "old-checksum",
        "d": "dat-offset",
        "e": "ip",
        "f": "frame",
        "g": "filename",
        "h": "host",
        "i": "image",
        "j": "jump-point",
        "k": "checksum",
        "l": "link",
        "m": "mime",
        "n": "document-length",
        "o": "port",
        "p": "path",
        "r": "redirect",
        "s": "status",
        "t": "title",
        "v": "offset",
        "x": "href-url",
        "y": "src-url",
        "z": "script-url",
    }
)
"""The letters that the Internet Archive's description of the format lists; ``#`` is a comment."""

_FIELDS = MappingProxyType(
    {
        record_kernel.URL: "a",
        record_kernel.KEY: "NA",
        record_kernel.TIME: "b",
        record_kernel.STATUS: "s",
        record_kernel.MIME: "m",
        record_kernel.DIGEST: "kc",
    }
)
"""The letters that can serve for a field, the best first."""

_SERVED = "NbamskS"
"""What CDX servers answer."""

_EIGHT = "NbamskVg"

_LONG = (
    *("NbamskrVg", "NbamskrMVg", "NbamskrMSVg"),
    *("NbamskrVg###", "NbamskrMVg###", "NbamskrMSVg###"),
)
"""What indexes without a legend hold, which often mix them: from 9 to 14 columns, without a gap.

The last three tell of the capture that a revisit repeats.
"""

_NETARKIVET = "aebmngv"
"""What the tools of the Danish archive wrote for ARC files."""

_LEGEND = re.compile(rb"[ \t]*[^A-Za-z0-9\s]?CDX([^A-Za-z0-9\r\n])")
_TIME = re.compile(rb"\d{14}")
_URL = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_SPACES = b" \t\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which columns the lines of a CDX file have.

    Parameters
    ----------
    delimiter
        The byte between columns.
    letters
        What each column holds.
    others
        What the columns hold in other lines, which differ in the number of columns.
    """

    delimiter: bytes
    letters: str
    others: tuple[str, ...] = ()


def is_legend(line: bytes) -> bool:
    """Tell whether a line says what the columns hold, or tries to.

    Examples
    --------
    >>> is_legend(b" CDX N b a"), is_legend(b"com,cdx)/ 2013")
    (True, False)
    """
    return _LEGEND.match(line) is not None


def read_legend(line: bytes) -> Layout | None:
    r"""Return the layout that a legend line tells, or None if it cannot be understood.

    Examples
    --------
    >>> read_legend(b" CDX N b a m s k r M S V g\r\n")
    Layout(delimiter=b' ', letters='NbamskrMSVg', others=())
    """
    start = _LEGEND.match(line)
    if start is None:
        return None
    delimiter = start[1]
    letters = line[start.end() :].rstrip(_SPACES).split(delimiter)
    if not all(letter == b"#" or letter.decode("latin-1") in _NAMES for letter in letters):
        return None
    return Layout(delimiter=delimiter, letters=b"".join(letters).decode("ascii"))


def guess_layout(lines: Sequence[bytes]) -> Layout | None:
    """Return the layout that most of some lines have, or None if few of them have any.

    Examples
    --------
    >>> guess_layout([b"http://a.org/ 192.0.2.1 20040708140342 text/html 60 a.arc 1414"])
    Layout(delimiter=b' ', letters='aebmngv', others=())
    """
    sample = [line.strip(_SPACES) for line in lines if line.strip()]
    found = Counter(guess for line in sample if (guess := _guess(line)) is not None)
    if not found:
        return None
    (delimiter, letters), n_lines = found.most_common(1)[0]
    others: tuple[str, ...] = ()
    if letters in _LONG:
        others = tuple(other for other in _LONG if other != letters)
        n_lines = sum(found[delimiter, other] for other in _LONG)
    # A first line of another kind above columns between tabs names the columns of a table.
    has_header = delimiter == b"\t" and _guess(sample[0]) is None
    if 2 * n_lines < len(sample) or has_header:
        return None
    return Layout(delimiter=delimiter, letters=letters, others=others)


def _guess(line: bytes) -> tuple[bytes, str] | None:
    """Return the delimiter of a line and what its columns hold."""
    for delimiter in (b" ", b"\t"):
        cells = line.split(delimiter)
        for letters in (_NETARKIVET, _SERVED, _EIGHT, *_LONG):
            if len(letters) == len(cells) and _fits(cells, letters):
                return delimiter, letters
    return None


def _fits(cells: Sequence[bytes], letters: str) -> bool:
    if not _TIME.fullmatch(cells[letters.index("b")]) or not _URL.match(cells[letters.index("a")]):
        return False
    return letters != _NETARKIVET or (cells[4].isdigit() and cells[6].isdigit())


def find_columns(layout: Layout, group: str | None, where: str) -> NDArray[np.int64]:
    """Return which column each field of `record_kernel` stands in, for each number of columns.

    Parameters
    ----------
    layout
        The columns.
    group
        Name or letter of the column by which captures are cut into crawls.
    where
        What has this layout, for the message.

    Returns
    -------
    NDArray
        A row for each number of columns from the fewest on; −1 where there is no such column.

    Raises
    ------
    SourceError
        If there is no such column.
    """
    rows = sorted((layout.letters, *layout.others), key=len)
    columns = np.full((len(rows), record_kernel.N_FIELDS), -1, dtype=np.int64)
    for row, letters in zip(columns, rows, strict=True):
        for field, candidates in _FIELDS.items():
            places = [letters.find(letter) for letter in candidates]
            row[field] = next((place for place in places if place >= 0), -1)
        if group is not None:
            row[record_kernel.GROUP] = _find_named(letters, group)
    if group is not None and _find_named(layout.letters, group) < 0:
        known = ", ".join(f"{_NAMES[item]} ({item})" for item in layout.letters if item in _NAMES)
        raise SourceError(f"{where} has no field {group!r} to cut crawls by; it has: {known}")
    return columns


def _find_named(letters: str, name: str) -> int:
    """Return the column that bears a name or letter, or −1."""
    if name in _NAMES:
        return letters.find(name)
    return next((place for place, letter in enumerate(letters) if _NAMES.get(letter) == name), -1)
