"""Several crawls at the same time give what they give one after the other."""

import os
import threading

import pytest

import crawlgauge as cg
from crawlgauge.errors import SourceError
from crawlgauge.store import adding_many

MONTHS = [f"2020-{month:02d}" for month in range(1, 13)]


@pytest.fixture
def year(make_list, tmp_path):
    """Return a list of twelve crawls, which share half of their URLs with the one before."""
    for number, label in enumerate(MONTHS):
        make_list(range(500 * number, 500 * number + 1000), f"{label}.txt")
    path = tmp_path / "year.csv"
    path.write_text("label,date,path\n" + "".join(f"{m},,{m}.txt\n" for m in MONTHS))
    return path


@pytest.mark.parametrize("n_at_once", [1, 2, 4])
def test_the_sets_are_the_same_and_told_in_order(year, store, see_whole, monkeypatch, n_at_once):
    monkeypatch.setattr(adding_many, "_count_at_once", lambda *_: n_at_once)
    seen, shown = [], []
    added = cg.add_crawls(store, year, on_added=seen.append, progress=shown.append)
    assert [item.crawl_set.crawl.label for item in added] == MONTHS
    assert tuple(seen) == added
    assert shown[-1].n_captures == 12_000
    assert shown[-1].n_bytes == shown[-1].n_bytes_total
    see_whole(store, MONTHS)
    shared = cg.count_overlaps(store).n_shared
    assert {int(shared[k, k + 1]) for k in range(11)} == {500}


@pytest.mark.parametrize("n_at_once", [1, 3])
def test_one_that_fails_is_told_and_those_before_it_stay(
    year, store, tmp_path, see_whole, monkeypatch, n_at_once
):
    monkeypatch.setattr(adding_many, "_count_at_once", lambda *_: n_at_once)
    (tmp_path / "2020-05.txt").write_text("nonsense\n")
    (tmp_path / "2020-06.txt").write_text("worse\n")
    with pytest.raises(SourceError, match=r"2020-05\.txt: its only line is no URL"):
        cg.add_crawls(store, year)
    labels = [item.crawl.label for item in cg.list_crawls(store)]
    assert labels[:4] == MONTHS[:4]
    assert not {"2020-05", "2020-06"} & set(labels)
    see_whole(store, labels)


def test_an_interrupted_command_leaves_whole_crawls_and_no_locks(
    year, store, see_whole, monkeypatch
):
    monkeypatch.setattr(adding_many, "_count_at_once", lambda *_: 2)

    def interrupt(addition):
        if addition.crawl_set.crawl.label == "2020-03":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cg.add_crawls(store, year, on_added=interrupt)
    labels = [item.crawl.label for item in cg.list_crawls(store)]
    assert MONTHS[:3] == labels[:3]
    see_whole(store, labels)
    assert [item.crawl_set.crawl.label for item in cg.add_crawls(store, year)] == MONTHS
    see_whole(store, MONTHS)


def test_crawls_of_many_files_are_read_one_after_the_other(make_list, tmp_path):
    from crawlgauge.store.crawl_list import read_crawl_list

    lines = ["label,date,path"]
    for number in range(64):
        make_list(range(number, number + 5), f"{number}.txt")
    lines += ["2020-01,,*.txt", "2020-02,,0.txt"]
    (tmp_path / "crawls.csv").write_text("\n".join(lines))
    listed = read_crawl_list(tmp_path / "crawls.csv")
    assert adding_many._count_at_once(listed, 1 << 40) == 1
    assert adding_many._count_at_once(listed[1:] * 8, 300 << 20) == 1


def test_crawls_in_pipes_are_read_one_after_the_other(tmp_path):
    """What writes to the second pipe may do so only when the first was read."""
    labels = ["2020-01", "2020-02"]
    for label in labels:
        os.mkfifo(tmp_path / label)
    path = tmp_path / "crawls.csv"
    path.write_text("label,date,path\n" + "".join(f"{label},,{label}\n" for label in labels))

    def write():
        for label in labels:
            (tmp_path / label).write_text("http://example.org/\n")

    writer = threading.Thread(target=write)
    writer.start()
    added = cg.add_crawls(tmp_path / "store", path)
    writer.join()
    assert [item.crawl_set.crawl.n_urls for item in added] == [1, 1]
