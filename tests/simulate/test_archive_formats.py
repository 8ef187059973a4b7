"""CDXJ, crawl.log and WARC files are such as the archives' own tools write and read."""

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

import pytest

from crawlgauge.simulate.archive_files import write_simulated
from crawlgauge.simulate.simulating import simulate_urn


@pytest.fixture(scope="module")
def archive():
    return simulate_urn(n_crawls=2, population=1000, seed=8)


@pytest.fixture(scope="module")
def files(archive, tmp_path_factory):
    return {
        form: write_simulated(archive, tmp_path_factory.mktemp(form), form)
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
