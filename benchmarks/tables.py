"""The tables: what each compares, at which sizes, and against which targets."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from archives import Archive
from canonical import compare_canonical
from measuring import measure
from racing import (
    CRAWLGAUGE,
    HEADER,
    Contender,
    Race,
    Settings,
    crawlgauge,
    environment,
    new_folder,
    peer,
    race,
    read_matrix,
)
from results import Result, Verdict, at_least, at_most
from sketches import compare_sketches

N_CRAWLS = 15
GIVEN = ("--identity", "given", "--status", "any")
POLARS, POLARS_SETS, POLARS_RANGES = "Polars", "Polars, keeping sets", "Polars, by ranges"
DUCKDB, DUCKDB_SETS, DUCKDB_RANGES = "DuckDB", "DuckDB, keeping sets", "DuckDB, by ranges"
LIMITS = ("igzip alone, files by 1 MB", "igzip alone, blocks of 256 kB")
FORMATS = {
    "urls": "URL list",
    "cdxj": "CDXJ",
    "cdx": "CDX",
    "crawl-log": "crawl.log",
    "csv": "CSV",
    "jsonl": "JSON Lines",
    "server-json": "JSON of a CDX server",
    "parquet": "Parquet",
    "warc": "WARC",
    "wacz": "WACZ",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table, at a size that takes a minute or so and at the one that the targets speak of."""

    run: Callable[[Settings], Result]
    moderate: int
    full: int
    summary: str
    full_rounds: int = 3


# ------------------------------------------------------------------------- from files to the matrix


def compare_cdxj(settings: Settings) -> Result:
    archive = settings.archive("cdxj").first(N_CRAWLS)
    found = race(
        [
            crawlgauge(archive, *GIVEN),
            *peers_of(archive, "cdxj"),
            *limits_of(archive),
        ],
        settings,
    )
    limits = [median(found.ratios(name)) for name in LIMITS if name in found.runs]
    return to_result(
        f"{N_CRAWLS} CDXJ files of {settings.size:,} lines to the matrix, by the keys in them; "
        "every capture counts",
        found,
        *found.is_faster(2.5, DUCKDB, DUCKDB_SETS),
        *found.is_faster(1.6, POLARS, POLARS_SETS),
        *(at_least("of the speed of igzip", 0.58, limit, "×") for limit in sorted(limits)[:1]),
    )


def compare_cdxj_default(settings: Settings) -> Result:
    archive = settings.archive("cdxj").first(N_CRAWLS)
    found = race([crawlgauge(archive), *peers_of(archive, "cdxj-2xx")], settings)
    return to_result(
        f"{N_CRAWLS} CDXJ files of {settings.size:,} lines to the matrix, by canonical URLs; "
        "captures with status 2xx count. The peers take the keys in the files, and look for the "
        "text of a status",
        found,
        *found.is_faster(2.3, DUCKDB, DUCKDB_SETS),
        *found.is_faster(1.5, POLARS, POLARS_SETS),
    )


def compare_parquet(settings: Settings) -> Result:
    archive = settings.archive("parquet").first(N_CRAWLS)
    found = race([crawlgauge(archive, *GIVEN), *peers_of(archive, "parquet")], settings)
    return to_result(
        f"{N_CRAWLS} Parquet files of {settings.size:,} rows to the matrix, by the keys in them",
        found,
        *found.is_faster(1.6, DUCKDB_SETS),
        *found.is_faster(1, POLARS_SETS),
    )


def compare_urls(settings: Settings) -> Result:
    archive = settings.archive("urls").first(N_CRAWLS)
    found = race(
        [
            crawlgauge(archive, "--identity", "raw"),
            crawlgauge(archive, name="crawlgauge, by default"),
            *peers_of(archive, "urls"),
            *limits_of(archive),
        ],
        settings,
    )
    return to_result(
        f"{N_CRAWLS} URL lists of {settings.size:,} lines to the matrix, URLs as they are; by "
        "default crawlgauge makes them canonical",
        found,
        *found.is_faster(1.5, DUCKDB, DUCKDB_SETS),
        *found.is_faster(1, POLARS, POLARS_SETS),
    )


def compare_spark(settings: Settings) -> Result:
    archive = settings.archive("cdxj").first(N_CRAWLS)
    found = race(
        [
            crawlgauge(archive, *GIVEN),
            crawlgauge(archive, *GIVEN, name="Spark, as crawlgauge's engine", engine="spark"),
            peer(archive, "Spark", "cdxj"),
        ],
        settings,
    )
    return to_result(
        f"{N_CRAWLS} CDXJ files of {settings.size:,} lines to the matrix on this machine alone, by "
        "the keys in them",
        found,
    )


def peers_of(archive: Archive, query: str) -> list[Contender]:
    return [
        peer(archive, POLARS, query),
        peer(archive, POLARS_SETS, f"{query}-sets"),
        peer(archive, DUCKDB, query),
        peer(archive, DUCKDB_SETS, f"{query}-sets"),
    ]


def limits_of(archive: Archive) -> list[Contender]:
    return [peer(archive, LIMITS[0], "files"), peer(archive, LIMITS[1], "blocks")]


def to_result(title: str, found: Race, *verdicts: Verdict) -> Result:
    return Result(
        title=title, header=HEADER, rows=found.rows(), notes=found.notes(), verdicts=verdicts
    )


# -------------------------------------------------------------------------- from sets to the matrix


def compare_merge(settings: Settings) -> Result:
    archive = settings.archive("sets").first(N_CRAWLS)
    found = race(
        [
            counting("crawlgauge overlaps", archive),
            peer(archive, POLARS, "keys"),
            peer(archive, POLARS_RANGES, "keys-sets"),
            peer(archive, DUCKDB, "keys"),
            peer(archive, DUCKDB_RANGES, "keys-sets"),
        ],
        settings,
    )
    speed = sum(archive.n_captures) / found.cpu_seconds(found.ours) / 1e6
    return to_result(
        f"{N_CRAWLS} sets of {settings.size:,} keys to the matrix: {speed:.1f} M keys a CPU second",
        found,
        *found.is_faster(15, DUCKDB),
        at_most("memory, as version 0.1.0", 146, found.megabytes(found.ours), "MB"),
    )


def compare_sixteenth(settings: Settings) -> Result:
    archive = settings.archive("sets")
    tiny = settings.archive("sets", n_crawls=2, size=2_000)
    row, anew, start = "count its row", "count all anew", "start: the same of two tiny sets"
    found = race(
        [
            counting(row, archive, n_counted=N_CRAWLS),
            counting(anew, archive),
            counting(start, tiny),
        ],
        settings,
    )
    by_round = zip(found.runs[anew], found.runs[row], found.runs[start], strict=True)
    ratios = [
        (whole.cpu_seconds - least.cpu_seconds) / max(0.01, part.cpu_seconds - least.cpu_seconds)
        for whole, part, least in by_round
    ]
    return to_result(
        f"{N_CRAWLS + 1} sets of {settings.size:,} keys: the row of the last one, after the others "
        "were counted",
        found,
        at_least("as fast as to count all anew, less the start", 3, median(ratios), "×"),
    )


def counting(name: str, archive: Archive, n_counted: int = 0) -> Contender:
    """Return crawlgauge from the sets of a store to the matrix; so many were counted before."""

    def commands(scratch: Path) -> list[list[str]]:
        return [[*CRAWLGAUGE, "overlaps", "--store", str(scratch / "store"), "--json"]]

    def prepare(scratch: Path) -> None:
        if n_counted:
            archive.link_store(scratch / "store", archive.labels[:n_counted])
            measure(commands(scratch), scratch=scratch, environment=environment())
        archive.link_store(scratch / "store", archive.labels[n_counted:])

    return Contender(
        name=name, commands=commands, prepare=prepare, read=read_matrix, expected=archive.n_shared
    )


# ---------------------------------------------------------------- adding, formats, and the start


def measure_add_memory(settings: Settings) -> Result:
    archive = settings.archive("urls", n_crawls=1)
    found = race([adding("crawlgauge add", archive)], settings)
    speed = sum(archive.n_captures) / found.cpu_seconds(found.ours) / 1e6
    return to_result(
        f"one URL list of {sum(archive.n_captures):,} lines to a set, by canonical URLs, "
        f"{speed:.2f} M lines per CPU second",
        found,
        at_most("anonymous memory", 2_000, found.megabytes(found.ours), "MB"),
    )


def compare_formats(settings: Settings) -> Result:
    archives = {
        name: settings.archive(kind, n_crawls=2)
        for kind, name in FORMATS.items()
        if kind not in settings.without
    }
    contenders = [adding(name, item, "--status", "any") for name, item in archives.items()]
    found = race(contenders, settings)
    rows, text_speeds = [], {}
    for name, archive in archives.items():
        seconds = found.cpu_seconds(name)
        speed = sum(archive.n_captures) / seconds / 1e6
        n_megabytes = sum(archive.n_text_bytes) / 1e6
        memory = f"{found.megabytes(name):,.0f}"
        rows.append(
            (name, f"{seconds:.2f}", f"{speed:.2f}", f"{n_megabytes / seconds:,.0f}", memory)
        )
        if archive.kind not in {"parquet", "warc", "wacz"}:
            text_speeds[name] = speed
    slowest = sorted(text_speeds, key=text_speeds.__getitem__)[:1]
    return Result(
        title=f"2 crawls of {settings.size:,} captures in each format to sets, by canonical URLs",
        header=("", "CPU s", "M captures per CPU s", "MB per CPU s", "memory MB"),
        rows=rows,
        notes=["Texts are gzip; MB are those before compression. The start is included."],
        verdicts=[
            at_least(f"slowest text format, {name}", 0.3, text_speeds[name], "M per CPU second")
            for name in slowest
        ],
    )


def measure_start(settings: Settings) -> Result:
    archive = settings.archive("urls", n_crawls=N_CRAWLS)
    smallest = settings.archive("urls", n_crawls=1, size=10)
    with new_folder(settings.folder / "scratch") as place:
        store = ("--store", str(place / "store"))
        crawls = archive.write_crawl_list(place / "crawls.csv")
        tables = {kind: str(place / f"overlaps.{kind}") for kind in ("json", "csv")}
        commands = [[*CRAWLGAUGE, "add", *store, "--from", crawls]]
        commands += [[*CRAWLGAUGE, "overlaps", *store, "-o", path] for path in tables.values()]
        measure(commands, scratch=place, environment=environment())
        listing, estimate = [*CRAWLGAUGE, "list", *store, "--json"], [*CRAWLGAUGE, "estimate"]
        found = race(
            [
                only("list", listing, archive.n_urls),
                adding("smallest add", smallest),
                only("estimate of histories", [*estimate, tables["json"]]),
                only("estimate of pairs", [*estimate, tables["csv"]]),
                only("--help", [*CRAWLGAUGE, "--help"]),
                only("import crawlgauge", [sys.executable, "-c", "import crawlgauge"]),
                only("python -c pass", [sys.executable, "-c", "pass"]),
            ],
            settings,
        )
    limits = {"list": 0.15, "smallest add": 0.4, "estimate of histories": 1.2}
    return Result(
        title=f"the start: {N_CRAWLS} crawls of {settings.size:,} URLs",
        header=(HEADER[0], HEADER[1], HEADER[4], HEADER[6]),
        rows=[(row[0], row[1], row[4], row[6]) for row in found.rows()],
        verdicts=[
            at_most(name, limit, found.cpu_seconds(name), "CPU s") for name, limit in limits.items()
        ],
    )


def adding(name: str, archive: Archive, *options: str) -> Contender:
    """Return crawlgauge from files to sets."""

    def commands(scratch: Path) -> list[list[str]]:
        crawls = archive.write_crawl_list(scratch / "crawls.csv")
        store = ("--store", str(scratch / "store"))
        return [[*CRAWLGAUGE, "add", *store, "--from", crawls, "--json", *options]]

    return Contender(name=name, commands=commands, read=read_sizes, expected=archive.n_urls)


def only(name: str, command: list[str], n_urls: list[int] | None = None) -> Contender:
    """Return a command that needs no folder; sizes of crawls that it tells are checked."""
    return Contender(name=name, commands=lambda _: [command], read=read_sizes, expected=n_urls)


def read_sizes(output: str) -> object:
    """Return how many URLs each crawl has, as ``crawlgauge add --json`` and ``list --json`` say."""
    return [crawl["n_urls"] for crawl in json.loads(output)["crawls"]]


THOUSAND, MILLION = 1_000, 1_000_000
TABLES = {
    "cdxj": Table(
        compare_cdxj, 100 * THOUSAND, MILLION, "CDXJ to the matrix by given keys, beside peers"
    ),
    "cdxj-default": Table(
        compare_cdxj_default, 100 * THOUSAND, MILLION, "the same by canonical URLs, status 2xx"
    ),
    "parquet": Table(compare_parquet, 100 * THOUSAND, MILLION, "Parquet to the matrix"),
    "urls": Table(compare_urls, 100 * THOUSAND, MILLION, "URL lists to the matrix"),
    "merge": Table(compare_merge, MILLION, 20 * MILLION, "sets to the matrix"),
    "sixteenth": Table(compare_sixteenth, MILLION, 20 * MILLION, "the row of one more set"),
    "add-memory": Table(
        measure_add_memory, 4 * MILLION, 100 * MILLION, "memory for the set of a large crawl", 1
    ),
    "start": Table(
        measure_start, 100 * THOUSAND, 100 * THOUSAND, "list, smallest add, estimate, --help", 5
    ),
    "formats": Table(compare_formats, 50 * THOUSAND, 500 * THOUSAND, "each format to a set"),
    "canonical": Table(
        compare_canonical, 50 * THOUSAND, 200 * THOUSAND, "canonical URLs, beside libraries"
    ),
    "sketches": Table(compare_sketches, 100 * THOUSAND, MILLION, "errors of sketches and samples"),
    "spark": Table(compare_spark, 100 * THOUSAND, MILLION, "CDXJ to the matrix on Spark"),
}
