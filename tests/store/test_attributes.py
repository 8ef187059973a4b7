"""Attributes of the smallest keys: those of each URL's first capture, whatever the order."""

import datetime as dt
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.keys.host import host_of_capture
from crawlgauge.keys.media_type import canonical_type
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.sources.captures import COLUMN_TYPES, Captures
from crawlgauge.store import attributes as attributes_module
from crawlgauge.store.attributes import NO_STATUS, NO_TIME, AttributeBuilder, Attributes

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - Arrow's times without a zone are UTC
LAST = 2**64 - 1

urls = st.sampled_from(
    [
        *b"http://a.org/ https://www.a.org/b http://b.org:80/ http://c.org http://b.org".split(),
        *(b"ftp://d.org/", "http://bücher.ch/".encode(), b"http:///a.org/", None),
    ]
)
captures = st.fixed_dictionaries(
    {
        "number": st.one_of(st.integers(0, 12), st.sampled_from([LAST, LAST - 1, 2**63])),
        "url": urls,
        "key": st.sampled_from([b"org,a)/", b"org,e)/b", None]),
        "time": st.one_of(st.none(), st.integers(0, 3)),
        "status": st.sampled_from([None, 200, 404, -9998, 70_000]),
        "mime": st.sampled_from([None, b"text/html", b"Text/HTML;a", b"image/png", b"-"]),
    }
)


def to_batch(rows):
    """Make keys and a batch of captures from dictionaries; a column without values is missing."""
    columns = {}
    for name in ("url", "key", "time", "status", "mime"):
        values = [row.get(name) for row in rows]
        if name == "time":
            values = [None if t is None else EPOCH + dt.timedelta(seconds=t) for t in values]
        if name == "url" or any(value is not None for value in values):
            columns[name] = pa.array(values, COLUMN_TYPES[name])
    return np.array([row["number"] for row in rows], dtype=np.uint64), Captures(**columns)


def to_rows(attributes):
    """Return key, time, status, media type and host of each key, None where there is none."""

    def look_up(codes, texts):
        names = texts.to_pylist()
        return [names[code].encode() if code >= 0 else None for code in codes.tolist()]

    return list(
        zip(
            attributes.keys.tolist(),
            [None if time == NO_TIME else time for time in attributes.times.tolist()],
            [None if status == NO_STATUS else status for status in attributes.statuses.tolist()],
            look_up(attributes.mime_codes, attributes.mimes),
            look_up(attributes.host_codes, attributes.hosts),
            strict=True,
        )
    )


def expected_rows(rows, limit):
    """Compute the same with dictionaries and sorting."""
    first = {}
    for row in rows:
        status = row.get("status")
        values = (
            row.get("time"),
            status if status is not None and abs(status) < NO_STATUS else None,
            canonical_type(row.get("mime") or b"") or None,
            host_of_capture(row.get("url"), row.get("key")) or None,
        )
        rank = [(value is None, value if value is not None else 0) for value in values]
        number = row["number"]
        if number not in first or rank < first[number][0]:
            first[number] = rank, values
    return [(number, *first[number][1]) for number in sorted(first)][:limit]


@pytest.fixture
def small_pending(monkeypatch):
    """Let the builder merge after each few captures."""
    monkeypatch.setattr(attributes_module, "_MAX_PENDING", 7)


@pytest.mark.parametrize("limit", [1, 5, 100])
@pytest.mark.parametrize("max_pending", [1, 3, 1000])
@given(rows=st.lists(captures, max_size=40), seed=st.integers(0, 9))
@settings(max_examples=60)
def test_first_captures_are_kept_in_whatever_order_they_come(limit, max_pending, rows, seed):
    rng = random.Random(seed)
    found = []
    for _ in range(2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attributes_module, "_MAX_PENDING", max_pending)
            builder = AttributeBuilder(limit=limit)
        size = rng.randint(1, 15)
        for start in range(0, len(rows), size):
            builder.add(*to_batch(rows[start : start + size]))
        found.append(builder.finish())
        rng.shuffle(rows)
    assert to_rows(found[0]) == expected_rows(rows, limit)
    assert to_rows(found[0]) == to_rows(found[1])
    assert found[0].hosts.equals(found[1].hosts)
    assert found[0].mimes.equals(found[1].mimes)
    assert found[0].threshold == found[1].threshold


@given(rows=st.lists(captures, max_size=40), n_first=st.integers(0, 40), limit=st.integers(1, 20))
@settings(max_examples=100)
def test_going_on_from_stored_attributes_is_as_if_it_had_never_stopped(rows, n_first, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attributes_module, "_MAX_PENDING", 5)
        before, after, whole = (AttributeBuilder(limit=limit) for _ in range(3))
    before.add(*to_batch(rows[:n_first]))
    after.add(*to_batch(rows[n_first : n_first + 5]))
    after.take_up(before.finish())
    after.add(*to_batch(rows[n_first + 5 :]))
    whole.add(*to_batch(rows))
    found, expected = after.finish(), whole.finish()
    assert to_rows(found) == to_rows(expected)
    assert found.threshold == expected.threshold


def random_rows(n_rows, seed, **constant):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, LAST, n_rows, dtype=np.uint64).tolist()
    hosts = rng.integers(0, 500, n_rows).tolist()
    rows = [
        {
            "number": number,
            "url": b"http://host-%d.org/x" % host,
            "time": host,
            "mime": b"a/%d" % host,
        }
        for number, host in zip(numbers, hosts, strict=True)
    ]
    return [row | constant for row in rows]


def test_the_smallest_keys_of_many_are_kept(monkeypatch):
    monkeypatch.setattr(attributes_module, "_MAX_PENDING", 512)
    rows = random_rows(20_000, 1)
    rows += rows[::3]
    builder = AttributeBuilder(limit=1_000)
    for start in range(0, len(rows), 777):
        builder.add(*to_batch(rows[start : start + 777]))
    found = builder.finish()
    assert to_rows(found) == expected_rows(rows, 1_000)
    assert found.threshold == int(found.keys[-1]) + 1


@pytest.mark.usefixtures("small_pending")
def test_keys_that_share_their_leading_bits_are_told_apart():
    rows = [{"number": LAST - number, "url": b"http://a.org/"} for number in range(50)]
    rows += [{"number": number, "url": b"http://b.org/"} for number in range(50)]
    random.Random(1).shuffle(rows)
    builder = AttributeBuilder()
    builder.add(*to_batch(rows))
    assert to_rows(builder.finish()) == expected_rows(rows, 1000)


@pytest.mark.usefixtures("small_pending")
def test_nothing_is_looked_up_for_keys_above_the_threshold(monkeypatch):
    builder = AttributeBuilder(limit=3)
    builder.add(*to_batch([{"number": n, "url": b"http://a.org/"} for n in range(10)]))
    # Seven rows fill the memory for pending ones: the three smallest keys are known.
    monkeypatch.setattr(attributes_module.HostCoding, "code", None)
    builder.add(*to_batch([{"number": n, "url": b"http://b.org/"} for n in range(3, 99)]))
    assert builder.finish().threshold == 3


def test_only_keys_of_the_sample_are_taken():
    rows = random_rows(1000, 2)
    builder = AttributeBuilder(threshold=WHOLE // 4)
    builder.add(*to_batch(rows))
    found = builder.finish()
    assert to_rows(found) == expected_rows([r for r in rows if r["number"] < WHOLE // 4], 1000)
    assert found.threshold == WHOLE // 4


def test_a_smaller_threshold_of_what_is_taken_up_holds_for_all():
    """Above it nobody knows what the first captures were."""
    rows = random_rows(1000, 3)
    sampled, builder = AttributeBuilder(threshold=WHOLE // 4), AttributeBuilder()
    sampled.add(*to_batch(rows[:500]))
    builder.add(*to_batch(rows[500:]))
    builder.take_up(sampled.finish())
    found = builder.finish()
    assert found.threshold == WHOLE // 4
    assert to_rows(found) == expected_rows([r for r in rows if r["number"] < WHOLE // 4], 1000)


def test_hosts_that_no_key_refers_to_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(attributes_module, "_MAX_PENDING", 100)
    builder = AttributeBuilder(limit=50)
    for number in range(20):
        rows = random_rows(1000, number)
        for place, row in enumerate(rows):
            row["url"] = b"http://host-%d-%d.org/" % (number, place)
        builder.add(*to_batch(rows))
        assert len(builder._hosts) <= 50 + 100
    assert len(builder.finish().hosts) == 50


def test_a_crawl_below_the_limit_is_whole():
    builder = AttributeBuilder()
    builder.add(*to_batch(random_rows(10, 4)))
    found = builder.finish()
    assert (found.threshold, len(found)) == (WHOLE, 10)


def test_nothing_gives_nothing():
    builder = AttributeBuilder()
    builder.add(np.empty(0, dtype=np.uint64), Captures(url=pa.array([], pa.binary())))
    found = builder.finish()
    assert (len(found), len(found.hosts), len(found.mimes)) == (0, 0, 0)
    another = AttributeBuilder()
    another.take_up(found)
    assert len(another.finish()) == 0


def test_parts_of_larger_arrays_are_read_where_they_lie():
    rows = random_rows(100, 5)
    rows[50]["mime"] = rows[60]["time"] = None
    keys, batch = to_batch(rows)
    builder = AttributeBuilder()
    for start in range(0, 100, 30):
        part = {name: column.slice(start, 30) for name, column in batch.columns().items()}
        builder.add(keys[start : start + 30], Captures(**part))
    assert to_rows(builder.finish()) == expected_rows(rows, 100)


def test_read_only_keys_are_taken_as_others():
    keys, batch = to_batch(random_rows(10, 6))
    keys.flags.writeable = False
    builder = AttributeBuilder()
    builder.add(keys, batch)
    assert builder.finish().keys.tolist() == sorted(keys.tolist())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": [2, 1]}, "not sorted"),
        ({"keys": [1, 1]}, "not sorted"),
        ({"keys": [1, 9]}, "not below"),
        ({"threshold": 0}, "not below"),
        ({"times": [1]}, "differ in length"),
        ({"host_codes": [0, 1]}, "not there"),
        ({"mime_codes": [-2, 0]}, "not there"),
    ],
)
def test_attributes_that_contradict_themselves_are_refused(change, message):
    good = {
        "keys": [1, 2],
        "times": [0, NO_TIME],
        "statuses": [200, NO_STATUS],
        "host_codes": [0, -1],
        "mime_codes": [0, -1],
        "threshold": 9,
    }
    kinds = {"keys": "u8", "times": "i8", "statuses": "i2", "host_codes": "i4", "mime_codes": "i4"}

    def make(values):
        arrays = {name: np.array(values[name], dtype=kind) for name, kind in kinds.items()}
        texts = {"hosts": pa.array(["a.org"]), "mimes": pa.array(["text/html"])}
        return Attributes(**arrays, **texts, threshold=values["threshold"])

    assert len(make(good)) == 2
    with pytest.raises(ValueError, match=message):
        make(good | change)


def test_attributes_below_a_threshold_are_the_first_ones():
    builder = AttributeBuilder()
    urls = [b"http://%s.example/" % name for name in (b"a", b"b", b"c", b"d")]
    builder.add(np.array([40, 10, 30, 20], dtype=np.uint64), Captures(url=pa.array(urls)))
    whole = builder.finish()
    part = whole.below(30)
    assert part.keys.tolist() == [10, 20]
    assert [part.hosts[code].as_py() for code in part.host_codes] == ["b.example", "d.example"]
    assert part.threshold == 30
    assert whole.below(WHOLE) is whole
