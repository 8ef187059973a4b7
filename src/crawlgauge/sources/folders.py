"""What of a folder holds captures: folders of crawlers, and plain ones of mixed files.

Crawlers write a capture several times: into WARC files, indexes, logs and lists of pages, and
beside them what was never fetched. Of each crawl one kind of files is read, that which the archive
consists of: WARC files if there are any.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from crawlgauge.errors import SourceError
from crawlgauge.sources.columns import list_names, name_number
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import FORMATS, find_format
from crawlgauge.sources.json_lines import is_list_of_pages
from crawlgauge.sources.remote import AnyPath
from crawlgauge.sources.wacz import looks_like_wacz
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import looks_like_zipnum_index, looks_like_zipnum_locations

_PACKED = r"(\.(gz|bz2|xz|zst))?"
_WARC = re.compile(rf".+\.w?arc{_PACKED}(\.open)?", re.IGNORECASE)
_INDEX = re.compile(rf".+\.cdxj?{_PACKED}", re.IGNORECASE)
_WACZ = re.compile(r".+\.wacz", re.IGNORECASE)
_PAGES = re.compile(r"(pages|extraPages)\.jsonl")
_CRAWL_LOG = re.compile(rf"crawl\.log([.-][\w.-]*)?{_PACKED}")
_TELLING = re.compile(
    rf".+\.(w?arc|cdxj?|wacz|parquet|jsonl|ndjson|csv|tsv|idx|loc){_PACKED}(\.open)?", re.IGNORECASE
)
"""Names that say what is in a file; into others one has to look."""
_METADATA = re.compile(rf"\d+-metadata-\d+\.w?arc{_PACKED}", re.IGNORECASE)
"""NetarchiveSuite keeps the logs and reports of a job so."""
_DERIVED = re.compile(rf".+\.(wat|wet){_PACKED}|.+\.warc\.(wat|wet){_PACKED}", re.IGNORECASE)
_COLLECTION = {
    *("datapackage.json", "archive", "indexes", "pages"),
    *("crawls", "reports", "logs", "warc-cdx"),
}
_JOB = {"crawler-beans.cxml", "job.log", "order.xml", "harvestInfo.xml"}
_LOGS = "logs"
_N_LINES = 20

_log = logging.getLogger(__name__)

_Parts = tuple[str, ...]


def choose_files(
    folder: AnyPath, files: Sequence[AnyPath], *, is_stated: bool = False
) -> list[AnyPath]:
    """Return the files of a folder that hold its captures, and say which are passed over.

    Parameters
    ----------
    folder
        The folder.
    files
        All files below it, in order.
    is_stated
        Whether the user says what format they are of, so that no other way to tell is needed.

    Raises
    ------
    SourceError
        If none of them does.
    """
    n_own = len(folder.parts)
    places: dict[_Parts, AnyPath] = {file.parts[n_own:]: file for file in files}
    if is_stated:
        return list(files)
    kinds = _find_crawls(places)
    crawls: dict[_Parts, dict[_Parts, AnyPath]] = {}
    for parts, file in places.items():
        root = next(above for above in _above(parts) if above in kinds)
        crawls.setdefault(root, {})[parts] = file
    kept = {parts for root, own in crawls.items() for parts in _CHOICES[kinds[root]](root, own)}
    chosen = [file for parts, file in places.items() if parts in kept]
    passed = [str(PurePosixPath(*parts)) for parts in places if parts not in kept]
    if not chosen:
        raise SourceError(
            f"the folder {folder} holds no file of captures: {list_names(passed)}; if one is, name "
            "it itself"
        )
    if passed:
        named = sorted({kind for kind in kinds.values() if kind})
        what = f", {' and '.join(named)}" if named else ""
        _log.info(
            "%s%s: %s with captures; passed over: %s",
            *(folder, what, name_number(len(chosen), "file"), list_names(passed)),
        )
    return chosen


def _find_crawls(places: Iterable[_Parts]) -> dict[_Parts, str]:
    """Return the folders that are a crawler's, by what they are; the root is plain, if nothing."""
    inside: dict[_Parts, set[str]] = {}
    for parts in places:
        for folder in _above(parts):
            inside.setdefault(folder, set()).add(parts[len(folder)])
    kinds: dict[_Parts, str] = {(): ""}
    for root, names in inside.items():
        is_log = any(map(_CRAWL_LOG.fullmatch, inside.get((*root, _LOGS), ())))
        if is_log or _JOB & names or (any(map(_CRAWL_LOG.fullmatch, names)) and "reports" in names):
            kinds[root] = "a Heritrix job"
        elif {"archive", "indexes", "pages"} & names and len(_COLLECTION & names) > 1:
            kinds[root] = "a Browsertrix collection"
    # The launches of a job belong to it, and so do the folders of its logs and reports.
    jobs = {root for root, kind in kinds.items() if kind == "a Heritrix job"}
    for root in jobs:
        if not jobs.isdisjoint(_above(root)):
            del kinds[root]
    return kinds


def _above(parts: _Parts) -> list[_Parts]:
    """Return the folders that a file or folder is in, the innermost first."""
    return [parts[:n] for n in reversed(range(len(parts)))]


def _choose_of_collection(root: _Parts, own: dict[_Parts, AnyPath]) -> list[_Parts]:
    """Choose the WARC files of a collection, or else what has the same captures."""

    def below(name: str, pattern: re.Pattern[str]) -> list[_Parts]:
        n = len(root)
        return [p for p in own if p[n : n + 1] == (name,) and pattern.fullmatch(p[-1])]

    return (
        below("archive", _WARC)
        or [parts for parts in own if _WARC.fullmatch(parts[-1])]
        or [parts for parts in own if _WACZ.fullmatch(parts[-1])]
        or below("indexes", _INDEX)
        or below("pages", _PAGES)
    )


def _choose_of_job(_root: _Parts, own: dict[_Parts, AnyPath]) -> list[_Parts]:
    """Choose the WARC files of each launch of a job, or its log where it has none."""
    archives = [p for p in own if _WARC.fullmatch(p[-1]) and not _METADATA.fullmatch(p[-1])]
    logs = [parts for parts in own if _CRAWL_LOG.fullmatch(parts[-1])]
    launches = {parts: parts[:-2] if parts[-2:-1] == (_LOGS,) else parts[:-1] for parts in logs}
    filled = {folder for parts in archives for folder in _above(parts)}
    # Archives may stand beside the launches, and are then of all of them.
    roots = set(launches.values())
    is_apart = any(roots.isdisjoint(_above(parts)) for parts in archives)
    chosen = archives
    if not is_apart:
        chosen = archives + [parts for parts in logs if launches[parts] not in filled]
    return chosen or [parts for parts in own if _METADATA.fullmatch(parts[-1])]


def _choose_of_plain(_root: _Parts, own: dict[_Parts, AnyPath]) -> list[_Parts]:
    """Choose what holds captures by its name, or by what it begins with."""
    archives = {
        re.sub(r"\.(w?arc).*", "", str(PurePosixPath(*parts)), flags=re.IGNORECASE)
        for parts in own
        if _WARC.fullmatch(parts[-1]) and not _METADATA.fullmatch(parts[-1])
    }
    return [parts for parts, file in own.items() if _holds_captures(parts, file, archives)]


def _holds_captures(parts: _Parts, file: AnyPath, archives: set[str]) -> bool:
    name = parts[-1]
    if archives and (_METADATA.fullmatch(name) or _DERIVED.fullmatch(name)):
        return False
    if _INDEX.fullmatch(name):
        # The index of the archive beside it, which has the same captures.
        stem = re.sub(r"(\.w?arc.*)?\.cdxj?.*", "", str(PurePosixPath(*parts)), flags=re.IGNORECASE)
        return stem not in archives
    if not isinstance(file, Path):
        return _TELLING.fullmatch(name) is not None or not re.search(r"\.\w{2,4}$", name)
    if (_TELLING.fullmatch(name) and not name.endswith(".jsonl")) or not file.is_file():
        return True
    try:
        with Stream(str(file)) as stream:
            return _may_hold_captures(stream.beginning(), str(file), is_alone=not archives)
    except SourceError:
        # Who reads it says what is wrong with it.
        return True


def _may_hold_captures(beginning: bytes, name: str, *, is_alone: bool) -> bool:
    """Tell whether the first bytes of a file are of a format, or URLs."""
    if is_list_of_pages(beginning):
        return is_alone
    if looks_like_wacz(beginning) or looks_like_zipnum_index(beginning):
        return True
    is_known = find_format(beginning, Settings(), name) is not FORMATS["urls"]
    if is_known or looks_like_zipnum_locations(beginning):
        return True
    if b"\0" in beginning or beginning.lstrip()[:1] in (b"<", b"{", b"["):
        return False
    # Prose, tables and lists of checksums have several words in a line, and URLs have none.
    lines = [line.split() for line in beginning.split(b"\n")[:_N_LINES]]
    lines = [words for words in lines if words and not words[0].startswith(b"#")]
    return 2 * sum(len(words) > 1 for words in lines) < max(len(lines), 1)


_CHOICES = {
    "": _choose_of_plain,
    "a Heritrix job": _choose_of_job,
    "a Browsertrix collection": _choose_of_collection,
}
