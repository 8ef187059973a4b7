"""Several inputs at once: the same result whoever is faster, and no thread that stays."""

import contextlib
import gzip
import logging
import random
import sys
import threading
import time
from collections import Counter

import pytest

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import byte_stream, reading, reading_threads
from crawlgauge.sources.inputs import find_inputs
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.request import Request

N_FILES = 6
N_LINES = 400


@pytest.fixture
def small_blocks(monkeypatch):
    """Let each file give many batches."""
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", 200)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 200)


@pytest.fixture
def folder(tmp_path):
    """Lists of URLs, in each of which every tenth line is none."""
    for number in range(N_FILES):
        lines = [
            f"line {line}" if line % 10 == 0 else f"http://a.org/{number}/{line}"
            for line in range(N_LINES)
        ]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def slow_files(monkeypatch):
    """Make the reading of some files slow, by the beginning of their names."""

    def slow_down(*names):
        usual = byte_stream.MeasuredFile.chunks

        def chunks(self, n_bytes):
            for chunk in usual(self, n_bytes):
                if self._name.rpartition("/")[2].startswith(names):
                    time.sleep(0.001)
                yield chunk

        monkeypatch.setattr(byte_stream.MeasuredFile, "chunks", chunks)

    return slow_down


@pytest.fixture(autouse=True)
def no_threads_stay():
    """See that all threads have ended; some of another test may end meanwhile."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def read(folder, *, n_threads, monkeypatch, **options):
    """Return all that comes of reading a folder."""
    monkeypatch.setattr(reading, "_count_threads", lambda _files: n_threads)
    reader = ArchiveReader(find_inputs([str(folder)]), Request(), **options)
    urls, rejected, examples = Counter(), Counter(), []
    for batch in reader.captures():
        urls.update(batch.url.to_pylist())
        rejected.update(batch.rejected)
        examples += batch.examples
    return urls, rejected, examples, reader.inputs, [str(damage) for damage in reader.damages]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("slow", [(), ("0",), ("1", "3"), ("5",)])
def test_the_result_does_not_depend_on_who_is_faster(folder, monkeypatch, slow_files, slow):
    expected = read(folder, n_threads=0, monkeypatch=monkeypatch)
    assert expected[0].total() == N_FILES * N_LINES * 9 // 10
    assert [entry.name for entry in expected[3]] == sorted(map(str, folder.iterdir()))
    slow_files(*slow)
    for n_threads in (1, 2, 4):
        assert read(folder, n_threads=n_threads, monkeypatch=monkeypatch) == expected


@pytest.mark.usefixtures("small_blocks")
def test_damage_is_told_in_the_order_of_the_files(folder, monkeypatch, slow_files):
    for number in (1, 4):
        path = folder / f"{number}.txt"
        path.write_bytes(gzip.compress(random.Random(number).randbytes(5_000).hex().encode())[:-9])
    slow_files("1")
    damages = read(folder, n_threads=3, monkeypatch=monkeypatch, keep_damaged=True)[4]
    assert ["1.txt" in damages[0], "4.txt" in damages[1], len(damages)] == [True, True, 2]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("slow", ["1", "4"])
def test_the_first_of_several_errors_is_raised(folder, monkeypatch, slow_files, slow):
    for number in (1, 4):
        (folder / f"{number}.txt").write_bytes(gzip.compress(b"http://a.org/\n" * 9999)[:-9])
    slow_files(slow)
    with pytest.raises(DamagedInput, match=r"1\.txt is damaged"):
        read(folder, n_threads=4, monkeypatch=monkeypatch)


def test_whatever_a_reader_raises_reaches_who_asks(folder, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("by a reader")

    monkeypatch.setattr(reading, "find_format", fail)
    with pytest.raises(ZeroDivisionError, match="by a reader"):
        read(folder, n_threads=2, monkeypatch=monkeypatch)


@pytest.mark.usefixtures("small_blocks")
def test_all_threads_end_when_reading_is_broken_off(folder, monkeypatch):
    monkeypatch.setattr(reading_threads, "_MAX_QUEUED_BYTES", 1000)
    batches = ArchiveReader(find_inputs([str(folder)]), Request()).captures()
    next(batches)
    assert any(thread.name.startswith("reading-") for thread in threading.enumerate())
    batches.close()
    assert not any(thread.name.startswith("reading-") for thread in threading.enumerate())


@pytest.mark.usefixtures("small_blocks")
def test_an_interruption_ends_all_threads(folder):
    def interrupt():
        reader = ArchiveReader(find_inputs([str(folder)]), Request())
        with contextlib.closing(reader.captures()) as batches:
            next(batches)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()


@pytest.mark.usefixtures("small_blocks")
def test_what_waits_to_be_fetched_is_bounded(folder, monkeypatch):
    monkeypatch.setattr(reading_threads, "_MAX_QUEUED_BYTES", 1000)
    monkeypatch.setattr(reading, "_count_threads", lambda _files: 4)
    reader = ArchiveReader(find_inputs([str(folder)]), Request())
    batches = reader.captures()
    n_most = 0
    for _ in batches:
        time.sleep(0.0005)
        n_most = max(n_most, reader._threads._n_queued_bytes)
    assert 0 < n_most <= 1000


def test_progress_counts_every_byte_once_and_names_files(folder, monkeypatch):
    monkeypatch.setattr(reading, "_count_threads", lambda _files: 3)
    steps = []
    reader = ArchiveReader(
        find_inputs([str(folder)]), Request(), progress=ReadingProgress(steps.append)
    )
    n_captures = sum(len(batch) for batch in reader.captures())
    n_bytes = [step.n_bytes for step in steps]
    assert n_bytes == sorted(n_bytes)
    assert n_bytes[-1] == sum(path.stat().st_size for path in folder.iterdir())
    assert n_captures == steps[-1].n_captures
    assert {step.file for step in steps} <= set(map(str, folder.iterdir()))


def test_files_without_captures_are_named_in_order(folder, monkeypatch, caplog):
    for number in (0, 3):
        (folder / f"{number}.txt").write_text("# nothing\n")
    with caplog.at_level(logging.WARNING):
        read(folder, n_threads=4, monkeypatch=monkeypatch)
    assert [record.getMessage().rpartition("/")[2] for record in caplog.records] == [
        *("0.txt holds no captures", "3.txt holds no captures")
    ]


def test_a_pipe_is_read_by_who_asks(tmp_path, monkeypatch):
    path = tmp_path / "list.txt"
    path.write_text("http://a.org/\n")
    with path.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", file)
        names = set()
        usual = reading.find_format

        def find_format(*arguments):
            names.add(threading.current_thread().name)
            return usual(*arguments)

        monkeypatch.setattr(reading, "find_format", find_format)
        batches = list(ArchiveReader(find_inputs(["-"]), Request()).captures())
    assert sum(map(len, batches)) == 1
    assert names == {threading.current_thread().name}


def test_a_missing_part_of_the_inputs_is_an_error_before_any_thread(tmp_path):
    (tmp_path / "a.txt").write_text("http://a.org/\n")
    files = find_inputs([str(tmp_path / "a.txt")])
    (tmp_path / "a.txt").unlink()
    with pytest.raises(SourceError, match="there is no file"):
        ArchiveReader(files, Request())
