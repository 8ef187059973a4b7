"""A collection-wide index, cut into crawls in one pass."""

import datetime as dt
import random

import pytest

import crawlgauge as cg
from crawlgauge.errors import CrawlError, SourceError, StoreError


def make_captures(seed=1, n=3000):
    """Return captures of three years as (url number, time, status, WARC file)."""
    rng = random.Random(seed)
    start = dt.datetime(2019, 1, 1, tzinfo=dt.UTC)
    captures = []
    for _ in range(n):
        time = start + dt.timedelta(seconds=rng.randrange(3 * 365 * 86400))
        half = f"{time.year}-H{1 + (time.month > 6)}"
        captures.append((rng.randrange(800), time, rng.choice([200, 200, 200, 301, 404]), half))
    return captures


def write_cdx(path, captures):
    lines = [" CDX N b a m s k r M S V g\n"]
    lines += [
        f"org,a)/{k} {time:%Y%m%d%H%M%S} http://a.org/{k} text/html {status} X - - 1 2 "
        f"GAW-{half}-00001.warc.gz\n"
        for k, time, status, half in captures
    ]
    path.write_text("".join(lines))
    return path


def summary(crawl_set):
    document = crawl_set.to_dict()
    return {name: document[name] for name in document if name not in ("provenance", "unassigned")}


@pytest.fixture
def collection(tmp_path):
    captures = make_captures()
    return captures, write_cdx(tmp_path / "all.cdx", captures)


@pytest.mark.parametrize(
    "how", [{"period": "half-year"}, {"pattern": r"GAW-(\d{4}-H\d)"}], ids=["time", "file name"]
)
def test_half_years_of_a_collection_equal_crawls_added_one_by_one(tmp_path, collection, how):
    captures, path = collection
    result = cg.split_collection(tmp_path / "cut", path, **how)
    halves = sorted({half for *_, half in captures})
    assert len(halves) == 6
    assert [item.crawl_set.crawl.label for item in result.additions] == halves
    for half, addition in zip(halves, result.additions, strict=True):
        part = write_cdx(tmp_path / "part.cdx", [one for one in captures if one[3] == half])
        alone = cg.add_crawl(tmp_path / "alone", half, part)
        assert summary(addition.crawl_set) == summary(alone.crawl_set)
    both = [cg.count_overlaps(tmp_path / name).n_shared.tolist() for name in ("cut", "alone")]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("period", "labels"),
    [
        ("month", ["2019-12", "2020-01", "2020-07"]),
        ("quarter", ["2019-Q4", "2020-Q1", "2020-Q3"]),
        ("half-year", ["2019-H2", "2020-H1", "2020-H2"]),
        ("year", ["2019", "2020"]),
    ],
)
def test_periods_are_those_of_the_calendar(tmp_path, period, labels):
    times = [
        dt.datetime(2019, 12, 31, 23, 59, 59, tzinfo=dt.UTC),
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2020, 7, 1, tzinfo=dt.UTC),
    ]
    path = write_cdx(tmp_path / "a.cdx", [(k, time, 200, "x") for k, time in enumerate(times)])
    result = cg.split_collection(tmp_path / "store", path, period=period)
    assert [item.crawl_set.crawl.label for item in result.additions] == labels


def test_what_belongs_to_no_crawl_is_counted(tmp_path):
    captures = make_captures(n=100)
    path = write_cdx(tmp_path / "a.cdx", captures)
    with path.open("a") as file:
        file.write("org,a)/x - http://a.org/x text/html 200 X - - 1 2 other.warc.gz\n")
        file.write("broken\n")
    result = cg.split_collection(tmp_path / "store", path, period="year")
    assert result.unassigned == {"no-time": 1, "too-few-fields": 1}
    assert [example.text for example in result.examples] == ["broken"]
    assert {item.crawl_set.unassigned["no-time"] for item in result.additions} == {1}
    result = cg.split_collection(tmp_path / "other", path, pattern="GAW-(....)")
    assert result.unassigned == {"no-match": 1, "too-few-fields": 1}


def test_repeating_it_changes_nothing_and_other_content_is_refused(tmp_path, collection):
    _, path = collection
    store = tmp_path / "store"
    cg.split_collection(store, path, period="year")
    again = cg.split_collection(store, path, period="year")
    assert {item.outcome for item in again.additions} == {"unchanged"}
    write_cdx(path, make_captures(seed=2))
    before = cg.list_crawls(store)
    with pytest.raises(StoreError, match="already holds a crawl '2019'"):
        cg.split_collection(store, path, period="year")
    assert cg.list_crawls(store) == before
    replaced = cg.split_collection(store, path, period="year", replace=True)
    assert {item.outcome for item in replaced.additions} == {"replaced"}


def test_inputs_that_lack_what_it_takes_are_named(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("http://a.org/\n")
    for how, message in [
        ({"period": "year"}, "--split year needs capture times"),
        ({"pattern": "x"}, "--split-by finds no label in the field 'filename'"),
        ({"pattern": "("}, "is no regular expression"),
    ]:
        with pytest.raises(SourceError, match=message):
            cg.split_collection(tmp_path / "store", path, **how)
    assert not (tmp_path / "store").exists()


def test_a_label_that_cannot_be_one_is_named_with_the_field(tmp_path, collection):
    _, path = collection
    with pytest.raises(CrawlError, match=r"finds a label in 'GAW-.*no usable label"):
        cg.split_collection(tmp_path / "store", path, pattern="(-.*z)")


def test_nothing_that_can_be_assigned_is_an_error(tmp_path, collection):
    _, path = collection
    with pytest.raises(SourceError, match="left out: 3,000 no-match"):
        cg.split_collection(tmp_path / "store", path, pattern="none")
