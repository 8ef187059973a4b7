"""Which columns of tables, and members of objects, hold the URL, the capture's time and so on."""

from collections.abc import Sequence

from crawlgauge.core.lines import FIELDS
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import readable
from crawlgauge.sources.what_counts import Settings

URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP = range(len(FIELDS))

_NAMES = {
    URL: "url uri original originalurl warctargeturi targeturi targeturl originaluri captureurl "
    "pageurl link",
    KEY: "urlkey surtkey urlsurtkey surt surturl massagedurl",
    TIME: "timestamp fetchtime capturetime warcdate crawltime crawldate datetime time date ts",
    STATUS: "status statuscode fetchstatus httpstatus httpstatuscode",
    # What the server stated goes before what was detected: revisits are told by it.
    MIME: "mime mimetype contentmimetype contenttype mimedetected contentmimedetected",
    DIGEST: "digest contentdigest payloaddigest warcpayloaddigest sha1",
}
"""Names by field, the usual one first, without case and punctuation."""

_KNOWN = {field: tuple(names.split()) for field, names in _NAMES.items()}
_FILE_NAMES = ("filename", "warcfilename", "warcfile", "arcfilename", "warc")
_FILE_GROUP = "filename"

_MAX_LISTED = 30
"""Names in a message; more would hide what it says."""


def find_columns(names: Sequence[str], settings: Settings, *, source: str) -> dict[int, int]:
    """Find which columns hold the fields of a capture that are wanted.

    Parameters
    ----------
    names
        Names of the columns, in order.
    settings
        Which column holds the URLs, and by which one the captures are cut into crawls, where the
        user says so; and what is kept of captures.
    source
        The input as the user named it.

    Returns
    -------
    dict
        Position from 0 by field, a place in `FIELDS`; what no column holds is left out.

    Raises
    ------
    SourceError
        If it cannot be told which column holds the URLs, or there is no such column as the user
        named.

    Examples
    --------
    >>> find_columns(["urlkey", "original", "statuscode"], Settings(), source="a.csv")
    {0: 1, 3: 2}
    """
    plain = [_plain(name) for name in names]
    wanted = {URL, TIME, STATUS, MIME}
    if settings.rule == "given":
        wanted.add(KEY)
    if settings.keeps_digests:
        wanted.add(DIGEST)
    columns = {
        field: place
        for field, known in _KNOWN.items()
        if field in wanted and (place := _find_known(plain, known)) >= 0
    }
    if settings.column is not None:
        columns[URL] = find_stated(names, settings.column, source)
    elif URL in columns:
        find_stated(plain, plain[columns[URL]], source)
    else:
        raise SourceError(
            f"{source}: cannot tell which column holds the URLs; there are {list_names(names)}; "
            "say which with --column"
        )
    if settings.group == _FILE_GROUP:
        columns[GROUP] = _find_known(plain, _FILE_NAMES)
        if columns[GROUP] < 0:
            raise SourceError(
                f"{source} has no column that names the WARC file, by which it is to be cut into "
                f"crawls; there are {list_names(names)}"
            )
    elif settings.group is not None:
        columns[GROUP] = find_stated(names, settings.group, source)
    return dict(sorted(columns.items()))


def find_field(name: str) -> int | None:
    """Return which field a column of this name holds, as a place in `FIELDS`, or None.

    Examples
    --------
    >>> find_field("WARC-Target-URI") == URL
    True
    """
    plain = _plain(name)
    return next((field for field, known in _KNOWN.items() if plain in known), None)


def list_names(names: Sequence[str]) -> str:
    """Return the names of columns as a message shows them."""
    if not names:
        return "none"
    shown = [readable(name.encode("utf-8", errors="replace")) for name in names[:_MAX_LISTED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def name_number(number: int, noun: str) -> str:
    """Return how many there are, in words."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _plain(name: str) -> str:
    """Return the name without case and punctuation, in which writers differ."""
    return "".join(char for char in name.lower() if char.isalnum())


def _find_known(plain: list[str], known: Sequence[str]) -> int:
    return next((plain.index(name) for name in known if name in plain), -1)


def find_stated(names: Sequence[str], wanted: str, source: str) -> int:
    """Find the column that the user means: by its very name, a similar one, or its position."""
    plain = _plain(wanted)
    for match in (
        [position for position, name in enumerate(names) if name == wanted],
        [position for position, name in enumerate(names) if plain and _plain(name) == plain],
    ):
        if len(match) > 1:
            places = " and ".join(str(position + 1) for position in match)
            raise SourceError(
                f"{source}: columns {places} are all called {wanted}; say which is meant by its "
                f"position, such as --column {match[0] + 1}"
            )
        if match:
            return match[0]
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    raise SourceError(f"{source} has no column {wanted}; there are {list_names(names)}")
