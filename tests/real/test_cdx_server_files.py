"""What real CDX servers answered is read, and what they refused is counted."""

import json
from collections import Counter

import pytest
from readings import read_data, read_files

from crawlgauge.core.fields import parse_time
from crawlgauge.errors import SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.what_counts import Settings

SESSIONS = {
    "test_basics": (1, Counter(urls=10)),
    "test_multi_cc1_slow_8": (143, Counter({"urls": 10, "server-message": 142})),
    "test_multi_cc2": (76, Counter({"urls": 3, "server-message": 75})),
    "test_multi_ia": (1, Counter(urls=10)),
}


def answers(path):
    return [json.loads(line)["response_text"].encode() for line in path.read_bytes().splitlines()]


def format_of(beginning):
    return find_format(beginning, Settings(), "x").name


@pytest.mark.parametrize(("name", "expected"), SESSIONS.items(), ids=SESSIONS)
def test_the_answers_of_real_servers_are_read(formats, name, expected):
    n_exchanges, total = expected
    counts = Counter()
    path = formats / "cdx-server-json" / f"{name}.jsonl"
    for answer in answers(path):
        assert format_of(answer) in ("server-json", "jsonl")
        found = read_data(answer, key_rule=GIVEN)
        counts += Counter(urls=len(found.rows)) + found.rejected + found.excluded
        assert None not in found.column("time")
    assert counts == total
    found = read_files(path)
    asked = [json.loads(line)["url"].encode() for line in path.read_bytes().splitlines()]
    assert found.urls == sorted(asked)
    assert len(found.urls) == n_exchanges


def test_a_list_of_collections_is_no_list_of_captures(formats):
    (answer,) = answers(formats / "cdx-server-json" / "test_get_cc_endpoints.jsonl")
    with pytest.raises(SourceError, match="there are id, name, timegate, cdx-api, from, to"):
        read_data(answer)


def test_an_error_page_is_none_of_the_formats(formats):
    (answer,) = answers(formats / "cdx-server-json" / "test_multi_misc_not_ia_slow_1.jsonl")
    assert answer.startswith(b"<!doctype html>")
    assert format_of(answer) == "urls"


def test_rows_of_common_crawls_index_are_read(formats):
    path = formats / "cc-index-cdxj" / "rows_as_served.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    found = read_files(path, group="filename")
    assert not found.rejected
    expected = [
        (
            row["url"].encode(),
            parse_time(row["timestamp"].encode()),
            int(row["status"]),
            row["mime"].encode(),
            row["digest"].encode(),
            row["filename"].encode(),
        )
        for row in rows
    ]
    assert sorted(row[:6] for row in found.rows) == sorted(expected)
    assert len(expected) == 23


def test_no_other_real_file_is_taken_for_csv_or_json(formats):
    claimed = {}
    for path in filter(lambda path: path.is_file(), formats.rglob("*")):
        if path.parent.name in {"gzip-odd", "derived-broken", "wacz"}:
            continue
        with Stream(str(path)) as stream:
            kind = format_of(stream.beginning())
        if kind in ("csv", "jsonl", "server-json"):
            claimed[f"{path.parent.name}/{path.name}"] = kind
    assert claimed == {
        f"{folder}/{path.name}": "jsonl"
        for folder in ("cdx-server-json", "cc-index-cdxj")
        for path in (formats / folder).glob("*.jsonl")
    }


@pytest.mark.parametrize("name", ["citizenlab-test-lists", "free-programming-books"])
def test_real_lists_of_urls_are_told_as_such(shared_data, name):
    paths = sorted((shared_data / "longitudinal" / name).glob("*.gz"))
    assert len(paths) > 20
    for path in paths:
        with Stream(str(path)) as stream:
            assert format_of(stream.beginning()) == "urls"
