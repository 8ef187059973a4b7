"""Add, append, cut and count hostile files as users do, and compare with independent counts.

The records that the readers hand on are put together anew, by sets of Python::

    python tests/faults/fuzz_commands.py --seconds 3600 --seed 1

The seed of an input is written before it is used, so that one which ends the process is known.
"""

import argparse
import json
import logging
import random
import sys
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), *(str(HERE.parent / name) for name in ("fuzzing", "keys"))]

from hostile_files import make_hostile  # noqa: E402 - found by the line above
from reading_checks import read_all  # noqa: E402
from valid_files import VALID  # noqa: E402

import crawlgauge as cg  # noqa: E402
from crawlgauge.errors import CrawlgaugeError  # noqa: E402
from crawlgauge.ingest import sorting  # noqa: E402
from crawlgauge.keys.rules import RULES  # noqa: E402
from crawlgauge.sources import decompress  # noqa: E402
from crawlgauge.sources.what_counts import WhatCounts  # noqa: E402

CORPUS = HERE / "corpus"
"""Inputs that once were not stood."""
_SHARE_CUT = 0.3
_N_BYTES = (57, 1000, 1 << 18)
"""Of which chunks are: the smallest cut everything."""


class WrongCount(AssertionError):  # noqa: N818 - the name says what happened
    """A command tells another number than its inputs have."""


def _expect(found, expected, what):
    if found != expected:
        raise WrongCount(f"{what}: {found}, not {expected}")


class _Crawl:
    """What a crawl must be, by the records that its inputs have."""

    def __init__(self) -> None:
        self.keys, self.n_records, self.left, self.inputs = set(), 0, Counter(), set()

    def take_over(self, other):
        """Begin with what another crawl has."""
        self.keys, self.n_records, self.left = {*other.keys}, other.n_records, +other.left
        self.inputs = {*other.inputs}

    def add(self, path, wishes):
        """Take in the records of an input, read in another way; tell whether there were some."""
        content = path.read_bytes()
        if content in self.inputs:
            return False  # It is in the crawl, and is not read again.
        self.inputs.add(content)
        found = read_all(path, keep=True, **wishes)
        self.keys |= {row[0] for row in found.rows}
        self.n_records += found.rows.total()
        for (kind, reason, *_), count in found.left.items():
            # What is left out of what counts is told with its time, for those who cut by it.
            self.left["excluded" if kind == "left out" else kind, reason] += count
        return found.error is None and bool(found.rows)

    def check(self, crawl_set, label):
        """See that a crawl is so."""
        _expect(crawl_set.crawl.n_urls, len(self.keys), f"URLs of {label}")
        _expect(crawl_set.n_captures, self.n_records, f"captures of {label}")
        left = Counter({("rejected", name): n for name, n in crawl_set.rejected.items()})
        left += Counter({("excluded", name): n for name, n in crawl_set.excluded.items()})
        _expect(left, self.left, f"what is left of {label}")


def _write(rng, folder, number):
    """Write a hostile input, or now and then a valid one or one of the corpus."""
    kind = rng.random()
    known = sorted(path for path in CORPUS.iterdir() if path.is_file()) if kind < 0.1 else []
    place = folder / f"{number}"
    place.mkdir()
    if known:
        path = rng.choice(known)
        (place / path.name).write_bytes(path.read_bytes())
        return place / path.name
    files = VALID[rng.choice([*VALID])] if kind < 0.3 else make_hostile(rng.getrandbits(40))
    for name, data in files.contents.items():
        (place / name).write_bytes(data)
    return place / files.main


def check_commands(seed, folder):
    """Do with hostile files what users do; return what came of it."""
    rng = random.Random(f"commands-{seed}")
    identity = rng.choice([*RULES])
    levels = rng.choice(("url", "url,content"))
    options = {"identity": identity, "levels": levels, "memory": "256M", "on_damage": "keep"}
    options["status"] = rng.choice(("any", "2xx,none"))
    wishes = {
        "key_rule": RULES[identity],
        "levels": tuple(levels.split(",")),
        "group": None,
        "counts": WhatCounts(status=options["status"]),
        "scope": None,
    }
    patches = {
        (decompress, "_CHUNK_BYTES"): rng.choice(_N_BYTES),
        (sorting, "_SHARE_FOR_KEYS"): rng.choice((0.5, 1e-6)),
        (sorting, "_RUN_KEYS"): rng.choice((4, 1 << 22)),
    }
    store, outcomes, crawls = folder / "store", Counter(), {}
    for number in range(rng.randint(2, 4)):
        path, expected = _write(rng, folder, number), _Crawl()
        label = rng.choice(("2020-06", "2020-12", "2021-06"))
        action = rng.choice(("append", "replace")) if label in crawls else "add"
        if action == "append":
            expected.take_over(crawls[label])
        is_readable = expected.add(path, wishes)
        try:
            with ExitStack() as stack:
                for (module, name), value in patches.items():
                    stack.enter_context(mock.patch.object(module, name, value))
                if action == "add" and rng.random() < _SHARE_CUT:
                    _check_cut(folder / "cut", path, expected, options)
                chosen = {"replace": action == "replace", "append": action == "append"}
                cg.add_crawl(store, label, path, date="2020-06-01", **chosen, **options)
        except CrawlgaugeError as error:
            outcomes["refused"] += 1
            # Of an input without digests there is no set of contents.
            if is_readable and action != "append" and "has a digest" not in str(error):
                raise
        else:
            crawls[label] = expected
            outcomes[action] += 1
    if crawls:
        _check_store(store, crawls)
    return outcomes


def _check_cut(store, path, expected, options):
    """Cut an input by years; all of its records are somewhere."""
    try:
        found = cg.split_collection(store, path, period="year", replace=True, **options)
    except CrawlgaugeError:
        return
    sets = [addition.crawl_set for addition in found.additions]
    n_told = sum(item.n_captures + sum(item.excluded.values()) for item in sets)
    n_told += sum(sum(item.rejected.values()) for item in sets) + sum(found.unassigned.values())
    _expect(n_told, expected.n_records + expected.left.total(), "records of all years")


def _check_store(store, crawls):
    """See that a store has what it must have, and counts what sets of Python do."""
    found = {item.crawl.label: item for item in cg.list_crawls(store)}
    _expect(sorted(found), sorted(crawls), "crawls")
    for label, expected in crawls.items():
        expected.check(found[label], label)
    table = cg.count_overlaps(store)
    for i, one in enumerate(table.crawls):
        for j, other in enumerate(table.crawls):
            n_shared = len(crawls[one.label].keys & crawls[other.label].keys)
            _expect(int(table.n_shared[i, j]), n_shared, f"shared by {one.label}, {other.label}")
    _expect({item.problem for item in cg.verify_store(store)}, {None}, "problems")


def run(*, seconds, n_inputs, first_seed, tell=lambda _: None):
    """Go on until the time is over or enough is done; return the outcomes and what failed."""
    end, outcomes, failures = time.monotonic() + seconds, Counter(), []
    for seed in range(first_seed, first_seed + n_inputs):
        if time.monotonic() > end:
            break
        tell(seed)
        with TemporaryDirectory(prefix="commands-") as folder:
            try:
                outcomes += check_commands(seed, Path(folder))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                failures.append([seed, f"{type(error).__name__}: {error}", traceback.format_exc()])
    return {"outcomes": outcomes, "failures": failures}


def main() -> int:
    """Run from the command line; the exit code says whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--inputs", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable()

    def tell(seed):
        sys.stderr.write(f"{seed}\n")
        sys.stderr.flush()

    found = run(
        seconds=options.seconds, n_inputs=options.inputs, first_seed=options.seed, tell=tell
    )
    sys.stdout.write(json.dumps(found, indent=1))
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
