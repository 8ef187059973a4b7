"""What real CDX servers answered is read, and what they refused is counted."""

import io
import json
from collections import Counter

import numpy as np
import pytest

from crawlgauge.errors import SourceError
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.csv_rows import looks_like_csv
from crawlgauge.sources.json_lines import looks_like_json_lines, read_json_lines
from crawlgauge.sources.request import Request
from crawlgauge.sources.server_json import looks_like_server_json, read_server_json

ALL = Request(fields=frozenset({"key", "time", "status", "mime", "digest"}))

SESSIONS = {
    "test_basics": (1, Counter(urls=10)),
    "test_multi_cc1_slow_8": (143, Counter({"urls": 10, "server-message": 142})),
    "test_multi_cc2": (76, Counter({"urls": 3, "server-message": 75})),
    "test_multi_ia": (1, Counter(urls=10)),
}


def count(batches):
    found = Counter()
    for batch in batches:
        found["urls"] += len(batch)
        found.update(batch.rejected)
        found.update(batch.excluded)
        assert not np.isnat(batch.time).any()
        assert batch.key.null_count == 0
    return +found


def answers(path):
    return [json.loads(line)["response_text"].encode() for line in path.read_bytes().splitlines()]


def open_bytes(data):
    return ByteStream("answer", open_file=lambda: io.BytesIO(data))


@pytest.mark.parametrize(("name", "expected"), SESSIONS.items(), ids=SESSIONS)
def test_the_answers_of_real_servers_are_read(shared_data, name, expected):
    n_exchanges, total = expected
    found = Counter()
    for answer in answers(shared_data / "formats" / "cdx-server-json" / f"{name}.jsonl"):
        is_array, is_lines = looks_like_server_json(answer), looks_like_json_lines(answer)
        assert is_array != is_lines
        assert not looks_like_csv(answer)
        with open_bytes(answer) as stream:
            found += count((read_server_json if is_array else read_json_lines)(stream, ALL))
    assert found == total
    path = shared_data / "formats" / "cdx-server-json" / f"{name}.jsonl"
    with ByteStream(str(path)) as stream:
        assert looks_like_json_lines(stream.beginning())
        urls = [
            url for batch in read_json_lines(stream, Request()) for url in batch.url.to_pylist()
        ]
    requested = [json.loads(line)["url"].encode() for line in path.read_bytes().splitlines()]
    assert urls == requested
    assert len(urls) == n_exchanges


def test_a_list_of_collections_is_no_list_of_captures(shared_data):
    (answer,) = answers(shared_data / "formats" / "cdx-server-json" / "test_get_cc_endpoints.jsonl")
    with (
        open_bytes(answer) as stream,
        pytest.raises(SourceError, match="there are id, name, timegate, cdx-api, from, to"),
    ):
        list(read_server_json(stream, Request()))


def test_an_error_page_is_none_of_the_formats(shared_data):
    path = shared_data / "formats" / "cdx-server-json" / "test_multi_misc_not_ia_slow_1.jsonl"
    (answer,) = answers(path)
    assert answer.startswith(b"<!doctype html>")
    for looks_like in (looks_like_server_json, looks_like_json_lines, looks_like_csv):
        assert not looks_like(answer)


def test_rows_of_common_crawls_index_are_read(shared_data):
    path = shared_data / "formats" / "cc-index-cdxj" / "rows_as_served.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    with ByteStream(str(path)) as stream:
        (batch,) = read_json_lines(stream, Request(fields=ALL.fields, group="filename"))
    assert len(batch) == len(rows) == 23
    assert not batch.rejected
    assert batch.url.to_pylist() == [row["url"].encode() for row in rows]
    assert batch.key.to_pylist() == [row["urlkey"].encode() for row in rows]
    assert batch.status.tolist() == [int(row["status"]) for row in rows]
    assert batch.mime.to_pylist() == [row["mime"].encode() for row in rows]
    assert batch.digest.to_pylist() == [row["digest"].encode() for row in rows]
    assert batch.group.to_pylist() == [row["filename"].encode() for row in rows]
    times = [time.strftime("%Y%m%d%H%M%S") for time in batch.time.tolist()]
    assert times == [row["timestamp"] for row in rows]


def test_no_other_real_file_is_taken_for_csv_or_json(shared_data):
    claimed = {}
    for path in sorted((shared_data / "formats").rglob("*")):
        if not path.is_file() or path.parent.name in {"gzip-odd", "derived-broken", "wacz"}:
            continue
        with ByteStream(str(path)) as stream:
            beginning = stream.beginning()
        for looks_like in (looks_like_csv, looks_like_json_lines, looks_like_server_json):
            if looks_like(beginning):
                claimed[f"{path.parent.name}/{path.name}"] = looks_like.__name__
    expected = {
        f"{folder}/{path.name}": "looks_like_json_lines"
        for folder in ("cdx-server-json", "cc-index-cdxj")
        for path in (shared_data / "formats" / folder).glob("*.jsonl")
    }
    assert claimed == expected


@pytest.mark.parametrize("name", ["citizenlab-test-lists", "free-programming-books"])
def test_real_lists_of_urls_are_not_taken_for_csv(shared_data, name):
    paths = sorted((shared_data / "longitudinal" / name).glob("*.gz"))
    assert len(paths) > 20
    for path in paths:
        with ByteStream(str(path)) as stream:
            assert not looks_like_csv(stream.beginning())
