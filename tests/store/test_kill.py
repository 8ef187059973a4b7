"""A kill at any moment leaves each crawl as it was or as it shall be, and the next cleans up."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import hostile_system
import pytest
from store_places import LEASE_SECONDS
from store_proxies import StoreProxy

import crawlgauge as cg
from amounts import TIMES

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux loads such a library")
KILLER = Path(__file__).with_name("killed_writers.py")


@pytest.fixture
def kill(tmp_path, environment):
    """Run what kills, and return what it has found."""

    def kill(kind, store, *words, environment=environment):
        (tmp_path / "inputs").mkdir()
        command = [sys.executable, KILLER, kind, store, tmp_path / "inputs", *words]
        done = subprocess.run(
            list(map(str, command)), env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return kill


@pytest.mark.parametrize(
    ("action", "n_least"),
    [("first", 20), ("add", 18), ("replace", 20), ("append", 20), ("remove", 6), ("count", 3)],
)
def test_a_kill_at_each_step_leaves_all_levels_old_or_all_new(store, kill, action, n_least):
    found = kill("steps", store, action)
    assert found["failures"] == []
    assert found["n_steps"] >= n_least


@pytest.mark.parametrize(
    ("seed", "n_kills", "n_actors"),
    [
        (1, 12, 1),
        (2, 12, 4),
        pytest.param(3, round(150 * TIMES), 1, marks=pytest.mark.slow),
        pytest.param(4, round(250 * TIMES), 4, marks=pytest.mark.slow),
    ],
)
def test_random_kills_lose_nothing_and_leave_nothing(store, kill, seed, n_kills, n_actors):
    """While reading, spilling, merging, renaming, counting, by one process or by several.

    Another reads all the time, and sees no state that never was.
    """
    assert kill("random", store, seed, n_kills, n_actors)["failures"] == []


@linux
@pytest.mark.parametrize(
    ("seed", "n_kills"), [(5, 8), pytest.param(6, round(100 * TIMES), marks=pytest.mark.slow)]
)
def test_kills_without_hard_links_and_with_a_clock_that_goes_back(
    store, kill, tmp_path, seed, n_kills
):
    odd = hostile_system.environment(hostile_system.build(tmp_path))
    assert kill("random", store, seed, n_kills, 4, environment=odd)["failures"] == []


@linux
@pytest.mark.slow
def test_a_kill_at_each_step_without_hard_links(store, kill, tmp_path):
    """Of making a store, whose own file has to be there whole or not at all."""
    odd = hostile_system.environment(hostile_system.build(tmp_path))
    assert kill("steps", store, "first", environment=odd)["failures"] == []


@pytest.mark.slow
@pytest.mark.parametrize("n_actors", [1, 4])
def test_random_kills_lose_nothing_on_object_storage(s3_place, kill, tmp_path, n_actors):
    assert kill("random", s3_place.store, 5, round(20 * TIMES), n_actors)["failures"] == []
    # What was sent within the last moments before a kill is deleted when it is older.
    time.sleep(LEASE_SECONDS + 1)
    cg.add_crawl(s3_place.store, "2022-06", tmp_path / "inputs" / "0.cdxj")
    labels = [item.crawl.label for item in cg.list_crawls(s3_place.store)]
    s3_place.see_whole(labels, others=s3_place.cached())
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.fixture
def proxies(s3_server, use_s3):
    """Return a function that makes the server be reached through a new proxy."""
    made = []

    def make():
        made.append(StoreProxy(s3_server))
        use_s3(made[-1].url)
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


@pytest.mark.slow
@pytest.mark.parametrize("action", ["first", "replace", "remove"])
def test_a_kill_at_each_request_leaves_a_remote_store_whole(
    s3_place, proxies, start, make_list, action
):
    old, new = make_list(range(20), "old.txt"), make_list(range(50), "new.txt")
    before = {} if action == "first" else {"2021-06": 20, "2021-12": 20}
    after = {"2021-12": 50} if action == "first" else {"2021-06": 20, "2021-12": 50}
    after = {"2021-06": 20} if action == "remove" else after
    words = ["remove", "2021-12"] if action == "remove" else ["add", "2021-12", new, "--replace"]
    for n in range(1, 60):
        here = s3_place.below(f"store-{n}")
        proxy = proxies()
        for label in before:
            cg.add_crawl(here.store, label, old)
        process = start(*words, "--store", here.store)
        n_changes = iter(range(1, 1000))

        def kill_at(method, _path, process=process, n_changes=n_changes, n=n):
            if method in ("PUT", "POST", "DELETE") and next(n_changes) == n:
                # What it asks for is done, and nobody hears of it.
                process.kill()
                process.wait()

        proxy.on_request = kill_at
        _, errors = process.communicate(timeout=60)
        found = {}
        if here.exists():
            found = {item.crawl.label: item.crawl.n_urls for item in cg.list_crawls(here.store)}
            assert {item.problem for item in cg.verify_store(here.store)} <= {None}
        assert found in (before, after)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, errors.decode()
        if found != after:
            start(*words, "--store", here.store).communicate(timeout=60)
        # What was sent just before is deleted when it is older.
        time.sleep(LEASE_SECONDS + 1 if n % 5 == 0 else 0)
        cg.add_crawl(here.store, "2022-06", old)
        if n % 5 == 0:
            here.see_whole(after | {"2022-06": 20})
    assert 4 < n < 59, "the command went through after all of its steps"
