"""Whatever is given, a message in words and an exit code come back, never a traceback."""

import json
import os
from pathlib import Path

import pytest

from crawlgauge.store.documents import to_document


@pytest.fixture
def files(folder, make_list):
    """Write files of many kinds."""
    make_list([1], "good.txt")
    (folder / "empty.txt").write_text("")
    (folder / "nothing.txt").write_text("no\nurl\nhere\n")
    (folder / "nodir").mkdir()
    (folder / "twice.csv").write_text(
        "label,date,path\n2021,2021-01,good.txt\n2021,2021-02,good.txt\n"
    )
    (folder / "header.csv").write_text("a,b\n")
    (folder / "wide.csv").write_text("x" * 200_000)
    (folder / "dangling.txt").symlink_to("nowhere")
    (folder / "one.json").write_text(
        json.dumps(
            {
                "schema": "crawlgauge.overlaps/1",
                "level": "url",
                "crawls": [{"label": "a", "date": "2021-01-01", "n_urls": 5}],
                "n_shared": [[5]],
            }
        )
    )


CASES = {
    "an empty list": (["add", "2021-12", "empty.txt"], "no URL found"),
    "a list without any URL": (["add", "2021-12", "nothing.txt"], "none of 3 lines is a URL"),
    "a missing file": (["add", "2021-12", "none.txt"], "there is no file none.txt"),
    "a glob without match": (["add", "2021-12", "*.gz"], "no file matches *.gz"),
    "a folder without files": (["add", "2021-12", "nodir"], "the folder nodir holds no files"),
    "an unsafe label": (["add", "../x", "good.txt"], "'../x' is no usable label"),
    "a label without date": (["add", "first", "good.txt"], "say it with --date"),
    "no date": (["add", "x", "good.txt", "--date", "15.12.2021"], "'15.12.2021' is not a date"),
    "one label twice": (["add", "--from", "twice.csv"], "twice.csv, line 3: the label '2021'"),
    "a list of other columns": (["add", "--from", "header.csv"], "lacks the column label"),
    "a list with a huge cell": (["add", "--from", "wide.csv"], "wide.csv"),
    "a missing list of crawls": (["add", "--from", "none.csv"], "cannot read none.csv"),
    "an address of no kind": (["add", "2021-12", "foo://a.org/l.txt"], "foo://"),
    "a link to nowhere": (["add", "2021-12", "dang*.txt"], "dangling.txt"),
    "a name too long": (["add", "2021-12", "x" * 300], "xxx"),
    "an empty word": (["add", "2021-12", ""], "error: "),
    "a home that is not there": (["list", "--store", "~nobody-there/x"], "~nobody-there"),
    "no store": (["list"], "there is no store at crawlgauge.store"),
    "a store that is a file": (["list", "--store", "good.txt"], "there is no store at good.txt"),
    "estimate without store": (["estimate"], "there is no store at crawlgauge.store"),
    "a missing table": (["estimate", "none.csv"], "none.csv"),
    "a table that is none": (["estimate", "good.txt"], "good.txt"),
    "an empty table": (["estimate", "empty.txt"], "empty.txt"),
    "a table of one crawl": (["estimate", "one.json"], "only one crawl"),
    "a demo in a folder of files": (["demo", "."], "holds files that are not of a demo"),
    "a demo in a file": (["demo", "good.txt"], "cannot use the folder good.txt"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("files")
def test_bad_input_is_told_in_words(run, folder, case):
    words, message = CASES[case]
    result = run(*words)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("crawlgauge: error: ")
    assert message in result.err
    assert len(result.err.splitlines()) == 1
    assert not (folder / "crawlgauge.store").exists()


@pytest.mark.usefixtures("files")
def test_a_store_with_one_crawl_gives_no_estimate(run):
    run("add", "2021-12", "good.txt")
    result = run("estimate")
    assert (result.code, result.out) == (1, "")
    assert "only one crawl (2021-12)" in result.err


@pytest.mark.usefixtures("three_crawls")
def test_a_store_of_a_newer_format_is_refused_by_each_command(run, folder):
    path = folder / "crawlgauge.store" / "store.json"
    path.write_bytes(to_document({"schema": "crawlgauge.store/9", "key_rule": "raw/1"}))
    for words in (
        ["list"],
        ["verify"],
        ["estimate"],
        ["overlaps"],
        ["remove", "2021-12"],
        ["add", "2022-06", "lists/2021-12.txt"],
    ):
        result = run(*words)
        assert (result.code, result.out) == (1, "")
        assert "is of format 'crawlgauge.store/9'; this version of crawlgauge reads" in result.err


@pytest.mark.usefixtures("three_crawls")
def test_an_unwritable_output_is_told(run, folder):
    (folder / "folder.csv").mkdir()
    for name in ("none/table.csv", "folder.csv", "table.xlsx"):
        result = run("overlaps", "-o", name)
        assert (result.code, result.out) == (1, "")
        assert name in result.err
        assert "Traceback" not in result.err


def test_closed_standard_input_is_told(spawn, folder):
    result = spawn("add", "2021-12", "-", preexec_fn=lambda: os.close(0))
    assert result.code == 1
    assert "Traceback" not in result.err
    assert "crawlgauge: error: " in result.err
    assert not (folder / "crawlgauge.store").exists()


@pytest.mark.usefixtures("run", "three_crawls")
def test_standard_output_on_a_full_disk_is_told(spawn):
    with Path("/dev/full").open("w") as full:
        result = spawn("list", stdout=full)
    assert result.code == 1
    assert "Traceback" not in result.err
    assert "No space left on device" in result.err


@pytest.mark.parametrize(
    "words",
    [
        ["add", "2021-12", "closed/list.txt"],
        ["add", "2021-12", "good.txt", "--store", "closed/store"],
        ["list", "--store", "closed/store"],
    ],
)
@pytest.mark.usefixtures("files")
def test_a_folder_that_may_not_be_entered_is_told(run, monkeypatch, words):
    original = os.stat

    def refuse(path, **options):
        if str(path).startswith("closed/"):
            raise PermissionError(13, "Permission denied", str(path))
        return original(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        result = run(*words)
    assert (result.code, result.out) == (1, "")
    assert "closed" in result.err
    assert "Permission denied" in result.err
