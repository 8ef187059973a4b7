"""Kills at random moments: while reading, spilling, merging, renaming, caching."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from store_places import LEASE_SECONDS

import crawlgauge as cg

pytestmark = pytest.mark.slow

# One process that is warm and has no threads forks the victims: starting Python for each of them
# would take longer than all that they do.
DRIVER = """
import itertools, json, os, random, select, signal, sys, tempfile, time
from pathlib import Path
import crawlgauge as cg
from crawlgauge.remote.remote_path import to_path
from crawlgauge.store import key_runs

store, folder, seed, n_kills = to_path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:])
tempfile.gettempdir()  # When Python looks for it, it writes a file there, which a kill would leave.
rng = random.Random(seed)
files = [str(folder / f"{number}.txt") for number in range(3)]
LABELS = ["2020-06", "2020-12", "2021-06", "2021-12"]

def act(action, label, chosen):
    key_runs._SHARE_FOR_KEYS = 1e-4  # some 3,000 keys: each crawl is spilled many times
    if action == "count":
        cg.count_overlaps(store)
    elif action == "remove":
        cg.remove_crawl(store, label)
    else:
        cg.add_crawl(store, label, chosen, replace=action == "replace", memory="256M")

def in_child(work, patience):
    # Returns what the child said, and whether it was killed.
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        code = 1
        try:
            os.write(writing, json.dumps(work()).encode())
            code = 0
        except BaseException as error:
            os.write(writing, json.dumps(f"{type(error).__name__}: {error}").encode())
        os._exit(code)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], patience)
    if not ready:
        os.kill(pid, signal.SIGKILL)
    said = b""
    while part := os.read(reading, 65536):
        said += part
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a child failed: {said.decode()}")
    return json.loads(said) if said else None, os.WIFSIGNALED(status)

def look():
    problems = [f"{item.label}: {item.problem}" for item in cg.verify_store(store) if item.problem]
    sizes = {item.crawl.label: item.crawl.n_urls for item in cg.list_crawls(store)}
    return {"problems": problems, "sizes": sizes}

def tidy():
    act("replace", "2022-06-tidy", files[:1])
    cg.remove_crawl(store, "2022-06-tidy")
    known = {store / "store.json"}
    for manifest in store.glob("crawls/*/manifest.json"):
        named = json.loads(manifest.read_bytes())
        stored = [entry["file"] for entry in (*named["sets"].values(), named["attributes"])]
        known |= {manifest.with_name(name) for name in ("manifest.json", "lock", *stored)}
    # On an object store a file that no manifest names may be about to be named, until it is old.
    kept = {".parquet", ".arrow"} if "://" in sys.argv[1] else set()
    strange = [
        str(path)
        for path in store.rglob("*")
        if path.is_file() and path not in known and path.suffix not in kept
        and path.parent.name != "cache" or path.name.startswith(".partial-")
    ]
    return {"strange": strange}

begin = time.monotonic()
in_child(lambda: act("replace", "2020-06", files), 600)
# How long each action takes: as long as when it last went through, and longer if kills come first.
durations = dict.fromkeys(["add", "replace", "remove", "count"], time.monotonic() - begin)
known, _ = in_child(look, 600)
sizes = known["sizes"]
n_killed, failures = 0, []
for number in itertools.count():
    if n_killed == n_kills:
        break
    label, chosen = rng.choice(LABELS), files[: rng.randint(1, 3)]
    possible = ["count", "remove", "replace"] if label in sizes else ["add"]
    action = rng.choice(possible)
    begin = time.monotonic()
    said, killed = in_child(lambda: act(action, label, chosen), rng.random() * durations[action])
    n_killed += killed
    durations[action] = 1.1 * durations[action] if killed else time.monotonic() - begin
    found, _ = in_child(look, 600)
    before, after = sizes.get(label), found["sizes"].get(label)
    if found["problems"]:
        failures.append([number, action, found["problems"]])
    others = {name: size for name, size in sizes.items() if name != label}
    if {name: size for name, size in found["sizes"].items() if name != label} != others:
        failures.append([number, action, "another crawl has changed"])
    expected = {"count": [before], "remove": [None], "add": [3000 * len(chosen)]}
    wanted = expected.get(action, [3000 * len(chosen)])
    if after not in (wanted if not killed else [before, *wanted]):
        failures.append([number, action, f"{before} became {after}"])
    sizes = found["sizes"]
    if number % 10 == 9:
        strange, _ = in_child(tidy, 600)
        if strange["strange"]:
            failures.append([number, action, strange["strange"]])
print(json.dumps(failures))
"""


@pytest.mark.parametrize(
    ("place", "seed", "n_kills"),
    [("local", 1, 60), ("local", 2, 60), ("s3", 3, 16)],
    indirect=["place"],
)
def test_random_kills_lose_nothing_and_leave_nothing(place, tmp_path, environment, seed, n_kills):
    for number in range(3):
        urls = (f"http://h{k % 97}.org/{number}/{k}\n" for k in range(3000))
        (tmp_path / f"{number}.txt").write_text("".join(urls))
    words = [str(place.store), str(tmp_path), str(seed), str(n_kills)]
    result = subprocess.run(
        [sys.executable, "-c", DRIVER, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == []
    if not isinstance(place.store, Path):
        # What was sent within the last moments before a kill is deleted when it is older.
        time.sleep(LEASE_SECONDS + 1)
        cg.add_crawl(place.store, "2022-06", tmp_path / "0.txt")
        labels = [item.crawl.label for item in cg.list_crawls(place.store)]
        place.see_whole(labels, others=[name for name in place.names() if name[:6] == "cache/"])
        assert list((tmp_path / "tmp").iterdir()) == []
