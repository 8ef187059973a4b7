"""ZipNum clusters: an index of the blocks of lines in compressed parts, and where the parts are."""

import logging
import re
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Mapping
from io import BufferedReader
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import readable
from crawlgauge.sources.columns import list_names
from crawlgauge.sources.decompress import Stream, read_whole
from crawlgauge.sources.json_lines import parse_object
from crawlgauge.sources.lines import read_lines, report_cut_line
from crawlgauge.sources.remote import AnyPath, RemoteFault, RemotePath, is_remote, is_web, to_path

_LONGEST_LINE = 1 << 17
_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLED = 20

_NUMBER = rb"\d{1,18}"
_PLACE = re.compile(_NUMBER.decode(), re.ASCII)
_ENTRY = re.compile(
    rb"(?P<key>[^\t]*\S)[ ](?P<time>\d{4,17})\t(?P<part>[^\t]+)"
    rb"\t(?P<offset>%b)\t(?P<length>%b)(?:\t[^\t]*)*" % (_NUMBER, _NUMBER)
)
_META = re.compile(rb"!meta \S+ (?P<json>\{.*\})")
_JSON_ENTRY = re.compile(rb"(?P<key>\S+) \d{4,17} (?P<json>\{.*\})")
_GZIPPED_CDXJ = "cdxj-gzip"
_ENDINGS = ("", ".gz", ".cdx.gz", ".cdxj.gz")
_PART_ENDINGS = (b".gz", b".cdx", b".cdxj")
_SURT = re.compile(rb"[^/()]*\)")
_SEARCHED_BYTES = 1 << 22
"""A remote index that is larger is searched, as its lines are in order: Common Crawl's has 150 MB
each."""
_MAX_LOCATIONS_BYTES = 1 << 26
_STEP_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 18
_PART_NAME = re.compile(rb"[^\s:/]+")
_SPACES = b" \r"
_LEADS_OUT = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|\Z)|.*://", re.DOTALL)
"""An absolute path, also of other systems, one that goes up, or an address."""

_log = logging.getLogger(__name__)


def looks_like_zipnum_index(beginning: bytes) -> bool:
    r"""Tell whether an input that begins with these bytes is the index of a ZipNum cluster.

    Examples
    --------
    >>> looks_like_zipnum_index(b"com,example)/ 20140127171200\tpart-a\t0\t275\t1\n")
    True
    """
    lines = _first_lines(beginning)
    if lines and (meta := _META.fullmatch(lines[0])):
        told = parse_object(meta["json"]) or {}
        return str(told.get("format")).startswith(_GZIPPED_CDXJ)
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
    sizes: dict[str, int] = {}
    for entry in _entries(stream):
        sizes[entry.part] = max(sizes.get(entry.part, 0), entry.end)
    return [(path, sizes[part]) for part, path in _find_parts(stream, sizes).items()]


def find_blocks(
    stream: Stream, hosts: Iterable[bytes], *, is_alone: bool
) -> list[tuple[AnyPath, list[tuple[int, int]]]]:
    """Find what of a cluster's parts can hold some hosts: lines are in order of their keys.

    Parameters
    ----------
    stream
        The index, as for `read_cluster`.
    hosts
        What the hosts begin with, such as ``org,example``.
    is_alone
        Whether the parts that hold none of it need not be told, so that a large index on a server
        is searched instead of read.

    Returns
    -------
    list of (path, list of (int, int))
        Where each part is, and where in it begins and ends what to read: all blocks, if the index
        does not tell by its keys.

    Raises
    ------
    SourceError, DamagedInput
        As `read_cluster` does.
    """
    wanted: list[bytes] = []
    for host in sorted(hosts):
        # Without those that begin as another does: so at most one is what a key begins with.
        if not wanted or not host.startswith(wanted[-1]):
            wanted.append(host)
    entries = _search(stream, wanted) if is_alone else None
    if entries is None:
        entries = list(_entries(stream))
    keys = [entry.key for entry in entries]
    n_surts = sum(map(bool, map(_SURT.match, keys)))
    is_told = 2 * n_surts > len(keys) and all(key <= after for key, after in pairwise(keys))
    needed: dict[str, list[tuple[int, int]]] = {} if is_alone else {e.part: [] for e in entries}
    # Of an index that names no block nothing is needed.
    for entry, after in zip(entries, [*keys[1:], None], strict=False):
        at = bisect_left(wanted, entry.key)
        begins_before = at > 0 and entry.key.startswith(wanted[at - 1])
        begins_here = at < len(wanted) and (after is None or wanted[at] <= after)
        if begins_before or begins_here or not is_told:
            needed.setdefault(entry.part, []).append((entry.start, entry.end))
    sizes = [end - start for spans in needed.values() for start, end in spans]
    _log.info(
        "%s: %s of its blocks can hold what is in scope, %s bytes",
        *(stream.name, f"{len(sizes):,}", f"{sum(sizes):,}"),
    )
    spared = [part for part, spans in needed.items() if not spans]
    paths = _find_parts(stream, needed, spared)
    return [(path, _unite(needed[part])) for part, path in paths.items()]


class Blocks:
    """Some stretches of a part, as a file that is read once; each holds whole blocks.

    Parameters
    ----------
    path
        The part.
    spans
        Where they begin and end.
    """

    def __init__(self, path: AnyPath, spans: Iterable[tuple[int, int]]) -> None:
        self.spans = tuple(spans)
        self._path = path
        self._pieces = self._read()

    def locate(self, place: int) -> int:
        """Return where in the part stands what is so far behind the beginning of the stretches."""
        at = 0
        for start, end in self.spans:
            if place <= end - start:
                return start + place
            place, at = place - (end - start), end
        return at + place

    def read(self, _n_bytes: int) -> bytes:
        """Return what comes next; nothing at the end."""
        return next(self._pieces, b"")

    def close(self) -> None:
        """Close the part."""
        self._pieces.close()

    def _read(self) -> Generator[bytes, None, None]:
        for start, end in self.spans:
            if isinstance(self._path, RemotePath):
                yield from self._path.read_part(start, end)
                continue
            with self._path.open("rb") as file:
                file.seek(start)
                for at in range(start, end, _CHUNK_BYTES):
                    yield file.read(min(_CHUNK_BYTES, end - at))


def _unite(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Put stretches together that touch each other."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united


class _Entry(NamedTuple):
    """What an index says of a block: its first key, the part, and where it begins and ends."""

    key: bytes
    part: str
    start: int
    end: int


def _find_parts(
    stream: Stream, parts: Iterable[str], spared: Iterable[str] = ()
) -> dict[str, AnyPath]:
    """Return where parts are; those that are spared may be missing."""
    name, index = stream.name, stream.path
    if index is None:
        raise SourceError(
            f"{name} is the index of a ZipNum cluster, whose parts are found beside it; name the "
            "index as a file, or the parts themselves"
        )
    for part in parts:
        if _LEADS_OUT.match(part):
            shown = readable(part.encode(errors="replace"))
            raise SourceError(
                f"{name} names a part {shown!r}, which leads out of its folder as in no "
                "ZipNum cluster; do not trust it. Where parts are elsewhere, a .loc file says so"
            )
    known = _read_locations(index)
    places = {part: _find_part(part, known, index.parent) for part in parts}
    found = {part: path for part, path in places.items() if path is not None}
    if missing := sorted(places.keys() - found.keys() - set(spared)):
        raise SourceError(
            f"{name} is the index of a ZipNum cluster, but these parts of it were not found "
            f"beside it nor where a .loc file says: {list_names(missing)}; put them there, or name "
            "the parts that there are as inputs instead of the index"
        )
    return found


def _search(stream: Stream, hosts: list[bytes]) -> list[_Entry] | None:
    """Return the entries that tell where hosts are; None to read them all."""
    index = stream.path
    n_bytes = index.known_facts().st_size if isinstance(index, RemotePath) else 0
    # To search for many hosts takes more than to read it.
    n_steps = (n_bytes // _STEP_BYTES).bit_length() + 1
    if n_bytes < max(_SEARCHED_BYTES, len(hosts) * n_steps * _STEP_BYTES):
        return None
    found: dict[int, _Entry] = {}
    seen: dict[int, bytes] = {}
    _, raw = stream.open_in_place("the index of a ZipNum cluster")
    with BufferedReader(raw, _STEP_BYTES) as file:  # type: ignore[type-var]  # it need not be raw
        for host in hosts:
            low, high = 0, n_bytes
            while high - low > _STEP_BYTES:
                middle = (low + high) // 2
                file.seek(middle)
                at = middle + len(file.readline(_LONGEST_LINE))
                entry = _read_entry(file.readline(_LONGEST_LINE))
                if entry is None:
                    return None
                seen[at] = entry.key
                low, high = (at, high) if entry.key[: len(host)] < host else (low, middle)
            file.seek(low)
            while line := file.readline(_LONGEST_LINE):
                entry = _read_entry(line)
                if entry is None:
                    return None
                found[low] = entry
                low += len(line)
                if entry.key[: len(host)] > host:
                    break
    in_order = [key for _, key in sorted(seen.items())]
    if any(key > after for key, after in pairwise(in_order)):
        return None
    return [found[at] for at in sorted(found)]


def _read_entry(line: bytes) -> _Entry | None:
    entry = _ENTRY.fullmatch(line.strip(_SPACES + b"\n"))
    if entry is None:
        return None
    start = int(entry["offset"])
    return _Entry(entry["key"], _decode(entry["part"]), start, start + int(entry["length"]))


def _entries(stream: Stream) -> Iterator[_Entry]:
    """Yield what the index says of each block."""
    default: object = None
    for lines in read_lines(stream, _LONGEST_LINE):
        texts = lines.data[lines.start : lines.end].split(b"\n")
        for number, text in enumerate(texts, start=1):
            line = text.strip(_SPACES)
            if len(line) > _LONGEST_LINE:
                line = line[:_LONGEST_LINE] + b"x"  # So that it is no entry.
            if meta := _META.fullmatch(line):
                default = (parse_object(meta["json"]) or {}).get("filename", default)
            elif entry := _read_entry(line):
                yield entry
            elif found := _JSON_ENTRY.fullmatch(line):
                yield _read_json_entry(found["key"], found["json"], default, stream.name)
            elif line and lines.is_cut:
                report_cut_line(stream)
            elif line:
                where = "" if lines.n_before is None else f", line {lines.n_before + number:,}"
                raise SourceError(
                    f"{stream.name}{where}: this is no line of a ZipNum index (key, time, part, "
                    f"offset, length): {readable(line)!r}; get a whole copy of the index"
                )


def _read_json_entry(key: bytes, text: bytes, default: object, name: str) -> _Entry:
    entry = {"filename": default, **(parse_object(text) or {})}
    part, *places = (str(entry.get(name, "")) for name in ("filename", "offset", "length"))
    if isinstance(entry["filename"], str) and all(map(_PLACE.fullmatch, places)):
        start, length = map(int, places)
        return _Entry(key, part, start, start + length)
    raise SourceError(
        f"{name}: a line of this ZipNum index lacks filename, offset or length: {readable(text)!r}"
    )


def _read_locations(index: AnyPath) -> dict[str, list[str]]:
    """Return where the parts are said to be: by the .loc file of the index's name, or by all."""
    own = index.with_suffix(".loc")
    files: list[AnyPath] = [own] if own.is_file() else []
    if not files and not is_web(str(index)):
        files = sorted(index.parent.glob("*.loc"), key=str)
    known: dict[str, list[str]] = {}
    for file in files:
        text = read_whole(str(file), max_bytes=_MAX_LOCATIONS_BYTES)
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


def _decode(name: bytes) -> str:
    return name.decode("utf-8", errors="surrogateescape")
