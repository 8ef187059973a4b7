"""From URL lists to the matrix of overlaps: crawlgauge beside DuckDB, Polars and Python sets.

Each job runs in a process of its own, interleaved over several rounds; the figure is the
smallest CPU time (user and system, children included), as a ratio to crawlgauge's in the same
run. All must find the same overlaps.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PEERS = ("crawlgauge", "duckdb", "polars", "python-sets")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=500_000, help="URLs per crawl")
    parser.add_argument("--crawls", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=3)
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lists = make_lists(folder / "lists", settings.crawls, settings.urls)
        best = measure(lists, folder, settings.rounds)
    n_lines = settings.crawls * settings.urls
    print(f"{settings.crawls} gzip URL lists of {settings.urls:,} URLs to the matrix of overlaps")
    print(f"{'':14}{'CPU s':>8}{'ratio':>8}{'M lines per CPU s':>20}")
    for peer, seconds in best.items():
        ratio = seconds / best["crawlgauge"]
        print(f"{peer:14}{seconds:8.2f}{ratio:8.2f}{n_lines / seconds / 1e6:20.2f}")


def make_lists(folder: Path, n_crawls: int, n_urls: int) -> list[str]:
    import crawlgauge as cg

    archive = cg.simulate_urn(n_crawls=n_crawls, population=round(n_urls / 0.46), seed=5)
    return [str(path) for path in cg.write_simulation(archive, folder)]


def measure(lists: list[str], folder: Path, n_rounds: int) -> dict[str, float]:
    best = dict.fromkeys(PEERS, float("inf"))
    answers = {}
    # The first call compiles; it is not part of the comparison.
    run_job("crawlgauge", lists, folder / "warm-up")
    for number in range(n_rounds):
        for peer in PEERS:
            seconds, answer = run_job(peer, lists, folder / f"{peer}-{number}")
            best[peer] = min(best[peer], seconds)
            answers[peer] = answer
    if any(answer != answers["crawlgauge"] for answer in answers.values()):
        sys.exit("the peers do not agree on the overlaps")
    return best


def run_job(peer: str, lists: list[str], scratch: Path) -> tuple[float, object]:
    scratch.mkdir()
    command = [sys.executable, str(HERE / "url_list_jobs.py"), peer, str(scratch), *lists]
    before = os.times()
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    after = os.times()
    seconds = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return seconds, json.loads(result.stdout)


if __name__ == "__main__":
    main()
