"""Measure how far estimates are from the truth, for each crawler policy and budget.

Crawlers of several policies and budgets visit the same simulated webs, whose truth is known; each
archive is estimated from its overlaps alone. Every estimator and every check of the estimates is
compared with the truth. Results of a seed are kept, so that a study that was stopped goes on
where it was, as long as the code is the same. Tables and figures are made from them.
"""

import argparse
import hashlib
import json
import math
import statistics
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import crawlgauge
from crawler_bias_figures import draw_ratios, draw_repeats
from crawler_bias_tables import to_csv
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.simulate.archive import SimulatedArchive
from crawlgauge.simulate.archive_files import count_archive
from crawlgauge.simulate.urn_settings import DatePlan
from crawlgauge.simulate.web_archive import simulate_crawler
from crawlgauge.simulate.web_settings import (
    CrawlerSettings,
    GraphSettings,
    TrapSettings,
    WebSettings,
)

BUDGETS = (0.25, 0.5, 0.75)
NO_TRAPS = TrapSettings()
CRAWLERS = {
    "uniform": (CrawlerSettings(policy="uniform"), NO_TRAPS),
    "breadth-first": (CrawlerSettings(policy="breadth-first"), NO_TRAPS),
    "capped": (CrawlerSettings(policy="capped"), NO_TRAPS),
    "polite": (CrawlerSettings(policy="polite"), NO_TRAPS),
    "pagerank": (CrawlerSettings(policy="pagerank"), NO_TRAPS),
    "adaptive": (CrawlerSettings(policy="adaptive"), NO_TRAPS),
    "longest-unseen": (CrawlerSettings(policy="longest-unseen"), NO_TRAPS),
    "breadth-first, session traps": (CrawlerSettings(), TrapSettings(n_hosts=60)),
    "breadth-first, calendars": (CrawlerSettings(), TrapSettings(n_hosts=60, kind="calendar")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000, help="living pages of each web")
    parser.add_argument("--crawls", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a small run: 10,000 pages, 2 seeds")
    parser.add_argument("--results", type=Path, default=Path("build/crawler-bias"))
    parser.add_argument("--output", type=Path, help="for tables and figures; else as --results")
    options = parser.parse_args()
    if options.quick:
        options.pages, options.seeds = 10_000, 2
    name = f"{options.pages}-pages-{options.crawls}-crawls-{fingerprint_code()}"
    folder = options.results / name
    folder.mkdir(parents=True, exist_ok=True)
    run_seeds(options, folder)
    records = [
        record
        for seed in range(1, options.seeds + 1)
        for record in json.loads(result_path(folder, seed).read_text())
    ]
    write_results(records, options.output or folder)


def fingerprint_code() -> str:
    """Return a few digits that change with anything that the results depend on."""
    rooms = ("simulate", "overlaps", "model")
    package = Path(crawlgauge.__file__).parent
    files = sorted(path for room in rooms for path in (package / room).glob("*.py"))
    code = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(code + repr((CRAWLERS, BUDGETS)).encode()).hexdigest()[:8]


def run_seeds(options: argparse.Namespace, folder: Path) -> None:
    seeds = range(1, options.seeds + 1)
    missing = [seed for seed in seeds if not result_path(folder, seed).exists()]
    print(f"{len(CRAWLERS)} crawlers × {len(BUDGETS)} budgets × {options.seeds} seeds; ", end="")
    print(f"{options.seeds - len(missing)} seeds are done already", flush=True)
    start = time.monotonic()
    with ProcessPoolExecutor(options.workers) as pool:
        jobs = {pool.submit(study_seed, options.pages, options.crawls, s): s for s in missing}
        for number, job in enumerate(as_completed(jobs), start=1):
            path = result_path(folder, jobs[job])
            beside = path.with_suffix(".part")
            beside.write_text(json.dumps(job.result(), indent=1))
            beside.replace(path)
            seconds = time.monotonic() - start
            print(f"seed {jobs[job]}: {number}/{len(missing)} after {seconds:.0f} s", flush=True)


def result_path(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}.json"


def study_seed(n_pages: int, n_crawls: int, seed: int) -> list[dict[str, Any]]:
    settings = [
        WebSettings(
            scenario=name,
            graph=GraphSettings(n_pages=n_pages),
            crawler=replace(crawler, budget_share=budget),
            traps=traps,
            dates=DatePlan(n_crawls=n_crawls),
        )
        for name, (crawler, traps) in CRAWLERS.items()
        for budget in BUDGETS
    ]
    return [compare(one.crawler.budget_share, simulate_crawler(one, seed=seed)) for one in settings]


def compare(budget: float, archive: SimulatedArchive) -> dict[str, Any]:
    truth = archive.truth
    # The study is of pairs: histories would take the place of its headline.
    estimates = estimate_coverage(replace(count_archive(archive), histories=None))
    later = [crawl.details for crawl in truth.crawls[1:]]
    n_trap_urls = sum(crawl.details["n_trap_urls"] for crawl in truth.crawls)
    return {
        "policy": truth.scenario,
        "budget": budget,
        "seed": truth.seed,
        "coverage": truth.coverage,
        "persistence": truth.persistence,
        "persistence_first_to_last": truth.settings["persistence_first_to_last"],
        "coverage_by_pagerank": geometric_mean(d["coverage_by_pagerank"] for d in later),
        "repeat_overlap": geometric_mean(d["repeat_overlap"] for d in later),
        "trap_share": n_trap_urls / sum(crawl.n_urls for crawl in truth.crawls),
        "headline": {
            "estimator": estimates.headline.estimator,
            "coverage": estimates.headline.coverage.value,
            "low": estimates.headline.coverage.low,
            "high": estimates.headline.coverage.high,
        },
        "estimators": {
            row.name: {"coverage": row.coverage, "persistence": row.persistence}
            for row in estimates.estimators
        },
        "r_squared": estimates.paper.r_squared,
        "grade": estimates.agreement.grade,
        "checks": {check.id: check.status for check in estimates.checks},
    }


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def write_results(records: list[dict[str, Any]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    cells = list(summarise(records))
    files = {
        "crawler-bias.csv": to_csv(cells),
        "crawler-bias-coverage.svg": draw_ratios(cells, "coverage"),
        "crawler-bias-persistence.svg": draw_ratios(cells, "persistence"),
        "crawler-bias-repeats.svg": draw_repeats(records, "two-way"),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


def summarise(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield for each policy and budget the truth and each estimator's ratio to it."""
    for policy in CRAWLERS:
        for budget in BUDGETS:
            found = [r for r in records if (r["policy"], r["budget"]) == (policy, budget)]
            yield {
                "policy": policy,
                "budget": budget,
                "n_seeds": len(found),
                **{
                    name: statistics.fmean(r[name] for r in found)
                    for name in (
                        *("coverage", "coverage_by_pagerank", "repeat_overlap", "trap_share"),
                        *("persistence", "persistence_first_to_last"),
                    )
                },
                "r_squared": mean_of_known(r["r_squared"] for r in found),
                "estimators": {
                    name: {
                        quantity: ratios(found, name, quantity)
                        for quantity in ("coverage", "persistence")
                    }
                    for name in dict.fromkeys(n for r in found for n in r["estimators"])
                },
                "n_checks": max(len(r["checks"]) for r in found),
                "fired": count_fired(found),
            }


def ratios(records: list[dict[str, Any]], estimator: str, quantity: str) -> list[float]:
    return [
        row[quantity] / r[quantity]
        for r in records
        if (row := r["estimators"].get(estimator)) is not None and row[quantity] is not None
    ]


def count_fired(records: list[dict[str, Any]]) -> dict[str, int]:
    fired: dict[str, int] = {}
    for record in records:
        for name, status in record["checks"].items():
            if status in {"warn", "fail"}:
                fired[name] = fired.get(name, 0) + 1
    return fired


def mean_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


if __name__ == "__main__":
    main()
