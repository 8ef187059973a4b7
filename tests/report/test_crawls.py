import datetime as dt
import json
from pathlib import Path

import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.provenance import Provenance
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.crawls import describe_added, to_blocks, to_json
from crawlgauge.store.crawl_set import CrawlSet


def make_record(*, level="url", others=(), key_rule="surt/1", excluded=None, rejected=None,
                sample_rate=1.0, n_captures=92_210, n_by_digest=0, **crawl):  # fmt: skip
    of_crawl = {"label": "2021-12", "date": dt.date(2021, 12, 15), "n_urls": 92_143} | crawl
    crawl_set = CrawlSet(
        crawl=Crawl(**of_crawl),
        level=level,
        key_rule=key_rule,
        threshold=round(WHOLE * sample_rate),
        n_captures=n_captures,
        rejected=rejected or {},
        excluded=excluded or {},
        damage=(),
        checksum="sha256:0",
        provenance=Provenance(),
        folder=Path("store"),
        n_by_digest=n_by_digest,
    )
    return crawl_set, others


@pytest.fixture
def records():
    return [
        make_record(
            label="2021-06", date=dt.date(2021, 6, 14), n_urls=1_000_007, n_captures=1_200_000
        ),
        make_record(rejected={"no-scheme": 2, "no-host": 1}),
        make_record(
            label="2022-06", date=dt.date(2022, 6, 13), n_sampled=1_440, sample_rate=1 / 64,
            damaged=True,
        ),
    ]  # fmt: skip


def test_json_of_a_crawl_has_the_documented_members_in_order():
    zone = dt.timezone(dt.timedelta(hours=1))
    record = make_record(
        rejected={"no-scheme": 2, "too-long": 1},
        excluded={"other-scheme": 4},
        n_sampled=1_440,
        sample_rate=1 / 64,
        first_capture=dt.datetime(2021, 12, 1, 1, 2, 3, tzinfo=zone),
        last_capture=dt.datetime(2021, 12, 28, 4, 5, 6, tzinfo=dt.UTC),
    )
    document = json.loads(to_json([record]))
    assert list(document) == ["schema", "crawls"]
    assert document["schema"] == "crawlgauge.crawls/1"
    assert list(document["crawls"][0].items()) == [
        ("label", "2021-12"),
        ("date", "2021-12-15"),
        ("first_capture", "2021-12-01T00:02:03Z"),
        ("last_capture", "2021-12-28T04:05:06Z"),
        ("n_captures", 92_210),
        ("n_urls", 92_143),
        ("n_sampled", 1_440),
        ("n_rejected", 3),
        ("rejected", {"no-scheme": 2, "too-long": 1}),
        ("excluded", {"other-scheme": 4}),
        ("unassigned", {}),
        ("n_no_status", 0),
        ("damaged", False),
        ("damage", []),
        ("sample_rate", 0.015625),
        ("key_rule", "surt/1"),
        (
            "levels",
            [
                {
                    "level": "url",
                    "key_rule": "surt/1",
                    "n_distinct": 92_143,
                    "n_sampled": 1_440,
                    "n_captures": 92_210,
                    "missing": {},
                    "n_by_digest": 0,
                }
            ],
        ),
    ]


def test_contents_and_texts_are_told_with_what_they_lack():
    left_out = {"no-digest": 10, "redirect": 7}
    content, _ = make_record(
        level="content", key_rule="digest/1", n_urls=80_000, n_captures=92_200, excluded=left_out
    )
    text, _ = make_record(
        level="text",
        key_rule="words/1",
        n_urls=1,
        n_captures=90_000,
        excluded={"no-text": 2_210},
        n_by_digest=30_000,
    )
    plain = make_record()
    both = make_record(excluded={"redirect": 7}, others=(content, text))
    assert "80,000 contents of 92,200 captures (not counted: 10 without a digest)" in " ".join(
        describe_added(*both).split()
    )
    assert (
        "1 text of 90,000 captures (30,000 not HTML, told by their digest; not counted: 2,210 "
        "whose text is not known)"
    ) in " ".join(describe_added(*both).split())
    header, _, first, second = render_blocks(to_blocks([plain, both])).splitlines()
    assert header.split() == ["crawl", "date", "URLs", "contents", "texts", "captures", "rejected"]
    assert first.split()[3:5] == ["–", "–"]
    assert second.split()[3:5] == ["80,000", "1"]


def test_a_time_without_a_zone_is_in_utc():
    record = make_record(first_capture=dt.datetime(2021, 12, 1, 1, 2, 3))  # noqa: DTZ001 - as claimed
    assert json.loads(to_json([record]))["crawls"][0]["first_capture"] == "2021-12-01T01:02:03Z"


def test_unknown_times_and_an_empty_store_are_plain_json():
    assert json.loads(to_json([make_record()]))["crawls"][0]["first_capture"] is None
    assert json.loads(to_json([])) == {"schema": "crawlgauge.crawls/1", "crawls": []}


def test_further_members_follow_the_crawls():
    document = json.loads(to_json([], store="crawlgauge.store", warnings=["one"]))
    assert list(document) == ["schema", "crawls", "store", "warnings"]


def test_the_list_is_the_golden_one(records, golden, capfd):
    assert render_blocks(to_blocks(records)) == golden("crawls_list.txt")
    assert capfd.readouterr() == ("", "")


def test_a_list_without_notes_has_no_column_for_them(records):
    assert "note" not in render_blocks(to_blocks(records[:2]))


def test_an_empty_store_says_how_to_fill_it():
    assert "crawlgauge add LABEL FILE..." in render_blocks(to_blocks([]))


def test_an_added_crawl_is_one_sentence():
    assert describe_added(*make_record()) == (
        "2021-12 (2021-12-15): 92,143 URLs from 92,210 captures"
    )


def test_what_was_rejected_and_left_out_is_told_by_reason_the_most_frequent_first():
    text = describe_added(
        *make_record(
            rejected={"no-host": 1, "no-scheme": 2_000, "too-long": 0},
            excluded={"other-scheme": 1},
            n_urls=1,
            n_captures=1,
        )
    )
    assert " ".join(text.split()) == (
        "2021-12 (2021-12-15): 1 URL from 1 capture; 2,001 records rejected: 2,000 without a "
        "scheme, 1 without a host; 1 record left out: 1 with a scheme such as dns: or mailto:"
    )
    assert max(map(len, text.split("\n"))) <= 88


def test_an_unknown_reason_is_shown_as_it_is():
    text = describe_added(*make_record(rejected={"bad-moon": 3, "no-host": 1}))
    assert " ".join(text.split()).endswith("4 records rejected: 3 bad-moon, 1 without a host")


def test_damage_and_sampling_are_told():
    text = " ".join(describe_added(*make_record(damaged=True, n_sampled=1_440)).split())
    assert text.endswith("; incomplete: input damaged; sample of 1,440 URLs")
