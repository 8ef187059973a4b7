"""Crawls from remote files are those from local ones, under all faults, and tell no secret."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from faulty_proxy import Fault
from remote_servers import KEYS, SECRET
from valid_files import VALID

import crawlgauge as cg
from crawlgauge.errors import SourceError, StoreError

N_URLS = 60_000


def cdxj(first, n_urls=N_URLS):
    line = (
        'org,example)/page/{0} 20210{1}15120000 {{"url": "https://example.org/page/{0}?{2:x}", '
        '"mime": "text/html", "status": "200", "digest": "{2:032X}"}}\n'
    )
    chance = random.Random(first)
    return "".join(
        line.format(first + k, 1 + k % 9, chance.getrandbits(128)) for k in range(n_urls)
    ).encode()


def checksum(store, label):
    return next(s.checksum for s in cg.list_crawls(store) if s.crawl.label == label)


def harm(seed):
    """Return faults for two of three requests for each object."""
    chance = random.Random(seed)
    kinds = (Fault(drop_after=50_000), Fault(status=503), Fault(drop_after=0), Fault(status=500))
    return lambda _method, _path, number: chance.choice(kinds) if number % 3 < 2 else Fault()


@pytest.mark.parametrize("kind", VALID)
def test_each_format_gives_the_same_set_as_from_local_files(bucket, proxy, tmp_path, kind):
    files = VALID[kind]
    for name, content in files.contents.items():
        (tmp_path / name).write_bytes(content)
        bucket.put(f"{kind}/{name}", content)
    proxy.faults = harm(kind)
    options = {"date": "2014-01-27", "status": "any"}
    local = cg.add_crawl(tmp_path / "store", "local", tmp_path / files.main, **options)
    name = f"{bucket.url}/{kind}/{files.main}"
    remote = cg.add_crawl(tmp_path / "store", "remote", name, **options)
    assert remote.crawl_set.checksum == local.crawl_set.checksum
    assert remote.crawl_set.n_captures == local.crawl_set.n_captures
    assert remote.crawl_set.rejected == local.crawl_set.rejected


def test_many_large_files_give_the_same_set_under_all_faults(bucket, proxy, tmp_path):
    for number in range(5):
        content = gzip.compress(cdxj(number * N_URLS // 2), 1)
        (tmp_path / f"{number}.cdxj.gz").write_bytes(content)
        bucket.put(f"2021/{number}.cdxj.gz", content)
    local = cg.add_crawl(tmp_path / "store", "local", str(tmp_path / "*.cdxj.gz"))
    proxy.faults = harm(3)
    remote = cg.add_crawl(tmp_path / "store", "remote", f"{bucket.url}/2021/")
    assert remote.crawl_set.checksum == local.crawl_set.checksum
    entries = zip(
        remote.crawl_set.provenance.inputs, local.crawl_set.provenance.inputs, strict=True
    )
    for there, here in entries:
        assert (there.checksum, there.n_bytes) == (here.checksum, here.n_bytes)
        assert there.version.startswith("etag:")


def test_only_the_columns_that_are_needed_are_fetched(bucket, proxy, tmp_path):
    chance = random.Random(5)
    table = pa.table(
        {
            "filler": [chance.randbytes(200) for _ in range(40_000)],
            "url": [f"https://example.org/{k}" for k in range(40_000)],
            "fetch_status": pa.array([200] * 40_000, pa.int16()),
            "more": [chance.randbytes(200) for _ in range(40_000)],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10_000)
    content = (tmp_path / "a.parquet").read_bytes()
    name = bucket.put("crawl=X/a.parquet", content)
    local = cg.add_crawl(tmp_path / "store", "a", tmp_path / "a.parquet", date="2021-01-01")
    seen = []
    remote = cg.add_crawl(
        tmp_path / "store", "b", name, date="2021-01-01", progress=lambda p: seen.append(p.n_bytes)
    )
    assert remote.crawl_set.checksum == local.crawl_set.checksum
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    n_needed = sum(
        metadata.row_group(group).column(column).total_compressed_size
        for group in range(metadata.num_row_groups)
        for column in (1, 2)
    )
    # Beside them: the first block, by which the format is told, and the end with the footer.
    assert n_needed < proxy.n_sent("a.parquet") < n_needed + (1 << 21) < len(content) // 4
    assert seen[-1] == len(content)
    assert seen == sorted(seen)


def test_a_file_is_not_read_again_where_its_server_says_it_is_the_same(bucket, proxy, tmp_path):
    name = bucket.put("a.cdxj", cdxj(0))
    store = tmp_path / "store"
    cg.add_crawl(store, "2021", name)
    proxy.log.clear()
    assert cg.add_crawl(store, "2021", name).outcome == "unchanged"
    assert cg.add_crawl(store, "2021", name, append=True).outcome == "unchanged"
    assert proxy.n_sent("a.cdxj") == 0
    # The same bytes elsewhere are compared as bytes.
    copy = bucket.put("copy.cdxj", cdxj(0))
    assert cg.add_crawl(store, "2021", copy).outcome == "unchanged"
    (tmp_path / "copy.cdxj").write_bytes(cdxj(0))
    assert cg.add_crawl(store, "2021", tmp_path / "copy.cdxj").outcome == "unchanged"


def test_a_file_of_other_content_is_never_taken_for_the_same(bucket, tmp_path):
    content = cdxj(0)
    name = bucket.put("a.cdxj", content)
    store = tmp_path / "store"
    cg.add_crawl(store, "2021", name)
    bucket.put("a.cdxj", content.replace(b"/page/7?", b"/page/8?"))
    with pytest.raises(StoreError, match="already holds a crawl '2021', made from other"):
        cg.add_crawl(store, "2021", name)
    assert cg.add_crawl(store, "2021", name, append=True).outcome == "appended"


def lag(bucket, seed):
    """Return faults by which most listings are old, but nothing else."""
    chance = random.Random(seed)
    return lambda _method, path, _number: Fault(
        is_stale=path.strip("/") == bucket.name and chance.random() < 0.9
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_listing_that_lags_gives_an_old_answer_or_an_error_but_none_that_is_mixed(
    bucket, proxy, tmp_path, seed
):
    folder = f"{bucket.url}/2021/"
    bucket.put("2021/a.cdxj", cdxj(0, 100))
    bucket.put("2021/b.cdxj", cdxj(100, 100))
    first = cg.add_crawl(tmp_path / "store", "old", folder)
    proxy.faults = lag(bucket, seed)
    # Larger than the listing says: what is read is what is there.
    bucket.put("2021/b.cdxj", cdxj(100, 300))
    second = cg.add_crawl(tmp_path / "store", "new", folder)
    assert (first.crawl_set.crawl.n_urls, second.crawl_set.crawl.n_urls) == (200, 400)
    sizes = [entry.n_bytes for entry in second.crawl_set.provenance.inputs]
    assert sizes == [len(cdxj(0, 100)), len(cdxj(100, 300))]
    with pytest.raises(StoreError, match="made from other"):
        cg.add_crawl(tmp_path / "store", "old", folder)
    # Deleted, but still listed: an error, and not a crawl without it.
    bucket.client.delete_object(Bucket=bucket.name, Key="2021/a.cdxj")
    proxy.faults = lambda _method, path, _number: Fault(is_stale=path.strip("/") == bucket.name)
    with pytest.raises(SourceError, match="there is no such object"):
        cg.add_crawl(tmp_path / "store", "newest", folder)
    assert [item.crawl.label for item in cg.list_crawls(tmp_path / "store")] == ["new", "old"]


@pytest.mark.parametrize("kind", ["parquet-zstd", "wacz-index"])
def test_files_read_in_parts_are_known_by_their_version(bucket, tmp_path, kind):
    content = VALID[kind].contents[VALID[kind].main]
    name = bucket.put("a", content)
    options = {"date": "2014-01-27", "status": "any"}
    added = cg.add_crawl(tmp_path / "store", "a", name, **options)
    entry = added.crawl_set.provenance.inputs[0]
    assert entry.checksum.startswith("version:")
    assert entry.n_bytes == len(content)
    assert cg.add_crawl(tmp_path / "store", "a", name, **options).outcome == "unchanged"
    other = VALID["parquet-plain"].contents["input"]
    bucket.put("a", other)
    with pytest.raises(StoreError, match="made from other"):
        cg.add_crawl(tmp_path / "store", "a", name, **options)
    elsewhere = bucket.put("b", content)
    with pytest.raises(StoreError, match="made from other"):
        cg.add_crawl(tmp_path / "store", "a", elsewhere, **options)


@pytest.mark.parametrize("kind", ["cdxj", "parquet-zstd"])
def test_a_file_that_changes_in_the_middle_is_an_error_and_nothing_is_stored(
    bucket, proxy, tmp_path, kind
):
    content = VALID[kind].contents["input"] if kind != "cdxj" else cdxj(0)
    name = bucket.put("a", content)
    n_seen = 0

    def change(method, path):
        nonlocal n_seen
        n_seen += method == "GET" and path.endswith("/a")
        if n_seen == 2:
            bucket.put("a", content + b"\n")

    proxy.on_request = change
    with pytest.raises(SourceError, match="changed while it was being read"):
        cg.add_crawl(tmp_path / "store", "2021", name, date="2021-01-01", status="any")
    assert cg.list_crawls(tmp_path / "store") == () if (tmp_path / "store").exists() else True


@pytest.mark.parametrize("kind", ["parquet-zstd", "wacz-index", "cdxj"])
def test_servers_that_send_whole_files_only_give_what_can_be_read_from_its_beginning(
    web, tmp_path, kind
):
    web.files["/a"] = VALID[kind].contents["input"]
    web.takes_ranges = False
    options = {"date": "2014-01-27", "status": "any"}
    if kind == "cdxj":
        assert cg.add_crawl(tmp_path / "store", "a", f"{web.url}/a", **options).crawl_set.n_captures
        return
    with pytest.raises(SourceError, match="its server only sends whole files; save it to a file"):
        cg.add_crawl(tmp_path / "store", "a", f"{web.url}/a", **options)


def test_the_parts_of_a_cluster_may_be_elsewhere(bucket, tmp_path):
    files = VALID["zipnum"]
    part = bucket.put("parts/part.gz", files.contents["part.gz"])
    (tmp_path / "cluster.idx").write_bytes(files.contents["cluster.idx"])
    (tmp_path / "cluster.loc").write_text(f"part\t{part}\n")
    added = cg.add_crawl(tmp_path / "store", "a", tmp_path / "cluster.idx", status="any")
    assert added.crawl_set.provenance.inputs[0].name == part
    bucket.put("index/cluster.idx", files.contents["cluster.idx"])
    with pytest.raises(SourceError, match="these parts of it were not found"):
        cg.add_crawl(tmp_path / "store", "b", f"{bucket.url}/index/cluster.idx", status="any")


def test_lists_of_crawls_and_scopes_may_be_remote(bucket, run, tmp_path):
    bucket.put("2021/a.txt", b"http://example.org/a\nhttp://example.com/b\n")
    bucket.put("2022/a.txt", b"http://example.org/a\nhttp://example.org/c\n")
    crawls = bucket.put("crawls.csv", b"label,date,path\nA,2021-01-01,2021/\nB,2022-01-01,2022/*\n")
    scope = bucket.put("scope.txt", b"example.org\n")
    added = cg.add_crawls(tmp_path / "store", crawls, scope=scope)
    assert [item.crawl_set.crawl.n_urls for item in added] == [1, 2]
    reference = bucket.put("reference.txt", b"http://example.org/a\nhttp://example.org/z\n")
    found = json.loads(run("recall", reference, "--store", tmp_path / "store", "--json").out)
    assert reference in json.dumps(found)


class TestSecrets:
    """Nothing that is secret is printed or stored."""

    def grep(self, folder, *texts):
        secrets = [SECRET, KEYS["AWS_ACCESS_KEY_ID"], "hunter2", "Signature="]
        for text in (*texts, *(p.read_bytes().decode("latin-1") for p in folder.rglob("*.*"))):
            assert not [word for word in secrets if word in text]

    def test_of_signed_addresses(self, bucket, run, tmp_path):
        bucket.put("a.cdxj", cdxj(0, 100))
        signed = bucket.client.generate_presigned_url(
            "get_object", Params={"Bucket": bucket.name, "Key": "a.cdxj"}
        )
        store = tmp_path / "crawlgauge.store"
        done = run("add", "2021", signed, "--store", store)
        assert done.code == 0, done.err
        shown = run("add", "2021", signed, "--store", store, "--json")
        failed = run("add", "2022", signed.replace("a.cdxj", "b.cdxj"), "--store", store)
        assert failed.code == 1
        assert "there is no such object" in failed.err
        bucket.put("bad", b"\x1f\x8b\x08broken")
        bad = bucket.client.generate_presigned_url(
            "get_object", Params={"Bucket": bucket.name, "Key": "bad"}
        )
        broken = run("add", "2022", bad, "--store", store)
        assert "is damaged" in broken.err
        texts = [text for item in (done, shown, failed, broken) for text in (item.out, item.err)]
        self.grep(store, *texts)

    def test_of_users_and_of_the_environment(self, bucket, web, run, tmp_path):
        web.files["/a.txt"] = b"http://example.org/a\n"
        web.password = "bWU6aHVudGVyMg=="  # noqa: S105 - of me:hunter2
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
        (tmp_path / "netrc").chmod(0o600)
        name = bucket.put("b.txt", b"http://example.org/b\nx\n")
        (tmp_path / "list.txt").write_text(f"{web.url}/a.txt\n{name}\n")
        store = tmp_path / "store"
        done = run("add", "2021-01", f"@{tmp_path}/list.txt", "--store", store)
        assert done.code == 0, done.err
        missing = run("add", "2021-02", f"{web.url}/a.txtx", "--store", store)
        assert f"{web.url}/a.txtx: there is no such object" in missing.err
        told = [done, missing]
        for address in (f"http://me:hunter2@127.0.0.1:{web.port}/a.txt", "s3://k:hunter2/x@b/a"):
            (tmp_path / "nested.txt").write_text(f"@{address}\n")
            for word in (address, f"@{address}", f"@{tmp_path}/nested.txt"):
                told.append(run("add", "2021-02", word, "--store", store))
                assert told[-1].code == 1
        self.grep(store, *(text for item in told for text in (item.out, item.err)))


@pytest.mark.parametrize("crawls", ["one", "several"])
def test_ctrl_c_ends_a_slow_read_at_once(bucket, proxy, tmp_path, crawls):
    names = [bucket.put(f"{number}.cdxj", cdxj(0)) for number in range(4)]
    (tmp_path / "crawls.csv").write_text(
        "label,date,path\n" + "".join(f"202{k},,{names[k]}\n" for k in range(4))
    )
    words = ["2021", *names] if crawls == "one" else ["--from", tmp_path / "crawls.csv"]
    proxy.faults = lambda method, _path, _number: Fault(
        stall_seconds=60.0 if method == "GET" else 0.0
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "crawlgauge", "add", *words, "--store", tmp_path / "store"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(cg.__file__).parents[1])},
    )
    while not any(method == "GET" for method, _ in proxy.counts):
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        _, message = process.communicate(timeout=10)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode != 0
    assert "Traceback" not in message
    assert not any((tmp_path / "store").rglob("url-*"))
