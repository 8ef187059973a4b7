"""A kill at any moment leaves the store whole, and the same command then goes through."""

import signal
import subprocess
import sys
import time

import pytest
from store_places import LocalPlace

import crawlgauge as cg

pytestmark = pytest.mark.slow

N_URLS = 1_000_000
N_KILLS = 30
MOMENTS = ("before", "after")

KILL_ITSELF = """
import os, shutil, signal, sys
import crawlgauge as cg

n_before, when, store, warm, label, path = int(sys.argv[1]), *sys.argv[2:]
# What Python and numba do when they load code is no step of the command.
cg.add_crawl(warm, label, path)
shutil.rmtree(warm)
n_calls = 0

def dies_now():
    global n_calls
    n_calls += 1
    if n_calls == n_before and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return n_calls == n_before

def watch(name):
    original = getattr(os, name)
    def call(*arguments, **options):
        dies = dies_now()
        try:
            return original(*arguments, **options)
        finally:
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)
    setattr(os, name, call)

def watch_requests():
    import s3fs
    original = s3fs.S3FileSystem._call_s3
    async def call(self, method, *arguments, **options):
        dies = not method.startswith(("get_", "head_", "list_")) and dies_now()
        try:
            return await original(self, method, *arguments, **options)
        finally:
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)
    s3fs.S3FileSystem._call_s3 = call

if store.startswith("s3://"):
    watch_requests()
else:
    for name in ("fsync", "replace", "link", "unlink", "mkdir", "rmdir", "ftruncate", "write"):
        watch(name)
cg.add_crawl(store, label, path, replace=True)
"""


def recover(place, label, path, old_sizes, new_size):
    """Check the store after a kill, then run the same command again and check once more."""
    if place.exists():
        assert {item.problem for item in cg.verify_store(place.store)} <= {None}
        sizes = {item.crawl.label: item.crawl.n_urls for item in cg.list_crawls(place.store)}
        possible = (old_sizes, old_sizes | {label: new_size})
        assert sizes in possible
    else:
        assert not old_sizes
    cg.add_crawl(place.store, label, path, replace=True)
    place.see_whole(old_sizes | {label: new_size})


CASES = [
    *(("local", label, when) for label in ("2021-12", "2021-06", "first") for when in MOMENTS),
    # After one request is before the next.
    ("s3", "2021-06", "after"),
    ("s3", "first", "after"),
]


@pytest.mark.parametrize(("place", "label", "when"), CASES, indirect=["place"])
def test_a_kill_at_each_step_leaves_the_store_whole(
    place, tmp_path, make_list, environment, label, when
):
    """A new crawl, a crawl in place of another, and the first crawl of a new store."""
    path = make_list(range(50), "new.txt")
    old = make_list(range(20), "old.txt")
    is_first = label == "first"
    label = "2021-12" if is_first else label
    for n in range(1, 60):
        here = place.below(f"store-{n}")
        if not is_first:
            cg.add_crawl(here.store, "2021-06", old)
        words = [str(n), when, str(here.store), str(tmp_path / "warm"), label, str(path)]
        result = subprocess.run(
            [sys.executable, "-c", KILL_ITSELF, *words],
            env=environment,
            capture_output=True,
            check=False,
        )
        if result.returncode == 0:
            break
        assert result.returncode == -signal.SIGKILL, result.stderr.decode()
        recover(here, label, path, {} if is_first else {"2021-06": 20}, 50)
    assert 8 < n < 59, "the command went through after all of its steps"


def test_kills_over_the_whole_duration_leave_the_store_whole(store, make_list, start, tmp_path):
    place = LocalPlace(store)
    cg.add_crawl(store, "2021-06", make_list(range(1000), "old.txt"))
    path = make_list(range(N_URLS))
    words = ("add", "2021-12", path, "--store")

    def run_for(seconds, target):
        process = start(*words, target)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        return process.returncode

    run_for(600, tmp_path / "warm")
    begin = time.monotonic()
    assert run_for(600, tmp_path / "timed") == 0
    duration = time.monotonic() - begin
    n_killed = 0
    while n_killed < N_KILLS:
        begin = time.monotonic()
        code = run_for(duration * (n_killed + 0.5) / N_KILLS, store)
        if code == 0:
            # It was faster than the one before it: the same moment once more, by its own measure.
            duration = time.monotonic() - begin
        else:
            assert code == -signal.SIGKILL
            n_killed += 1
        recover(place, "2021-12", path, {"2021-06": 1000}, N_URLS)
        cg.remove_crawl(store, "2021-12")
