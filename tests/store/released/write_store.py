"""Write a small store by the version of crawlgauge that is installed, and what it answers.

    python write_store.py 0.2.0

makes the folder `0.2.0` beside this file. Run it once, when a version that changes the format of
stores is released; a store that is there is never written again.
"""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import crawlgauge as cg


def write_crawls(folder: Path) -> None:
    """Write five crawls of 300 living URLs each, a year apart, as CDXJ."""
    chance = random.Random(2026)
    alive = list(range(300))
    for year in range(2016, 2021):
        lines = []
        for number in sorted(chance.sample(alive, 180)):
            record = {
                "url": f"https://site{number % 7}.example/page/{number}",
                "mime": "text/html" if number % 5 else "application/pdf",
                "status": "200",
                "digest": f"{number * 7919:032X}".translate(str.maketrans("0189", "WXYZ")),
            }
            key = f"example,site{number % 7})/page/{number}"
            lines.append(f"{key} {year}0615120000 {json.dumps(record)}\n")
        (folder / f"{year}.cdxj").write_text("".join(sorted(lines)), encoding="utf-8")
        gone = set(chance.sample(alive, 60))
        alive = [number for number in alive if number not in gone]
        alive += range(max(alive) + 1, max(alive) + 61)


def ask(store: Path) -> dict[str, Any]:
    """Return what a store answers that no later version may answer otherwise."""
    answers = {}
    for level in ("url", "content"):
        table = cg.count_overlaps(store, level=level)
        answers[level] = {
            "crawls": [[crawl.label, str(crawl.date), crawl.n_urls] for crawl in table.crawls],
            "n_shared": table.n_shared.tolist(),
        }
    hosts = cg.estimate_strata(store, by="host").strata.strata
    answers["hosts"] = [[one.name, one.n_urls] for one in hosts]
    answers["anchors"] = [
        [one.name, one.kind, str(one.date), one.n_queued or one.keys.size]
        for one in cg.list_anchors(store)
    ]
    return answers


def main() -> None:
    """Write the store and its answers."""
    here = Path(__file__).parent / sys.argv[1]
    here.mkdir()
    write_crawls(here)
    store = here / "store"
    program = [sys.executable, "-m", "crawlgauge", "--quiet"]
    for file in sorted(here.glob("*.cdxj")):
        words = ["add", file.stem, file.name, "--levels", "url,content", "--store", "store"]
        subprocess.run([*program, *words], check=True, cwd=here)
        if file.stem == "2020":
            sample = file.read_text("utf-8").splitlines()[::4]
            urls = [json.loads(line.split(" ", 2)[2])["url"] for line in sample]
            (here / "sample.txt").write_text("\n".join(urls), encoding="utf-8")
        file.unlink()
    words = ["anchor", "sample", "sample.txt", "--kind", "uniform", "--date", "2020-06-15"]
    subprocess.run([*program, *words, "--store", "store"], check=True, cwd=here)
    cg.add_anchor(store, "queue", 150, kind="frontier")
    (here / "sample.txt").unlink()
    answers = json.dumps(ask(store), indent=1)
    # What may be deleted at any time is no part of the format.
    shutil.rmtree(store / "cache")
    for lock in store.glob("crawls/*/lock"):
        lock.unlink()
    (here / "answers.json").write_text(answers + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
