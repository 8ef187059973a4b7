"""Canonical URLs and their keys: crawlgauge beside surt, w3lib and can_ada, where installed.

The URLs are those of the files given: URL lists, plain or gzip. Without any, simulated ones. Each
program runs in turn over several rounds; the figure is the best CPU time. The peers make other
forms (but for surt, nearly the same) and do not hash them; crawlgauge does both.
"""

import argparse
import gzip
import importlib
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.rules import RAW, SCHEME_FREE, SURT, KeyRule
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.keys.surt_kernel import hash_surt

N_KERNEL = 1_000_000
N_PYTHON = 20_000
N_SIMULATED = 50_000

Job = Callable[[list[bytes]], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lists", nargs="*", type=Path, help="URL lists, plain or gzip")
    parser.add_argument("--rounds", type=int, default=5)
    settings = parser.parse_args()
    urls = read_lists(settings.lists) if settings.lists else simulate()
    length = np.mean([len(url) for url in urls])
    print(f"{len(urls):,} URLs of {length:.0f} bytes on average, repeated to {N_KERNEL:,}")
    print(f"left to the reference: {100 * deferred_share(urls):.3f} %")
    print(f"{'':32}{'M URLs per CPU s':>18}{'slower by':>12}")
    speeds = measure(urls, settings.rounds)
    for name, speed in speeds.items():
        print(f"{name:32}{speed / 1e6:18.3f}{speeds['crawlgauge surt'] / speed:12.1f}")


def read_lists(paths: list[Path]) -> list[bytes]:
    urls: set[bytes] = set()
    for path in paths:
        data = path.read_bytes()
        urls.update((gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).split(b"\n"))
    return sorted(urls - {b""})


def simulate() -> list[bytes]:
    """Make URLs as a crawl of a few sites has them: some with escapes, ports and queries."""
    rng = random.Random(5)  # noqa: S311 - a benchmark
    words = ("news", "about", "Index", "archive", "2021", "people", "%C3%BCber", "Study", "event")
    urls = []
    for _ in range(N_SIMULATED):
        host = f"{rng.choice(('www.', '', 'lib.'))}university-{rng.randrange(200)}.example"
        path = "/".join(rng.choices(words, k=rng.randint(1, 5)))
        query = "?" + "&".join(f"{w}={rng.randrange(999)}" for w in rng.choices(words, k=3))
        end = f"-{rng.randrange(99999)}.html{query if rng.random() < 0.3 else ''}"
        urls.append(f"{rng.choice(('http', 'https'))}://{host}/{path}{end}".encode())
    return urls


def deferred_share(urls: list[bytes]) -> float:
    data = np.frombuffer(b"".join(urls), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, urls)], dtype=np.int32)
    keys = np.empty(len(urls), dtype=np.uint64)
    return hash_surt(data, offsets[:-1], offsets[1:], keys).size / len(urls)


def measure(urls: list[bytes], n_rounds: int) -> dict[str, float]:
    rng = np.random.default_rng(5)
    many = pa.array([urls[i] for i in rng.integers(len(urls), size=N_KERNEL)], pa.binary())
    few = [urls[i] for i in rng.integers(len(urls), size=N_PYTHON)]
    best: dict[str, float] = {}
    for _ in range(n_rounds):
        for rule in (SURT, SCHEME_FREE, RAW):
            note(best, f"crawlgauge {rule.name}", N_KERNEL, time_kernel(many, rule))
        for name, job in {"crawlgauge surt, reference": reference, **peers()}.items():
            note(best, name, N_PYTHON, time_job(job, few))
    return best


def note(best: dict[str, float], name: str, n_urls: int, seconds: float) -> None:
    best[name] = max(best.get(name, 0), n_urls / seconds)


def time_kernel(urls: pa.Array, rule: KeyRule) -> float:
    compute_keys(urls[:1], rule)
    start = time.process_time()
    compute_keys(urls, rule)
    return time.process_time() - start


def time_job(job: Job, urls: list[bytes]) -> float:
    start = time.process_time()
    job(urls)
    return time.process_time() - start


def reference(urls: list[bytes]) -> object:
    return [canonical_surt(url) for url in urls]


def peers() -> dict[str, Job]:
    found: dict[str, Job] = {}
    if surt := find_module("surt"):
        found["surt"] = lambda urls: [surt.surt(url) for url in urls]
    if w3lib := find_module("w3lib.url"):
        found["w3lib canonicalize_url"] = lambda urls: [w3lib.canonicalize_url(u) for u in urls]
    if can_ada := find_module("can_ada"):
        found["can_ada (WHATWG)"] = lambda urls: [parse_or_none(can_ada, url) for url in urls]
    return found


def find_module(name: str):  # noqa: ANN201 - a peer, whatever it is
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def parse_or_none(can_ada, url: bytes):  # noqa: ANN001, ANN201 - a peer's types
    try:
        return can_ada.parse(url.decode("utf-8", "replace")).href
    except ValueError:
        return None


if __name__ == "__main__":
    main()
