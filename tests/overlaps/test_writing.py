import os
import stat
from pathlib import Path

import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.files import read_overlaps, write_overlaps
from csv_tables import from_csv

TABLE = from_csv("a,date_a,n_a,b,date_b,n_b,n_shared\nx,2013-12,10,y,2014-06,10,5\n", name="t.csv")


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def fail(*_):
    raise OSError(28, "No space left on device")


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "start"), [("t.csv", b"# level="), ("t.JSON", b"{"), ("t.parquet", b"PAR1")]
)
def test_the_suffix_names_the_format(tmp_path, name, start):
    write_overlaps(TABLE, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert read_overlaps(tmp_path / name).n_shared.tolist() == [[10, 5], [5, 10]]
    assert names_in(tmp_path) == [name]


@pytest.mark.parametrize("name", ["t.txt", "t", "t.csv.gz"])
def test_another_suffix_is_refused_and_the_possible_ones_listed(tmp_path, name):
    with pytest.raises(OverlapError, match=r"possible are \.csv, \.json, \.parquet"):
        write_overlaps(TABLE, tmp_path / name)
    assert names_in(tmp_path) == []


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for suffix in ("csv", "json", "parquet"):
        write_overlaps(TABLE, tmp_path / f"one.{suffix}")
        write_overlaps(TABLE, tmp_path / f"two.{suffix}")
        one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("happens", "error"), [(fail, OverlapError), (interrupt, KeyboardInterrupt)]
)
def test_what_stood_there_stays_when_writing_fails(tmp_path, monkeypatch, step, happens, error):
    path = tmp_path / "t.csv"
    path.write_text("old")
    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[step], happens)
    with pytest.raises(error) as caught:
        write_overlaps(TABLE, path)
    if error is OverlapError:
        assert str(caught.value) == f"{path} cannot be written: No space left on device"
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["t.csv"]


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(OverlapError, match=r"none/t\.csv cannot be written: its folder"):
        write_overlaps(TABLE, tmp_path / "none" / "t.csv")


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(OverlapError, match=r"t\.csv cannot be written"):
        write_overlaps(TABLE, tmp_path / "t.csv")
    assert names_in(tmp_path) == ["t.csv"]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_overlaps(TABLE, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("# level=url")


def test_the_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "usual").touch()
    write_overlaps(TABLE, tmp_path / "t.csv")
    usual, written = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "t.csv"))
    assert written == usual
