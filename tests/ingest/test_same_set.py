"""The same captures give the same set, whichever format carries them."""

import csv
import gzip
import io
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crawlgauge as cg


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """Return the lines of a simulated CDXJ index, and the checksum of its set."""
    folder = tmp_path_factory.mktemp("archive")
    archive = cg.simulate_urn(n_crawls=2, population=600, seed=3)
    path = cg.write_simulation(archive, folder, "cdxj")[0]
    added = cg.add_crawl(folder / "store", "x", path).crawl_set
    rows = []
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        key, time, fields = line.split(" ", 2)
        rows.append({"urlkey": key, "timestamp": time, **json.loads(fields)})
    return rows, added, archive


def write_cdx(rows):
    lines = [" CDX N b a m s k r M S V g\n"]
    lines += [
        f"{row['urlkey']} {row['timestamp']} {row['url']} {row['mime']} {row['status']} "
        f"{row['digest']} - - 1 2 {row['filename']}\n"
        for row in rows
    ]
    return "".join(lines).encode()


def write_csv(rows, delimiter=","):
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def write_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write_server_json(rows):
    names = ["urlkey", "timestamp", "original", "mimetype", "statuscode"]
    table = [names] + [
        [row["urlkey"], row["timestamp"], row["url"], row["mime"], row["status"]] for row in rows
    ]
    return json.dumps(table).encode()


def write_parquet(rows):
    table = pa.table(
        {
            "url_surtkey": [row["urlkey"] for row in rows],
            "url": [row["url"] for row in rows],
            "fetch_time": [row["timestamp"] for row in rows],
            "fetch_status": pa.array([int(row["status"]) for row in rows], pa.int16()),
            "content_mime_detected": [row["mime"] for row in rows],
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def write_wacz(rows):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("datapackage.json", '{"resources": []}')
        archive.writestr("indexes/index.cdx.gz", gzip.compress(write_cdx(rows)))
    return file.getvalue()


WRITERS = {
    "CDX": write_cdx,
    "CSV": write_csv,
    "TSV": lambda rows: write_csv(rows, "\t"),
    "JSON Lines": write_json_lines,
    "CDX server": write_server_json,
    "Parquet": write_parquet,
    "WACZ": write_wacz,
}


def content(crawl_set):
    crawl = crawl_set.crawl
    times = (crawl.date, crawl.first_capture, crawl.last_capture)
    return crawl_set.checksum, crawl.n_urls, crawl_set.n_captures, times


@pytest.mark.parametrize("form", WRITERS)
def test_tables_and_indexes_of_the_same_captures_give_the_same_set(tmp_path, captures, form):
    rows, added, _ = captures
    path = tmp_path / "input"
    path.write_bytes(WRITERS[form](rows))
    found = cg.add_crawl(tmp_path / "store", "x", path).crawl_set
    assert content(found) == content(added)
    assert not found.rejected


@pytest.mark.parametrize("form", ["url-lists", "crawl-log", "warc"])
def test_lists_logs_and_warcs_of_the_same_captures_give_the_same_set(tmp_path, captures, form):
    _, added, archive = captures
    path = cg.write_simulation(archive, tmp_path / "archive", form)[0]
    found = cg.add_crawl(tmp_path / "store", "2020-01", path).crawl_set
    assert (found.checksum, found.n_captures) == (added.checksum, added.n_captures)
    if form != "url-lists":
        assert found.crawl.first_capture == added.crawl.first_capture


@pytest.mark.parametrize("form", ["CDX", "CSV", "JSON Lines", "CDX server", "Parquet", "WACZ"])
def test_keys_of_indexes_are_the_same_too(tmp_path, captures, form):
    rows, _, _ = captures
    sums = set()
    for name, data in {"a": write_cdx(rows), "b": WRITERS[form](rows)}.items():
        (tmp_path / name).write_bytes(data)
        options = {"identity": "given"}
        found = cg.add_crawl(tmp_path / f"{name}.store", "x", tmp_path / name, **options)
        sums.add(found.crawl_set.checksum)
    assert len(sums) == 1


def test_common_crawls_keys_alone_tell_what_its_urls_tell(captures, tmp_path):
    rows, *_ = captures
    robots = {"urlkey": "org,example)/robots.txt", "url": "http://example.org/robots.txt"}
    told = [*rows, {**rows[0], **robots}]
    found = []
    for key_name in ("urlkey", "url_surtkey"):
        path = tmp_path / f"{key_name}.parquet"
        table = pa.Table.from_pylist(
            [
                {
                    key_name: row["urlkey"],
                    "url": row["url"],
                    "fetch_time": row["timestamp"],
                    "fetch_status": int(row["status"]),
                    "content_mime_type": row["mime"],
                }
                for row in told
            ]
        )
        pq.write_table(table, path)
        store = tmp_path / key_name
        added = cg.add_crawl(store, "x", path, identity="given").crawl_set
        attributes = cg.open_store(store).attributes(added)
        hosts = [attributes.hosts[code] for code in attributes.host_codes]
        found.append((added.checksum, added.excluded, hosts, attributes.statuses.tolist()))
    assert found[0] == found[1]
    assert found[0][1]["robots.txt"] == 1
