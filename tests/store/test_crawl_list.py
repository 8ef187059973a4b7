"""The list that ``add --from`` reads: checked as a whole before anything is added."""

import datetime as dt

import pytest

import crawlgauge as cg
from crawlgauge.errors import SourceError
from crawlgauge.store.crawl_list import read_crawl_list


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
        ("label,date,path\n2020-06,soon,lists/0.txt\n", "line 2: 'soon' is no date"),
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


def test_crawls_before_one_that_fails_stay(crawl_list, store, tmp_path, see_whole):
    (tmp_path / "lists" / "1.txt").write_text("nonsense\n")
    path = crawl_list("label,date,path\n2020-06,,lists/0.txt\n2020-12,,lists/1.txt\n")
    with pytest.raises(SourceError, match="its only line is no URL"):
        cg.add_crawls(store, path)
    see_whole(store, ["2020-06"])


def test_a_missing_list_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"cannot read .*none\.csv: No such file"):
        read_crawl_list(tmp_path / "none.csv")
