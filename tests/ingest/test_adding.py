"""Adding a crawl: what is stored, what is refused, and that nothing half-done stays."""

import datetime as dt
import gzip

import pytest
from store_places import change_document

import crawlgauge as cg
from crawlgauge.errors import CrawlError, DamagedInput, SourceError, StoreError


def sizes(store):
    return {item.crawl.label: item.crawl.n_urls for item in cg.list_crawls(store)}


def test_a_crawl_is_stored_with_all_that_is_known_of_it(store, make_list, see_whole):
    path = make_list([1, 2, 2, 3])
    path.write_text(path.read_text() + "nonsense\nhttp://\ndns:a\n\n# comment\n")
    addition = cg.add_crawl(store, "2021-12", path)
    assert addition.outcome == "added"
    assert [example.reason for example in addition.examples] == ["no-scheme", "no-host"]
    (found,) = cg.list_crawls(store)
    assert found == addition.crawl_set
    assert (found.crawl.n_urls, found.n_captures) == (3, 4)
    assert found.rejected == {"no-scheme": 1, "no-host": 1}
    assert found.excluded == {"other-scheme": 1}
    assert (found.crawl.date, found.crawl.damaged) == (dt.date(2021, 12, 15), False)
    assert (found.key_rule, found.sample_rate) == ("surt/1", 1.0)
    (entry,) = found.provenance.inputs
    assert (entry.name, entry.n_bytes) == (str(path), path.stat().st_size)
    see_whole(store, ["2021-12"])


def test_several_inputs_are_one_crawl(store, make_list):
    paths = [make_list(range(10), "a.txt"), make_list(range(5, 20), "b.txt")]
    assert cg.add_crawl(store, "2021-12", paths).crawl_set.crawl.n_urls == 20


def test_the_date_is_the_given_one_else_that_of_the_label(store, make_list):
    path = make_list([1])
    date = dt.date(2020, 1, 2)
    assert cg.add_crawl(store, "a", path, date="2020-01-02").crawl_set.crawl.date == date
    assert cg.add_crawl(store, "2021-12", path, date=date).crawl_set.crawl.date == date
    with pytest.raises(CrawlError, match=r"crawl 'b' has no date.*--date 2021-12-15"):
        cg.add_crawl(store, "b", path)


@pytest.fixture
def make_index(tmp_path):
    """Write CDXJ lines of (number, time, status)."""

    def make(rows, name="index.cdxj"):
        path = tmp_path / name
        path.write_text(
            "".join(
                f'org,example)/{number} {time} {{"url": "http://example.org/{number}", '
                f'"status": "{status}", "mime": "text/html", "filename": "W-{time[:6]}.warc.gz"}}\n'
                for number, time, status in rows
            )
        )
        return path

    return make


def test_the_date_is_that_of_the_median_capture_where_there_are_times(store, make_index):
    times = ["20211201000000", "20211203000000", "20211204235959", "20220101000000"]
    path = make_index((k, time, 200) for k, time in enumerate(times))
    crawl = cg.add_crawl(store, "b", path).crawl_set.crawl
    assert crawl.date == dt.date(2021, 12, 3)
    assert crawl.first_capture == dt.datetime(2021, 12, 1, tzinfo=dt.UTC)
    assert crawl.last_capture == dt.datetime(2022, 1, 1, tzinfo=dt.UTC)
    assert cg.add_crawl(store, "2020-05", path).crawl_set.crawl.date == dt.date(2021, 12, 3)
    dated = cg.add_crawl(store, "c", path, date="2019-01-01").crawl_set.crawl
    assert dated.date == dt.date(2019, 1, 1)


def test_what_does_not_count_is_told_by_reason_and_stored(store, make_index, tmp_path):
    time = "20211201000000"
    path = make_index(
        [(1, time, 200), (2, time, 302), (3, time, 404), (4, time, "-"), (5, time, 200)]
    )
    scope = tmp_path / "scope.txt"
    scope.write_text("example.org\n!https://example.org/5\n")
    found = cg.add_crawl(store, "a", path, scope=scope).crawl_set
    assert found.excluded == {"redirect": 1, "error": 1, "out-of-scope": 1}
    assert (found.crawl.n_urls, found.n_no_status) == (2, 1)
    assert cg.list_crawls(store)[0].excluded == found.excluded
    assert cg.add_crawl(store, "b", path, status="any").crawl_set.crawl.n_urls == 5
    with pytest.raises(SourceError, match="nothing in it counts; left out: 3 mime, 1 redirect"):
        cg.add_crawl(store, "c", path, mime="image/*")


def test_the_same_files_read_in_another_way_are_no_repetition(store, make_index):
    path = make_index([(1, "20211201000000", 200), (2, "20211201000000", 404)])
    cg.add_crawl(store, "a", path)
    with pytest.raises(StoreError, match="in another way"):
        cg.add_crawl(store, "a", path, status="any")
    assert cg.add_crawl(store, "a", path).outcome == "unchanged"


def test_keys_of_the_index_are_taken_on_demand(store, make_index, make_list):
    path = make_index([(1, "20211201000000", 200)])
    given = cg.add_crawl(store, "a", path, identity="given").crawl_set
    assert (given.key_rule, given.crawl.n_urls) == ("given/1", 1)
    with pytest.raises(SourceError, match=r"an input has none.*--identity surt"):
        cg.add_crawl(store, "2020-01", make_list([1]), identity="given")


def test_adding_the_same_again_changes_nothing(full_store, make_list):
    before = {path: path.stat().st_mtime_ns for path in full_store.rglob("*.*")}
    copy = make_list(range(100), "copy.txt")
    assert cg.add_crawl(full_store, "2021-06", copy).outcome == "unchanged"
    assert {path: path.stat().st_mtime_ns for path in full_store.rglob("*.*")} == before


@pytest.mark.parametrize("options", [{}, {"date": "2021-06-01"}], ids=["other files", "other date"])
def test_other_content_under_the_same_label_is_refused(full_store, make_list, see_whole, options):
    path = make_list(range(100 if options else 7), "new.txt")
    with pytest.raises(StoreError, match=r"already holds a crawl '2021-06'.*--replace") as caught:
        cg.add_crawl(full_store, "2021-06", path, **options)
    assert "100 URLs" in str(caught.value)
    assert sizes(full_store) == {"2021-06": 100, "2021-12": 100}
    see_whole(full_store, ["2021-06", "2021-12"])


def test_replace_replaces_and_leaves_nothing_of_the_old(full_store, make_list, see_whole):
    addition = cg.add_crawl(full_store, "2021-06", make_list(range(7)), replace=True)
    assert addition.outcome == "replaced"
    assert sizes(full_store) == {"2021-06": 7, "2021-12": 100}
    see_whole(full_store, ["2021-06", "2021-12"])


def test_a_label_that_differs_in_letter_case_only_is_refused(store, make_list):
    cg.add_crawl(store, "gaw-2021-12", make_list([1]))
    with pytest.raises(StoreError, match=r"holds 'gaw-2021-12', which differs from 'GAW-2021-12'"):
        cg.add_crawl(store, "GAW-2021-12", make_list([1]))


@pytest.mark.parametrize("label", ["../x", "a/b", "", ".x", "a b"])
def test_a_label_that_is_no_file_name_is_refused(store, make_list, label):
    with pytest.raises(CrawlError, match="no usable label"):
        cg.add_crawl(store, label, make_list([1]), date="2021-12")
    assert not store.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no URL found.* blank lines"),
        (b"\n# comment\n", "no URL found.* blank lines"),
        (b"a\nb\n", r"none of 2 lines is a URL such as .* line 1 of .* is 'a'"),
        (b"dns:c\n", r"nothing in it counts; left out: 1 other-scheme"),
        (gzip.compress(b"http://a.org/\n")[:-3], "is damaged at byte"),
    ],
    ids=["empty", "comments", "no URL", "nothing that counts", "damaged"],
)
def test_an_add_that_fails_leaves_no_store_behind(store, tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message):
        cg.add_crawl(store, "2021-12", path)
    assert not store.exists()


def test_an_add_that_fails_leaves_the_other_crawls_alone(full_store, tmp_path, see_whole):
    (tmp_path / "bad.txt").write_text("nonsense\n")
    for label in ("2022-06", "2021-06"):
        with pytest.raises(SourceError):
            cg.add_crawl(full_store, label, tmp_path / "bad.txt", replace=True)
    assert sizes(full_store) == {"2021-06": 100, "2021-12": 100}
    see_whole(full_store, ["2021-06", "2021-12"])


def test_damaged_input_is_kept_on_demand_without_its_last_broken_line(store, tmp_path):
    text = b"".join(b"http://example.org/%d\n" % number for number in range(20_000))
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(text)[:20_000])
    with pytest.raises(DamagedInput, match=r"at byte 20,000.*--on-damage keep"):
        cg.add_crawl(store, "2021-12", path)
    kept = cg.add_crawl(store, "2021-12", path, on_damage="keep").crawl_set
    assert kept.crawl.damaged
    (damage,) = kept.damage
    assert (damage.file, damage.byte) == (str(path), 20_000)
    n_read = int(damage.lost.split("first ")[1].split(" bytes")[0].replace(",", ""))
    assert kept.crawl.n_urls == text[:n_read].count(b"\n") > 100
    assert cg.list_crawls(store)[0].crawl.damaged


def test_a_wrong_checksum_at_the_end_keeps_the_urls_before_it(store, tmp_path):
    packed = bytearray(gzip.compress(b"http://a.org/\nhttp://b.org/\n"))
    packed[-8] ^= 1
    (tmp_path / "wrong.gz").write_bytes(packed)
    kept = cg.add_crawl(store, "2021-12", tmp_path / "wrong.gz", on_damage="keep").crawl_set
    assert (kept.crawl.n_urls, kept.crawl.damaged) == (2, True)


def test_a_file_damaged_from_the_start_is_not_called_empty(store, tmp_path):
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"http://a.org/\n")[:12])
    with pytest.raises(SourceError, match="is damaged at byte"):
        cg.add_crawl(store, "2021-12", tmp_path / "cut.gz", on_damage="keep")
    assert not store.exists()


def test_progress_counts_bytes_to_the_end(store, make_list):
    steps = []
    path = make_list(range(1000))
    cg.add_crawl(store, "2021-12", path, progress=steps.append)
    assert steps[-1].n_bytes == steps[-1].n_bytes_total == path.stat().st_size
    assert steps[-1].file == str(path)


def test_a_store_of_another_rule_is_refused(full_store, make_list):
    change_document(full_store / "store.json", key_rule="raw/1")
    with pytest.raises(StoreError, match=r"identifies URLs by raw/1, not by surt/1; keys of two"):
        cg.add_crawl(full_store, "2022-06", make_list([1]), identity="surt")


def test_a_store_keeps_its_identity_unless_another_is_asked_for(store, make_list):
    cg.add_crawl(store, "2021-06", make_list([1]), identity="scheme-free")
    assert cg.add_crawl(store, "2021-12", make_list([2])).crawl_set.key_rule == "scheme-free/1"
    change_document(store / "store.json", key_rule="surt/99")
    with pytest.raises(StoreError, match=r"by surt/99, which this version does not know"):
        cg.add_crawl(store, "2022-06", make_list([3]))


def test_crawls_in_which_other_things_were_counted_are_noticed(store, make_list, caplog):
    cg.add_crawl(store, "2021-06", make_list([1]))
    cg.add_crawl(store, "2021-12", make_list([2]))
    assert caplog.text == ""
    cg.add_crawl(store, "2022-06", make_list([3]), status="any")
    assert "crawl 2022-06 was made with another --status than crawl 2021-06" in caplog.text
