"""Lists of crawls: checked as a whole, then added at the same time as one after the other."""

import datetime as dt
import os
import threading

import pytest

import crawlgauge as cg
from crawlgauge.errors import SourceError
from crawlgauge.ingest import adding
from crawlgauge.ingest.crawl_list import read_crawl_list

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
    monkeypatch.setattr(adding, "_count_at_once", lambda *_: n_at_once)
    seen, shown = [], []
    added = cg.add_crawls(store, year, on_added=seen.append, progress=shown.append)
    assert [item.crawl_set.crawl.label for item in added] == MONTHS
    assert tuple(seen) == added
    # Of each file that is being read, the captures may be counted after the last bytes.
    assert 12_000 - 1000 * max(2, n_at_once) <= shown[-1].n_captures <= 12_000
    assert shown[-1].n_bytes == shown[-1].n_bytes_total
    see_whole(store, MONTHS)
    shared = cg.count_overlaps(store).n_shared
    assert {int(shared[k, k + 1]) for k in range(11)} == {500}


@pytest.mark.parametrize("n_at_once", [1, 3])
def test_one_that_fails_is_told_and_those_before_it_stay(
    year, store, see_whole, monkeypatch, n_at_once
):
    monkeypatch.setattr(adding, "_count_at_once", lambda *_: n_at_once)
    year.with_name("2020-05.txt").write_text("nonsense\n")
    year.with_name("2020-06.txt").write_text("worse\n")
    with pytest.raises(SourceError, match=r"2020-05\.txt: its only line is no URL"):
        cg.add_crawls(store, year)
    labels = [item.crawl.label for item in cg.list_crawls(store)]
    assert labels[:4] == MONTHS[:4]
    assert not {"2020-05", "2020-06"} & set(labels)
    see_whole(store, labels)


def test_an_interrupted_command_leaves_whole_crawls_and_no_locks(
    year, store, see_whole, monkeypatch
):
    monkeypatch.setattr(adding, "_count_at_once", lambda *_: 2)

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
    lines = ["label,date,path"]
    for number in range(64):
        make_list(range(number, number + 5), f"{number}.txt")
    lines += ["2020-01,,*.txt", "2020-02,,0.txt"]
    (tmp_path / "crawls.csv").write_text("\n".join(lines))
    listed = read_crawl_list(tmp_path / "crawls.csv")
    assert adding._count_at_once(listed, 1 << 40) == 1
    assert adding._count_at_once(listed[1:] * 8, 300 << 20) == 1


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


@pytest.fixture
def crawl_list(tmp_path, make_list):
    """Write ``crawls.csv`` beside a few lists."""
    (tmp_path / "lists").mkdir()
    for number in range(3):
        make_list(range(number, number + 5), f"lists/{number}.txt")

    def write(text):
        path = tmp_path / "crawls.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "label,date,path\n2020-06,,lists/0.txt\n2020-12,2020-12-01,lists/[12].txt\n",
        "\ufefflabel,date,path\r\n2020-06,,lists/0.txt\r\n2020-12,20201201,lists/[12].txt",
        'path,note,label,date\n"lists/0.txt",x,2020-06,\nlists/[12].txt,,2020-12,2020-12-01\n\n',
        "label, date, path\n2020-06, , lists/0.txt\n 2020-12, 2020-12-01, lists/[12].txt\n",
    ],
    ids=["plain", "BOM, CRLF", "other order", "spaces"],
)
def test_labels_dates_and_files_are_read(crawl_list, tmp_path, text):
    first, second = read_crawl_list(crawl_list(text))
    assert (first.label, first.date) == ("2020-06", None)
    assert (second.label, second.date) == ("2020-12", dt.date(2020, 12, 1))
    assert first.inputs.names == (str(tmp_path / "lists/0.txt"),)
    assert second.inputs.names == tuple(str(tmp_path / f"lists/{n}.txt") for n in (1, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lacks the column label, date, path"),
        ("label,path\na,b\n", "lacks the column date; its first line must be label,date,path"),
        ("label,date,path\n", "lists no crawls"),
        ("label,date,path\n2020-06,lists/0.txt\n", "line 2: expected 3 cells"),
        ("label,date,path\n2020-06,,lists/0.txt,x\n", "line 2: expected 3 cells"),
        ("label,date,path\n2020-06,soon,lists/0.txt\n", "line 2: 'soon' is not a date"),
        ("label,date,path\na/b,,lists/0.txt\n", "line 2: 'a/b' is no usable label"),
        ("label,date,path\n2020-06,,\n", "line 2: the column path must name"),
        ("label,date,path\n2020-06,,-\n", "line 2: the column path must name"),
        ("label,date,path\n\n2020-06,,none.txt\n", "line 3: there is no file .*none.txt"),
        (
            "label,date,path\n2020-06,,lists/0.txt\n2020-06,,lists/1.txt\n",
            "line 3: the label '2020-06' stands already on line 2",
        ),
        (
            "label,date,path\na-2020-06,,lists/0.txt\nA-2020-06,,lists/1.txt\n",
            "line 3: the label 'A-2020-06' stands already on line 2",
        ),
        (b"\xff\xfel\0", "no UTF-8 text"),
        ("label,date,path\n2020-06,," + "x" * 200_000 + "\n", "line 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_nothing_is_added(crawl_list, store, text, message):
    with pytest.raises(SourceError, match=message) as caught:
        cg.add_crawls(store, crawl_list(text))
    assert "crawls.csv" in str(caught.value)
    assert not store.exists()


def test_all_crawls_are_added_and_a_second_run_changes_nothing(crawl_list, store, see_whole):
    path = crawl_list("label,date,path\n2020-06,,lists/0.txt\n2020-12,,lists/1.txt\n")
    seen = []
    added = cg.add_crawls(store, path, on_added=seen.append)
    assert [(item.crawl_set.crawl.label, item.outcome) for item in added] == [
        ("2020-06", "added"),
        ("2020-12", "added"),
    ]
    assert tuple(seen) == added
    assert {item.outcome for item in cg.add_crawls(store, path)} == {"unchanged"}
    see_whole(store, ["2020-06", "2020-12"])


def test_a_missing_list_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"cannot read .*none\.csv: No such file"):
        read_crawl_list(tmp_path / "none.csv")
