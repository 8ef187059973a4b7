"""ZipNum clusters: an index of the blocks of lines in compressed parts, and where the parts are."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeGuard

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import readable
from crawlgauge.sources.columns import list_names
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import read_lines, report_cut_line
from crawlgauge.sources.remote import AnyPath, RemoteFault, RemotePath, is_remote, is_web, to_path

__all__ = ["looks_like_zipnum_index", "looks_like_zipnum_locations", "read_cluster"]

_LONGEST_LINE = 1 << 17
_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLED = 20

_NUMBER = rb"\d{1,18}"
_END = 10**18
"""Places in a file have at most so many digits as `_NUMBER`."""
_ENTRY = re.compile(
    rb"(?P<key>[^\t]*\S)[ ](?P<time>\d{4,17})\t(?P<part>[^\t]+)"
    rb"\t(?P<offset>%b)\t(?P<length>%b)(?:\t[^\t]*)*" % (_NUMBER, _NUMBER)
)
_META = re.compile(rb"!meta \S+ (?P<json>\{.*\})")
_JSON_ENTRY = re.compile(rb"\S+ \d{4,17} (?P<json>\{.*\})")
_GZIPPED_CDXJ = "cdxj-gzip"
_ENDINGS = ("", ".gz", ".cdx.gz", ".cdxj.gz")
_PART_ENDINGS = (b".gz", b".cdx", b".cdxj")
_PART_NAME = re.compile(rb"[^\s:/]+")
_SPACES = b" \r"
_LEADS_OUT = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|\Z)|.*://", re.DOTALL)
"""An absolute path, also of other systems, one that goes up, or an address."""


def looks_like_zipnum_index(beginning: bytes) -> bool:
    r"""Tell whether an input that begins with these bytes is the index of a ZipNum cluster.

    Examples
    --------
    >>> looks_like_zipnum_index(b"com,example)/ 20140127171200\tpart-a\t0\t275\t1\n")
    True
    """
    lines = _first_lines(beginning)
    if lines and (meta := _META.fullmatch(lines[0])):
        return str(_parse(meta["json"]).get("format")).startswith(_GZIPPED_CDXJ)
    return bool(lines) and all(_ENTRY.fullmatch(line) for line in lines)


def looks_like_zipnum_locations(beginning: bytes) -> bool:
    r"""Tell whether an input that begins with these bytes says where a cluster's parts are.

    Examples
    --------
    >>> looks_like_zipnum_locations(b"part-a\t/data/part-a.cdx.gz\n")
    True
    """
    rows = [line.split(b"\t") for line in _first_lines(beginning)]
    if not all(_PART_NAME.fullmatch(row[0]) for row in rows):
        return False
    located = [row for row in rows if len(row) > 1]
    n_like = sum(any(_is_part_file(path) for path in row[1:]) for row in located)
    return 0 < len(located) <= 2 * n_like


def read_cluster(stream: Stream) -> list[tuple[AnyPath, int]]:
    """Find the parts of a cluster.

    Parameters
    ----------
    stream
        The index: lines of a key, a time, and after tabs the part, the offset and the length of a
        block; or those that WACZ files hold, with JSON.

    Returns
    -------
    list of (path, int)
        Where each part is, and how many bytes it must have at least, by what the index says of its
        blocks; in the order in which the index first names them.

    Raises
    ------
    SourceError
        If a line cannot be understood or a part cannot be found.
    DamagedInput
        If the index is damaged or ends in the middle of a line.
    """
    if stream.path is None:
        raise SourceError(
            f"{stream.name} is the index of a ZipNum cluster, whose parts are found beside it; "
            "name the index as a file, or the parts themselves"
        )
    sizes: dict[str, int] = {}
    for part, n_bytes in _entries(stream):
        if part not in sizes and _LEADS_OUT.match(part):
            shown = readable(part.encode(errors="replace"))
            raise SourceError(
                f"{stream.name} names a part {shown!r}, which leads out of its folder as in no "
                "ZipNum cluster; do not trust it. Where parts are elsewhere, a .loc file says so"
            )
        sizes[part] = max(sizes.get(part, 0), n_bytes)
    known = _read_locations(stream.path)
    found = {name: _find_part(name, known, stream.path.parent) for name in sizes}
    if missing := sorted(name for name, path in found.items() if path is None):
        raise SourceError(
            f"{stream.name} is the index of a ZipNum cluster, but these parts of it were not found "
            f"beside it nor where a .loc file says: {list_names(missing)}; put them there, or name "
            "the parts that there are as inputs instead of the index"
        )
    return [(path, sizes[name]) for name, path in found.items() if path is not None]


def _entries(stream: Stream) -> Iterator[tuple[str, int]]:
    """Yield for each block the part it stands in and where it ends."""
    default: object = None
    for lines in read_lines(stream, _LONGEST_LINE):
        texts = lines.data[lines.start : lines.end].split(b"\n")
        for number, text in enumerate(texts, start=1):
            line = text.strip(_SPACES)
            if len(line) > _LONGEST_LINE:
                line = line[:_LONGEST_LINE] + b"x"  # So that it is no entry.
            if meta := _META.fullmatch(line):
                default = _parse(meta["json"]).get("filename", default)
            elif entry := _ENTRY.fullmatch(line):
                yield _decode(entry["part"]), int(entry["offset"]) + int(entry["length"])
            elif entry := _JSON_ENTRY.fullmatch(line):
                yield _read_json_entry(entry["json"], default, stream.name)
            elif line and lines.is_cut:
                report_cut_line(stream)
            elif line:
                where = "" if lines.n_before is None else f", line {lines.n_before + number:,}"
                raise SourceError(
                    f"{stream.name}{where}: this is no line of a ZipNum index (key, time, part, "
                    f"offset, length): {readable(line)!r}; get a whole copy of the index"
                )


def _read_json_entry(text: bytes, default: object, name: str) -> tuple[str, int]:
    entry = _parse(text)
    part, offset, length = entry.get("filename", default), entry.get("offset"), entry.get("length")
    if isinstance(part, str) and _is_place(offset) and _is_place(length):
        return part, offset + length
    raise SourceError(
        f"{name}: a line of this ZipNum index lacks filename, offset or length: {readable(text)!r}"
    )


def _is_place(number: object) -> TypeGuard[int]:
    return isinstance(number, int) and 0 <= number < _END


def _read_locations(index: AnyPath) -> dict[str, list[str]]:
    """Return where the parts are said to be: by the .loc file of the index's name, or by all."""
    own = index.with_suffix(".loc")
    files: list[AnyPath] = [own] if own.is_file() else []
    if not files and isinstance(index, RemotePath):
        files = [] if is_web(str(index)) else list(index.parent.glob("*.loc"))
    elif not files:
        files = sorted(index.parent.glob("*.loc"))
    known: dict[str, list[str]] = {}
    for file in files:
        try:
            text = file.read_bytes()
        except OSError as error:
            raise SourceError(f"cannot read {file}: {error.strerror}") from error
        for line in text.split(b"\n"):
            name, *paths = _decode(line.strip(_SPACES)).split("\t")
            known.setdefault(name, []).extend(paths)
    return known


def _find_part(name: str, known: Mapping[str, Iterable[str]], folder: AnyPath) -> AnyPath | None:
    """Return the first file that a part may be, or None."""
    for file in (*known.get(name, ()), *(name + ending for ending in _ENDINGS)):
        try:
            path = to_path(file) if is_remote(file) else folder / file
            # Whoever wrote what is elsewhere shall not lead anybody to other servers.
            is_near = isinstance(folder, Path) or path.parts[0] == folder.parts[0]
            if is_near and path.is_file():
                return path
        except RemoteFault:
            raise
        except (OSError, ValueError, SourceError):
            # Too long for a path, or with bytes that no path has, in a folder that is closed, or
            # of a kind that cannot be read.
            continue
    return None


def _first_lines(beginning: bytes) -> list[bytes]:
    """Return some of the first lines, blank ones left out; the last only if it is the only one."""
    lines = [line.strip(_SPACES) for line in beginning[:_SAMPLE_BYTES].split(b"\n")]
    return list(islice(filter(None, lines[:-1] or lines), _MAX_SAMPLED))


def _is_part_file(path: bytes) -> bool:
    # A list of URLs with labels may well name archives, but hardly indexes.
    return path.endswith(_PART_ENDINGS) and (b"://" not in path or b"cdx" in path)


def _parse(text: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _decode(name: bytes) -> str:
    return name.decode("utf-8", errors="surrogateescape")
