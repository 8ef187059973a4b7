"""Read what reaches new code: libFuzzer changes files, and keeps those on which other lines run.

The readers in Python are watched, and every reading compares the compiled core with them. What was
kept grows from run to run, and so does ``corpus.zip`` beside this file, which the tests read. It
needs Atheris (``pip install --group fuzz``)::

    python tests/fuzzing/fuzz_guided.py build/corpus -max_total_time=600
    python tests/fuzzing/fuzz_guided.py --keep build/corpus

The folder is the one that grows; all else is for libFuzzer. The first byte of an input says what is
wanted of it, and the rest is the file. An input that is not stood is written beside the folder as
``crash-…``; give its name in place of the folder's to read it again.
"""

import logging
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import atheris

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "keys")]

with atheris.instrument_imports(include=["crawlgauge"]):
    from reading_checks import check_reading

from valid_files import VALID

from amounts import TIMES

CORPUS = Path(__file__).with_name("corpus.zip")
FOUND_BEFORE = Path(__file__).parents[1] / "faults" / "corpus"
COMMAND = f"{sys.executable} {__file__}"
"""By which libFuzzer calls itself."""
SECONDS = TIMES * 600
LONGEST = 1 << 11
"""Longer ones are read more slowly, and hold little that is new."""


def begin_corpus(folder: Path) -> None:
    """Put into a folder what was kept before, and each valid file that is a single one."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(CORPUS) as kept:
        kept.extractall(folder)
    known = {name: files.contents[files.main] for name, files in VALID.items()}
    known |= {path.name: path.read_bytes() for path in FOUND_BEFORE.iterdir()}
    for name, data in known.items():
        (folder / f"known-{name}").write_bytes(b"\0" + data)


def keep_corpus(folder: Path) -> None:
    """Keep the fewest inputs of a folder that reach all that it reaches."""
    with tempfile.TemporaryDirectory(prefix="merged-") as merged:
        words = [sys.executable, __file__, merged, str(folder), "-set_cover_merge=1"]
        subprocess.run(words, check=True)
        with zipfile.ZipFile(CORPUS, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as kept:
            for path in sorted(Path(merged).iterdir()):
                # Without the time, so that the same inputs make the same file.
                kept.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def main() -> None:
    """Run libFuzzer until it finds something or its time is over."""
    logging.disable()
    words = sys.argv[1:]
    if words[0] == "--keep":
        keep_corpus(Path(words[1]))
        return
    is_merge = any("merge" in word for word in words)
    if not is_merge and not Path(words[0]).is_file():
        begin_corpus(Path(words[0]))
    with tempfile.TemporaryDirectory(prefix="guided-") as base:
        path = Path(base) / "input"

        def read(data: bytes) -> None:
            path.write_bytes(data[1:])
            check_reading(path, data[0] if data else 0)

        usual = [f"-artifact_prefix={Path(words[0]).parent}/", f"-max_total_time={SECONDS:.0f}"]
        atheris.Setup([COMMAND, f"-max_len={LONGEST}", *usual, *words], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
