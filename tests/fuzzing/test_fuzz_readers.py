"""Hostile files of all formats are read or refused: nothing crashes, hangs or eats the memory."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hostile_files import make_hostile
from reading_checks import BrokenPromise, check_reading
from valid_files import VALID

from amounts import SEED, TIMES
from crawlgauge.core.lines import UrlScanner
from crawlgauge.sources import urls

ROOT = Path(__file__).parents[2]
MAGICS = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"\x5d\x2a\x4d\x18",
    b"PK",
    b"PAR1",
)
FUZZING_SECONDS = TIMES * 200
COMMANDS_SECONDS = TIMES * 100
"""For each variant of the core."""
FINDINGS = ROOT / "build" / "findings"
"""Where the files stay that were not stood."""


def fuzz(*, root=ROOT, **options):
    """Run the fuzzer by itself, since a fault of compiled code ends the process."""
    script = Path(__file__).with_name("fuzz_readers.py")
    words = [f"--{name}={value}" for name, value in options.items()]
    return run(root, [script, f"--findings={FINDINGS}", *words])


def run(root, words, **environment):
    """Run Python on the package in a folder; return what it says."""
    environment = {**os.environ, **environment, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    # What a sanitizer has found stands before all else.
    said = done.stderr[:6000] + done.stderr[-3000:]
    assert done.returncode == 0, f"{done.stdout[-9000:]}\n{said}"
    return done.stdout


def test_hostile_files_are_read_or_refused():
    assert " 0 findings" in fuzz(inputs=200, seed=1)


@pytest.fixture
def variant(tmp_path):
    """Build a variant of the core in a copy of the project."""

    def build(kind):
        root = tmp_path / kind
        compiled = shutil.ignore_patterns("*.so", "__pycache__")
        for name in ("src", "tests/core"):
            shutil.copytree(ROOT / name, root / name, ignore=compiled)
        for name in ("setup.py", "pyproject.toml", "tests/conftest.py", "tests/hostile_urls.py"):
            shutil.copy(ROOT / name, root / name)
        run(root, ["setup.py", "--quiet", "build_ext", "--inplace"], CRAWLGAUGE_CORE=kind)
        return root

    return build


def find_sanitizer():
    """Return the path of the library that must be loaded before all others."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.fail("gcc is not installed, whose sanitizer is needed")
    command = [compiler, "-print-file-name=libasan.so"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["checked", "sanitized"])
def test_a_core_that_checks_itself_finds_nothing_wrong(variant, monkeypatch, kind):
    root = variant(kind)
    monkeypatch.setenv("FUZZING_SLOWNESS", "2")
    if kind == "sanitized":
        monkeypatch.setenv("FUZZING_SLOWNESS", "5")
        monkeypatch.setenv("LD_PRELOAD", find_sanitizer())
        monkeypatch.setenv("PYTHONMALLOC", "malloc")
        # Python keeps much for as long as it runs.
        monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1")
        monkeypatch.setenv("UBSAN_OPTIONS", "print_stacktrace=1:abort_on_error=1")
    run(root, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/core"])
    assert " 0 findings" in fuzz(root=root, seconds=FUZZING_SECONDS, seed=SEED)
    commands = ROOT / "tests" / "faults" / "fuzz_commands.py"
    said = run(root, [commands, f"--seconds={COMMANDS_SECONDS}", f"--seed={SEED}"])
    assert json.loads(said)["failures"] == []


@pytest.mark.parametrize("form", VALID)
def test_each_valid_file_is_read_whole(tmp_path, form):
    for name, data in VALID[form].contents.items():
        (tmp_path / name).write_bytes(data)
    for seed in (1, 2, 15):
        found = check_reading(tmp_path / VALID[form].main, seed)
        assert found.rows.total() >= 4
        assert found.error is None
        assert not found.damages


def test_what_once_reached_new_code_is_read_or_refused(tmp_path):
    """Inputs that the guided fuzzer has kept, each with what is wanted of it."""
    path = tmp_path / "input"
    with zipfile.ZipFile(Path(__file__).with_name("corpus.zip")) as kept:
        for name in kept.namelist():
            wanted, *_ = content = kept.read(name)
            path.write_bytes(content[1:])
            check_reading(path, wanted)


def test_a_seed_gives_the_same_file_each_time_and_seeds_give_all_kinds():
    made = [make_hostile(seed) for seed in range(300)]
    assert made[:50] == [make_hostile(seed) for seed in range(50)]
    contents = [content for files in made for content in files.contents.values()]
    assert all(any(content.startswith(magic) for content in contents) for magic in MAGICS)
    assert any(len(content) > 1 << 20 for content in contents)
    assert make_hostile(1, "warc") != make_hostile(1, "arc")


class Forgetful:
    """Passes over every line that begins so."""

    def __init__(self, collector):
        self._scanner = UrlScanner(collector)

    def scan(self, data, start, end, longest):
        data = data.replace(b"http://a.org/", b"#ttp://a.org/")
        return self._scanner.scan(data, start, end, longest)


def test_a_scanner_that_loses_what_it_should_take_is_noticed(tmp_path, monkeypatch):
    path = tmp_path / "list.txt"
    path.write_bytes(b"http://a.org/\nhttp://b.org/\n")
    assert check_reading(path).rows.total() == 2
    monkeypatch.setattr(urls, "UrlScanner", Forgetful)
    with pytest.raises(BrokenPromise, match=r"without scanners.*a\.org"):
        check_reading(path)
