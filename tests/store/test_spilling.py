"""What does not fit into memory lies beside the crawls, and nothing of it stays."""

import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest

from crawlgauge.errors import StoreError
from crawlgauge.store import files
from crawlgauge.store.spilling import SPILL_FOLDER, SpillFolder, remove_abandoned

KEYS = np.arange(100, dtype=np.uint64)


def test_a_run_is_read_back_and_gone_in_the_end(tmp_path):
    with SpillFolder(tmp_path) as spill:
        run = spill.write_run([KEYS[:40], KEYS[40:]], 100)
        assert run.tolist() == KEYS.tolist()
        assert not run.flags.owndata, "it is on the disk"
        assert spill.write_run([], 0).size == 0
        assert (tmp_path / SPILL_FOLDER).exists()
    assert not (tmp_path / SPILL_FOLDER).exists()


def test_nothing_is_made_if_nothing_is_spilled(tmp_path):
    with SpillFolder(tmp_path):
        assert not (tmp_path / SPILL_FOLDER).exists()


def test_an_error_leaves_nothing(tmp_path):
    def interrupt():
        yield KEYS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), SpillFolder(tmp_path) as spill:
        spill.write_run(interrupt(), 100)
    assert not (tmp_path / SPILL_FOLDER).exists()


def test_two_at_once_do_not_touch_each_other(tmp_path):
    with SpillFolder(tmp_path) as first:
        one = first.write_run([KEYS], 100)
        with SpillFolder(tmp_path) as second:
            second.write_run([KEYS], 100)
            remove_abandoned(tmp_path)
            assert len(list((tmp_path / SPILL_FOLDER).iterdir())) == 2
        assert one.tolist() == KEYS.tolist()
        assert len(list((tmp_path / SPILL_FOLDER).iterdir())) == 1


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    code = (
        "import os, sys, numpy as np; from pathlib import Path\n"
        "from crawlgauge.store.spilling import SpillFolder\n"
        "spill = SpillFolder(Path(sys.argv[1]))\n"
        "spill.write_run([np.arange(9, dtype=np.uint64)], 9)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert list((tmp_path / SPILL_FOLDER).glob("*/run-0.keys"))
    (tmp_path / SPILL_FOLDER / "notes.txt").write_text("of others")
    remove_abandoned(tmp_path)
    assert [path.name for path in (tmp_path / SPILL_FOLDER).iterdir()] == ["notes.txt"]


def test_a_full_disk_is_told_before_it_is_filled(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil's own
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: usage(10, 9, 1_000_000))
    with (
        SpillFolder(tmp_path) as spill,
        pytest.raises(StoreError, match=r"needs about 16\.0 MB, and 1\.0 MB are free"),
    ):
        spill.write_run([KEYS], 2_000_000)
    assert not (tmp_path / SPILL_FOLDER).exists()
