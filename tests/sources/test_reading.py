"""Several inputs at once: the same result whoever is faster, and no thread that stays."""

import gzip
import logging
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import pytest
from readings import make_settings

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import decompress, reading
from crawlgauge.sources.inputs import find_inputs
from crawlgauge.sources.reading import ReadingProgress, read_inputs, total_bytes

N_FILES = 6
N_LINES = 400


@pytest.fixture
def small_blocks(monkeypatch):
    """Let each file give many blocks."""
    for name in ("BLOCK_BYTES", "_CHUNK_BYTES", "_FIRST_BYTES", "_LEAST_BYTES"):
        monkeypatch.setattr(decompress, name, 200)


@pytest.fixture
def folder(tmp_path):
    """Lists of URLs, in each of which every tenth line is none."""
    for number in range(N_FILES):
        lines = [
            f"line-{line}" if line % 10 == 0 else f"http://a.org/{number}/{line}"
            for line in range(N_LINES)
        ]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def slow_files(monkeypatch):
    """Make the reading of some files slow, by the beginning of their names."""

    def slow_down(*names):
        class Slow(decompress.Stream):
            def blocks(self):
                for block in super().blocks():
                    if self.name.rpartition("/")[2].startswith(names):
                        time.sleep(0.001)
                    yield block

        monkeypatch.setattr(reading, "Stream", Slow)

    return slow_down


@pytest.fixture(autouse=True)
def no_threads_stay():
    """See that all threads have ended but the daemons that wait for what is remote."""
    before = set(threading.enumerate())
    yield
    assert {thread for thread in threading.enumerate() if thread.name != "remote"} <= before


@dataclass
class Target:
    """Takes batches of captures from several threads."""

    key_threshold: int = 1 << 64
    row_threshold: int = 1 << 64
    batches: list = field(default_factory=list)

    def add(self, batch):
        self.batches.append(batch)

    def count(self, name):
        return sum((Counter(getattr(batch, name)) for batch in self.batches), Counter())

    def keys(self):
        return sorted(key for batch in self.batches for key in batch.keys.tolist())


def read(folder, target=None, *, keep=False, **options):
    """Return all that comes of reading a folder."""
    target = target or Target()
    files = find_inputs([str(folder)])
    found = read_inputs(files, make_settings(keep_damaged=keep, levels=("url",)), target, **options)
    return target.keys(), target.count("rejected"), found


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("slow", [(), ("0",), ("1", "3"), ("5",)])
def test_the_result_does_not_depend_on_who_is_faster(folder, slow_files, slow):
    expected = read(folder, n_threads=0)
    assert len(expected[0]) == N_FILES * N_LINES * 9 // 10
    assert [entry.name for entry in expected[2].inputs] == sorted(map(str, folder.iterdir()))
    assert len(expected[2].examples) == 5
    slow_files(*slow)
    for n_threads in (1, 2, 4):
        assert read(folder, n_threads=n_threads) == expected


@pytest.mark.usefixtures("small_blocks")
def test_damage_is_told_in_the_order_of_the_files(folder, slow_files):
    for number in (1, 4):
        path = folder / f"{number}.txt"
        path.write_bytes(gzip.compress(random.Random(number).randbytes(5_000).hex().encode())[:-9])
    slow_files("1")
    damages = read(folder, n_threads=3, keep=True)[2].damages
    assert [damage.file.rpartition("/")[2] for damage in damages] == ["1.txt", "4.txt"]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("slow", ["1", "4"])
def test_the_first_of_several_errors_is_raised(folder, slow_files, slow):
    for number in (1, 4):
        (folder / f"{number}.txt").write_bytes(gzip.compress(b"http://a.org/\n" * 9999)[:-9])
    slow_files(slow)
    with pytest.raises(DamagedInput, match=r"1\.txt is damaged"):
        read(folder, n_threads=4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("n_threads", [0, 2])
def test_whatever_is_raised_reaches_who_asks_and_ends_all_threads(folder, kind, n_threads):
    class Failing(Target):
        def add(self, _batch):
            raise kind("by the target")

    with pytest.raises(kind, match="by the target"):
        read(folder, Failing(), n_threads=n_threads)


def test_only_keys_and_rows_below_thresholds_are_handed_on(folder):
    all_keys = read(folder)[0]
    target = Target(key_threshold=1 << 62)
    files = find_inputs([str(folder)])
    read_inputs(files, reading.Settings(key_rule=make_settings().key_rule), target)
    assert target.keys() == [key for key in all_keys if key < 1 << 62]
    assert sum(batch.n_captures for batch in target.batches) == len(all_keys)


def test_progress_counts_every_byte_once_and_names_files(folder):
    steps = []
    files = find_inputs([str(folder)])
    assert total_bytes(files) == sum(path.stat().st_size for path in folder.iterdir())
    progress = ReadingProgress(steps.append, total_bytes(files))
    keys, *_ = read(folder, n_threads=3, progress=progress)
    n_bytes = [step.n_bytes for step in steps]
    assert n_bytes == sorted(n_bytes)
    assert n_bytes[-1] == steps[-1].n_bytes_total == total_bytes(files)
    assert steps[-1].n_captures <= len(keys)
    assert {step.file for step in steps} <= set(map(str, folder.iterdir()))


def test_files_without_captures_are_named_in_order(folder, caplog):
    for number in (0, 3):
        (folder / f"{number}.txt").write_text("# nothing\n")
    with caplog.at_level(logging.WARNING):
        read(folder, n_threads=4)
    assert [record.getMessage().rpartition("/")[2] for record in caplog.records] == [
        *("0.txt holds no captures", "3.txt holds no captures")
    ]


def test_a_file_named_twice_is_read_once_and_told(folder, caplog):
    target = Target()
    read_inputs(find_inputs([str(folder), str(folder / "1.txt")]), make_settings(), target)
    assert len(target.keys()) == N_FILES * N_LINES * 9 // 10
    assert "1.txt was named more than once" in caplog.text


def test_a_pipe_is_read_by_who_asks(tmp_path, monkeypatch):
    (tmp_path / "list.txt").write_text("http://a.org/\n")

    class Asking(Target):
        def add(self, batch):
            super().add((batch, threading.current_thread()))

    target = Asking()
    with (tmp_path / "list.txt").open("rb") as file:
        monkeypatch.setattr(sys, "stdin", file)
        files = find_inputs(["-"])
        assert total_bytes(files) is None
        read_inputs(files, make_settings(), target)
    assert [(batch.n_captures, thread) for batch, thread in target.batches] == [
        (1, threading.current_thread())
    ]


def test_a_file_that_is_gone_meanwhile_is_told(tmp_path):
    (tmp_path / "a.txt").write_text("http://a.org/\n")
    files = find_inputs([str(tmp_path / "a.txt")])
    (tmp_path / "a.txt").unlink()
    with pytest.raises(SourceError, match="there is no file"):
        read_inputs(files, make_settings(), Target())


def test_an_index_leads_to_the_parts_of_its_cluster_once(tmp_path, caplog):
    line = b"org,a)/%d 20140126200624 http://a.org/%d text/html 200 AAAA - - 5 3 a.warc.gz\n"
    for part in (1, 2):
        lines = b"".join(line % (number, number) for number in range(part * 10, part * 15))
        (tmp_path / f"{part}.gz").write_bytes(gzip.compress(lines, mtime=0))
    sizes = [(tmp_path / f"{part}.gz").stat().st_size for part in (1, 2)]
    index = "org,a)/10 20140126200624\t1.gz\t0\t{}\t1\norg,a)/20 20140126200624\t2.gz\t0\t{}\t2\n"
    (tmp_path / "a.idx").write_text(index.format(*sizes))
    (tmp_path / "a.loc").write_text("1.gz\t1.gz\n2.gz\t2.gz\n")
    for names in (["a.idx"], ["a.idx", "1.gz", "a.loc"]):
        target = Target()
        files = find_inputs([str(tmp_path / name) for name in names])
        found = read_inputs(files, make_settings(levels=("url",)), target)
        assert len(target.keys()) == 15
        assert sorted(entry.name.rpartition("/")[2] for entry in found.inputs) == sorted(
            {*names, "1.gz", "2.gz"}
        )
        through = {entry.name[-4:]: entry.through for entry in found.inputs}
        assert through["2.gz"] == str(tmp_path / "a.idx")
    assert "no captures" not in caplog.text
    (tmp_path / "a.idx").write_text(index.format(sizes[0], sizes[1] + 7))
    with pytest.raises(DamagedInput, match=r"2\.gz is damaged at byte .* index tells of"):
        read_inputs(find_inputs([str(tmp_path / "a.idx")]), make_settings(), Target())
