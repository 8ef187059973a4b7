"""Make an archive once and keep it: files or sets of all crawls, and the truth about them."""

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
from typing import Literal

from archives.captures import CAPTURES_PER_URL, join_captures, list_captures
from archives.cdxj import write_cdxj
from archives.names import Namer
from archives.parquet import write_parquet
from archives.stored_sets import write_stored_set
from archives.url_lists import write_url_list
from archives.urn import choose_population, count_histories, count_pairs
from archives.warc import write_warc

__all__ = ["Archive", "Kind", "make_archive"]

Kind = Literal["cdxj", "urls", "parquet", "warc", "sets"]
SUFFIXES = {"cdxj": ".cdxj.gz", "urls": ".txt.gz", "parquet": ".parquet", "warc": ".warc.gz"}
FIRST_CRAWL = dt.date(2013, 12, 1)
MONTHS_BETWEEN = 6
TRUTH = "truth.json"
STORE = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An archive on disk whose overlaps are known.

    Parameters
    ----------
    folder
        Where it lies.
    kind
        Of its files; the crawls of ``sets`` are in a store.
    labels, dates
        Of the crawls.
    n_captures
        By crawl.
    n_text_bytes
        By crawl, when uncompressed.
    n_shared, n_shared_2xx
        How many URLs each two crawls share: of all, and of those with status 2xx.
    """

    folder: Path
    kind: Kind
    labels: tuple[str, ...]
    dates: tuple[str, ...]
    n_captures: tuple[int, ...]
    n_text_bytes: tuple[int, ...]
    n_shared: list[list[int]]
    n_shared_2xx: list[list[int]]

    @property
    def paths(self) -> list[Path]:
        """Files of the crawls, in order; of ``sets`` the Parquet files in the store."""
        if self.kind != "sets":
            return [self.folder / f"{label}{SUFFIXES[self.kind]}" for label in self.labels]
        return [
            next((self.store / "crawls" / label).glob("url-*.parquet")) for label in self.labels
        ]

    @property
    def store(self) -> Path:
        """The store of ``sets``."""
        return self.folder / STORE

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return len(self.labels)

    def first(self, n_crawls: int) -> "Archive":
        """Return the archive as it was after so many crawls."""
        return replace(
            self,
            labels=self.labels[:n_crawls],
            dates=self.dates[:n_crawls],
            n_captures=self.n_captures[:n_crawls],
            n_text_bytes=self.n_text_bytes[:n_crawls],
            n_shared=[row[:n_crawls] for row in self.n_shared[:n_crawls]],
            n_shared_2xx=[row[:n_crawls] for row in self.n_shared_2xx[:n_crawls]],
        )

    def write_crawl_list(self, path: Path) -> Path:
        """Write the list that ``crawlgauge add --from`` reads."""
        rows = zip(self.labels, self.dates, self.paths, strict=True)
        lines = [f"{label},{date},{file.resolve()}" for label, date, file in rows]
        path.write_text("\n".join(["label,date,path", *lines, ""]), encoding="utf-8")
        return path

    def link_store(self, target: Path, labels: Sequence[str] | None = None) -> Path:
        """Make a store of the same sets beside, by hard links: nobody has counted in it yet."""
        target.mkdir(exist_ok=True)
        for label in self.labels if labels is None else labels:
            source = self.store / "crawls" / label
            copy = target / "crawls" / label
            copy.mkdir(parents=True)
            for file in source.iterdir():
                if file.suffix in {".parquet", ".json"}:
                    os.link(file, copy / file.name)
        shutil.copy(self.store / "store.json", target / "store.json")
        return target


def make_archive(folder: Path, kind: Kind, *, n_crawls: int, size: int) -> Archive:
    """Return an archive, made now if it is not there yet or the generator has changed since.

    Parameters
    ----------
    folder
        Where archives are kept.
    kind
        Of files.
    n_crawls
        Of half a year each.
    size
        Lines of each file, about; keys of each set for ``sets``.
    """
    place = folder / f"{kind}-{n_crawls}x{size}-{_fingerprint_generator(kind)}"
    if not (place / TRUTH).exists():
        for outdated in folder.glob(f"{kind}-{n_crawls}x{size}-*"):
            shutil.rmtree(outdated)
        started = time.monotonic()
        _tell(f"making {n_crawls} crawls of {size:,} as {kind} in {place} ...")
        place.mkdir(parents=True)
        _write(place, kind, n_crawls, size)
        _tell(f"made in {time.monotonic() - started:.0f} s")
    return _read(place, kind)


def _fingerprint_generator(kind: Kind) -> str:
    """Return a digest of the code that makes the archive, and of the store's format for sets."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    if kind == "sets":
        from crawlgauge.store.crawl_set import SET_SCHEMA

        digest.update(SET_SCHEMA.encode())
    return digest.hexdigest()[:8]


def _write(place: Path, kind: Kind, n_crawls: int, size: int) -> None:
    n_urls = size if kind == "sets" else round(size / CAPTURES_PER_URL)
    population = choose_population(n_urls)
    namer = Namer.for_population(population)
    begins = [_begin(crawl) for crawl in range(n_crawls)]
    rows = []
    for crawl, begin in enumerate(begins):
        label = f"{begin:%Y-%m}"
        date = begin.replace(day=15)
        n_captures, n_bytes = _write_crawl(place, kind, namer, population, crawl, begin)
        rows.append({"label": label, "date": str(date), "n": n_captures, "bytes": n_bytes})
    histories, histories_2xx = count_histories(population, n_crawls)
    truth = {
        "crawls": rows,
        "n_shared": count_pairs(histories, n_crawls),
        "n_shared_2xx": count_pairs(histories_2xx, n_crawls),
    }
    # Written last: what was begun and not finished is made again.
    (place / TRUTH).write_text(json.dumps(truth), encoding="utf-8")


def _write_crawl(
    place: Path, kind: Kind, namer: Namer, population: int, crawl: int, begin: dt.date
) -> tuple[int, int]:
    """Write one crawl; return its number of captures and its size when uncompressed."""
    label = f"{begin:%Y-%m}"
    if kind == "sets":
        date = begin.replace(day=15)
        return write_stored_set(place / STORE, label, date, population, crawl), 0
    path = place / f"{label}{SUFFIXES[kind]}"
    if kind == "urls":
        return write_url_list(path, list_captures(population, crawl), namer)
    captures = join_captures(list_captures(population, crawl))
    write = {"cdxj": write_cdxj, "parquet": write_parquet, "warc": write_warc}[kind]
    return captures.numbers.size, write(path, captures, namer, crawl, begin)


def _begin(crawl: int) -> dt.date:
    months = FIRST_CRAWL.month - 1 + crawl * MONTHS_BETWEEN
    return FIRST_CRAWL.replace(year=FIRST_CRAWL.year + months // 12, month=months % 12 + 1)


def _read(place: Path, kind: Kind) -> Archive:
    truth = json.loads((place / TRUTH).read_text(encoding="utf-8"))
    rows = truth["crawls"]
    return Archive(
        folder=place,
        kind=kind,
        labels=tuple(row["label"] for row in rows),
        dates=tuple(row["date"] for row in rows),
        n_captures=tuple(row["n"] for row in rows),
        n_text_bytes=tuple(row["bytes"] for row in rows),
        n_shared=truth["n_shared"],
        n_shared_2xx=truth["n_shared_2xx"],
    )


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
