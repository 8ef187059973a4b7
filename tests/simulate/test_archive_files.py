"""Simulated archives as files: such as archives' own tools write, the same for the same seed."""

import base64
import datetime as dt
import gzip
import hashlib
import itertools
import json
import re
import statistics
import uuid
import zlib

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.errors import SimulationError, SourceError
from crawlgauge.simulate.archive import (
    CrawlTruth,
    SimulatedArchive,
    SimulatedCrawl,
    Truth,
)
from crawlgauge.simulate.archive_files import FILE_FORMS, count_archive


def small(seed=4, **changes):
    return cg.simulate_urn(**{"n_crawls": 3, "population": 400, "seed": seed, **changes})


def test_each_crawl_is_a_list_of_distinct_urls_that_other_crawls_share(tmp_path):
    archive = small(population=2000)
    paths = cg.write_simulation(archive, tmp_path / "new" / "lists")
    assert [path.name for path in paths] == [
        *("2013-12.txt.gz", "2014-06.txt.gz", "2014-12.txt.gz")
    ]
    lists = [gzip.decompress(path.read_bytes()).decode().splitlines() for path in paths]
    for lines, crawl in zip(lists, archive.crawls, strict=True):
        assert len(set(lines)) == len(lines) == crawl.url_numbers.size
        assert all(line.startswith("https://www.university-") for line in lines)
    numbers = [set(crawl.url_numbers.tolist()) for crawl in archive.crawls]
    assert len(set(lists[0]) & set(lists[2])) == len(numbers[0] & numbers[2])


@pytest.mark.parametrize("form", FILE_FORMS)
def test_the_truth_is_beside_every_form(form, tmp_path):
    cg.write_simulation(small(population=1000), tmp_path, form)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["schema"] == "crawlgauge.truth/1"
    assert (truth["population"], truth["coverage"], truth["persistence"]) == (1000, 0.46, 0.73)
    assert (truth["scenario"], truth["seed"]) == ("urn", 4)
    assert truth["settings"]["dates.n_crawls"] == 3
    assert truth["crawls"][1] == {
        "label": "2014-06",
        "date": "2014-06-15",
        "n_urls": 460,
        "population": 1000,
        "coverage": 0.46,
    }


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("form", FILE_FORMS)
def test_files_of_a_seed_are_equal_to_the_byte_for_any_number_of_workers(form, tmp_path):
    for workers in (1, 2, 5):
        cg.write_simulation(small(), tmp_path / str(workers), form, workers=workers)
    one, two, five = (bytes_of(tmp_path / name) for name in ("1", "2", "5"))
    assert one == two == five
    cg.write_simulation(small(seed=5), tmp_path / "other", form)
    other = bytes_of(tmp_path / "other")
    assert other.keys() == one.keys()
    assert all(other[name] != one[name] for name in one)


@pytest.mark.parametrize("form", ["url-lists", "cdxj", "warc"])
def test_compressed_files_bear_no_time(form, tmp_path):
    for path in cg.write_simulation(small(), tmp_path, form):
        assert path.read_bytes()[4:8] == b"\0\0\0\0"


def test_progress_is_told_for_each_crawl(tmp_path):
    calls = []
    cg.write_simulation(small(), tmp_path, progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_nothing_half_written_stays_behind(tmp_path):
    def fail(_numbers):
        raise KeyError("no names")

    archive = small()
    broken = type(archive)(crawls=archive.crawls, truth=archive.truth, name_urls=fail)
    with pytest.raises(KeyError):
        cg.write_simulation(broken, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["truth.json"]


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="file is a file; name a folder"):
        cg.write_simulation(small(), tmp_path / "file")


def test_an_unknown_form_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(SimulationError, match="'arc'; there are url-lists, cdxj"):
        cg.write_simulation(small(), tmp_path, "arc")


def test_a_table_is_written_as_a_table_only(tmp_path):
    table = cg.simulate_table(n_crawls=4, seed=3)
    (path,) = cg.write_simulation(table, tmp_path)
    again = cg.read_overlaps(path)
    assert again.n_shared.tolist() == table.n_shared.tolist()
    assert again.histories.counts.tolist() == table.histories.counts.tolist()
    for form in ("warc", "store"):
        with pytest.raises(SimulationError, match=f"cannot be written as {form}"):
            cg.write_simulation(table, tmp_path, form)


def test_store_and_lists_and_table_hold_the_same_overlaps(tmp_path):
    archive = small(population=3000)
    (store,) = cg.write_simulation(archive, tmp_path / "a", "store")
    (table,) = cg.write_simulation(archive, tmp_path / "b", "table")
    assert (tmp_path / "a" / "truth.json").exists()
    counted, written = cg.count_overlaps(store), cg.read_overlaps(table)
    assert counted.n_shared.tolist() == written.n_shared.tolist()
    assert counted.histories.masks.tolist() == written.histories.masks.tolist()
    assert [crawl.date for crawl in counted.crawls] == [crawl.date for crawl in archive.crawls]


@pytest.fixture(scope="module")
def archive():
    return cg.simulate_urn(n_crawls=2, population=1000, seed=8)


@pytest.fixture(scope="module")
def files(archive, tmp_path_factory):
    return {
        form: cg.write_simulation(archive, tmp_path_factory.mktemp(form), form)
        for form in ("cdxj", "crawl-log", "warc")
    }


def urls_of(archive, number):
    return set(archive.name_urls(archive.crawls[number].url_numbers))


def sha1(data):
    return base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def read_records(path):
    """Yield the header fields and the block of each record, one gzip member a record."""
    rest = path.read_bytes()
    while rest:
        member = zlib.decompressobj(31)
        data = member.decompress(rest)
        assert member.eof
        rest = member.unused_data
        head, _, body = data.partition(b"\r\n\r\n")
        version, *lines = head.decode().split("\r\n")
        assert version == "WARC/1.1"
        fields = dict(line.split(": ", 1) for line in lines)
        block, end = body[: int(fields["Content-Length"])], body[int(fields["Content-Length"]) :]
        assert end == b"\r\n\r\n"
        yield fields, block


def test_cdxj_lines_are_sorted_and_complete(archive, files):
    lines = gzip.decompress(files["cdxj"][0].read_bytes()).decode().splitlines()
    assert lines == sorted(lines)
    entries = []
    for line in lines:
        key, time, document = line.split(" ", 2)
        entry = json.loads(document)
        assert list(entry) == [*("url", "mime", "status", "digest", "length", "offset", "filename")]
        host, path = re.fullmatch(r"https://www\.([^/]+)(/.*)", entry["url"]).groups()
        assert key == ",".join(reversed(host.split("."))) + ")" + path
        assert re.fullmatch(r"\d{14}", time)
        assert (entry["mime"], entry["status"]) == ("text/html", "200")
        assert entry["filename"] == "2013-12.warc.gz"
        entries.append(entry)
    assert {entry["url"] for entry in entries} == urls_of(archive, 0)
    in_file = sorted((int(entry["offset"]), int(entry["length"])) for entry in entries)
    ends = itertools.accumulate((length for _, length in in_file), initial=0)
    assert [offset for offset, _ in in_file] == list(ends)[:-1]


def test_warc_records_are_valid_and_hold_the_pages(archive, files):
    ids, urls = set(), set()
    records = list(read_records(files["warc"][0]))
    info, info_block = records[0]
    assert info["WARC-Type"] == "warcinfo"
    assert info["WARC-Filename"] == "2013-12.warc.gz"
    assert b"software: crawlgauge" in info_block
    times = []
    for fields, block in records[1:]:
        assert fields["WARC-Type"] == "response"
        assert fields["WARC-Warcinfo-ID"] == info["WARC-Record-ID"]
        assert fields["Content-Type"] == "application/http; msgtype=response"
        ids.add(uuid.UUID(fields["WARC-Record-ID"].removeprefix("<urn:uuid:").removesuffix(">")))
        urls.add(fields["WARC-Target-URI"])
        times.append(dt.datetime.strptime(fields["WARC-Date"], "%Y-%m-%dT%H:%M:%S%z"))
        head, _, page = block.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert f"Content-Length: {len(page)}".encode() in head
        assert page.startswith(b"<!DOCTYPE html>")
        assert fields["WARC-Payload-Digest"] == f"sha1:{sha1(page)}"
        assert fields["WARC-Block-Digest"] == f"sha1:{sha1(block)}"
    assert len(ids) == len(urls) == 460
    assert urls == urls_of(archive, 0)
    assert times == sorted(times)


def test_a_page_is_the_same_in_every_crawl_and_form(files):
    of_warc = {
        fields["WARC-Target-URI"]: fields["WARC-Payload-Digest"]
        for path in files["warc"]
        for fields, _ in list(read_records(path))[1:]
    }
    for path in files["cdxj"]:
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            entry = json.loads(line.split(" ", 2)[2])
            assert of_warc[entry["url"]] == f"sha1:{entry['digest']}"


LOG_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) +(?P<status>-?\d+) +(?P<size>\d+) "
    r"(?P<url>\S+) (?P<path>[LREPX]+) (?P<via>\S+) (?P<mime>\S+) #\d{3} \d{17}\+\d+ "
    r"sha1:[A-Z2-7]{32} - -"
)


def test_a_crawl_log_has_heritrix_lines_in_order_of_time(archive, files):
    lines = files["crawl-log"][1].read_text().splitlines()
    entries = [LOG_LINE.fullmatch(line).groupdict() for line in lines]
    assert [entry["time"] for entry in entries] == sorted(entry["time"] for entry in entries)
    pages = [entry["url"] for entry in entries if entry["status"] == "200"]
    assert len(pages) == 460
    assert set(pages) == urls_of(archive, 1)
    hosts = {url.split("/")[2] for url in pages}
    lookups = [entry["url"] for entry in entries if entry["mime"] == "text/dns"]
    assert sorted(lookups) == sorted(f"dns:{host}" for host in hosts)
    robots = [entry["url"] for entry in entries if entry["status"] == "404"]
    assert sorted(robots) == sorted(f"https://{host}/robots.txt" for host in hosts)


def test_captures_are_spread_over_a_week_around_the_crawls_date(files):
    for path, date in zip(files["cdxj"], ("20131215", "20140615"), strict=True):
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        times = sorted(line.split(" ")[1] for line in lines)
        assert statistics.median_low(times)[:8] == date
        first, last = (
            dt.datetime.strptime(t + "+0000", "%Y%m%d%H%M%S%z") for t in (times[0], times[-1])
        )
        assert dt.timedelta(days=6.9) < last - first < dt.timedelta(days=7)
        days = {time[:8] for time in times}
        assert len(days) == 7


def make_archive(sets):
    dates = [dt.date(2000 + k, 1, 1) for k in range(len(sets))]
    labels = [f"c{k:03d}" for k in range(len(sets))]
    return SimulatedArchive(
        crawls=tuple(
            SimulatedCrawl(label=label, date=date, url_numbers=np.array(sorted(numbers)))
            for label, date, numbers in zip(labels, dates, sets, strict=True)
        ),
        truth=Truth(
            scenario="made",
            seed=0,
            crawls=tuple(
                CrawlTruth(label=x, date=y, n_urls=len(z), population=10**6, coverage=0.1)
                for x, y, z in zip(labels, dates, sets, strict=True)
            ),
            persistence=None,
            settings={},
        ),
        name_urls=lambda numbers: [str(number) for number in numbers],
    )


@pytest.mark.parametrize("offset", [0, 1 << 60])
@pytest.mark.parametrize("n_crawls", [3, 70])
def test_counts_are_those_of_python_sets(offset, n_crawls):
    rng = np.random.default_rng(4)
    sets = [set((offset + rng.integers(0, 300, 100)).tolist()) for _ in range(n_crawls)]
    table = count_archive(make_archive(sets))
    assert table.n_shared.tolist() == [[len(a & b) for b in sets] for a in sets]
    assert (table.histories is None) == (n_crawls > 64)
    if table.histories is not None:
        assert table.histories.n_urls == len(set.union(*sets))
