"""Estimates that are kept: in a store, and in the tables that are exported from it."""

import gzip
import json
import logging
import shutil

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge import kept_estimates
from crawlgauge.model import coverage as estimating
from crawlgauge.model.estimates import Estimates
from crawlgauge.overlaps import histories
from crawlgauge.store.catalogue import Store
from crawlgauge.store.documents import from_plain, to_document, to_plain

LABELS = [f"{2014 + k // 2}-{'12' if k % 2 else '06'}" for k in range(6)]


def write_cdxj(path, label, rng, alive):
    """Write the captures of a crawl: pages of hosts that it likes more or less."""
    liking = np.random.default_rng(0).random(60)
    time, lines = label.replace("-", "") + "15000000", []
    for page in alive:
        host = page % 60
        if rng.random() < 0.3 + 0.5 * liking[host]:
            about = {"url": f"http://h{host}.org/{page}", "status": "200", "mime": "text/html"}
            lines.append(f"org,h{host})/{page} {time} {json.dumps(about)}\n")
    path.write_bytes(gzip.compress("".join(sorted(lines)).encode()))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a store of six crawls from CDXJ."""
    folder, rng = tmp_path_factory.mktemp("made"), np.random.default_rng(5)
    alive, n_pages = list(range(2000)), 2000
    for label in LABELS:
        write_cdxj(folder / f"{label}.cdxj.gz", label, rng, alive)
        cg.add_crawl(folder / "store", label, folder / f"{label}.cdxj.gz")
        alive = [page for page in alive if rng.random() < 0.85]
        alive += range(n_pages, n_pages + 300)
        n_pages += 300
    return folder / "store"


@pytest.fixture
def store(made, tmp_path, monkeypatch):
    """Return a store of one's own, with no other one about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRAWLGAUGE_STORE", raising=False)
    return shutil.copytree(made, tmp_path / "crawlgauge.store")


@pytest.fixture(scope="module")
def remembered():
    return {}


@pytest.fixture
def made_anew(monkeypatch, remembered):
    """List the tables that were estimated from; what a test has estimated, others need not."""
    tables = []
    estimate = estimating.estimate_coverage

    def note(table, **given):
        tables.append(table)
        what = kept_estimates._digest(table, given)
        if what not in remembered:
            remembered[what] = estimate(table, **given)
        return remembered[what]

    monkeypatch.setattr(estimating, "estimate_coverage", note)
    return tables


def files(store):
    return sorted((store / "cache").glob("estimates-*"))


WINDOWS = [{}, {"since": "2015-01-01"}, {"exclude": ["2015-06"]}, {"min_lag": 2}]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_what_is_kept_is_what_was_estimated(store, made_anew, window):
    table = cg.choose_window(cg.count_overlaps(store), **window)
    fresh = cg.estimate(table)
    first, again = (cg.estimate(table, store=store) for _ in range(2))
    assert again.estimates == first.estimates == fresh.estimates
    assert again.to_json() == first.to_json() == fresh.to_json()
    assert again.summary() == fresh.summary()
    assert again.estimates.crawls == table.crawls
    assert len(made_anew) == 2


def test_after_an_estimate_no_command_estimates(store, run, made_anew, tmp_path):
    (tmp_path / "list.txt").write_text("http://h1.org/1\n")
    first = run("estimate", "--json").out
    for words in (["check"], ["plan"], ["recall", "list.txt"], ["estimate"]):
        assert run(*words).code in (0, 3)
    assert run("estimate", "--json").out == first
    assert len(made_anew) == 1
    assert len(files(store)) == 1


def test_two_crawls_and_a_given_persistence_are_kept_apart(store, made_anew):
    table = cg.choose_window(cg.count_overlaps(store), until="2014-12-31")
    found = [cg.estimate(table, persistence=given, store=store) for given in (None, 0.7, 0.8, 0.7)]
    assert found[1].estimates == found[3].estimates
    assert found[1].estimates.headline != found[2].estimates.headline
    assert len(made_anew) == 3


def test_other_sets_options_and_versions_are_estimated_anew(store, made_anew, monkeypatch):
    whole = cg.count_overlaps(store)
    cg.estimate(whole, store=store)
    cg.estimate(cg.count_overlaps(store, sample="1/2"), store=store)
    cg.estimate(cg.choose_window(whole, min_lag=2), store=store)
    assert len(made_anew) == len(files(store)) == 3
    with monkeypatch.context() as newer:
        newer.setattr(kept_estimates, "_program", lambda: "a newer version")
        cg.estimate(whole, store=store)
    assert len(files(store)) == 1
    cg.remove_crawl(store, LABELS[0])
    fewer = cg.count_overlaps(store)
    assert cg.estimate(fewer, store=store).estimates == cg.estimate(fewer).estimates
    assert len(made_anew) == 6
    assert len(files(store)) == 1


def change_number(content):
    """Change what is kept into what nobody has estimated, with the right checksum."""
    document = json.loads(content)["content"]
    document["kept"]["headline"]["coverage"]["value"] = "0.5"
    return to_document(document)


def leave_out(content):
    document = json.loads(content)["content"]
    del document["kept"]["newest"]["label"]
    return to_document(document)


DAMAGES = {
    "bit": lambda content: content.replace(b"0.9", b"0.8", 1),
    "end": lambda content: content[:-9],
    "empty": lambda _: b"",
    "foreign": lambda _: to_document({"schema": "crawlgauge.counts/4"}),
    "no number": change_number,
    "nothing": leave_out,
    "no object": lambda _: to_document({"schema": kept_estimates._SCHEMA, "kept": [1]}),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_what_is_damaged_is_estimated_anew(store, made_anew, caplog, how):
    table = cg.count_overlaps(store)
    first = cg.estimate(table, store=store)
    (kept,) = files(store)
    content = kept.read_bytes()
    kept.write_bytes(DAMAGES[how](content))
    with caplog.at_level(logging.WARNING):
        assert cg.estimate(table, store=store).estimates == first.estimates
    assert f"{kept} is damaged, or of another version; the estimate is made anew" in caplog.text
    assert kept.read_bytes() == content
    assert len(made_anew) == 2


def test_a_store_that_cannot_be_written_to_is_no_hindrance(store, made_anew, monkeypatch):
    table = cg.count_overlaps(store)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as closed:
        closed.setattr("crawlgauge.store.documents.put_file", refuse)
        first = cg.estimate(table, store=store)
        assert not files(store)
    cg.estimate(table, store=store)
    with monkeypatch.context() as closed:
        closed.setattr("crawlgauge.store.documents.put_file", refuse)
        assert cg.estimate(table, store=store).estimates == first.estimates
    assert len(made_anew) == 2


def test_a_store_without_room_for_anything_kept_is_no_hindrance(store, made_anew, monkeypatch):
    table = cg.count_overlaps(store)

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Store, "cache_folder", refuse)
    assert cg.estimate(table, store=store).estimates == cg.estimate(table).estimates
    assert len(made_anew) == 2


def test_all_types_of_an_estimate_come_back(store):
    estimates = cg.estimate(cg.count_overlaps(store)).estimates
    plain = json.loads(json.dumps(estimates, default=to_plain))
    assert from_plain(plain, Estimates) == estimates


# ------------------------------------------------------------------------------ exported tables


@pytest.mark.parametrize("suffix", ["json", "parquet"])
@pytest.mark.parametrize("sample", [None, "1/2", "0.3"])
@pytest.mark.parametrize("most", [1 << 18, 40])
def test_an_exported_table_is_the_one_that_was_counted(
    store, run, monkeypatch, suffix, sample, most
):
    monkeypatch.setattr(histories, "MAX_HISTORIES", most)
    table = cg.count_overlaps(store, sample=sample)
    assert table.host_groups is not None
    assert (table.histories.sample_rate < table.sample_rate) == (most == 40)
    path = f"table.{suffix}"
    assert run("overlaps", *(() if sample is None else ("--sample", sample)), "-o", path).code == 0
    again = cg.read_overlaps(path)
    for window in (*WINDOWS, {"regime": "latest"}):
        counted, read = (cg.choose_window(item, **window) for item in (table, again))
        # All that an estimate is made from.
        assert kept_estimates._digest(read) == kept_estimates._digest(counted)


@pytest.mark.parametrize("suffix", ["json", "parquet"])
@pytest.mark.usefixtures("store")
def test_an_exported_table_gives_the_same_estimate(run, suffix):
    run("overlaps", "-o", f"table.{suffix}")
    assert run("estimate", f"table.{suffix}", "--json").out == run("estimate", "--json").out


def test_an_exported_sample_gives_the_same_estimate(store, run):
    run("overlaps", "--sample", "1/2", "-o", "table.parquet")
    read = cg.estimate(cg.read_overlaps("table.parquet"))
    assert read.estimates == cg.estimate(cg.count_overlaps(store, sample="1/2")).estimates


@pytest.mark.usefixtures("store")
def test_csv_says_that_it_holds_pairs_only(run):
    said = run("overlaps", "-o", "table.csv").err
    assert said.count("\n") == 1
    assert "pairs only, from which an estimate cannot test whether estimators agree" in said
    for other in ("json", "parquet"):
        assert "pairs only" not in run("overlaps", "-o", f"table.{other}").err
    read = run("estimate", "table.csv").out
    assert read.count("Pairs of crawls cannot show whether") == 1
    agreement = cg.estimate(cg.read_overlaps("table.csv")).estimates.agreement
    assert agreement.grade == "none"
    assert "agreement is no evidence" in agreement.reason
