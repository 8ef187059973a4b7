"""Measure how many bytes one host costs: of a ZipNum cluster and of a columnar index on a server.

Both are made once, under build/bench, with blocks as large as Common Crawl's, and are served on
loopback to a command line that knows nothing of it.
"""

import argparse
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "remote"))

from web_server import WebServer  # noqa: E402 - found by the line above

BLOCK_LINES = 3_000
ROWS_PER_GROUP = 16_384
PAGES_PER_HOST = 50
HOST = "site000042.org"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "bench")
    chosen = parser.parse_args()
    folder = chosen.data / f"one-host-{chosen.lines}"
    if not folder.exists():
        make(folder, chosen.lines)
    server = WebServer()
    for file in folder.iterdir():
        server.files[f"/{file.name}"] = file.read_bytes()
    print(f"| one host of {chosen.lines:,} lines | file MB | fetched MB | share | requests | s |")
    print("|---|---:|---:|---:|---:|---:|")
    for title, word, pattern in (
        ("ZipNum cluster", f"ccindex+{server.url}/", "c*"),
        ("columnar index, gzip Parquet", f"{server.url}/table.gz.parquet", "table*"),
    ):
        n_all = sum(file.stat().st_size for file in folder.glob(pattern))
        before, start = server.n_requests, time.monotonic()
        n_fetched = add(word, chosen.data / "one-host.store")
        seconds = time.monotonic() - start
        cells = f"{n_all / 1e6:.1f} | {n_fetched / 1e6:.2f} | {n_fetched / n_all:.1%}"
        print(f"| {title} | {cells} | {server.n_requests - before} | {seconds:.1f} |")


def make(folder: Path, n_lines: int) -> None:
    """Write both indexes, of the same captures."""
    folder.mkdir(parents=True)
    chance = random.Random(3)  # noqa: S311 - no secret
    tlds = ("com", "net", "org", "se")
    hosts = sorted((tlds[k % 4], f"site{k:06d}") for k in range(n_lines // PAGES_PER_HOST))
    rows = []
    for tld, name in hosts:
        for page in range(PAGES_PER_HOST):
            path = f"/page/{page:03d}?{chance.getrandbits(64):x}"
            rows.append((f"{tld},{name}){path}", f"https://{name}.{tld}{path}"))
    digests = [f"{chance.getrandbits(160):040X}" for _ in rows]
    files = [f"crawl-data/{chance.getrandbits(12):03x}.warc.gz" for _ in rows]
    index = []
    with (folder / "cdx-00000.gz").open("wb") as part:
        for start in range(0, len(rows), BLOCK_LINES):
            lines = "".join(
                f'{key} 20230515120000 {{"url": "{url}", "mime": "text/html", "status": "200", '
                f'"digest": "{digests[start + at]}", "filename": "{files[start + at]}"}}\n'
                for at, (key, url) in enumerate(rows[start : start + BLOCK_LINES])
            )
            packed, place = gzip.compress(lines.encode(), 6), part.tell()
            part.write(packed)
            number = start // BLOCK_LINES + 1
            head = f"{rows[start][0]} 20230515120000\tcdx-00000.gz"
            index.append(f"{head}\t{place}\t{len(packed)}\t{number}\n")
    (folder / "cluster.idx").write_text("".join(index))
    pl.DataFrame(
        {
            "url_surtkey": [key for key, _ in rows],
            "url": [url for _, url in rows],
            "url_host_name": [url.split("/")[2] for _, url in rows],
            "url_host_tld": [key.partition(",")[0] for key, _ in rows],
            "fetch_time": [20230515120000] * len(rows),
            "fetch_status": [200] * len(rows),
            "content_digest": digests,
            "content_mime_type": ["text/html"] * len(rows),
            "warc_filename": files,
        }
    ).write_parquet(
        folder / "table.gz.parquet",
        compression="gzip",
        row_group_size=ROWS_PER_GROUP,
        statistics=True,
    )


def add(word: str, store: Path) -> int:
    """Add the pages of one host, see that they are all there, and return the bytes fetched."""
    shutil.rmtree(store, ignore_errors=True)
    scope = store.with_name("one-host.txt")
    scope.write_text(f"{HOST}\n")
    command = ["add", "--store", str(store), "--scope", str(scope), "2023-05", word]
    result = subprocess.run(
        [sys.executable, "-m", "crawlgauge", *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    found = re.search(r"fetched ([\d,]+) bytes in all", result.stderr)
    if f": {PAGES_PER_HOST} URLs" not in result.stdout or found is None:
        raise SystemExit(result.stdout + result.stderr)
    return int(found[1].replace(",", ""))


if __name__ == "__main__":
    main()
