import copy
import datetime as dt
import json

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.json_table import from_json, to_json
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Input, Provenance

DOCUMENT = {
    "schema": "crawlgauge.overlaps/1",
    "level": "url",
    "key_rule": "surt/1",
    "sample_rate": 1.0,
    "crawls": [
        {"label": "x", "date": "2013-12-15", "n_urls": 5},
        {"label": "y", "date": "2014-06-15", "n_urls": 4},
        {"label": "z", "date": "2014-12-15", "n_urls": 3},
    ],
    "n_shared": [[5, 2, None], [2, 4, 1], [None, 1, 3]],
    "se_shared": None,
    "histories": None,
}


def changed(path, value):
    document = copy.deepcopy(DOCUMENT)
    *parents, last = path
    place = document
    for key in parents:
        place = place[key]
    place[last] = value
    return json.dumps(document)


def error_of(text):
    with pytest.raises(OverlapError) as caught:
        from_json(text, name="t.json")
    return str(caught.value)


def test_a_document_written_by_hand_is_read():
    table = from_json(json.dumps(DOCUMENT), name="t.json")
    assert [crawl.label for crawl in table.crawls] == ["x", "y", "z"]
    assert table.n_shared.tolist() == [[5, 2, MISSING], [2, 4, 1], [MISSING, 1, 3]]
    assert table.provenance == Provenance()
    assert table.key_rule == "surt/1"


def test_only_schema_crawls_and_overlaps_are_needed():
    needed = {key: DOCUMENT[key] for key in ("schema", "crawls", "n_shared")}
    table = from_json("\ufeff" + json.dumps(needed), name="t.json")
    assert (table.level, table.key_rule, table.sample_rate) == ("url", None, 1.0)


def test_the_first_character_of_a_history_is_the_first_crawl():
    rows = [["110", 1], ["100", 4], ["010", 2], ["011", 1], ["001", 2]]
    document = json.loads(changed(("n_shared",), [[5, 1, 0], [1, 4, 1], [0, 1, 3]]))
    document["histories"] = {"sample_rate": 1.0, "rows": rows}
    histories = from_json(json.dumps(document), name="t.json").histories
    found = dict(zip(histories.masks.tolist(), histories.counts.tolist(), strict=True))
    assert found == {0b011: 1, 0b001: 4, 0b010: 2, 0b110: 1, 0b100: 2}


def test_the_document_is_the_published_one_with_a_line_for_each_row():
    table = OverlapTable(
        crawls=(
            Crawl(
                label="x",
                date=dt.date(2013, 12, 15),
                n_urls=50,
                n_sampled=5,
                first_capture=dt.datetime(2013, 12, 1, 8, 30, tzinfo=dt.UTC),
            ),
            Crawl(label="y", date=dt.date(2014, 6, 15), n_urls=40, n_sampled=4, damaged=True),
        ),
        n_shared=np.array([[5, 2], [2, 4]]),
        se_shared=np.array([[np.nan, 0.5], [0.5, np.nan]]),
        histories=Histories(
            n_crawls=2,
            masks=np.array([1, 2, 3], dtype=np.uint64),
            counts=np.array([3, 2, 2]),
            sample_rate=0.1,
        ),
        sample_rate=0.1,
        provenance=Provenance(
            crawlgauge="1.0", inputs=(Input(name="é", checksum="xxh3:1", n_bytes=3),)
        ),
    )
    text = to_json(table)
    assert json.loads(text) == {
        "schema": "crawlgauge.overlaps/1",
        "level": "url",
        "key_rule": None,
        "sample_rate": 0.1,
        "crawls": [
            {
                "label": "x",
                "date": "2013-12-15",
                "n_urls": 50,
                "n_sampled": 5,
                "first_capture": "2013-12-01T08:30:00Z",
                "last_capture": None,
                "damaged": False,
            },
            {
                "label": "y",
                "date": "2014-06-15",
                "n_urls": 40,
                "n_sampled": 4,
                "first_capture": None,
                "last_capture": None,
                "damaged": True,
            },
        ],
        "n_shared": [[5, 2], [2, 4]],
        "se_shared": [[None, 0.5], [0.5, None]],
        "histories": {"sample_rate": 0.1, "rows": [["10", 3], ["01", 2], ["11", 2]]},
        "similarities": [
            {
                "a": "x",
                "b": "y",
                "containment_a_in_b": 0.4,
                "containment_b_in_a": 0.5,
                "jaccard": 2 / 7,
                "dice": 4 / 9,
            }
        ],
        "provenance": {
            "crawlgauge": "1.0",
            "created": None,
            "settings": {},
            "inputs": [{"name": "é", "checksum": "xxh3:1", "n_bytes": 3}],
        },
    }
    lines = text.splitlines()
    assert "    [5, 2]," in lines
    assert '    ["10", 3],' in lines


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("crawlgauge.overlaps/2", "another version of crawlgauge"),
        ("crawlgauge.estimate/1", "unknown schema 'crawlgauge.estimate/1'"),
        ("else", "unknown schema 'else'"),
    ],
)
def test_another_schema_is_refused(schema, words):
    message = error_of(changed(("schema",), schema))
    assert message.startswith("t.json, at $.schema: ")
    assert words in message
    assert "crawlgauge.overlaps/1" in message


@pytest.mark.parametrize(
    ("path", "value", "place", "words"),
    [
        (("crawls",), {}, "$.crawls", "a list is needed, not {}"),
        (("crawls", 1), "y", "$.crawls[1]", 'an object is needed, not "y"'),
        (("crawls", 1), {"label": "y", "n_urls": 4}, "$.crawls[1].date", "'' is not a date"),
        (("crawls", 1, "label"), None, "$.crawls[1].label", "'' is no usable label"),
        (("crawls", 1, "label"), "y/1", "$.crawls[1].label", "'y/1' is no usable label"),
        (("crawls", 1, "date"), "soon", "$.crawls[1].date", "'soon' is not a date"),
        (("crawls", 1, "n_urls"), None, "$.crawls[1].n_urls", "a count is needed"),
        (("crawls", 1, "n_urls"), "x4", "$.crawls[1].n_urls", "'x4' is no whole number"),
        (("crawls", 1, "n_urls"), True, "$.crawls[1].n_urls", "'True' is no whole number"),
        (("crawls", 1, "n_urls"), 2**63, "$.crawls[1].n_urls", "is no whole number up to"),
        (("crawls", 1, "n_urls"), 0, "$.crawls[1].n_urls", "at least one is needed"),
        (("crawls", 1, "n_sampled"), 1.5, "$.crawls[1].n_sampled", "1.5 is no whole number"),
        (("crawls", 1, "damaged"), "no", "$.crawls[1].damaged", "neither true nor false"),
        (("crawls", 1, "last_capture"), "x", "$.crawls[1].last_capture", "'x' is no time"),
        (("n_shared",), [[5]], "$.n_shared", "3 items are needed, not 1"),
        (("n_shared", 1), [2, 4], "$.n_shared[1]", "3 items are needed, not 2"),
        (("n_shared", 1, 2), -1, "$.n_shared[1][2]", "-1 is negative"),
        (("n_shared", 1, 2), [], "$.n_shared[1][2]", "'[]' is no whole number"),
        (("se_shared",), [["x"] * 3] * 3, "$.se_shared[0][0]", "'x' is no number"),
        (("sample_rate",), 2, "$.sample_rate", "'2' is no sample"),
        (("level",), 7, "$.level", "a text is needed, not 7"),
        (("key_rule",), 1, "$.key_rule", "a text is needed, not 1"),
        (("histories",), {}, "$.histories.rows", "a list is needed, not null"),
        (("histories",), {"rows": [["1", 2]]}, "$.histories.rows[0][0]", "is of 1 crawls"),
        (("histories",), {"rows": [["100"]]}, "$.histories.rows[0]", "2 items are needed"),
        (("histories",), {"rows": [["100", 0]]}, "$.histories", "a positive count"),
        (
            ("histories",),
            {"rows": [["100", 1], ["100", 1]]},
            "$.histories.rows[1][0]",
            "stands there twice",
        ),
        (("provenance",), [], "$.provenance", "an object is needed, not []"),
        (("provenance",), {"inputs": [{}]}, "$.provenance", "each input needs its name and"),
        (("provenance",), {"inputs": [7]}, "$.provenance", "each input needs its name and"),
        (("provenance",), {"settings": []}, "$.provenance.settings", "an object is needed"),
        (("provenance",), {"created": 1}, "$.provenance.created", "a text is needed, not 1"),
    ],
)
def test_a_wrong_member_is_named_by_its_path(path, value, place, words):
    message = error_of(changed(path, value))
    assert message.startswith(f"t.json, at {place}: ")
    assert words in message


@pytest.mark.parametrize("member", ["histories", "host_groups"])
def test_histories_of_more_crawls_than_a_word_has_bits_are_refused(member):
    first, n = dt.date(2000, 1, 1), 65
    crawls = [
        {"label": f"c{k:02d}", "date": str(first + dt.timedelta(days=k)), "n_urls": 1}
        for k in range(n)
    ]
    document = {"schema": DOCUMENT["schema"], "crawls": crawls, "n_shared": [[1] * n] * n}
    assert from_json(json.dumps(document), name="t.json").n_crawls == n
    document[member] = {"rows": [["1" * n, 1]], "n_groups": 2}
    assert "at most 64 crawls, not of 65" in error_of(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n "schema": ', "t.json, line 2, column 12: not JSON"),
        ("[]", "t.json, at $: an object is needed, not []"),
        ("{}", "t.json, at $.schema: a text is needed, not null"),
        ('{"schema": NaN}', "t.json cannot be read as JSON: NaN is no JSON"),
        ("[" * 10**6, "t.json cannot be read as JSON"),
    ],
)
def test_what_is_no_such_document_is_refused(text, words):
    assert words in error_of(text)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("n_shared", 0, 1), 3, "the n_shared of a pair differ by direction"),
        (("n_shared", 0, 0), 6, "'x' has 5 URLs, but shares 6 with itself"),
        (("crawls", 0, "date"), "2020-01-01", "must be in order of date"),
        (("level",), "page", "unknown level 'page'"),
        (("histories",), {"rows": [["111", 1]]}, "the histories hold 1 URLs"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused_with_the_file(path, value, words):
    message = error_of(changed(path, value))
    assert message.startswith("t.json: ")
    assert words in message
