"""CDX indexes: a capture a line, in columns that a legend line names or that can be guessed."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from crawlgauge.core.lines import FIELDS, CdxScanner
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake, readable
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import UTF8_MARK, Line, report_cut_line, scan_lines
from crawlgauge.sources.urls import MAX_URL_BYTES
from crawlgauge.sources.what_counts import Settings

_LONGEST_LINE = 4 * MAX_URL_BYTES
"""A line may hold its URL three times: as key, as it is, and as the target of a redirect."""

_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLED = 100
"""So many lines settle what stands where."""

_NAMES: dict[str, str] = dict(
    re.findall(
        r"(\w)=(\S+)",
        "A=canonized-url B=news-group C=rulespace-category D=compressed-dat-offset "
        "F=canonized-frame G=language-description H=canonized-host I=canonized-image "
        "J=canonized-jump-point K=fbis-changed L=canonized-link M=meta-tags N=massaged-url "
        "P=canonized-path Q=language R=canonized-redirect S=compressed-size U=uniqueness "
        "V=compressed-offset X=canonized-href-url Y=canonized-src-url Z=canonized-script-url "
        "a=url b=date c=old-checksum d=dat-offset e=ip f=frame g=filename h=host i=image "
        "j=jump-point k=checksum l=link m=mime n=document-length o=port p=path r=redirect "
        "s=status t=title v=offset x=href-url y=src-url z=script-url",
    )
)
"""The letters that the Internet Archive's description of the format lists; ``#`` is a comment."""

_LETTERS = ("a", "NA", "b", "s", "m", "kc")
"""The letters that can serve for each of the first fields, the best first."""

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

_NETARKIVET = ("aebmngv", "aebmngvc")
"""What the tools of the Danish archive write for ARC and WARC files, the latter with an MD5."""

_MAX_COLUMNS = 39
"""That a scanner tells apart; the letters of legends are not many more."""

_LEGEND = re.compile(rb"[ \t]*[^A-Za-z0-9\s]?CDX([^A-Za-z0-9\r\n])")
_TIME = re.compile(rb"\d{14}")
_YEAR = re.compile(rb"[0-9]{4}")
_URL = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+-]*:")
_SPACES = b" \t\r\n"


_Layout = tuple[bytes, str, tuple[str, ...]]
"""The delimiter, the letters that say what each column between them holds, and what they hold in
other lines, which differ in the number of columns."""


def is_legend(line: bytes) -> bool:
    """Tell whether a line says what the columns hold, or tries to.

    Examples
    --------
    >>> is_legend(b" CDX N b a"), is_legend(b"com,cdx)/ 2013")
    (True, False)
    """
    return _LEGEND.match(line) is not None


def looks_like_cdx(beginning: bytes) -> bool:
    """Tell whether an input that begins with these bytes is a CDX index."""
    return _find_layout(_first_lines(beginning)) is not None


def read_cdx(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read a CDX index.

    Raises
    ------
    SourceError
        If it cannot be told what stands where, or what is needed is not there.
    """
    intake.collector.begin()
    reader = _Reader(stream, intake, settings)
    if lines := _first_lines(stream.beginning()):
        reader.follow(lines)
        yield from scan_lines(stream, reader.scanner, reader.judge, _LONGEST_LINE, reader.are_two)


class _Reader:
    """Knows what stands where, and reads lines that are not as most are."""

    def __init__(self, stream: Stream, intake: Intake, settings: Settings) -> None:
        self._stream, self._intake, self._settings = stream, intake, settings
        self.scanner = CdxScanner(intake.collector)
        self._delimiter = b" "
        self._columns: list[tuple[int, list[int]]] = []
        self._n_usual = 0
        self._is_keys_only = False

    def follow(self, lines: Sequence[bytes]) -> None:
        """Find out how lines are to be read that begin so; the first may be a legend."""
        where, layout = self._stream.name, _find_layout(lines)
        if is_legend(lines[0]):
            if layout is None:
                raise SourceError(
                    f"{where} has a legend line that cannot be understood: "
                    f"{readable(lines[0].strip())!r}; it must be CDX and {_MAX_COLUMNS} single "
                    "letters at most, such as ' CDX N b a m s k r M S V g'"
                )
            where += f" (legend {layout[1]})"
        elif layout is None:
            raise SourceError(
                f"{where} is no CDX index that can be understood: it has no legend line, and most "
                "of its first lines are not a key, a time of 14 digits and a URL: "
                f"{readable(lines[0])!r}; put a legend line such as ' CDX N b a m s k r M S V g' "
                "first"
            )
        else:
            where += " (CDX without legend line)"
        delimiter, letters, others = layout
        group = self._settings.group
        if group is not None and _find_named(letters, group) < 0:
            known = ", ".join(f"{_NAMES[one]} ({one})" for one in letters if one in _NAMES)
            raise SourceError(f"{where} has no field {group!r} to cut crawls by; it has: {known}")
        self._is_keys_only = "a" not in letters
        if self._is_keys_only and self._settings.rule != "given":
            raise SourceError(
                f"{where} has no original URLs (letter a), and canonical ones cannot be made "
                "without them; take the index's own keys with --identity given"
            )
        if self._is_keys_only and not set("NA") & set(letters):
            raise SourceError(f"{where} has neither URLs (letter a) nor keys (letter N or A)")
        self._delimiter, self._n_usual = delimiter, len(letters)
        self._columns = [
            (len(one), _find_fields(one, group)) for one in sorted((letters, *others), key=len)
        ]
        # Of lines that have no URL, which are rare, the reader makes one.
        of_scanner = self._columns if not self._is_keys_only else [(1, [-1] * len(FIELDS))]
        self.scanner.arrange(delimiter, of_scanner)

    def are_two(self, before: bytes, behind: bytes) -> bool:
        """Tell whether there are fields enough for a line on both sides of a place."""
        sides = [side.strip(b" ").count(self._delimiter) for side in (before, behind)]
        return min(sides) >= self._columns[0][0] - 1

    def judge(self, line: Line) -> None:
        """Take a line in, follow it if it is a legend, or reject it."""
        if is_legend(line.text):
            self.follow([line.text])
            return
        text = line.text.removesuffix(b"\r").strip(b" ")
        if not text.strip():
            return
        reason = "too-long" if len(text) > _LONGEST_LINE else self._take(text)
        if line.is_cut and text.count(self._delimiter) + 1 < self._n_usual:
            report_cut_line(self._stream)
        if reason is not None:
            self._intake.reject(reason, line.text, offset=line.offset, line=line.number)

    def _take(self, text: bytes) -> str | None:
        """Hand a line on to the collector; return why it is rejected."""
        cells = text.split(self._delimiter)
        fewest, most = self._columns[0][0], self._columns[-1][0]
        if len(cells) == most + 1 and not cells[-1]:
            cells.pop()  # One delimiter too many at the end of a line stands before nothing.
        if not fewest <= len(cells) <= most:
            return "too-few-fields" if len(cells) < fewest else "too-many-fields"
        columns = self._columns[len(cells) - fewest][1]
        fields: dict[str, Any] = {
            field: cells[place]
            for field, place in zip(FIELDS, columns, strict=True)
            if place >= 0 and cells[place] not in (b"", b"-")
        }
        if "time" in fields and not _YEAR.match(fields["time"]):
            return "bad-time"
        if len(self._columns) > 1 and not fields.get("status", b"0").isdigit():
            return "bad-status"
        url = fields.pop("url", None)
        if self._is_keys_only and "key" in fields:
            url = _restore_url(fields["key"])
        return self._intake.collector.add(url, **fields)


def _restore_url(key: bytes) -> bytes:
    """Return the URL that a key stands for."""
    if _SCHEME.match(key):
        return key
    surt = key.removeprefix(b"(")
    host, close, rest = surt.partition(b")")
    if not close or b"/" in host:
        return b"http://" + surt
    labels, colon, port = host.partition(b":")
    name = b".".join(label for label in reversed(labels.split(b",")) if label)
    return b"http://" + name + colon + port + rest


def _first_lines(beginning: bytes) -> list[bytes]:
    """Return some of the first lines that are not blank, the last of all perhaps cut."""
    sample = beginning.removeprefix(UTF8_MARK)[:_SAMPLE_BYTES]
    return list(islice((line for line in sample.split(b"\n") if line.strip()), _MAX_SAMPLED))


def _find_layout(lines: Sequence[bytes]) -> _Layout | None:
    """Return the layout that a legend tells or most of some lines have, or None."""
    if lines and (legend := _LEGEND.match(lines[0])):
        columns = lines[0][legend.end() :].rstrip(_SPACES).split(legend[1])
        letters = [column.decode("latin-1") for column in columns]
        if len(letters) > _MAX_COLUMNS or not all(one == "#" or one in _NAMES for one in letters):
            return None
        return legend[1], "".join(letters), ()
    sample = [line.strip(_SPACES) for line in lines]
    found = Counter(guess for line in sample if (guess := _guess(line)) is not None)
    if not found:
        return None
    (delimiter, usual), n_lines = found.most_common(1)[0]
    others: tuple[str, ...] = ()
    if usual in _LONG:
        others = tuple(other for other in _LONG if other != usual)
        n_lines = sum(found[delimiter, other] for other in _LONG)
    # A first line of another kind above columns between tabs names the columns of a table.
    has_header = delimiter == b"\t" and _guess(sample[0]) is None
    return None if 2 * n_lines < len(sample) or has_header else (delimiter, usual, others)


def _guess(line: bytes) -> tuple[bytes, str] | None:
    """Return the delimiter of a line and what its columns hold."""
    for delimiter in (b" ", b"\t"):
        cells = line.split(delimiter)
        for letters in (*_NETARKIVET, _SERVED, _EIGHT, *_LONG):
            if (
                len(letters) == len(cells)
                and _TIME.fullmatch(cells[letters.index("b")])
                and _URL.match(cells[letters.index("a")])
                and (letters not in _NETARKIVET or (cells[4].isdigit() and cells[6].isdigit()))
            ):
                return delimiter, letters
    return None


def _find_fields(letters: str, group: str | None) -> list[int]:
    """Return the column of each field, −1 for none."""
    places = [
        next((letters.find(one) for one in choice if one in letters), -1) for choice in _LETTERS
    ]
    return [*places, -1 if group is None else _find_named(letters, group)]


def _find_named(letters: str, name: str) -> int:
    """Return the column that bears a name or letter, or −1."""
    names = [(one, _NAMES[one]) if one in _NAMES else () for one in letters]
    return next((place for place, known in enumerate(names) if name in known), -1)
