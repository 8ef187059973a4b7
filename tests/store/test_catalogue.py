"""Opening stores, what they hold, and taking crawls out."""

import errno
import os
from pathlib import Path

import pytest
from store_places import change_document

import crawlgauge as cg
from crawlgauge.errors import CrawlError, StoreError
from crawlgauge.store.catalogue import Store, create_store
from crawlgauge.store.documents import to_document

SET = "url-0123456789abcdef.arrow"


def test_crawls_are_listed_by_date_then_label(store, make_list):
    path = make_list([1])
    for label, date in (("b", "2020-01-01"), ("c", "2019-01-01"), ("a", "2020-01-01")):
        cg.add_crawl(store, label, path, date=date)
    assert [item.crawl.label for item in cg.list_crawls(store)] == ["c", "a", "b"]
    assert cg.open_store(store).labels() == ["a", "b", "c"]


def test_a_removed_crawl_is_gone_and_the_others_stay(full_store, see_whole):
    cg.remove_crawl(full_store, "2021-06")
    see_whole(full_store, ["2021-12"])
    assert not (full_store / "crawls" / "2021-06").exists()
    with pytest.raises(StoreError, match="holds no crawl '2021-06'; it holds: 2021-12"):
        cg.remove_crawl(full_store, "2021-06")
    with pytest.raises(CrawlError):
        cg.remove_crawl(full_store, "../crawls/2021-12")


def test_a_crawl_that_is_removed_while_others_look_is_passed_over(full_store, monkeypatch):
    original = Store.labels

    def labels(store):
        found = original(store)
        monkeypatch.setattr(Store, "labels", original)
        cg.remove_crawl(full_store, "2021-06")
        return found

    for look in (cg.list_crawls, cg.verify_store):
        cg.add_crawl(full_store, "2021-06", full_store.parent / "2021-06.txt")
        monkeypatch.setattr(Store, "labels", labels)
        assert len(look(full_store)) == 1


def test_a_store_from_which_all_was_removed_can_be_filled_again(full_store, make_list, see_whole):
    for label in ("2021-06", "2021-12"):
        cg.remove_crawl(full_store, label)
    assert cg.list_crawls(full_store) == ()
    cg.add_crawl(full_store, "2022-06", make_list([1]))
    see_whole(full_store, ["2022-06"])


def test_where_there_is_no_store_the_message_says_how_to_make_one(tmp_path):
    with pytest.raises(
        StoreError, match=r"there is no store at .*none; make one by adding a crawl"
    ):
        cg.open_store(tmp_path / "none")


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_file_and_a_folder_of_other_files_do_not_become_a_store(tmp_path, make_list, what):
    path = tmp_path / "thesis"
    if what == "file":
        path.write_text("x")
    else:
        path.mkdir()
        (path / "chapter.txt").write_text("x")
    with pytest.raises(StoreError, match=f"thesis is a {what}"):
        cg.add_crawl(path, "2021-12", make_list([1]))
    assert path.read_text() == "x" if what == "file" else (path / "chapter.txt").exists()
    assert what == "file" or len(list(path.iterdir())) == 1


def test_an_empty_folder_becomes_a_store_and_parents_are_made(tmp_path, make_list, see_whole):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "a" / "b" / "store"):
        cg.add_crawl(path, "2021-12", make_list([1]))
        see_whole(path, ["2021-12"])


def test_a_store_that_another_process_makes_at_the_same_moment_is_taken(
    store, make_list, see_whole, monkeypatch
):
    """It comes to be between two looks into the folder, half of it and then all."""
    look = Path.exists
    (store / "crawls").mkdir(parents=True)

    def make_after_a_look(path):
        is_there = look(path)
        if path == store / "store.json":
            (store / ".partial-1-2-store.json").write_bytes(b"{")
            path.write_bytes(to_document({"schema": "crawlgauge.store/2", "key_rule": "surt/1"}))
        return is_there

    monkeypatch.setattr(Path, "exists", make_after_a_look)
    create_store(store, "surt/1")
    monkeypatch.undo()
    cg.add_crawl(store, "2021-06", make_list([1]))
    see_whole(store, ["2021-06"])


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "schema"),
    [("store.json", "crawlgauge.store/3"), ("crawls/2021-06/manifest.json", "crawlgauge.crawl/3")],
)
def test_a_newer_format_is_refused_and_nothing_is_touched(full_store, make_list, name, schema):
    change_document(full_store / name, schema=schema)
    before = contents(full_store)
    with pytest.raises(StoreError, match=rf"is of format '{schema}'; this version of crawlgauge"):
        cg.list_crawls(full_store)
    with pytest.raises(StoreError, match=f"is of format '{schema}'"):
        cg.add_crawl(full_store, "2021-06", make_list([1]))
    assert contents(full_store) == before


def test_a_store_of_version_0_1_is_refused_by_every_command_and_left_as_it_is(
    store, make_list, run
):
    folder = store / "crawls" / "2021-06"
    folder.mkdir(parents=True)
    (store / "store.json").write_text('{"schema": "crawlgauge.store/1", "key_rule": "surt/1"}')
    (folder / "manifest.json").write_text('{\n "schema": "crawlgauge.crawl/1",\n "sets": {}\n}')
    (folder / "url-7cb427dbe104e477.parquet").write_bytes(b"PAR1")
    before = contents(store)
    for words in (
        ["list"],
        ["verify"],
        ["overlaps"],
        ["estimate"],
        ["add", "2022-06", make_list([1])],
        ["add", "2021-06", make_list([1]), "--replace"],
        ["remove", "2021-06"],
    ):
        told = run(*words, "--store", store)
        assert told.code == 1
        assert "store.json was written by version 0.1 of crawlgauge" in told.err
        assert "add the crawls again from their files into a new store" in told.err
    assert contents(store) == before


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}"])
def test_a_damaged_store_file_is_an_error_that_names_it(full_store, content):
    (full_store / "store.json").write_text(content)
    with pytest.raises(StoreError, match=r"store\.json is damaged"):
        cg.list_crawls(full_store)


def test_leftovers_of_a_killed_process_are_cleaned_by_the_next_add(
    full_store, make_list, see_whole
):
    folder = full_store / "crawls" / "2021-06"
    for name in (".partial-1-url.arrow", ".partial-1-manifest.json", SET):
        (folder / name).write_bytes(b"half")
    cg.add_crawl(full_store, "2021-06", make_list(range(100)))
    see_whole(full_store, ["2021-06", "2021-12"])


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("2021-06", [SET]),
        ("2021-06", ["attributes-0123456789abcdef.arrow"]),
        ("2021-06", [".partial-1-2-url.arrow"]),
        ("2020-06", ["lock"]),
        ("2020-06", ["lock", SET, ".partial-1-2-attributes.arrow"]),
    ],
)
def test_leftovers_of_a_killed_process_are_cleaned_by_an_add_of_another_crawl(
    full_store, make_list, see_whole, label, names
):
    folder = full_store / "crawls" / label
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"")
    cg.add_crawl(full_store, "2022-06", make_list(range(100)))
    see_whole(full_store, ["2021-06", "2021-12", "2022-06"])


def test_a_folder_that_no_process_has_written_in_is_left_alone(full_store, make_list):
    folder = full_store / "crawls" / "2020-06"
    folder.mkdir()
    (folder / SET).write_bytes(b"being copied")
    cg.add_crawl(full_store, "2022-06", make_list(range(100)))
    assert [path.name for path in folder.iterdir()] == [SET]


def test_files_of_others_are_left_alone_and_stand_in_nobodys_way(full_store, make_list):
    folder = full_store / "crawls" / "2021-06"
    others = [folder / "notes.txt", folder / "url-backup.arrow", folder / "sub" / SET]
    others += [folder / ".partial-mine" / "x", full_store / "spill" / "notes.txt"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    (full_store / "crawls" / "readme.txt").write_text("mine")
    cg.add_crawl(full_store, "2021-06", make_list(range(7)), replace=True)
    cg.add_crawl(full_store, "2022-06", make_list(range(7)))
    assert [item.crawl.n_urls for item in cg.list_crawls(full_store)] == [7, 100, 7]
    cg.remove_crawl(full_store, "2021-06")
    assert [item.crawl.n_urls for item in cg.list_crawls(full_store)] == [100, 7]
    assert {path.read_text() for path in others} == {"mine"}


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_crawls_that_may_not_be_read_are_told_and_not_passed_over(full_store, monkeypatch, number):
    original = os.listdir

    def refuse(path="."):
        if str(path).endswith("crawls"):
            raise OSError(number, os.strerror(number), str(path))
        return original(path)

    # By one of the two folders are listed, with Python as old or as new as may be.
    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(StoreError, match=os.strerror(number)) as caught:
        cg.list_crawls(full_store)
    assert "damaged" not in str(caught.value)


def test_leftovers_of_a_process_killed_while_it_made_the_store_do_not_matter(
    store, make_list, see_whole
):
    (store / "crawls").mkdir(parents=True)
    (store / ".partial-1-store.json").write_bytes(b"half")
    cg.add_crawl(store, "2021-06", make_list([1]))
    see_whole(store, ["2021-06"])


def test_a_crawl_without_manifest_is_no_crawl(full_store, make_list, see_whole):
    (full_store / "crawls" / "2021-06" / "manifest.json").unlink()
    assert [item.crawl.label for item in cg.list_crawls(full_store)] == ["2021-12"]
    assert cg.add_crawl(full_store, "2021-06", make_list([1])).outcome == "added"
    see_whole(full_store, ["2021-06", "2021-12"])


def test_the_store_is_the_given_one_else_that_of_the_environment_else_here(
    full_store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRAWLGAUGE_STORE", str(full_store))
    assert len(cg.list_crawls()) == 2
    with pytest.raises(StoreError):
        cg.list_crawls(tmp_path / "other")
    monkeypatch.delenv("CRAWLGAUGE_STORE")
    full_store.rename("crawlgauge.store")
    assert len(cg.list_crawls()) == 2
