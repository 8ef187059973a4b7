"""Compare estimates from capture histories with the truth, on lists whose turnover is real.

Each list of the given folder is a population; ten of its consecutive snapshots are crawled by
regimes from even capture to avoidance, and what the estimates say is compared with what is true.
Results are appended archive by archive: a study that was stopped goes on where it was, as long as
the code is the same. Linear algebra libraries are best held to one thread
(``OPENBLAS_NUM_THREADS=1``), as the matrices are small.
"""

import argparse
import csv
import hashlib
import time
from pathlib import Path
from typing import Any

import crawlgauge
import real_turnover_archives
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.estimating import estimate_coverage
from real_turnover_archives import (
    REGIMES,
    Population,
    TurnoverArchive,
    draw_archive,
    read_populations,
)
from real_turnover_tables import MAIN_REGIMES, to_markdown

PAGE = "real-turnover.md"
BEGIN_TABLES, END_TABLES = "<!-- tables -->", "<!-- end of the tables -->"
DISTRUST = "do not trust"
OTHERS = ("two-way", "manly-parr", "rested-manly-parr", "latent-class")
COLUMNS = (
    *("code", "list", "regime", "seed", "first_date", "n_urls", "truth", "estimator", "value"),
    *("low", "high", "grade", "distrust", *OTHERS),
    *("newest_truth", "newest_value", "newest_low", "newest_high", "reason"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lists", type=Path, help="folder with a folder of snapshots for each list")
    parser.add_argument("--seeds", type=int, default=20, help="archives of each list and regime")
    parser.add_argument(
        "--regimes", nargs="*", choices=REGIMES, default=MAIN_REGIMES, metavar="REGIME",
        help=f"which of {', '.join(REGIMES)}; default: {', '.join(MAIN_REGIMES)}",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, default=Path("build/real-turnover.csv"), help="appended to"
    )
    parser.add_argument("--output", type=Path, help="folder for the tables as CSV and Markdown")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    code = fingerprint_code()
    run(options, code)
    records = [record for record in read_records(options.results) if record["code"] == code]
    tables = to_markdown(records)
    print(tables)
    if options.output is not None:
        write_results(records, tables, options.output)


def fingerprint_code() -> str:
    """Return a few digits that change with anything that the results depend on."""
    package = Path(crawlgauge.__file__).parent
    files = sorted(
        path for room in ("overlaps", "model") for path in (package / room).rglob("*.py")
    )
    files.append(Path(real_turnover_archives.__file__))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]


def run(options: argparse.Namespace, code: str) -> None:
    done = {name_of(record) for record in read_records(options.results)}
    populations = read_populations(options.lists)
    # Seeds come last: a study that is stopped has some archives of everything.
    jobs = [
        (population, regime, seed)
        for seed in range(1, options.seeds + 1)
        for regime in options.regimes
        for population in populations
        if (code, population.name, regime, str(seed)) not in done
    ]
    start = time.monotonic()
    for number, (population, regime, seed) in enumerate(jobs, start=1):
        record = study(population, regime, seed) | {"code": code}
        append_record(options.results, record)
        print(
            f"{number}/{len(jobs)} after {time.monotonic() - start:.0f} s: {population.name}, "
            f"{regime}, seed {seed}: {record['value']} for {record['truth']}, "
            f"grade {record['grade']}",
            flush=True,
        )


def study(population: Population, regime: str, seed: int) -> dict[str, Any]:
    """Draw an archive, estimate it, and return both with the truth."""
    archive = draw_archive(population, regime, seed)
    found = compare(archive, estimate_coverage(archive.table))
    return {"list": population.name, "regime": regime, "seed": seed} | found


def compare(archive: TurnoverArchive, estimates: Estimates) -> dict[str, Any]:
    """Return what the estimates say beside what is true; None for what they leave open."""
    headline, newest = estimates.headline, estimates.newest.coverage
    rows = {row.name: row.coverage for row in estimates.estimators}
    return {
        "first_date": archive.table.crawls[0].date,
        "n_urls": archive.table.histories.n_urls,
        "truth": round_off(archive.typical),
        "estimator": headline.estimator,
        **list_ends("", headline.coverage),
        "grade": estimates.agreement.grade,
        "distrust": int(DISTRUST in headline.statement.lower()),
        **{name: round_off(rows.get(name)) for name in OTHERS},
        "newest_truth": round_off(float(archive.coverage[-1])),
        **list_ends("newest_", newest),
        "reason": estimates.agreement.reason,
    }


def list_ends(prefix: str, estimate: Estimate) -> dict[str, float | None]:
    return {
        f"{prefix}{name}": round_off(getattr(estimate, name)) for name in ("value", "low", "high")
    }


def round_off(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def name_of(record: dict[str, Any]) -> tuple[str, ...]:
    return tuple(record[column] for column in ("code", "list", "regime", "seed"))


def read_records(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def append_record(path: Path, record: dict[str, Any]) -> None:
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(record)


def write_results(records: list[dict[str, Any]], tables: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shown = [column for column in COLUMNS if column not in {"code", "reason"}]
    with (folder / "real-turnover.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, shown, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    page = folder / PAGE
    page.write_text(put_tables_into_page(page, tables), encoding="utf-8")
    print(f"{folder / 'real-turnover.csv'}\n{page}")


def put_tables_into_page(page: Path, tables: str) -> str:
    """Return the page with the tables between its marks; the tables alone if there is no page."""
    if not page.exists():
        return tables
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN_TABLES)
    _, end, after = rest.partition(END_TABLES)
    return f"{before}{begin}\n\n{tables}\n{end}{after}"


if __name__ == "__main__":
    main()
