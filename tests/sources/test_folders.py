"""A crawler's folder gives the URLs that were fetched: no more, no fewer, and none twice."""

import gzip
import json
import shutil

import pytest
from linear_time import check_linear_time

import crawlgauge as cg
from crawlgauge.errors import SourceError
from crawlgauge.sources.folders import choose_files
from crawlgauge.sources.inputs import find_inputs

PAGES = '{"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": "false"}\n'
BEYOND = "https://beyond.example/never-fetched"


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def formats(shared_data):
    return shared_data / "formats"


def put(folder, **texts):
    """Write files below a folder; two underscores in a name stand for a slash, ``0`` for a dot."""
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("0", ".").replace("_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def take(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)
    return path


@pytest.fixture
def collection(tmp_path, formats):
    """A collection as Browsertrix leaves it, with real WARC files."""
    folder = tmp_path / "collections" / "site"
    for name in ("iana.warc.gz", "example.warc.gz"):
        take(folder, f"archive/rec-{name}", formats / "warc" / name)
    take(folder, "indexes/index.cdxj", formats / "cdxj" / "iana.cdxj")
    take(folder, "site.wacz", formats / "wacz" / "valid_example_2.wacz")
    page = {"id": "1", "url": "http://www.iana.org/", "title": "", "loadState": 4, "status": 200}
    failed = {"id": "2", "url": BEYOND, "title": "", "loadState": 0}
    skipped = {"url": BEYOND + "/2", "seedUrl": "http://www.iana.org/", "depth": 2, "seed": False}
    skipped |= {"reason": "pageLimit", "ts": "2026-01-01T00:00:00Z"}
    put(
        folder,
        pages__pages0jsonl=PAGES + lines(page, failed),
        pages__extraPages0jsonl=PAGES + lines(failed),
        reports__skippedPages0jsonl=PAGES + lines(skipped),
        crawls__crawl_site0yaml="state: done\nseeds:\n  - url: https://beyond.example/\n",
        logs__crawl_site0log=lines({"message": "Page", "details": {"url": BEYOND}}),
        warc_cdx__rec0cdx="beyond,example)/ 20200101000000 {}\n",
    )
    return folder


def add(store, *sources, **options):
    return cg.add_crawl(store, "2014-01", list(sources), **options).crawl_set


def the_same(store, folder, *files):
    found = add(store, folder)
    expected = add(store.with_name("expected"), *files)
    assert (found.checksum, found.n_captures) == (expected.checksum, expected.n_captures)
    return found


@pytest.mark.parametrize("above", [False, True])
def test_of_a_browsertrix_collection_the_warc_files_count(collection, tmp_path, above, caplog):
    with caplog.at_level("INFO"):
        the_same(
            tmp_path / "store",
            collection.parent if above else collection,
            str(collection / "archive" / "*.gz"),
        )
    assert "a Browsertrix collection: 2 files with captures; passed over" in caplog.text
    assert "reports/skippedPages.jsonl" in caplog.text


def test_without_warc_files_its_wacz_counts(collection, tmp_path):
    shutil.rmtree(collection / "archive")
    the_same(tmp_path / "store", collection, collection / "site.wacz")


def test_without_either_its_index_counts(collection, tmp_path):
    shutil.rmtree(collection / "archive")
    (collection / "site.wacz").unlink()
    the_same(tmp_path / "store", collection, collection / "indexes" / "index.cdxj")


def test_without_any_the_pages_that_were_fetched_count(collection, tmp_path):
    for name in ("archive", "indexes", "warc-cdx"):
        shutil.rmtree(collection / name)
    (collection / "site.wacz").unlink()
    (collection / "archive").mkdir()
    found = cg.add_crawl(tmp_path / "store", "2014-01", collection, date="2014-01-15").crawl_set
    assert (found.crawl.n_urls, found.excluded["not-fetched"]) == (1, 2)


def test_lists_of_pages_that_were_skipped_hold_no_captures(collection, tmp_path):
    path = collection / "reports" / "skippedPages.jsonl"
    with pytest.raises(SourceError, match=r"nothing in it counts; left out: .*1 not-fetched"):
        cg.add_crawl(tmp_path / "store", "2014-01", path)


@pytest.fixture
def job(tmp_path, formats):
    """A job of Heritrix 3 with two launches, of which one still has its WARC files."""
    folder = tmp_path / "jobs" / "site"
    take(folder, "20140126200000/warcs/iana.warc.gz", formats / "warc" / "iana.warc.gz")
    take(folder, "20140126200000/logs/crawl.log", formats / "heritrix-crawl-log" / "crawl.log")
    take(
        folder,
        "20140326200000/logs/crawl.log.cp00001-20140327",
        formats / "heritrix-crawl-log" / "stop-reason-crawl.log",
    )
    put(
        folder,
        crawler_beans0cxml="<beans/>",
        job0log="2014-01-26T20:00:00.000Z INFO Job launched\n",
        seeds0txt=f"{BEYOND}/seed\n",
    )
    for launch in ("20140126200000", "20140326200000"):
        put(
            folder / launch,
            reports__hosts_report0txt="[#urls] [#bytes] [host]\n3 40 beyond.example\n",
            reports__seeds_report0txt=f"[code] [status] [seed]\n200 CRAWLED {BEYOND}\n",
            logs__uri_errors0log=f"2014-01-26T20:00:00.000Z {BEYOND} \n",
            logs__frontier0recover=f"F+ {BEYOND}\n",
            logs__progress_statistics0log="timestamp discovered queued\n",
        )
    return folder


def test_of_each_launch_of_a_heritrix_job_warc_files_or_the_log_count(job, tmp_path, caplog):
    with caplog.at_level("INFO"):
        the_same(
            tmp_path / "store",
            job,
            job / "20140126200000" / "warcs" / "iana.warc.gz",
            job / "20140326200000" / "logs" / "crawl.log.cp00001-20140327",
        )
    assert "a Heritrix job: 2 files with captures; passed over" in caplog.text
    assert "seeds.txt" in caplog.text


def test_of_a_launch_alone_the_same_counts(job, tmp_path):
    launch = job / "20140126200000"
    the_same(tmp_path / "store", launch, launch / "warcs" / "iana.warc.gz")


def test_warc_files_beside_the_launches_are_of_all_of_them(job, tmp_path):
    shutil.move(job / "20140126200000" / "warcs", job / "warcs")
    the_same(tmp_path / "store", job, job / "warcs" / "iana.warc.gz")


def test_the_metadata_of_a_netarchivesuite_job_are_no_captures(tmp_path, formats):
    folder = tmp_path / "2_1617"
    data = take(folder, "2-1-20140126-00000.warc.gz", formats / "warc" / "iana.warc.gz")
    take(folder, "2-metadata-1.warc", formats / "warc" / "2-metadata-1.warc")
    put(folder, harvestInfo0xml="<harvestInfo/>", order0xml="<crawl-order/>")
    the_same(tmp_path / "store", folder, data)


def test_of_a_plain_folder_what_is_no_inventory_is_passed_over(tmp_path, formats, caplog):
    folder = tmp_path / "crawl"
    wanted = [
        take(folder, "iana.warc.gz", formats / "warc" / "iana.warc.gz"),
        take(folder, "deep/other.cdxj", formats / "cdxj" / "example.cdxj"),
    ]
    take(folder, "iana.cdx", formats / "cdx" / "iana.cdx")
    take(folder, "whirlwind.warc.wat.gz", formats / "commoncrawl" / "whirlwind.warc.wat.gz")
    put(
        folder,
        README0md="# A crawl\n\nSee https://beyond.example/ for more.\n",
        README="All that we know of this crawl, and what we do not.\n",
        checksums0md5="d41d8cd98f00b204e9800998ecf8427e  iana.warc.gz\n",
        config0xml="<config>\n</config>\n",
        job0yaml="name: a\nseeds:\n  - https://beyond.example/\n",
        pages0jsonl=PAGES + lines({"url": BEYOND}),
    )
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with caplog.at_level("INFO"):
        the_same(tmp_path / "store", folder, *wanted)
    assert "2 files with captures; passed over: README, README.md" in caplog.text


def test_lists_of_urls_are_found_whatever_their_names(tmp_path):
    put(tmp_path / "lists", one0txt="http://a.org/\n", two="# all\nhttp://b.org/\nwww.c.org/\n")
    (tmp_path / "lists" / "three.dat.gz").write_bytes(gzip.compress(b"http://d.org/\n"))
    assert len(find_inputs([str(tmp_path / "lists")]).names) == 3


def test_where_the_user_says_what_the_files_are_all_of_them_are_read(tmp_path):
    put(tmp_path / "tables", a0dat="page number\n1 http://a.org/\n", b0csv="1,2\n")
    found = find_inputs([str(tmp_path / "tables")], is_stated=True)
    assert len(found.names) == 2


def test_a_folder_without_captures_says_what_it_has(tmp_path):
    put(tmp_path / "site", README0md="# A site\n\nThat is all.\n")
    with pytest.raises(SourceError, match=r"holds no file of captures: README\.md; if one is"):
        find_inputs([str(tmp_path / "site")])


FOLDERS_OF_MANY = {
    "files": "a{n}.warc.gz",
    "collections": "c{tenth}/{kind}/a{n}.warc.gz",
    "launches of a job": "l{tenth}/{log}/crawl.log.a{n}.warc.gz",
}


@pytest.mark.parametrize("names", FOLDERS_OF_MANY.values(), ids=FOLDERS_OF_MANY)
def test_what_of_many_files_is_read_is_told_in_time_with_their_number(tmp_path, names):
    def choose(n_files):
        kinds = {"kind": ("pages", "archive"), "log": ("logs", "warcs")}
        files = [
            tmp_path
            / names.format(n=n, tenth=n // 10, **{k: v[n % 10 > 0] for k, v in kinds.items()})
            for n in range(n_files)
        ]
        assert len(choose_files(tmp_path, files)) >= 0.9 * n_files

    check_linear_time(choose, 2000)
