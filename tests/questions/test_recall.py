"""Crawls held against lists of URLs, hosts and domains."""

import gzip
import json

import pytest

import crawlgauge as cg
from crawlgauge.errors import FitError, SourceError, StoreError


def page(number):
    return f"https://www.site-{number % 5}.example/page/{number}"


def fill(folder, numbers):
    """Make a store of crawls of a hundred URLs each, which share a part."""
    path = folder / "store"
    for k in numbers:
        urls = folder / f"c{k}.txt"
        urls.write_text("\n".join(page(n) for n in range(20 * k, 20 * k + 100)), encoding="utf-8")
        cg.add_crawl(path, f"c{k}", urls, date=f"202{k}-06-15")
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two crawls, too few for an estimate, which would take longer than all else."""
    return fill(tmp_path_factory.mktemp("two"), (0, 3))


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """Four crawls."""
    return fill(tmp_path_factory.mktemp("four"), range(4))


def listed(tmp_path, *lines, name="reference.txt"):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_urls_are_looked_for_by_the_rule_of_the_store(store, tmp_path):
    reference = listed(
        tmp_path,
        "# what we want",
        page(0),
        page(0).replace("https://www.", "http://").upper().replace("HTTP://", "http://"),
        page(150),
        page(159),
        page(999),
        "",
        "no url",
    )
    found = cg.recall(store, reference).recall
    assert found.reference.kind == "url"
    assert (found.reference.n_entries, found.reference.n_distinct) == (5, 4)
    assert found.reference.n_repeated == 1
    assert dict(found.reference.left_out) == {"several-fields": 1}
    assert [row.n_held for row in found.per_crawl] == [1, 2]
    assert (found.n_held, found.n_looked_for) == (3, 4)
    # Wilson's interval of 3 in 4, as R's prop.test gives it without the correction.
    assert found.union.low == pytest.approx(0.300642, abs=1e-6)
    assert found.union.high == pytest.approx(0.954413, abs=1e-6)


def test_what_no_crawl_holds_is_written_as_it_stands_in_the_reference(store, tmp_path):
    strange = "HTTP://www.Site-9.example:80/a?b#c"
    reference = listed(tmp_path, page(5), strange, "http://site-9.example/a?b", page(700))
    missing = tmp_path / "missing.txt"
    cg.recall(store, reference, missing=missing)
    assert missing.read_text(encoding="utf-8").splitlines() == [strange, page(700)]


def test_any_format_that_can_be_added_is_a_reference(store, tmp_path):
    table = listed(tmp_path, "rank,page", f"1,{page(3)}", f"2,{page(500)}", name="t.csv")
    assert cg.recall(store, table, column="page").recall.n_held == 1
    packed = tmp_path / "list.gz"
    packed.write_bytes(gzip.compress("\n".join(page(n) for n in range(50)).encode()))
    assert cg.recall(store, packed).recall.n_held == 50


def test_hosts_and_domains_are_told_by_content(store, tmp_path):
    domains = listed(tmp_path, "site-1.example", "WWW.site-2.example.", "other.example", "a b")
    found = cg.recall(store, domains).recall
    assert (found.reference.kind, found.n_held, found.n_looked_for) == ("domain", 2, 3)
    assert dict(found.reference.left_out) == {"no-host": 1}
    hosts = listed(tmp_path, "a.site-1.example", "site-1.example")
    as_hosts = cg.recall(store, hosts).recall
    assert (as_hosts.reference.kind, as_hosts.n_held) == ("host", 1)
    as_domains = cg.recall(store, hosts, kind="domain").recall
    assert (as_domains.n_looked_for, as_domains.n_held) == (1, 1)
    of_urls = cg.recall(store, listed(tmp_path, page(1), page(2)), kind="host").recall
    assert of_urls.n_held == 2


def test_ranked_lists_of_domains_are_read_by_column(store, tmp_path):
    ranked = listed(tmp_path, "1,site-1.example", "2,nowhere.example", name="top.csv")
    assert cg.recall(store, ranked, column="2").recall.n_held == 1
    assert cg.recall(store, ranked).recall.n_looked_for == 2
    with pytest.raises(SourceError, match="no column third"):
        cg.recall(store, ranked, column="third")


def test_missing_hosts_are_written_too(store, tmp_path):
    missing = tmp_path / "missing.txt"
    cg.recall(store, listed(tmp_path, "site-1.example", "nowhere.example"), missing=missing)
    assert missing.read_text(encoding="utf-8") == "nowhere.example\n"


def test_only_urls_of_the_sample_count_where_crawls_are_samples(tmp_path):
    path = tmp_path / "store"
    urls = listed(tmp_path, *map(page, range(2000)), name="c.txt")
    cg.add_crawl(path, "c", urls, date="2020-01-01", sample="1/4")
    found = cg.recall(path, listed(tmp_path, *map(page, range(1000, 3000))))
    assert found.recall.n_looked_for == pytest.approx(500, abs=80)
    assert found.recall.union.low < 0.5 < found.recall.union.high
    assert "only the" in found.summary()


def test_a_scope_leaves_out_what_was_never_to_be_crawled(store, tmp_path):
    scope = listed(tmp_path, "site-1.example", name="scope.txt")
    found = cg.recall(store, listed(tmp_path, page(1), page(2)), scope=scope).recall
    assert (found.n_looked_for, dict(found.reference.left_out)) == (1, {"out-of-scope": 1})


def test_a_uniform_reference_is_set_beside_the_series(series, tmp_path):
    reference = listed(tmp_path, *map(page, range(60, 260)))
    found = cg.recall(series, reference, uniform=True, date="2023-06-15", persistence=0.5)
    check = found.recall.uniform
    assert (check.label, check.gap_days) == ("c3", 0)
    assert check.by_reference.value == 0.5
    assert check.by_series.value is not None
    assert check.ratio.value == pytest.approx(check.by_series.value / 0.5)
    earlier = found.recall.per_crawl[2]
    # 80 of 200, and half of those of a year before live on.
    assert earlier.recall.value == 0.4
    assert earlier.by_reference.value == pytest.approx(0.8, rel=0.2)
    assert "As a uniform sample" in found.summary()


def test_a_uniform_reference_needs_a_date_and_urls(store, tmp_path):
    reference = listed(tmp_path, page(1))
    with pytest.raises(FitError, match="give the date when it was drawn"):
        cg.recall(store, reference, uniform=True)
    with pytest.raises(FitError, match="hosts"):
        cg.recall(store, listed(tmp_path, "site-1.example"), uniform=True, date="2023-01-01")


def test_queues_bound_the_coverage_from_above(store):
    bound = cg.recall(store, None, queued=300).recall.frontier
    assert (bound.label, bound.most) == ("c3", 0.25)
    other = cg.recall(store, None, queued="c0=1_00").recall
    assert (other.frontier.label, other.frontier.most, other.reference) == ("c0", 0.5, None)
    for wrong, message in (("many", "no number"), ("c9=5", "the store holds c0, c3")):
        with pytest.raises(FitError, match=message):
            cg.recall(store, None, queued=wrong)


def test_too_few_crawls_leave_the_coverage_open(tmp_path):
    path = tmp_path / "store"
    cg.add_crawl(path, "c", listed(tmp_path, page(1), name="c.txt"), date="2020-01-01")
    found = cg.recall(path, listed(tmp_path, page(1), page(2))).recall
    assert found.headline.value is None
    assert "series of 1" in found.headline.reason
    assert found.union.value == 0.5


def test_an_exported_sample_has_no_hosts_to_look_for(store, tmp_path):
    given = cg.export_sample(store, tmp_path / "given", sample=1).path
    with pytest.raises(StoreError, match="no hosts"):
        cg.recall(given, listed(tmp_path, "site-1.example"))
    assert cg.recall(given, listed(tmp_path, page(1))).recall.n_held == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no hosts or domains found|no URL"),
        (b"\xff\xfe\xfa", "no UTF-8 text"),
        (b"# only a comment\n", "only comments"),
        (b"what is this\n", "none of 1 lines"),
        (b"mailto://nobody\n", "no URL"),
    ],
)
def test_references_without_anything_in_them_are_errors(store, tmp_path, content, message):
    path = tmp_path / "reference"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message):
        cg.recall(store, path)


def test_references_that_are_not_there_are_errors(store, tmp_path):
    with pytest.raises(SourceError, match="does not exist"):
        cg.recall(store, tmp_path / "nothing")
    with pytest.raises(SourceError, match="is a folder"):
        cg.recall(store, tmp_path)


def test_json_holds_every_number_of_the_recall(store, tmp_path):
    found = cg.recall(store, listed(tmp_path, page(1), page(1), page(999)), queued=50)
    document = json.loads(found.to_json())
    assert document == found.to_dict()
    assert list(document)[:3] == ["schema", "key_rule", "reference"]
    assert document["schema"] == "crawlgauge.recall/1"
    assert document["reference"]["n_repeated"] == 1
    assert document["per_crawl"][0]["recall"]["value"] == 0.5
    assert document["frontier"]["n_queued"] == 50
    assert document["provenance"]["inputs"][0]["checksum"].startswith("sha256:")
