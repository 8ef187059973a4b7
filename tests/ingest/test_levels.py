"""A crawl holds the sets of all its levels, or it is not there; levels are never confused."""

import base64
import hashlib

import pytest
import xxhash
from store_places import change_document, read_document

import crawlgauge as cg
from crawlgauge.errors import SourceError, StoreError
from crawlgauge.store.key_set import KeyReader

LEVELS = "url,content"


def digest(number):
    return base64.b32encode(hashlib.sha1(b"%d" % number, usedforsecurity=False).digest()).decode()


def write_index(path, rows):
    """Write CDXJ lines of pages: number of the URL, of the content (None for none), month."""
    path.write_text(
        "".join(
            f'org,a)/{url} 2021{month:02d}01000000 {{"url": "http://a.org/{url}", '
            f'"status": "200"{"" if page is None else f""", "digest": "{digest(page)}" """}}}\n'
            for url, page, month in rows
        )
    )
    return path


def keys_of(store, label, level="content"):
    return KeyReader(cg.open_store(store).crawl_set(label, level)).between(0, 1 << 64).tolist()


def expected_keys(pages):
    forms = (
        b"sha1:" + hashlib.sha1(b"%d" % page, usedforsecurity=False).digest() for page in set(pages)
    )
    return sorted(xxhash.xxh64_intdigest(form, seed=42) for form in forms)


@pytest.fixture
def index(tmp_path):
    def make(rows, name="index.cdxj"):
        return write_index(tmp_path / name, rows)

    return make


MOVED = [(k, k % 40, 6) for k in range(100)]
"""A hundred URLs of forty contents."""


def test_contents_are_those_of_the_digests_and_urls_are_as_ever(store, index, tmp_path):
    path = index([*MOVED, (7, None, 6), (200, None, 6)])
    added = cg.add_crawl(store, "2021-06", path, levels=LEVELS)
    alone = cg.add_crawl(tmp_path / "alone", "2021-06", path)
    (content,) = added.others
    assert keys_of(store, "2021-06") == expected_keys(range(40))
    assert (content.level, content.key_rule, content.crawl.n_urls) == ("content", "digest/1", 40)
    assert (content.n_captures, dict(content.excluded)) == (100, {"no-digest": 2})
    assert added.crawl_set.checksum == alone.crawl_set.checksum
    assert (added.crawl_set.n_captures, dict(added.crawl_set.excluded)) == (102, {})
    assert alone.others == ()


def test_adding_the_same_again_changes_nothing_unless_the_levels_differ(store, index):
    path = index(MOVED)
    cg.add_crawl(store, "a", path, levels=LEVELS)
    again = cg.add_crawl(store, "a", path, levels="content, url")
    assert (again.outcome, len(again.others)) == ("unchanged", 1)
    with pytest.raises(StoreError, match="made from other files or in another way"):
        cg.add_crawl(store, "a", path)
    assert cg.add_crawl(store, "a", path, replace=True).others == ()
    assert [entry.name for entry in (store / "crawls" / "a").glob("content-*")] == []


def test_appending_equals_adding_all_at_once_at_each_level(store, index, tmp_path):
    first = index([*MOVED, (300, None, 6)], "1.cdxj")
    second = index([(k, k, 7) for k in range(30, 60)] + [(301, None, 7)], "2.cdxj")
    (whole,) = cg.add_crawl(tmp_path / "other", "a", [first, second], levels=LEVELS).others
    cg.add_crawl(store, "a", first, levels=LEVELS)
    (appended,) = cg.add_crawl(store, "a", second, levels=LEVELS, append=True).others
    documents = [item.to_dict() for item in (whole, appended)]
    for document in documents:
        del document["provenance"]
    assert documents[0] == documents[1]
    assert appended.excluded["no-digest"] == 2
    assert cg.verify_store(store)[0].problem is None


@pytest.mark.parametrize(("before", "now"), [("url", LEVELS), (LEVELS, "url")])
def test_appending_with_other_levels_is_refused(store, index, before, now):
    cg.add_crawl(store, "a", index(MOVED, "1.cdxj"), levels=before)
    with pytest.raises(StoreError, match=f"made in another way \\(levels {before}\\)"):
        cg.add_crawl(store, "a", index(MOVED[:9], "2.cdxj"), levels=now, append=True)


def test_a_collection_is_cut_at_each_level(store, index):
    rows = [(k, k % 7, 1 + k % 3) for k in range(90)]
    result = cg.split_collection(store, index(rows), period="month", levels=LEVELS)
    assert [item.crawl_set.crawl.label for item in result.additions] == [
        "2021-01",
        "2021-02",
        "2021-03",
    ]
    for month in (1, 2, 3):
        pages = [page for _, page, when in rows if when == month]
        assert keys_of(store, f"2021-{month:02d}") == expected_keys(pages)


def test_removing_takes_all_levels(store, index):
    cg.add_crawl(store, "a", index(MOVED), levels=LEVELS)
    cg.add_crawl(store, "b", index(MOVED), levels=LEVELS)
    cg.remove_crawl(store, "a")
    assert {path.name for path in (store / "crawls").rglob("*") if path.is_file()} >= {"lock"}
    assert not list((store / "crawls" / "a").glob("*.arrow"))
    assert keys_of(store, "b") == expected_keys(range(40))


def test_verify_sees_damage_of_each_level(store, index):
    cg.add_crawl(store, "a", index(MOVED), levels=LEVELS)
    path = cg.open_store(store).crawl_set("a", "content").path
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    (finding,) = cg.verify_store(store)
    assert "content-" in (finding.problem or "")


def test_a_set_of_another_level_under_a_levels_name_is_refused(store, index):
    cg.add_crawl(store, "a", index(MOVED), levels=LEVELS)
    path = store / "crawls" / "a" / "manifest.json"
    url, content = read_document(path.read_bytes())["sets"]
    change_document(path, sets=[url, content | {name: url[name] for name in ("level", "file")}])
    (finding,) = cg.verify_store(store)
    assert "is damaged" in finding.problem
    change_document(path, sets=[url, url | {"level": "content"}])
    (finding,) = cg.verify_store(store)
    assert "its keys are of rule surt/1, not of digest/1" in finding.problem


def test_a_crawl_without_the_level_is_named_with_the_remedy(store, index):
    cg.add_crawl(store, "2021-06", index(MOVED), levels=LEVELS)
    cg.add_crawl(store, "2021-12", index(MOVED))
    with pytest.raises(StoreError) as caught:
        cg.count_overlaps(store, level="content")
    assert "'2021-12' has no set of level content" in str(caught.value)
    assert "add 2021-12 FILES... --replace --levels url,content" in str(caught.value)
    with pytest.raises(StoreError, match="unknown level 'contents'"):
        cg.count_overlaps(store, level="contents")
    assert cg.count_overlaps(store).n_crawls == 2


def test_overlaps_of_levels_are_counted_and_kept_apart(store, index):
    """At both levels the same checksums would be possible; counts are never taken for the other."""
    cg.add_crawl(store, "2021-06", index([(k, k, 6) for k in range(60)], "1"), levels=LEVELS)
    cg.add_crawl(store, "2021-12", index([(k + 50, k, 12) for k in range(60)], "2"), levels=LEVELS)
    for _ in range(2):
        urls, contents = (cg.count_overlaps(store, level=level) for level in ("url", "content"))
        assert (urls.level, urls.key_rule, urls.n_shared[0, 1]) == ("url", "surt/1", 10)
        assert (contents.level, contents.key_rule) == ("content", "digest/1")
        assert contents.n_shared[0, 1] == 60
    assert len(list((store / "cache").glob("overlaps-*"))) == 2


def test_levels_are_sampled_alike_and_share_the_memory(store, index):
    rows = [(k, k, 6) for k in range(4000)]
    added = cg.add_crawl(store, "a", index(rows), levels=LEVELS, sample="1/8")
    (content,) = added.others
    assert content.threshold == added.crawl_set.threshold == 1 << 61
    assert keys_of(store, "a") == [key for key in expected_keys(range(4000)) if key < 1 << 61]
    assert abs(content.crawl.n_urls - 4000) < 600


def test_levels_without_urls_or_of_other_names_are_refused(store, index):
    with pytest.raises(StoreError, match="--levels content lacks url"):
        cg.add_crawl(store, "a", index(MOVED), levels="content")
    with pytest.raises(StoreError, match="unknown level 'pages'; known are: url, content, text"):
        cg.add_crawl(store, "a", index(MOVED), levels="url,pages")


def test_a_list_of_urls_has_no_contents(store, make_list):
    with pytest.raises(SourceError, match="none of 9 captures has a digest"):
        cg.add_crawl(store, "2021-06", make_list(range(9)), levels=LEVELS)
    assert not store.exists()
