"""Damage files of a store at random, use it, and tell what was not as it must be.

By itself, since an abort must be seen::

    python damaged_stores.py STORE SEED N_DAMAGES

What went wrong is written to the standard output, as JSON; to the standard error goes the number of
each damage before it is done, so that one which ends the process is known.
"""

import json
import logging
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import crawlgauge as cg
from crawlgauge.errors import CrawlgaugeError, StoreError

_BLOCK = 64
_EVERY = 25
"""So seldom all of an estimate is computed, which takes longer than all else."""


class Folder:
    """A store on the disk."""

    def __init__(self, store) -> None:
        self.store = Path(store)

    def names(self):
        """Return its files."""
        found = (path for path in self.store.rglob("*") if path.is_file() and path.name != "lock")
        return sorted(str(path.relative_to(self.store)) for path in found)

    def read(self, name):
        """Return the content of a file."""
        return (self.store / name).read_bytes()

    def write(self, name, content):
        """Make a file anew: one that is mapped may not be shortened."""
        path = self.store / name
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)

    def delete_cache(self):
        """Delete what can be computed again."""
        shutil.rmtree(self.store / "cache", ignore_errors=True)


def make_store(store, folder):
    """Make a store of three crawls with two levels, an anchor and all that is kept of them."""
    for number in range(3):
        lines = "".join(
            f'org,h{k % 7})/{k} 2021060100000{k % 10} {{"url": "http://h{k % 7}.org/{k}", '
            f'"status": "200", "mime": "text/html", "digest": "{k // 2:032d}"}}\n'
            for k in range(60 * number, 60 * number + 200)
        )
        (folder / f"{number}.cdxj").write_text(lines)
        label = f"202{number}-06"
        cg.add_crawl(store, label, folder / f"{number}.cdxj", date=label, levels="url,content")
    known = "".join(f"http://h{k % 7}.org/{k}\n" for k in range(0, 300, 3))
    (folder / "known.txt").write_text(known)
    cg.add_anchor(store, "known", [str(folder / "known.txt")], kind="uniform", date="2021-06-01")
    look(store, in_full=True)


def look(store, *, in_full):
    """Return all that there is to know of a store."""
    opened = cg.open_store(store)
    sets = cg.list_crawls(store)
    found = [
        [item.to_dict() for item in sets],
        [opened.attributes(item).hosts for item in sets],
        [cg.count_overlaps(store, level=level).n_shared.tolist() for level in ("url", "content")],
        [anchor.name for anchor in cg.list_anchors(store)],
    ]
    if in_full:
        found.append(cg.estimate(cg.count_overlaps(store)).to_dict())
    return json.dumps(found, default=str)


def damage(rng, place, names):
    """Return the name of a file, what it is to hold, and what was done."""
    name = rng.choice(names)
    data = place.read(name)
    other = place.read(rng.choice(names))
    at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))

    def flip():
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(changed)

    def swap_blocks():
        length = min(_BLOCK, end - at)
        first, last = data[at : at + length], data[end - length : end]
        return data[:at] + last + data[at + length : end - length] + first + data[end:]

    ways = {
        "flipped": flip,
        "cut": lambda: data[:at],
        "cut before": lambda: data[at:],
        "a piece removed": lambda: data[:at] + data[end:],
        "zeros written": lambda: data[:at] + bytes(end - at) + data[end:],
        "lengthened": lambda: data + rng.randbytes(rng.randint(1, 100)),
        "blocks swapped": swap_blocks,
        "put in place of": lambda: other,
    }
    how = rng.choice(["flipped", "flipped", "flipped", *ways])
    return name, ways[how](), how


def check(place, whole, name, *, in_full):
    """Use a store of which one file is damaged, and return what is wrong with that."""
    problems = []
    is_kept = name.startswith("cache/")
    # A crawl is known by its folder, an anchor by its file.
    owner = Path(name).parts[1] if name.startswith("crawls/") else Path(name).stem
    try:
        told = {item.label: item.problem for item in cg.verify_store(place.store) if item.problem}
    except StoreError as error:
        # Of the file that says what the store is, there is nothing to go on with.
        told = {"store": str(error)}
    if [label.removeprefix("anchor ") for label in told] != ([] if is_kept else [owner]):
        problems.append(f"verify tells {told}")
    try:
        if look(place.store, in_full=in_full) != whole:
            problems.append("another answer")
    except CrawlgaugeError as error:
        if is_kept:
            problems.append(f"not computed again: {error}")
        elif owner not in str(error) and Path(name).name not in str(error):
            problems.append(f"not named: {error}")
    return problems


def run(place, seed, n_damages, tell=lambda _: None):
    """Damage a whole store so many times; return what went wrong, and how often what was done."""
    rng = random.Random(seed)
    wholes = {in_full: look(place.store, in_full=in_full) for in_full in (False, True)}
    contents = {name: place.read(name) for name in place.names()}
    failures, done = [], Counter()
    for number in range(n_damages):
        tell(number)
        name, content, how = damage(rng, place, sorted(contents))
        if content == contents[name]:
            continue
        if number % 2 and not name.startswith("cache"):
            place.delete_cache()
        place.write(name, content)
        in_full = number % _EVERY == 0
        try:
            problems = check(place, wholes[in_full], name, in_full=in_full)
        except Exception as error:  # noqa: BLE001 - each is a failure of its own
            problems = [f"{type(error).__name__}: {error}"]
        done[how] += 1
        failures += [[number, name, how, problem] for problem in problems]
        place.delete_cache()
        for other, whole in contents.items():
            if other == name or other.startswith("cache/"):
                place.write(other, whole)
    return {"failures": failures, "done": done}


def main() -> None:
    """Do what the words say."""
    store, seed, n_damages = sys.argv[1:]
    logging.disable()

    def tell(number):
        sys.stderr.write(f"{number}\n")
        sys.stderr.flush()

    sys.stdout.write(json.dumps(run(Folder(store), int(seed), int(n_damages), tell)))


if __name__ == "__main__":
    main()
