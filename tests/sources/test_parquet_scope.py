"""Row groups of Common Crawl's index whose hosts are all out of scope are not read, and counted."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crawlgauge as cg
from crawlgauge.keys.scope import parse_scope
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.sources import parquet_rows
from crawlgauge.sources.parquet_scope import lies_outside

TLDS = ("ac", "at", "au", "com", "de", "museum", "org", "xn--p1ai")
N_URLS = 4000


def make_index(path, **other_columns):
    chance = random.Random(3)
    urls = sorted(
        (
            f"{chance.choice(['http', 'https'])}://{chance.choice(['www.', '', 'a.b.'])}"
            f"example{chance.randrange(90)}.{chance.choice(TLDS)}"
            f"{chance.choice(['', '', ':8080'])}/{number}"
            for number in range(N_URLS)
        ),
        key=lambda url: canonical_surt(url.encode()),
    )
    columns = {
        "url_surtkey": [canonical_surt(url.encode()).decode() for url in urls],
        "url": urls,
        "url_host_tld": [url.split("/")[2].partition(":")[0].rpartition(".")[2] for url in urls],
        "url_host_name": [url.split("/")[2].partition(":")[0] for url in urls],
        "fetch_status": pa.array([200] * N_URLS, pa.int16()),
        "warc_filename": ["a.warc.gz"] * N_URLS,
    }
    pq.write_table(pa.table({**columns, **other_columns}), path, row_group_size=100)
    return urls


def add(tmp_path, scope, *, label="a"):
    (tmp_path / "scope.txt").write_text(scope)
    return cg.add_crawl(
        tmp_path / "store",
        label,
        tmp_path / "index.parquet",
        date="2023-10-02",
        scope=tmp_path / "scope.txt",
    ).crawl_set


@pytest.fixture
def groups_read(monkeypatch):
    """Tell which row groups are read."""
    numbers = []
    read = parquet_rows._read_group

    def note(file, number, *rest):
        numbers.append(number)
        return read(file, number, *rest)

    monkeypatch.setattr(parquet_rows, "_read_group", note)
    return numbers


@pytest.mark.parametrize(
    "scope",
    [
        "*.at",
        "at\nmuseum",
        "example7.com",
        "www.example7.com",
        "b.example7.com",
        "https://example7.org/1\nexample8.org/",
        "org,example7,b,a)/",
        "http://(de,example8,",
        "*.at\n!example8.at",
        "xn--p1ai",
    ],
)
def test_the_set_is_the_same_as_if_all_were_read(tmp_path, monkeypatch, groups_read, scope):
    make_index(tmp_path / "index.parquet")
    sparing = add(tmp_path, scope, label="sparing")
    assert len(groups_read) < N_URLS // 100 // 2
    monkeypatch.setattr(parquet_rows, "lies_outside", lambda *_: False)
    whole = add(tmp_path, scope, label="whole")
    assert sparing.checksum == whole.checksum
    assert sparing.crawl.n_urls == whole.crawl.n_urls
    assert sparing.excluded == whole.excluded


@pytest.mark.parametrize("scope", ["!example7.com", "192.0.2.7", "*.at\n192.0.2.7"])
def test_all_is_read_where_hosts_cannot_be_told(scope):
    assert parse_scope(scope.encode(), "scope").hosts is None


def test_only_the_columns_of_common_crawl_are_trusted(tmp_path):
    """What others call url_surtkey may be written in another way."""
    path = tmp_path / "index.parquet"
    make_index(path)
    table = pq.read_table(path)
    assert lies_outside(pq.ParquetFile(path), 0, [b"org"])
    pq.write_table(table.drop_columns(["url_host_tld"]), path)
    assert not lies_outside(pq.ParquetFile(path), 0, [b"zz"])
    other = pa.array([f"http://(com,example,)/{number:04}" for number in range(N_URLS)])
    pq.write_table(table.set_column(0, "url_surtkey", other), path)
    assert not lies_outside(pq.ParquetFile(path), 0, [b"zz"])
    pq.write_table(table, path, write_statistics=False)
    assert not lies_outside(pq.ParquetFile(path), 0, [b"zz"])
