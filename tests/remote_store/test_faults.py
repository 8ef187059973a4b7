"""Whatever the network, the server or other processes do: no crawl is lost, and none is half."""

import itertools
import json
import random
import threading
import time
from functools import partial

import numpy as np
import pytest
from faulty_proxy import Fault
from store_places import KEYS, LEASE_SECONDS, SECRET
from store_proxies import LaggingProxy

import crawlgauge as cg
from amounts import TIMES
from crawlgauge.errors import StoreError
from crawlgauge.store import key_set, ranges
from crawlgauge.store.remote_store import RemoteCrawlWriter


def sizes(store):
    return {item.crawl.label: item.crawl.n_urls for item in cg.list_crawls(store)}


def test_connections_that_break_and_servers_that_are_busy_change_nothing(
    s3_place, proxy, make_list, tmp_path
):
    """A third of all requests fail, half of them after the server has done what was asked."""
    chance = random.Random(7)

    def fail(*_):
        kinds = [Fault()] * 4 + [Fault(drop_after=0), Fault(status=503)]
        return chance.choice(kinds)

    paths = [make_list(range(100 * k, 100 * k + 300), f"{k}.txt") for k in range(3)]
    for number, path in enumerate(paths):
        cg.add_crawl(tmp_path / "local", f"202{number}-06", path)
    proxy.faults = fail
    for number, path in enumerate(paths):
        assert cg.add_crawl(s3_place.store, f"202{number}-06", path).outcome == "added"
    cg.add_crawl(s3_place.store, "2020-06", paths[1], replace=True)
    cg.add_crawl(s3_place.store, "2020-06", paths[0], replace=True)
    table = cg.count_overlaps(s3_place.store)
    assert {item.problem for item in cg.verify_store(s3_place.store)} == {None}
    proxy.faults = lambda *_: Fault()
    assert table.n_shared.tolist() == cg.count_overlaps(tmp_path / "local").n_shared.tolist()
    s3_place.see_whole(["2020-06", "2021-06", "2022-06"], others=s3_place.cached())


@pytest.fixture
def lagging(s3_server, use_s3):
    """Return a proxy that can show listings as they were."""
    found = LaggingProxy(s3_server)
    use_s3(found.url)
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(round(2 * TIMES)))
def test_answers_that_are_lost_and_listings_that_are_late_change_nothing(
    s3_place, lagging, make_list, tmp_path, seed
):
    """What is asked for is done, and nobody is told: of any request, two times of seven."""
    chance = random.Random(seed)

    def lose(*_):
        return Fault(is_lost=chance.random() < 2 / 7)

    paths = [make_list(range(100 * k, 100 * k + 300), f"{k}.txt") for k in range(3)]
    actions = [
        *(partial(cg.add_crawl, label=f"202{k}-06", inputs=path) for k, path in enumerate(paths)),
        partial(cg.add_crawl, label="2020-06", inputs=paths[1], replace=True),
        partial(cg.add_crawl, label="2021-06", inputs=paths[2], append=True),
        partial(cg.remove_crawl, label="2022-06"),
        partial(cg.add_crawl, label="2022-06", inputs=paths[0]),
        partial(cg.remove_crawl, label="2020-06"),
    ]
    for act in actions:
        lagging.faults, lagging.is_late = lose, chance.random() < 0.7
        act(s3_place.store)
        # Readers see what they are shown, which may be a state that was.
        lagging.is_late = False
        table = cg.count_overlaps(s3_place.store)
        assert {item.problem for item in cg.verify_store(s3_place.store)} == {None}
        lagging.faults = lambda *_: Fault()
        act(tmp_path / "local")
        expected = cg.count_overlaps(tmp_path / "local")
        assert table.n_shared.tolist() == expected.n_shared.tolist()
    # What was sent again, and a claim that could not be given up, are old enough to be deleted.
    time.sleep(LEASE_SECONDS + 1)
    cg.add_crawl(s3_place.store, "2022-06", paths[1], replace=True)
    s3_place.see_whole(["2021-06", "2022-06"], others=s3_place.cached())


def _take(answers, *_):
    return next(answers)


@pytest.mark.slow
def test_storage_out_of_reach_is_said_and_leaves_the_old_crawl(full_place, proxy, make_list):
    """From each moment on nothing is answered, until the command goes through."""
    path = make_list(range(7))
    for n_answered in range(0, 200, 8):
        answers = itertools.chain([Fault()] * n_answered, itertools.repeat(Fault(status=503)))
        proxy.faults = partial(_take, answers)
        try:
            cg.add_crawl(full_place.store, "2021-06", path, replace=True)
            message = None
        except StoreError as error:
            message = str(error)
        proxy.faults = lambda *_: Fault()
        assert sizes(full_place.store)["2021-12"] == 100
        assert sizes(full_place.store)["2021-06"] in ([100, 7] if message else [7])
        assert {item.problem for item in cg.verify_store(full_place.store)} == {None}
        # A claim that could not be given up is this living process's own.
        full_place.delete("crawls/2021-06/lock")
        if message is None:
            break
        assert "s3://" in message
        assert "503" in message
    else:
        pytest.fail("it never went through")
    cg.add_crawl(full_place.store, "2021-06", path)
    time.sleep(LEASE_SECONDS + 1)
    cg.add_crawl(full_place.store, "2022-06", path)
    full_place.see_whole(["2021-06", "2021-12", "2022-06"])


def test_listings_that_lag_lose_nothing(full_place, s3_server, use_s3, make_list):
    proxy = LaggingProxy(s3_server)
    use_s3(proxy.url)
    store = full_place.store
    cg.add_crawl(store, "2021-06", make_list(range(100), "2021-06.txt"))
    assert sizes(store) == {"2021-06": 100, "2021-12": 100}
    proxy.is_late = True
    cg.add_crawl(store, "2021-06", make_list(range(7)), replace=True)
    cg.remove_crawl(store, "2021-12")
    cg.add_crawl(store, "2022-06", make_list(range(9)))
    assert sizes(store) == {"2021-06": 7}, "neither what was removed, nor an old state"
    assert cg.add_crawl(store, "2022-06", make_list(range(9))).outcome == "unchanged"
    with pytest.raises(StoreError, match="already holds a crawl '2022-06'"):
        cg.add_crawl(store, "2022-06", make_list(range(8)))
    proxy.is_late = False
    assert sizes(store) == {"2021-06": 7, "2022-06": 9}
    assert {item.problem for item in cg.verify_store(store)} == {None}
    time.sleep(LEASE_SECONDS + 1)
    cg.add_crawl(store, "2023-06", make_list(range(9)))
    full_place.see_whole(["2021-06", "2022-06", "2023-06"])
    proxy.close()


def test_readers_meet_the_old_crawl_or_the_new_one(full_place, make_list):
    paths = [make_list(range(10), "0.txt"), make_list(range(20), "1.txt")]
    seen, failures = set(), []
    is_over = threading.Event()

    def read():
        while not is_over.is_set():
            try:
                seen.add(sizes(full_place.store)["2021-12"])
                problems = {item.problem for item in cg.verify_store(full_place.store)} - {None}
                failures.extend(problems)
            except StoreError as error:
                # What a reader was about to read is deleted when the crawl has been replaced.
                if "run the command again" not in str(error):
                    failures.append(str(error))
            except KeyError:
                failures.append("the crawl was not there")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in itertools.count():
        cg.add_crawl(full_place.store, "2021-12", paths[number % 2], replace=True)
        if number >= 4 and len(seen) > 1:
            break
    is_over.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert seen <= {100, 10, 20}


def test_a_damaged_object_is_found_and_named_and_the_others_can_be_used(full_place, run):
    name = next(name for name in full_place.names() if name.startswith("crawls/2021-06/url-"))
    content = bytearray(full_place.read(name))
    content[len(content) // 4] ^= 255
    full_place.write(name, bytes(content))
    first, second = cg.verify_store(full_place.store)
    assert f"{full_place.store}/{name} is damaged" in first.problem
    assert second.problem is None
    code, _, errors = run("overlaps", "--store", full_place.store)
    assert code == 1
    assert f"crawl '2021-06' cannot be counted: {full_place.store}/{name} is damaged" in errors
    cg.remove_crawl(full_place.store, "2021-06")
    assert cg.count_overlaps(full_place.store).n_shared.tolist() == [[100]]


def test_a_missing_object_is_found_and_named(full_place):
    name = next(name for name in full_place.names() if name.startswith("crawls/2021-06/url-"))
    full_place.delete(name)
    first, second = cg.verify_store(full_place.store)
    assert f"{name} is missing" in first.problem
    assert second.problem is None
    with pytest.raises(StoreError, match="is missing: the crawl was replaced or removed meanwhile"):
        cg.count_overlaps(full_place.store)


def test_what_a_killed_process_left_is_deleted_by_the_next(full_place, make_list):
    client, bucket, prefix = full_place.client, full_place.bucket, full_place.prefix
    full_place.write("crawls/2021-06/url-0123456789abcdef.arrow", b"unnamed")
    full_place.write("crawls/2020-01/url-0123456789abcdef.arrow", b"of no crawl")
    full_place.write("crawls/2020-02/lock", json.dumps({"of": "an older version"}).encode())
    client.create_multipart_upload(Bucket=bucket, Key=f"{prefix}crawls/2020-03/url-0.arrow")
    client.create_multipart_upload(Bucket=bucket, Key=f"{prefix}elsewhere/large")
    time.sleep(LEASE_SECONDS + 1)
    cg.add_crawl(full_place.store, "2022-06", make_list([1]))
    full_place.see_whole(["2021-06", "2021-12", "2022-06"])
    assert full_place.n_uploads() == 1, "what is not the store's is left alone"


def test_objects_of_others_stay_and_a_failing_clean_up_is_no_failure(full_place, proxy, make_list):
    full_place.write("crawls/2021-06/notes.txt", b"mine")
    full_place.write("crawls/2021-06/sub/url-0123456789abcdef.arrow", b"mine")
    proxy.faults = lambda method, path, _: Fault(
        status=403 if method == "DELETE" and path.endswith(".arrow") else None
    )
    path = make_list(range(7))
    assert cg.add_crawl(full_place.store, "2021-06", path, replace=True).outcome == "replaced"
    assert sizes(full_place.store) == {"2021-06": 7, "2021-12": 100}
    cg.remove_crawl(full_place.store, "2021-12")
    proxy.faults = lambda *_: Fault()
    cg.add_crawl(full_place.store, "2021-12", path)
    cg.add_crawl(full_place.store, "2021-06", path)
    others = ["crawls/2021-06/notes.txt", "crawls/2021-06/sub/url-0123456789abcdef.arrow"]
    assert {full_place.read(name) for name in others} == {b"mine"}
    time.sleep(LEASE_SECONDS + 1)
    cg.add_crawl(full_place.store, "2022-06", path)
    full_place.see_whole(["2021-06", "2021-12", "2022-06"], others=others)


def test_a_file_taken_for_a_leftover_is_sent_again(s3_place, make_list, monkeypatch):
    original = RemoteCrawlWriter._put_manifest

    def put(self, content):
        for name in s3_place.names():
            if name.endswith(".arrow"):
                s3_place.delete(name)
        original(self, content)

    monkeypatch.setattr(RemoteCrawlWriter, "_put_manifest", put)
    cg.add_crawl(s3_place.store, "2021-06", make_list(range(5)))
    s3_place.see_whole(["2021-06"])


def test_an_add_that_fails_leaves_nothing(s3_place, make_list, tmp_path, monkeypatch):
    with pytest.raises(cg.CrawlgaugeError):
        cg.add_crawl(s3_place.store, "2021-06", make_list([]))
    assert s3_place.names() == []

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(RemoteCrawlWriter, "_put_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cg.add_crawl(s3_place.store, "2021-06", make_list([1]))
    assert s3_place.names() == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_with_credentials_to_read_only_all_can_be_read_and_nothing_written(
    full_place, proxy, run, make_list
):
    proxy.faults = lambda method, *_: Fault(
        status=403 if method in ("PUT", "POST", "DELETE") else None
    )
    assert cg.count_overlaps(full_place.store).n_shared.tolist() == [[100, 50], [50, 100]]
    assert run("verify", "--store", full_place.store)[0] == 0
    before = full_place.names()
    for words in (["add", "2022-06", make_list([1])], ["remove", "2021-06"]):
        code, _, errors = run(*words, "--store", full_place.store)
        assert code == 1
        assert "denies access" in errors
        assert "Traceback" not in errors
    assert full_place.names() == before


def test_a_missing_bucket_is_said(use_s3, run, make_list):
    use_s3()
    for words in (["add", "2022-06", make_list([1])], ["list"]):
        code, _, errors = run(*words, "--store", "s3://no-such-bucket/store")
        assert code == 1
        assert "there is no such bucket" in errors or "there is no store" in errors


def test_objects_of_others_are_not_made_a_store(s3_place, make_list):
    s3_place.write("letter.txt", b"Dear all")
    with pytest.raises(StoreError, match="is a folder of other files"):
        cg.add_crawl(s3_place.store, "2021-06", make_list([1]))
    assert s3_place.names() == ["letter.txt"]


def test_no_secret_is_shown_or_stored(full_place, proxy, run, make_list):
    told = [
        run("list", "--store", full_place.store),
        run("list", "--json", "--store", full_place.store),
    ]
    proxy.faults = lambda *_: Fault(status=403)
    told.append(run("add", "2022-06", make_list([1]), "--store", full_place.store))
    assert SECRET not in str(told)
    assert KEYS["AWS_ACCESS_KEY_ID"] not in str(told)
    for name in full_place.names():
        assert SECRET.encode() not in full_place.read(name)


@pytest.fixture
def large_place(s3_place, make_list, monkeypatch):
    """Return a store of two crawls of 300,000 URLs, in many blocks and ranges."""
    monkeypatch.setattr(key_set, "_LEAST_BLOCK_KEYS", 300_000 // 64)
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", 600_000 // 16)
    for label, start in (("2021-06", 0), ("2021-12", 150_000)):
        cg.add_crawl(s3_place.store, label, make_list(range(start, start + 300_000)))
    return s3_place


def test_only_what_is_needed_is_fetched(large_place, proxy):
    size = sum(len(large_place.read(name)) for name in large_place.names() if "/url-" in name)

    def fetched():
        n_bytes = sum(n for method, path, _, n in proxy.log if method == "GET" and "/url-" in path)
        proxy.log.clear()
        return n_bytes

    assert sizes(large_place.store) == {"2021-06": 300_000, "2021-12": 300_000}
    assert fetched() == 0, "manifests alone"
    table = cg.count_overlaps(large_place.store)
    assert table.n_shared[0, 1] == 150_000
    assert fetched() < 2 * size + (1 << 20), "once for the counts, once for the groups of hosts"
    sampled = cg.count_overlaps(large_place.store, sample="1/64")
    assert abs(sampled.n_shared[0, 1] - 150_000 / 64) < 5 * np.sqrt(150_000 / 64)
    assert fetched() < size + (1 << 19)
