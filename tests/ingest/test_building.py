"""The builder: keys, days and counts of all captures, attributes of the first of each small key."""

import datetime as dt
import random
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import settings as steady
from hypothesis import strategies as st

import crawlgauge as cg
from crawlgauge.core.batch import NO_STATUS, NO_TIME
from crawlgauge.core.captures import Collector
from crawlgauge.ingest import builder as builder_module
from crawlgauge.ingest.builder import SetBuilder, open_builder, rows_threshold
from crawlgauge.ingest.sorting import KeyMemory
from crawlgauge.keys.names import Names, canonical_type, host_of_capture
from crawlgauge.keys.rules import GIVEN, RAW
from crawlgauge.keys.sampling import WHOLE, Sampling
from crawlgauge.sources.inputs import InputFiles, find_inputs
from crawlgauge.sources.what_counts import Settings, WhatCounts
from crawlgauge.store.spilling import SpillFolder

DAY = dt.datetime(2021, 1, 1, tzinfo=dt.UTC)

rows = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.integers(0, 12).map(lambda number: b"org,a)/%d" % number),
            "url": st.sampled_from(
                [
                    *b"http://a.org/ https://www.a.org/b http://b.org:80/ http://c.org".split(),
                    *("http://bücher.ch/".encode(), b"ftp://d.org/"),
                ]
            ),
            "time": st.none() | st.integers(0, 3),
            "status": st.sampled_from([None, 200, 404]),
            "mime": st.sampled_from([None, b"text/html", b"Text/HTML;a", b"image/png", b"-"]),
        }
    ),
    max_size=40,
)


def make_builder(threshold=WHOLE, max_keys=None, row_threshold=WHOLE) -> SetBuilder:
    # Nothing is spilled.
    memory = KeyMemory(1 << 30, SpillFolder(Path("unused")))
    sampling = Sampling(threshold=threshold, max_keys=max_keys)
    return open_builder(["url"], sampling, Names(), memory, row_threshold=row_threshold)


def add(builder, captures, rule=GIVEN, batch=1000):
    """Let a builder take in captures, in batches."""
    settings = Settings(names=builder.names, key_rule=rule, counts=WhatCounts(status="any"))
    collector = Collector(settings, builder.add)
    for start in range(0, len(captures), batch):
        collector.begin()
        collector.limit_keys(builder.key_threshold)
        collector.limit_rows(builder.row_threshold)
        for row in captures[start : start + batch]:
            time, status = row.get("time"), row.get("status")
            shown = None if time is None else f"{DAY + dt.timedelta(seconds=time):%Y%m%d%H%M%S}"
            reason = collector.add(
                row["url"],
                key=row.get("key"),
                time=shown and shown.encode(),
                status=None if status is None else b"%d" % status,
                mime=row.get("mime"),
            )
            assert reason is None
        collector.flush()
    return builder


def key_of(row):
    return xxhash.xxh64_intdigest(row.get("key", row["url"]), seed=42)


def expected_rows(captures, limit):
    """Compute with dictionaries and sorting what is known of the first capture of each key."""
    first = {}
    for row in captures:
        values = (
            row.get("time"),
            row.get("status"),
            canonical_type(row.get("mime") or b"").decode() or None,
            host_of_capture(row["url"], row.get("key")).decode() or None,
        )
        rank = [(value is None, value if value is not None else 0) for value in values]
        if key_of(row) not in first or rank < first[key_of(row)][0]:
            first[key_of(row)] = rank, values
    return [(key, *first[key][1]) for key in sorted(first)][:limit]


def to_rows(attributes):
    def look_up(codes, texts):
        return [texts[code] if code >= 0 else None for code in codes.tolist()]

    return list(
        zip(
            attributes.keys.tolist(),
            [None if t == NO_TIME else t - DAY.timestamp() for t in attributes.times.tolist()],
            [None if status == NO_STATUS else status for status in attributes.statuses.tolist()],
            look_up(attributes.mime_codes, attributes.mimes),
            look_up(attributes.host_codes, attributes.hosts),
            strict=True,
        )
    )


@pytest.fixture
def little_room():
    """Let the builder drop what it does not need after each few captures."""

    def use(limit, most):
        patch.setattr(builder_module, "MAX_ATTRIBUTES", limit)
        patch.setattr(builder_module, "_MOST_ROWS", most)

    with pytest.MonkeyPatch.context() as patch:
        yield use


@pytest.mark.parametrize(("limit", "most"), [(1, 1), (5, 7), (100, 1000)])
@given(captures=rows, seed=st.integers(0, 9))
@steady(max_examples=60)
def test_first_captures_are_kept_in_whatever_order_they_come(limit, most, captures, seed):
    rng = random.Random(seed)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder_module, "MAX_ATTRIBUTES", limit)
        patch.setattr(builder_module, "_MOST_ROWS", most)
        for _ in range(2):
            builder = add(make_builder(), captures, batch=rng.randint(1, 15))
            found.append(builder.finish_attributes())
            rng.shuffle(captures)
    assert to_rows(found[0]) == expected_rows(captures, limit)
    assert to_rows(found[0]) == to_rows(found[1])
    assert (found[0].hosts, found[0].mimes) == (found[1].hosts, found[1].mimes)
    assert found[0].threshold == found[1].threshold


def random_captures(n_rows, seed):
    rng = random.Random(seed)
    return [
        {"url": b"http://host-%d.org/%d" % (rng.randrange(500), number), "time": number % 7}
        for number in range(n_rows)
    ]


def test_the_smallest_keys_of_many_are_kept(little_room):
    little_room(1000, 4096)
    captures = random_captures(20_000, 1)
    builder = add(make_builder(), captures + captures[::3], rule=RAW, batch=777)
    found = builder.finish_attributes()
    assert to_rows(found) == expected_rows(captures, 1000)
    assert found.threshold == sorted(map(key_of, captures))[1000]


@pytest.mark.parametrize("how", ["threshold", "row_threshold"])
def test_only_keys_of_the_sample_have_attributes(how):
    captures = random_captures(1000, 2)
    found = add(make_builder(**{how: WHOLE // 4}), captures, rule=RAW).finish_attributes()
    small = [row for row in captures if key_of(row) < WHOLE // 4]
    assert (to_rows(found), found.threshold) == (expected_rows(small, 1000), WHOLE // 4)


def test_nothing_gives_nothing():
    found = make_builder().finish_attributes()
    assert (len(found), found.hosts, found.mimes) == (0, (), ())


def test_keys_are_those_of_the_urls_and_captures_are_counted_by_day():
    captures = random_captures(1200, 3)
    for number, row in enumerate(captures):
        row["time"] = (None, 0, 86_399, 86_400, -1)[number % 5]
    builder = add(make_builder(), captures + captures[:100], rule=RAW, batch=30)
    keys = np.concatenate(list(builder.runs.ranges())).tolist()
    assert keys == sorted(map(key_of, captures))
    assert builder.n_captures == builder.n_no_status == 1300
    first = DAY.toordinal()
    assert builder.days == {first - 1: 260, first: 520, first + 1: 260}
    ends = builder.first_time - DAY.timestamp(), builder.last_time - DAY.timestamp()
    assert ends == (-1, 86_400)


class TestAppending:
    """Attributes go on from what is stored, as if the first command had not ended."""

    @pytest.mark.parametrize("sample", [None, "1/4"])
    @pytest.mark.parametrize("seed", range(3))
    def test_attributes_are_those_of_all_files(self, tmp_path, little_room, seed, sample):
        little_room(1500, 512)
        rng = random.Random(seed)
        paths = [tmp_path / f"{number}.cdxj" for number in range(2)]
        for path in paths:
            lines = (
                f"org,a)/{rng.randrange(600)} 202101{rng.randint(1, 28):02} "
                f'{{"url": "http://{rng.choice("abcdef")}.org/", "status": "200", '
                f'"mime": "{rng.choice(["text/html", "image/png"])}"}}\n'
                for _ in range(900)
            )
            path.write_text("".join(lines))
        options = {"identity": "given", "sample": sample}
        cg.add_crawl(tmp_path / "whole", "2021", paths, **options)
        for path in paths:
            cg.add_crawl(tmp_path / "parts", "2021", path, append=True, **options)
        found = []
        for name in ("whole", "parts"):
            store = cg.open_store(tmp_path / name)
            found.append(store.attributes(store.crawl_set("2021")))
        # Of how many keys there are attributes depends on what files may hold.
        least = min(one.threshold for one in found)
        ends = [int(np.searchsorted(one.keys, np.uint64(least - 1), "right")) for one in found]
        whole, parts = (to_rows(one)[:end] for one, end in zip(found, ends, strict=True))
        assert whole == parts
        assert len(whole) > 20


class TestEstimatedCaptures:
    """How many captures inputs may hold is told by their names before they are read."""

    @pytest.fixture
    def make(self, tmp_path):
        def make(**sizes):
            for name, n_bytes in sizes.items():
                with (tmp_path / name).open("wb") as file:
                    file.truncate(n_bytes)
            return find_inputs([str(tmp_path / name) for name in sizes])

        return make

    @pytest.mark.parametrize(
        ("name", "bytes_each"),
        [
            ("a.warc.gz", 2_000),
            ("a.warc", 2_000),
            ("A.WARC.ZST", 2_000),
            ("a.arc.gz", 2_000),
            ("a.wacz", 2_000),
            ("a.warc.gz.open", 2_000),
            ("a.warc.gz.cdx", 60),
            ("a.warc.os.cdx.gz", 60),
            ("a.parquet", 60),
            ("warc.txt", 20),
            ("my.arcs.csv", 20),
        ],
    )
    def test_a_page_takes_more_bytes_than_a_line(self, make, name, bytes_each):
        """Of 10 GB of them attributes are kept up to the limit."""
        expected = WHOLE * builder_module.MAX_ATTRIBUTES // (10**10 // bytes_each)
        assert rows_threshold(make(**{name: 10**10})) == expected

    def test_small_inputs_keep_all_and_large_ones_add_up(self, make):
        assert rows_threshold(make(**{"a.warc.gz": 10**9})) == WHOLE
        assert rows_threshold(make(**{"a.warc.gz": 5 * 10**8, "b.txt": 10**5})) == WHOLE
        one = rows_threshold(make(**{"a.warc.gz": 10**11}))
        assert rows_threshold(make(**{"a.warc.gz": 10**11, "b.txt": 10**9})) == one // 2

    def test_of_lines_a_quarter_but_not_less_than_a_quarter_of_a_million(self, make):
        assert rows_threshold(make(**{"a.txt": 5 * 10**6})) == WHOLE
        assert rows_threshold(make(**{"b.txt": 10**7})) == WHOLE * 2**18 // (5 * 10**5)
        assert rows_threshold(make(**{"c.txt": 6 * 10**7})) == WHOLE // 4

    def test_a_stated_format_has_the_say(self, make):
        plain = make(**{"a.gz": 10**10})
        assert rows_threshold(plain, "warc") // 100 == rows_threshold(plain)
        assert rows_threshold(make(**{"a.warc": 10**10}), "urls") == rows_threshold(plain)

    def test_of_remote_inputs_sizes_and_names_are_known_and_of_pipes_nothing(self):
        name = "https://a.org/x.warc.gz?a=b/c"
        sizes = {name: 10**11, "s3://b/x.gz": 10**9}
        remote = InputFiles(names=tuple(sizes), sizes=sizes)
        assert rows_threshold(remote) == WHOLE * builder_module.MAX_ATTRIBUTES // 10**8
        assert rows_threshold(InputFiles(names=("-", name), sizes=sizes)) == WHOLE

    def test_a_crawl_of_pages_keeps_its_attributes(self, tmp_path, monkeypatch):
        """Where 20 bytes a capture were taken for granted, a tenth of them would be left."""
        monkeypatch.setattr(builder_module, "MAX_ATTRIBUTES", 100)
        archive = cg.simulate_urn(n_crawls=2, population=600, seed=3)
        path = cg.write_simulation(archive, tmp_path / "archive", "warc")[0]
        assert rows_threshold(find_inputs([str(path)]), "urls") < WHOLE // 5
        added = cg.add_crawl(tmp_path / "store", "2020-01", path).crawl_set
        assert len(cg.open_store(tmp_path / "store").attributes(added)) == 100
