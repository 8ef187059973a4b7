"""Verify finds whatever was changed after it was written."""

import os
import shutil

import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreError
from crawlgauge.store import set_file


def problem_of(store, label="2021-06"):
    return {item.label: item.problem for item in cg.verify_store(store)}[label]


def flip(path, place, bits=0xFF):
    data = bytearray(path.read_bytes())
    data[place] ^= bits
    path.write_bytes(data)


def test_a_whole_store_is_whole(full_store):
    assert [(item.label, item.problem) for item in cg.verify_store(full_store)] == [
        ("2021-06", None),
        ("2021-12", None),
    ]


def test_a_store_of_several_row_groups_is_whole(store, make_list, monkeypatch):
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", 50)
    assert cg.add_crawl(store, "2021-06", make_list(range(1000))).crawl_set.range_bits == 5
    assert problem_of(store) is None


@pytest.mark.parametrize("place", ["keys", "column", "label", "count", "footer", "last byte"])
def test_a_flipped_bit_is_found_and_the_other_crawl_stays_usable(full_store, only_set_file, place):
    data = only_set_file.read_bytes()
    where, bits = {
        "keys": (200, 1),
        "column": (data.rindex(b"\x03key") + 1, 0x80),
        "label": (data.rindex(b'"2021-06"') + 5, ord("-") ^ ord(" ")),
        "count": (data.rindex(b'"n_captures"') + 14, 1),
        "footer": (len(data) - 10, 1),
        "last byte": (len(data) - 1, 1),
    }[place]
    flip(only_set_file, where, bits)
    problem = problem_of(full_store)
    assert str(only_set_file) in problem
    assert "add the crawl again from its files with --replace" in problem
    assert problem_of(full_store, "2021-12") is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("url-*.parquet", marks=pytest.mark.slow),
        pytest.param("attributes-*.arrow", marks=pytest.mark.slow),
        "manifest.json",
        "../../store.json",
    ],
)
def test_every_single_flipped_bit_is_found(store, make_list, name):
    """Whatever the damage makes of the file, it is told as a problem and never as a crash."""
    folder = cg.add_crawl(store, "2021-06", make_list(range(20))).crawl_set.path.parent
    (path,) = folder.glob(name) if "*" in name else [folder / name]
    whole = path.read_bytes()
    missed = set()
    for place in range(len(whole)):
        for bit in (0, 2, 5):
            flip(path, place, 1 << bit)
            try:
                outcome = "found" if problem_of(store) else "missed"
            except StoreError:
                outcome = "found" if name == "../../store.json" else "verify stopped"
            except Exception as error:  # noqa: BLE001 - each is a failure of its own
                outcome = type(error).__name__
            if outcome != "found":
                missed.add((outcome, whole[max(0, place - 8) : place + 8]))
            path.write_bytes(whole)
    assert missed == set()


def test_a_missing_file_is_found(full_store, only_set_file):
    only_set_file.unlink()
    assert "is missing" in problem_of(full_store)
    with pytest.raises(StoreError, match="is missing"):
        cg.count_overlaps(full_store)


@pytest.mark.parametrize("n_bytes", [0, 10, 500, -1])
def test_a_shortened_file_is_found(full_store, only_set_file, n_bytes):
    size = only_set_file.stat().st_size
    os.truncate(only_set_file, n_bytes if n_bytes >= 0 else size + n_bytes)
    assert "is damaged" in problem_of(full_store)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[]", b'{"schema": "crawlgauge.crawl/1"}']
)
def test_a_damaged_manifest_is_found_and_healed_by_replace(
    full_store, make_list, see_whole, content
):
    manifest = full_store / "crawls" / "2021-06" / "manifest.json"
    manifest.write_bytes(content)
    assert "manifest.json" in problem_of(full_store)
    assert problem_of(full_store, "2021-12") is None
    cg.add_crawl(full_store, "2021-06", make_list(range(100)), replace=True)
    see_whole(full_store, ["2021-06", "2021-12"])


def test_a_damaged_crawl_can_be_replaced_and_removed(
    full_store, only_set_file, make_list, see_whole
):
    only_set_file.write_bytes(b"")
    cg.add_crawl(full_store, "2021-06", make_list(range(100)), replace=True)
    see_whole(full_store, ["2021-06", "2021-12"])
    (path,) = (full_store / "crawls" / "2021-06").glob("url-*.parquet")
    path.write_bytes(b"")
    cg.remove_crawl(full_store, "2021-06")
    see_whole(full_store, ["2021-12"])


def test_a_set_put_in_place_of_another_is_found(full_store, only_set_file):
    (other,) = (full_store / "crawls" / "2021-12").glob("url-*.parquet")
    shutil.copy(other, only_set_file)
    assert "was changed after it was written" in problem_of(full_store)


def test_a_crawl_renamed_by_hand_is_found(full_store):
    crawls = full_store / "crawls"
    (crawls / "2021-06").rename(crawls / "2020-01")
    assert problem_of(full_store, "2020-01") is not None
