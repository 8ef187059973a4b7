"""Kill processes that write a store, at each step or at random, and look at what is left.

One process that has no threads forks the victims, and those that look afterwards: to start Python
for each of them would take longer than all that they do::

    python killed_writers.py steps STORE FOLDER ACTION
    python killed_writers.py random STORE FOLDER SEED N_KILLS N_ACTORS

Beside the actors there is a reader that looks all the time. What went wrong is written to the
standard output, as JSON. The folder holds files of 100, 200 and 400 captures (times 10 for random
kills), so that the size of a crawl tells which it was made from.
"""

import importlib
import itertools
import json
import logging
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

from hostile_system import HostileSystem

import crawlgauge as cg
from crawlgauge.ingest import sorting
from crawlgauge.sources.remote import to_path

# Loaded once, and not by each of the children.
for name in ("api", "ingest.adding", "overlaps.counting", "store.remote_store"):
    importlib.import_module(f"crawlgauge.{name}")

LEVELS = {"2020-06": "url", "2020-12": "url,content", "2021-06": "url", "2021-12": "url,content"}
STEPS = ("fsync", "replace", "link", "unlink", "mkdir", "rmdir", "ftruncate", "write")


def write_inputs(folder, scale=1):
    """Write the files that crawls are made from; contents are half as many as URLs."""
    for number in range(3):
        lines = (
            f"org,h{k % 97})/{number}/{k} 20200601000000 "
            f'{{"url": "http://h{k % 97}.org/{number}/{k}", "status": "200", '
            f'"digest": "{number + 1}{k // 2:031d}"}}\n'
            for k in range(scale * 100 << number)
        )
        (folder / f"{number}.cdxj").write_text("".join(lines))


def act(store, folder, action, label, files):
    """Do something to a crawl, or count over all."""
    # Each file is spilled, where it is one of the larger.
    sorting._SHARE_FOR_KEYS = 1e-5
    paths = [folder / f"{number}.cdxj" for number in files]
    if action == "count":
        count(store)
    elif action == "estimate":
        table = count(store)
        # From fewer nothing can be said, and to fit takes longer than all else.
        if table is not None and len(table.crawls) > 2:
            cg.estimate(table)
    elif action == "remove":
        cg.remove_crawl(store, label)
    else:
        options = {"replace": action == "replace", "append": action == "append"}
        options |= {"levels": LEVELS[label], "memory": "256M", "date": "2020-06-01"}
        cg.add_crawl(store, label, paths, **options)


def count(store, level="url"):
    """Return the overlaps of all crawls, None if a crawl was replaced or removed meanwhile."""
    try:
        return cg.count_overlaps(store, level=level)
    except cg.CrawlgaugeError as error:
        # There may be none, or none of the level, at the moment.
        if not any(word in str(error) for word in ("run the command again", "no crawls", "no set")):
            raise
    return None


def read_on(store, folder, stop):
    """Read until there is something to read at `stop`; return all that the crawls were seen as.

    What is read is counted from the keys, and has to fit what the crawl says of itself.
    """
    n_urls = len((folder / "0.cdxj").read_bytes().splitlines())
    seen, problems = {}, []
    while not select.select([stop], [], [], 0)[0]:
        for level in ("url", "content"):
            table = count(store, level)
            if table is None:
                continue
            for number, crawl in enumerate(table.crawls):
                n_keys = int(table.n_shared[number, number])
                # Contents are half as many.
                sizes = n_keys // (n_urls // (1 if level == "url" else 2))
                if n_keys != crawl.n_urls:
                    problems.append(f"{crawl.label} has {n_keys} of {crawl.n_urls}")
                files = [number for number in range(3) if sizes >> number & 1]
                if files not in seen.setdefault(crawl.label, []):
                    seen[crawl.label].append(files)
    return {"seen": seen, "problems": problems}


def look(store, folder):
    """Return what is wrong, and which files each crawl was made from."""
    if not (store / "store.json").is_file():
        return {"problems": [], "crawls": {}}
    problems = [f"{item.label}: {item.problem}" for item in cg.verify_store(store) if item.problem]
    smallest = sum(1 for _ in (folder / "0.cdxj").open())
    opened, crawls = cg.open_store(store), {}
    for manifest in opened.manifests():
        n_urls = manifest.of_urls.crawl.n_urls // smallest
        crawls[manifest.label] = [number for number in range(3) if n_urls >> number & 1]
        if {2 * other.crawl.n_urls for other in manifest.of_other_levels} - {
            manifest.of_urls.crawl.n_urls
        }:
            problems.append(f"{manifest.label}: one level is new, another old")
    return {"problems": problems, "crawls": crawls}


def find_strange(store):
    """Let a writer clean up, and return files that no manifest names."""
    inputs = store.parent / "tidy.txt"
    inputs.write_text("http://example.org/\n")
    cg.add_crawl(store, "2022-06", inputs)
    cg.remove_crawl(store, "2022-06")
    known = {store / "store.json", *store.glob("anchors/[!.]*.json")}
    for path in store.glob("crawls/*/manifest.json"):
        named = json.loads(path.read_bytes())["content"]
        files = [entry["file"] for entry in (*named["sets"], named["attributes"])]
        known |= {path.with_name(name) for name in ("manifest.json", "lock", *files)}
    found = [path for path in store.rglob("*") if path.is_file() and path not in known]
    return [
        str(path)
        for path in found
        if path.parent.name != "cache" or path.name.startswith(".partial-")
    ]


class Child:
    """A process that does something and tells what came of it."""

    def __init__(self, work) -> None:
        self._reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._reading)
            code = 1
            # Of the system's functions: these may be made to kill the process.
            write, leave = os.write, os._exit
            try:
                write(writing, json.dumps(work()).encode())
                code = 0
            except BaseException:  # noqa: BLE001 - told by the parent
                write(writing, traceback.format_exc().encode())
            leave(code)
        os.close(writing)

    def wait(self, patience=600.0):
        """Return what it said, and whether it was killed; it is when it takes too long."""
        ready, _, _ = select.select([self._reading], [], [], max(0, patience))
        if not ready:
            os.kill(self._pid, signal.SIGKILL)
        said = b"".join(iter(lambda: os.read(self._reading, 1 << 16), b""))
        os.close(self._reading)
        _, status = os.waitpid(self._pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise SystemExit(f"a child failed: {said.decode()}")
        return json.loads(said) if said else None, os.WIFSIGNALED(status)


def do(work, *words):
    """Let a child do something to its end."""
    return Child(lambda: work(*words)).wait()[0]


def die_at(n, when):
    """Let this process be killed by its n-th call of what changes a disk."""
    n_calls = 0

    def watch(name):
        original = getattr(os, name)

        def call(*arguments, **options):
            nonlocal n_calls
            n_calls += 1
            dies = n_calls == n
            if dies and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return original(*arguments, **options)
            finally:
                if dies:
                    os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, name, call)

    for name in STEPS:
        watch(name)


def kill_at_each_step(store, folder, action):
    """Kill an action at each of its steps; return failures, and how many steps there are."""
    failures = []
    before = {} if action == "first" else {"2020-06": [0, 1], "2020-12": [0]}
    after = {
        "first": {"2020-12": [1, 2]},
        "add": before | {"2021-12": [1, 2]},
        "replace": before | {"2020-12": [1, 2]},
        "append": before | {"2020-12": [0, 1, 2]},
        "remove": {"2020-06": [0, 1]},
        "count": before,
    }[action]
    label = {"first": "2020-12", "add": "2021-12"}.get(action, "2020-12")
    command = "add" if action == "first" else action
    for name, files in before.items():
        do(act, store / "before", folder, "add", name, files)
    for n, when in ((n, when) for n in itertools.count(1) for when in ("before", "after")):
        here = store / f"{n}-{when}"
        if before:
            shutil.copytree(store / "before", here)

        def die(here=here, n=n, when=when):
            die_at(n, when)
            act(here, folder, command, label, [1, 2])

        _, was_killed = Child(die).wait()
        found = do(look, here, folder)
        if found["problems"] or found["crawls"] not in (before, after):
            failures.append([n, when, found])
        if not was_killed:
            return {"failures": failures, "n_steps": n - 1}

        def heal(here=here, was_done=found["crawls"] == after):
            if not was_done or action == "append":
                act(here, folder, command, label, [1, 2])
            return look(here, folder) | {"strange": find_strange(here)}

        if (healed := do(heal)) != {"problems": [], "crawls": after, "strange": []}:
            failures.append([n, when, "not healed", healed])
    return None


def choose(rng, files):
    """Return an action on a crawl that was made from such files, and what it is made from then."""
    if files is None:
        new = sorted(rng.sample(range(3), rng.randint(1, 3)))
        return "add", new, new
    action = rng.choice(["count", "estimate", "remove", "replace", "append"])
    if action in ("count", "estimate", "remove"):
        return action, [], None if action == "remove" else files
    new = sorted(rng.sample(range(3), rng.randint(1, 3)))
    return action, new, new if action == "replace" else sorted({*files, *new})


def kill_at_random(store, folder, seed, n_kills, n_actors):
    """Kill actions at random moments, several at once; return what is wrong."""
    rng = random.Random(seed)
    begin = time.monotonic()
    do(act, store, folder, "add", "2020-06", [0, 1, 2])
    # How long each takes: as long as when it last went through, and longer if kills come first.
    durations = dict.fromkeys(["add", "replace", "append", "remove", "count", "estimate"], 0.0)
    durations = {name: time.monotonic() - begin for name in durations}
    crawls = {"2020-06": [0, 1, 2]}
    n_killed, failures = 0, []
    for number in itertools.count():
        if n_killed >= n_kills:
            break
        chosen = {}
        watching, stop = os.pipe()
        reader = Child(lambda watching=watching: read_on(store, folder, watching))
        for label in rng.sample([*LEVELS], n_actors):
            action, files, after = choose(rng, crawls.get(label))
            words = (store, folder, action, label, files)
            child = Child(lambda words=words: act(*words))
            end = time.monotonic() + rng.random() * durations[action]
            chosen[label] = action, after, child, time.monotonic(), end
        expected = dict(crawls)
        for label, (action, after, child, begin, end) in chosen.items():
            _, was_killed = child.wait(end - time.monotonic())
            took = time.monotonic() - begin
            n_killed += was_killed
            durations[action] = 1.1 * durations[action] if was_killed else took
            possible = [crawls.get(label), after] if was_killed else [after]
            expected[label] = possible
        os.write(stop, b".")
        was_seen, _ = reader.wait()
        os.close(watching)
        os.close(stop)
        found = do(look, store, folder)
        actions = [(label, item[0]) for label, item in chosen.items()]
        if problems := found["problems"] + was_seen["problems"]:
            failures.append([number, actions, problems])
        for label, states in was_seen["seen"].items():
            possible = [crawls.get(label), chosen[label][1] if label in chosen else None]
            failures += [
                [number, actions, f"{label} was seen as of {files}, not of {possible}"]
                for files in states
                if files not in possible
            ]
        for label in LEVELS:
            now, wanted = found["crawls"].get(label), expected.get(label)
            if now not in (wanted if label in chosen else [wanted]):
                failures.append([number, actions, f"{label} is of {now}, not of {wanted}"])
        crawls = found["crawls"]
        if isinstance(store, Path) and number % 10 == 9 and (strange := do(find_strange, store)):
            failures.append([number, actions, strange])
    return {"failures": failures}


def main() -> None:
    """Do what the words say."""
    kind, store, folder, *words = sys.argv[1:]
    place, inputs = to_path(store), Path(folder)
    # When Python looks for it, it writes a file there, which a kill would leave.
    tempfile.gettempdir()
    logging.disable()
    if "HOSTILE_SYSTEM" in os.environ:
        HostileSystem().be_odd(has_no_links=True, seconds_back=60)
    if kind == "steps":
        write_inputs(inputs)
        result = kill_at_each_step(place, inputs, words[0])
    else:
        write_inputs(inputs, 10)
        result = kill_at_random(place, inputs, *map(int, words))
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
