"""Archives to measure with, made once and kept: files or sets of all crawls, and their truth."""

import datetime as dt
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from captures import CAPTURES_PER_URL, capture_seconds, count_hosts, describe, name_urls, repeat
from formats import SUFFIXES, open_gzip, write_captures
from urn import Numbers, Urn, mix

GENERATOR = ("urn.py", "captures.py", "formats.py", "archives.py")
FIRST_MONTH, MONTHS_BETWEEN = 2013 * 12 + 11, 6
LAST_FORM = 20
"""URL lists have URLs as this crawl would find them, so that they compare byte by byte."""
ROWS_PER_GROUP = 122_880
"""Of the sets that peers read: DuckDB's own choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An archive on disk whose overlaps are known; sets are in a store and in files for peers.

    All lists are by crawl. ``n_shared`` is how many URLs each two crawls share, ``n_shared_2xx``
    how many of these have status 2xx.
    """

    folder: Path
    kind: str
    labels: list[str]
    dates: list[str]
    n_captures: list[int]
    n_text_bytes: list[int]
    n_shared: list[list[int]]
    n_shared_2xx: list[list[int]]

    @property
    def paths(self) -> list[Path]:
        """Files of the crawls."""
        return [self.folder / f"{label}{SUFFIXES[self.kind]}" for label in self.labels]

    @property
    def n_urls(self) -> list[int]:
        """How many URLs each crawl holds."""
        return [row[place] for place, row in enumerate(self.n_shared)]

    def first(self, n_crawls: int) -> "Archive":
        """Return the archive as it was after so many crawls."""
        lists = ("labels", "dates", "n_captures", "n_text_bytes")
        cut: dict[str, Any] = {name: getattr(self, name)[:n_crawls] for name in lists}
        for name in ("n_shared", "n_shared_2xx"):
            cut[name] = [row[:n_crawls] for row in getattr(self, name)[:n_crawls]]
        return replace(self, **cut)

    def write_crawl_list(self, path: Path) -> str:
        """Write the list that ``crawlgauge add --from`` reads; return its name."""
        rows = zip(self.labels, self.dates, self.paths, strict=True)
        lines = [f"{label},{date},{file.resolve()}" for label, date, file in rows]
        path.write_text("\n".join(["label,date,path", *lines, ""]), encoding="utf-8")
        return str(path)

    def link_store(self, target: Path, labels: Sequence[str]) -> None:
        """Put sets into a store beside by hard links; nobody has counted in a new one yet."""
        (target / "crawls").mkdir(parents=True, exist_ok=True)
        shutil.copy(self.folder / "store" / "store.json", target)
        for label in labels:
            crawl = Path("crawls", label)
            shutil.copytree(self.folder / "store" / crawl, target / crawl, copy_function=os.link)


def make_archive(folder: Path, kind: str, *, n_crawls: int, size: int) -> Archive:
    """Return an archive, made now if it is not there yet or the generator has changed since.

    Parameters
    ----------
    folder
        Where archives are kept.
    kind
        One of `SUFFIXES`.
    n_crawls
        Half a year apart.
    size
        Lines of each file, about; keys of each set for ``sets``.
    """
    start = f"{kind}-{n_crawls}x{size}-"
    place = folder / f"{start}{_fingerprint(kind)}"
    truth = place / "truth.json"
    if not truth.exists():
        for outdated in folder.glob(f"{start}*"):
            shutil.rmtree(outdated)
        started = time.monotonic()
        tell(f"making {n_crawls} crawls of {size:,} as {kind} in {place} ...")
        place.mkdir(parents=True)
        # Written last: what was begun and not finished is made again.
        truth.write_text(json.dumps(_make(place, kind, n_crawls, size)), encoding="utf-8")
        tell(f"made in {time.monotonic() - started:.0f} s")
    known = json.loads(truth.read_text(encoding="utf-8"))
    return Archive(folder=place, kind=kind, **known)


def draw_keys(urn: Urn) -> Numbers:
    """Return the sorted keys of the next crawl: the URLs' numbers, mixed."""
    numbers = np.concatenate(list(urn.draw_crawl()))
    return np.sort(mix(numbers + np.uint64(0x9E3779B97F4A7C15)))


def tell(text: str) -> None:
    """Say on standard error what is going on."""
    print(text, file=sys.stderr, flush=True)


def _fingerprint(kind: str) -> str:
    """Return a digest of the code that makes an archive; sets are of a version's store, too."""
    digest = hashlib.sha256()
    for name in GENERATOR:
        digest.update(Path(__file__).with_name(name).read_bytes())
    if kind == "sets":
        import crawlgauge

        digest.update(crawlgauge.__version__.encode())
    return digest.hexdigest()[:8]


def _make(place: Path, kind: str, n_crawls: int, size: int) -> dict[str, Any]:
    urn = Urn(size if kind == "sets" else round(size / CAPTURES_PER_URL), n_crawls)
    months = [FIRST_MONTH + crawl * MONTHS_BETWEEN for crawl in range(n_crawls)]
    begins = [dt.date(month // 12, month % 12 + 1, 1) for month in months]
    written = []
    for crawl, begin in enumerate(begins):
        path = place / f"{begin:%Y-%m}{SUFFIXES[kind]}"
        if kind == "sets":
            written.append(_write_set(path, urn, begin))
        elif kind == "urls":
            written.append(_write_url_list(path, urn, crawl))
        else:
            written.append(_write_index(path, kind, urn, crawl, begin))
    n_captures, n_text_bytes = zip(*written, strict=True)
    n_shared, n_shared_2xx = urn.count_shared()
    return {
        "labels": [f"{begin:%Y-%m}" for begin in begins],
        "dates": [f"{begin:%Y-%m}-15" for begin in begins],
        "n_captures": n_captures,
        "n_text_bytes": n_text_bytes,
        "n_shared": n_shared,
        "n_shared_2xx": n_shared_2xx,
    }


def _write_index(path: Path, kind: str, urn: Urn, crawl: int, begin: dt.date) -> tuple[int, int]:
    """Write a crawl in the order of an index; return its captures and bytes of text."""
    n_hosts = count_hosts(urn.population)
    blocks = [describe(repeat(urls, crawl), crawl, n_hosts, begin) for urls in urn.draw_crawl()]
    # A second capture stands behind the first: where sorting is stable, times rise for each key.
    captures = pl.concat(blocks).sort("key", maintain_order=True)
    return len(captures), write_captures(path, kind, captures)


def _write_url_list(path: Path, urn: Urn, crawl: int) -> tuple[int, int]:
    """Write the URLs of a crawl about as they were captured, in bounded memory."""
    n_lines = n_bytes = 0
    with open_gzip(path) as file:
        for urls in urn.draw_crawl():
            captures = repeat(urls, crawl)
            captures = captures[np.argsort(capture_seconds(captures, crawl))]
            names = name_urls(captures, count_hosts(urn.population), LAST_FORM)
            n_lines += captures.size
            n_bytes += file.write((names.str.join("\n").item() + "\n").encode())
    return n_lines, n_bytes


def _write_set(path: Path, urn: Urn, begin: dt.date) -> tuple[int, int]:
    """Write the set that ``crawlgauge add`` would write, and the same for peers."""
    from crawlgauge.crawl import Crawl
    from crawlgauge.keys.rules import BY_URL, RAW
    from crawlgauge.keys.sampling import WHOLE
    from crawlgauge.provenance import Provenance
    from crawlgauge.store.attributes import Attributes
    from crawlgauge.store.catalogue import open_store
    from crawlgauge.store.crawl_set import CrawlSet
    from crawlgauge.store.crawl_writer import UnwrittenSet

    keys, label = draw_keys(urn), f"{begin:%Y-%m}"
    with open_store(path.with_name("store"), create_with=RAW).writing(label) as writer:
        description = CrawlSet(
            crawl=Crawl(label=label, date=begin.replace(day=15), n_urls=keys.size),
            level=BY_URL,
            key_rule=str(RAW),
            threshold=WHOLE,
            n_captures=keys.size,
            rejected={},
            excluded={},
            damage=(),
            checksum="",
            provenance=Provenance.now(settings={}, inputs=()),
            folder=writer.folder,
        )
        unwritten = UnwrittenSet(description=description, ranges=[keys], n_most=keys.size)
        # Nothing is known of the URLs.
        writer.publish([unwritten], Attributes.nothing())
    frame = pl.DataFrame({"key": keys})
    frame.write_parquet(path, compression="uncompressed", row_group_size=ROWS_PER_GROUP)
    return keys.size, keys.nbytes
