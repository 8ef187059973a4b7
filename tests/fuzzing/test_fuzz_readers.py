"""Hostile files of all formats are read or refused: nothing crashes, hangs or eats the memory."""

import subprocess
import sys
from pathlib import Path

import pytest
from hostile_files import make_hostile
from reading_checks import BrokenPromise, check_reading
from valid_files import VALID

from crawlgauge.sources import reading
from crawlgauge.sources.byte_stream import ByteStream

MAGICS = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"\x5d\x2a\x4d\x18",
    b"PK",
    b"PAR1",
)


def fuzz(tmp_path, *, n_inputs, seed):
    """Run the fuzzer by itself, since a fault of compiled code ends the process."""
    script = Path(__file__).with_name("fuzz_readers.py")
    findings = tmp_path / "findings"
    options = ("--inputs", n_inputs, "--seed", seed, "--findings", findings, "--seconds", 900)
    command = [sys.executable, script, *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_hostile_files_are_read_or_refused(tmp_path):
    assert " 0 findings" in fuzz(tmp_path, n_inputs=100, seed=1)


@pytest.mark.slow
def test_thousands_of_hostile_files_are_read_or_refused(tmp_path):
    assert "4,000 inputs" in fuzz(tmp_path, n_inputs=4000, seed=10_000)


@pytest.mark.parametrize("form", VALID)
def test_each_valid_file_is_read_whole(tmp_path, form):
    for name, data in VALID[form].contents.items():
        (tmp_path / name).write_bytes(data)
    found = check_reading(tmp_path / VALID[form].main)
    assert len(found.rows) >= 4
    assert found.error is None
    assert not found.damages


def test_a_seed_gives_the_same_file_each_time_and_seeds_give_all_kinds():
    made = [make_hostile(seed) for seed in range(300)]
    assert made[:50] == [make_hostile(seed) for seed in range(50)]
    contents = [content for files in made for content in files.contents.values()]
    assert all(any(content.startswith(magic) for content in contents) for magic in MAGICS)
    assert any(len(content) > 1 << 20 for content in contents)
    assert make_hostile(1, "warc") != make_hostile(1, "arc")


def test_a_reader_that_loses_what_it_should_keep_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "list.txt").write_bytes(b"http://a.org/\nhttp://b.org/\n")
    assert check_reading(tmp_path / "list.txt").rows == [(b"http://a.org/",), (b"http://b.org/",)]

    class Forgetful(ByteStream):
        def blocks(self):
            return (block[14 * self._keep_damaged :] for block in super().blocks())

    monkeypatch.setattr(reading, "ByteStream", Forgetful)
    with pytest.raises(BrokenPromise, match=r"lost by keeping.*a\.org"):
        check_reading(tmp_path / "list.txt")
