"""What all peers have in common: their arguments, and how they answer.

A peer is run as ``python -m peers.with_NAME QUERY SCRATCH FILE...`` with a file for each crawl. It
prints the matrix of shared URLs as JSON: how many each two crawls share, and on the diagonal how
many each holds.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

__all__ = ["Query", "answer", "count_pairs", "n_threads"]

Query = Callable[[list[str], Path], list[list[int]]]


def answer(queries: Mapping[str, Query]) -> None:
    """Run the query that the arguments name, and print its answer."""
    name, scratch, *paths = sys.argv[1:]
    print(json.dumps(queries[name](paths, Path(scratch))))


def count_pairs(rows: Iterable[tuple[int, int]], n_crawls: int) -> list[list[int]]:
    """Return the matrix for numbers of URLs by mask; bit k of a mask stands for crawl k."""
    shared = [[0] * n_crawls for _ in range(n_crawls)]
    for mask, count in rows:
        members = [number for number in range(n_crawls) if mask >> number & 1]
        for a in members:
            for b in members:
                shared[a][b] += count
    return shared


def n_threads() -> int:
    """Return how many threads there are to use."""
    return len(os.sched_getaffinity(0))
