"""Write simulated archives as the files that a real archive would have, with the truth beside."""

import base64
import datetime as dt
import gzip
import hashlib
import html
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crawlgauge._version import __version__
from crawlgauge.errors import SimulationError, SourceError
from crawlgauge.ingest.adding import add_crawl
from crawlgauge.locations import DEFAULT_STORE, StrPath
from crawlgauge.overlaps.files import write_overlaps
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories
from crawlgauge.simulate.archive import Ints, SimulatedArchive, SimulatedTable, Truth, make_table
from crawlgauge.sources.remote import map_in_threads
from crawlgauge.store.files import partial_file

__all__ = ["FILE_FORMS", "count_archive", "write_simulation"]


# ------------------------------------------------- when a simulated crawl captures each of its URLs


# Days that a crawl takes; the crawl's date is the middle of them.
_CRAWL_DAYS = 7

# Random numbers apart from those that the archive itself was drawn with.
_STREAM = 4

_NO_MARKS = str.maketrans("", "", "-:.T")
_ADDRESS = "192.0.2.1"


def _order_captures(archive: SimulatedArchive, number: int) -> tuple[Ints, NDArray[np.datetime64]]:
    """Return the URLs of a crawl in a random order, with times spread evenly over its days."""
    crawl = archive.crawls[number]
    rng = np.random.default_rng([archive.truth.seed, _STREAM, number])
    n_urls = crawl.url_numbers.size
    n_milliseconds = _CRAWL_DAYS * 86_400_000
    offsets = ((np.arange(n_urls) + rng.random(n_urls)) * (n_milliseconds / n_urls)).astype(
        np.int64
    )
    noon = dt.datetime.combine(crawl.date, dt.time(12))
    start = np.datetime64(noon, "ms") - n_milliseconds // 2
    return rng.permutation(crawl.url_numbers), start + offsets


# ------------------ what a simulated web server answers: a small page for each URL, always the same


def _make_page(url: str) -> bytes:
    host, path = _split_url(html.escape(url))
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{path} at {host}</title></head>\n'
        f"<body><h1>{path}</h1><p>A simulated page, which is the same in every crawl.</p>\n"
        f'<p><a href="https://{host}/">Home</a></p></body></html>\n'
    ).encode()


def _digest_sha1(data: bytes) -> str:
    """Return the SHA-1 of `data` in base 32, as web archives write it."""
    return base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def _split_url(url: str) -> tuple[str, str]:
    """Return the host of a URL and what follows it, without the slash between."""
    host, _, path = url.partition("://")[2].partition("/")
    return host, path


# ------------------------------------------------------------------------- simulated crawls as CDXJ


_LINES_PER_BLOCK = 1 << 13
_SHORTEST_RECORD = 600
_RECORD_SPREAD = 1999


def _to_cdxj(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield the index of a crawl, in blocks of lines, sorted by key and time.

    Lengths and offsets are such as a WARC file of that name could have; there is none.
    """
    numbers, moments = _order_captures(archive, number)
    urls = archive.name_urls(numbers)
    keys = [_make_surt(url) for url in urls]
    seconds = np.datetime_as_string(moments, unit="s").tolist()
    times = [time.translate(_NO_MARKS) for time in seconds]
    lengths = _SHORTEST_RECORD + numbers % _RECORD_SPREAD
    records = np.column_stack([lengths, np.cumsum(lengths) - lengths]).tolist()
    file_name = f"{archive.crawls[number].label}.warc.gz"
    ranks = sorted(range(len(keys)), key=lambda rank: (keys[rank], times[rank]))
    for start in range(0, len(ranks), _LINES_PER_BLOCK):
        yield "".join(
            f'{keys[rank]} {times[rank]} {{"url": "{urls[rank]}", "mime": "text/html", '
            f'"status": "200", "digest": "{_digest_sha1(_make_page(urls[rank]))}", '
            f'"length": "{records[rank][0]}", "offset": "{records[rank][1]}", '
            f'"filename": "{file_name}"}}\n'
            for rank in ranks[start : start + _LINES_PER_BLOCK]
        ).encode()


def _make_surt(url: str) -> str:
    """Return the key under which an index files a URL: its host reversed, without ``www``.

    Simulated URLs are plain ASCII in lower case, without ports or user names, and so this is all
    that it takes.
    """
    host, path = _split_url(url)
    return f"{','.join(reversed(host.removeprefix('www.').split('.')))})/{path}"


# ------------------ simulated crawls as crawl.log: a line for each attempt, as Heritrix 3 writes it

_N_THREADS = 50
_NO_ROBOTS = b"<html><body>404 Not Found</body></html>\n"


def _to_crawl_log(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield the log of a crawl, in blocks of lines in order of time.

    As in a real log, the first visit to a host begins with looking up its address and asking for
    its robots.txt, of which there is none.
    """
    numbers, moments = _order_captures(archive, number)
    known_hosts: set[str] = set()
    for start in range(0, numbers.size, _LINES_PER_BLOCK):
        block = slice(start, start + _LINES_PER_BLOCK)
        urls = archive.name_urls(numbers[block])
        times = np.datetime_as_string(moments[block], unit="ms").tolist()
        lines = []
        for place, (url, time) in enumerate(zip(urls, times, strict=True), start=start):
            host, path = _split_url(url)
            thread = place % _N_THREADS
            home = f"{url.partition('://')[0]}://{host}/"
            if host not in known_hosts:
                known_hosts.add(host)
                address = f"{host}. 300 IN A {_ADDRESS}\n".encode()
                robots = f"{home}robots.txt"
                lines += [
                    _line(time, 1, f"dns:{host}", "P", home, "text/dns", thread, address),
                    _line(time, 404, robots, "P", home, "text/html", thread, _NO_ROBOTS),
                ]
            steps = "L" * (1 + path.count("/"))
            page = _make_page(url)
            lines.append(_line(time, 200, url, steps, home, "text/html", thread, page))
        yield "".join(lines).encode()


def _line(
    time: str, status: int, url: str, steps: str, via: str, mime: str, thread: int, body: bytes
) -> str:
    begin = time.translate(_NO_MARKS)
    return (
        f"{time}Z {status:5d} {len(body):10d} {url} {steps} {via} {mime} #{thread:03d} "
        f"{begin}+{1 + len(url) % 400} sha1:{_digest_sha1(body)} - -\n"
    )


# ---------------------------------------------------------- simulated crawls as plain lists of URLs


_URLS_PER_BLOCK = 1 << 14


def _to_url_list(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    numbers = archive.crawls[number].url_numbers
    for start in range(0, numbers.size, _URLS_PER_BLOCK):
        urls = archive.name_urls(numbers[start : start + _URLS_PER_BLOCK])
        yield "\n".join([*urls, ""]).encode()


# --------------------------------------------------------------------- simulated crawls as WARC 1.1


_RECORDS_PER_BLOCK = 1 << 10
_GZIP_LEVEL = 6


def _to_warc(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield a crawl's WARC file, compressed, in blocks of records in order of time."""
    label, truth = archive.crawls[number].label, archive.truth
    numbers, moments = _order_captures(archive, number)
    space = f"crawlgauge/{truth.scenario}/{truth.seed}/{label}"
    info_id = _make_id(f"{space}/warcinfo")
    times = np.datetime_as_string(moments, unit="s").tolist()
    yield _info_record(info_id, f"{label}.warc.gz", f"{times[0]}Z", truth.scenario)
    for start in range(0, numbers.size, _RECORDS_PER_BLOCK):
        block = slice(start, start + _RECORDS_PER_BLOCK)
        urls = archive.name_urls(numbers[block])
        yield b"".join(
            _response_record(url, f"{time}Z", _make_id(f"{space}/{url}"), info_id)
            for url, time in zip(urls, times[block], strict=True)
        )


def _info_record(record_id: str, file_name: str, time: str, scenario: str) -> bytes:
    block = f"""software: crawlgauge {__version__}
description: simulated crawl, scenario {scenario}
format: WARC File Format 1.1
conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
"""
    fields = f"""WARC-Type: warcinfo
WARC-Record-ID: {record_id}
WARC-Date: {time}
WARC-Filename: {file_name}
Content-Type: application/warc-fields
"""
    return _record(fields, _to_crlf(block))


def _response_record(url: str, time: str, record_id: str, info_id: str) -> bytes:
    page = _make_page(url)
    head = f"""HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8
Content-Length: {len(page)}
Connection: close

"""
    fields = f"""WARC-Type: response
WARC-Record-ID: {record_id}
WARC-Warcinfo-ID: {info_id}
WARC-Date: {time}
WARC-Target-URI: {url}
WARC-IP-Address: {_ADDRESS}
WARC-Payload-Digest: sha1:{_digest_sha1(page)}
Content-Type: application/http; msgtype=response
"""
    return _record(fields, _to_crlf(head) + page)


def _record(fields: str, block: bytes) -> bytes:
    head = f"""WARC/1.1
{fields}WARC-Block-Digest: sha1:{_digest_sha1(block)}
Content-Length: {len(block)}

"""
    # A fixed time keeps the files of one seed equal to the byte.
    data = _to_crlf(head) + block + b"\r\n\r\n"
    return gzip.compress(data, compresslevel=_GZIP_LEVEL, mtime=0)


def _to_crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def _make_id(name: str) -> str:
    """Return a record's identifier, which is the same for the same archive and URL."""
    return f"<{uuid.uuid5(uuid.NAMESPACE_URL, name).urn}>"


# ---------------------------------------------------- count the overlaps of simulated sets, exactly


def count_archive(archive: SimulatedArchive) -> SimulatedTable:
    """Count how many URLs each two crawls share, and up to 64 crawls how many have each history.

    Parameters
    ----------
    archive
        Whose sets to count.
    """
    sizes = [crawl.url_numbers.size for crawl in archive.crawls]
    numbers = np.concatenate([crawl.url_numbers for crawl in archive.crawls])
    urls, places = np.unique(numbers, return_inverse=True)
    crawls = np.split(places, np.cumsum(sizes)[:-1])
    if len(crawls) > MAX_HISTORY_CRAWLS:
        held = np.zeros((len(crawls), urls.size), dtype=np.bool_)
        for row, of_crawl in zip(held, crawls, strict=True):
            row[of_crawl] = True
        n_shared = np.array([[row[other].sum() for other in crawls] for row in held])
        return make_table(archive.truth, n_shared, None)
    history = np.zeros(urls.size, dtype=np.uint64)
    for number, of_crawl in enumerate(crawls):
        history[of_crawl] |= np.uint64(1 << number)
    masks, counts = np.unique(history, return_counts=True)
    histories = Histories(n_crawls=len(crawls), masks=masks, counts=counts)
    return make_table(archive.truth, histories.count_pairs(), histories)


# ------ write simulated archives as the files that a real archive would have, with the truth beside


_LEVEL = 1
_Progress = Callable[[int, int | None], None] | None

# How a form is written: what ends the file's name, what fills it, and whether to compress.
_WRITINGS = {
    "url-lists": (".txt.gz", _to_url_list, True),
    "cdxj": (".cdxj.gz", _to_cdxj, True),
    "crawl-log": (".crawl.log", _to_crawl_log, False),
    "warc": (".warc.gz", _to_warc, False),
}

FILE_FORMS = (*_WRITINGS, "table")
"""Forms of files that an archive can be written in."""


def write_simulation(
    simulated: SimulatedArchive | SimulatedTable,
    folder: StrPath,
    form: str | None = None,
    *,
    workers: int | None = None,
    progress: _Progress = None,
) -> tuple[Path, ...]:
    """Write what was simulated as a real archive would have it, with ``truth.json`` beside it.

    Equal archives give equal files to the byte, whatever the number of workers.

    Parameters
    ----------
    simulated
        From `simulate_urn`, `simulate_web` or `simulate_table`.
    folder
        Made if it is missing; files of the same names are replaced.
    form
        ``url-lists`` (of an archive, if not given), ``cdxj``, ``crawl-log`` or ``warc``: a file
        for each crawl. ``store``: a store named ``crawlgauge.store``. ``table`` (of a table, if
        not given): ``overlaps.json``.
    workers
        Threads that write; as many as there are processors if not given.
    progress
        Called with how many of how many crawls are written.

    Returns
    -------
    tuple
        What was written besides the truth.

    Raises
    ------
    SimulationError
        If there is no such form, or a table shall become files of URLs.
    SourceError
        If the folder cannot be written to.
    """
    folder = Path(folder)
    if form is None:
        form = "table" if isinstance(simulated, SimulatedTable) else "url-lists"
    if form == "table":
        table = simulated if isinstance(simulated, SimulatedTable) else count_archive(simulated)
        _write_truth(table.truth, folder)
        write_overlaps(table, folder / "overlaps.json")
        return (folder / "overlaps.json",)
    if isinstance(simulated, SimulatedTable):
        raise SimulationError(
            f"a table holds no URLs and cannot be written as {form}; simulate sets instead"
        )
    if form not in (*_WRITINGS, "store"):
        raise SimulationError(f"no files of the form {form!r}; there are {', '.join(FILE_FORMS)}")
    _write_truth(simulated.truth, folder)
    if form == "store":
        return (_write_store(simulated, folder, workers, progress),)
    return _write_crawls(simulated, folder, form, workers, progress)


def _write_store(
    archive: SimulatedArchive, folder: Path, workers: int | None, progress: _Progress
) -> Path:
    store = folder / DEFAULT_STORE
    with tempfile.TemporaryDirectory() as lists:
        paths = _write_crawls(archive, Path(lists), "url-lists", workers)
        for number, (crawl, path) in enumerate(zip(archive.crawls, paths, strict=True), start=1):
            add_crawl(store, crawl.label, path, date=crawl.date, replace=True)
            if progress is not None:
                progress(number, len(paths))
    return store


def _write_truth(truth: Truth, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise SourceError(f"{folder} is a file; name a folder") from error
    except OSError as error:
        raise SourceError(
            f"the folder {folder} cannot be made: {error.strerror}; name another one"
        ) from error
    content = json.dumps(truth.to_dict(), indent=1).encode() + b"\n"
    _write_file(folder / "truth.json", [content], compress=False)


def _write_crawls(
    archive: SimulatedArchive,
    folder: Path,
    form: str,
    workers: int | None,
    progress: _Progress = None,
) -> tuple[Path, ...]:
    suffix, render, compress = _WRITINGS[form]
    paths = tuple(folder / f"{crawl.label}{suffix}" for crawl in archive.crawls)

    def write(number: int) -> None:
        _write_file(paths[number], render(archive, number), compress=compress)

    pool = ThreadPoolExecutor(max_workers=workers or os.cpu_count())
    try:
        for n_done, _ in enumerate(map_in_threads(pool, write, range(len(paths))), start=1):
            if progress is not None:
                progress(n_done, len(paths))
    finally:
        # After an error, no more files are begun.
        pool.shutdown(cancel_futures=True)
    return paths


def _write_file(path: Path, blocks: Iterable[bytes], *, compress: bool) -> None:
    """Write a file that appears when it is whole."""
    try:
        with partial_file(path.parent, path.name) as beside:
            # Neither a time nor a name, so that files of one seed are equal to the byte.
            with (
                beside.open("wb") as file,
                gzip.GzipFile("", "wb", _LEVEL, file, mtime=0)
                if compress
                else nullcontext(file) as out,
            ):
                out.writelines(blocks)
            beside.replace(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror}") from error
