"""The tools of every Unix: `sort -u` for each crawl, then `comm` for each two.

In the C locale, which compares bytes, with as many threads as cores and a quarter of the memory, as
the manual of `sort` says. Decompression is `zcat`, or a faster program of that kind where there is
one.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

from peers.answering import answer, n_threads

KEYS = {"cdxj": "cut -d ' ' -f 1", "urls": "cat"}


def ask(keys: str) -> Callable[[list[str], Path], list[list[int]]]:
    def run(paths: list[str], scratch: Path) -> list[list[int]]:
        sort = f"sort -u --parallel={n_threads()} -S 25% -T {shlex.quote(str(scratch))}"
        lists = [scratch / f"{number}.txt" for number in range(len(paths))]
        for path, keys_file in zip(paths, lists, strict=True):
            source, target = shlex.quote(path), shlex.quote(str(keys_file))
            shell(f"{find_zcat()} {source} | {keys} | {sort} > {target}")
        shared = [[0] * len(paths) for _ in paths]
        for number, keys_file in enumerate(lists):
            shared[number][number] = int(shell(f"wc -l < {shlex.quote(str(keys_file))}"))
        for a, b in combinations(range(len(paths)), 2):
            both = " ".join(shlex.quote(str(lists[number])) for number in (a, b))
            shared[a][b] = shared[b][a] = int(shell(f"comm -12 {both} | wc -l"))
        return shared

    return run


def find_zcat() -> str:
    for program in ("igzip", "unpigz"):
        if shutil.which(program):
            return f"{program} -dc"
    return "zcat"


def shell(command: str) -> str:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout


if __name__ == "__main__":
    answer({name: ask(keys) for name, keys in KEYS.items()})
