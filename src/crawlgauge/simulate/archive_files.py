"""Write simulated archives as the files that a real archive would have, with the truth beside."""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from crawlgauge.errors import SimulationError, SourceError
from crawlgauge.overlaps.files import write_overlaps
from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable, Truth
from crawlgauge.simulate.cdxj_files import to_cdxj
from crawlgauge.simulate.crawl_logs import to_crawl_log
from crawlgauge.simulate.set_overlaps import count_archive
from crawlgauge.simulate.url_lists import to_url_list
from crawlgauge.simulate.warc_files import to_warc

__all__ = ["FILE_FORMS", "TABLE_FILE", "TRUTH_FILE", "write_simulated", "write_truth"]

TRUTH_FILE = "truth.json"
TABLE_FILE = "overlaps.json"

_LEVEL = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """How a form is written: what ends the file's name, what fills it, and whether to compress."""

    suffix: str
    render: Callable[[SimulatedArchive, int], Iterator[bytes]]
    compress: bool


_WRITINGS: Mapping[str, _Writing] = {
    "url-lists": _Writing(suffix=".txt.gz", render=to_url_list, compress=True),
    "cdxj": _Writing(suffix=".cdxj.gz", render=to_cdxj, compress=True),
    "crawl-log": _Writing(suffix=".crawl.log", render=to_crawl_log, compress=False),
    "warc": _Writing(suffix=".warc.gz", render=to_warc, compress=False),
}


FILE_FORMS = (*_WRITINGS, "table")
"""Forms of files that an archive can be written in."""


def write_simulated(
    simulated: SimulatedArchive | SimulatedTable,
    folder: Path,
    form: str | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> tuple[Path, ...]:
    """Write a file for each crawl, or one for the table, and the truth beside them.

    Equal archives give equal files to the byte, whatever the number of workers.

    Parameters
    ----------
    simulated
        What to write.
    folder
        Where; made if it is missing. Files of the same names are replaced.
    form
        ``url-lists``, ``cdxj``, ``crawl-log``, ``warc`` or ``table``; if None, URL lists of an
        archive.
    workers
        Threads that write; as many as there are processors if not given.
    progress
        Called with how many of how many crawls are written.

    Returns
    -------
    tuple
        The files, without that of the truth.

    Raises
    ------
    SimulationError
        If there is no such form, or a table shall become files of URLs.
    SourceError
        If the folder cannot be written to.
    """
    if form is None:
        form = "table" if isinstance(simulated, SimulatedTable) else "url-lists"
    if form == "table":
        table = simulated if isinstance(simulated, SimulatedTable) else count_archive(simulated)
        write_truth(table.truth, folder)
        write_overlaps(table, folder / TABLE_FILE)
        return (folder / TABLE_FILE,)
    if isinstance(simulated, SimulatedTable):
        raise SimulationError(
            f"a table holds no URLs and cannot be written as {form}; simulate sets instead"
        )
    if form not in _WRITINGS:
        raise SimulationError(f"no files of the form {form!r}; there are {', '.join(FILE_FORMS)}")
    return _write_crawls(simulated, folder, _WRITINGS[form], workers, progress)


def write_truth(truth: Truth, folder: Path) -> Path:
    """Write the truth as ``truth.json`` and return its path.

    Parameters
    ----------
    truth
        What to write.
    folder
        Made if it is missing.

    Raises
    ------
    SourceError
        If the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"the folder {folder} cannot be made: {error.strerror}") from error
    path = folder / TRUTH_FILE
    _write_file(path, [json.dumps(truth.to_dict(), indent=1).encode() + b"\n"], compress=False)
    return path


def _write_crawls(
    archive: SimulatedArchive,
    folder: Path,
    writing: _Writing,
    workers: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> tuple[Path, ...]:
    n_crawls = len(archive.crawls)
    paths = tuple(folder / f"{crawl.label}{writing.suffix}" for crawl in archive.crawls)
    write_truth(archive.truth, folder)

    def write(number: int) -> None:
        _write_file(paths[number], writing.render(archive, number), compress=writing.compress)

    pool = ThreadPoolExecutor(max_workers=workers or os.cpu_count())
    try:
        for n_done, _ in enumerate(pool.map(write, range(n_crawls)), start=1):
            if progress is not None:
                progress(n_done, n_crawls)
    finally:
        # After an error, no more files are begun.
        pool.shutdown(cancel_futures=True)
    return paths


def _write_file(path: Path, blocks: Iterable[bytes], *, compress: bool) -> None:
    """Write a file that appears when it is whole."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            if compress:
                # Neither a time nor a name, so that files of one seed are equal to the byte.
                with gzip.GzipFile("", "wb", compresslevel=_LEVEL, fileobj=file, mtime=0) as packed:
                    packed.writelines(blocks)
            else:
                file.writelines(blocks)
        beside.replace(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)
