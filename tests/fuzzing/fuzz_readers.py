"""Read hostile files until the time is over; keep each that a reader does not stand.

Each file is read by a worker process, since a fault of compiled code ends the process, and a hang
or a greed for memory must be ended from outside::

    python tests/fuzzing/fuzz_readers.py --seconds 3600 --seed 1 --findings build/findings
"""

import argparse
import json
import logging
import multiprocessing
import os
import re
import resource
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "keys")]

from hostile_files import make_hostile
from reading_checks import check_reading
from valid_files import VALID

READING_SECONDS = 30.0
"""For one file, read five times; most take some milliseconds, the largest some seconds."""
STARTING_SECONDS = 120.0
MAX_GROWTH_BYTES = 700_000_000
MAX_ALIKE = 3
"""So many findings are kept of which the same line of code is the cause."""
SHOWN_BYTES = 2000
SLOWNESS = float(os.environ.get("FUZZING_SLOWNESS", "1"))
"""How many times as much time and memory a core takes that checks itself."""


def write_files(files, folder):
    """Write the files of an input and return the path of the one to read."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.contents.items():
        (folder / name).write_bytes(data)
    return folder / files.main


def work(connection: Connection) -> None:
    """Read the file of each seed that is sent, and answer with what went wrong."""
    logging.disable()
    # The other side may end first.
    with suppress(ConnectionError, EOFError), TemporaryDirectory(prefix="hostile-") as base:
        for name, files in VALID.items():
            found = check_reading(write_files(files, Path(base) / name))
            if found.error or found.damages:
                raise RuntimeError(f"the valid file {name} cannot be read: {found}")
        connection.send(None)
        while True:
            connection.send(_answer(connection.recv(), base))


def _answer(seed, base):
    before = _peak_bytes()
    ignored = []
    # Where the core cannot raise, an index out of bounds is told so, and passed over.
    sys.unraisablehook = lambda told: ignored.append(f"{told.exc_value!r} in {told.object!r}")
    # An index looks for other files beside it.
    with TemporaryDirectory(prefix="input-", dir=base) as folder:
        answer = _read(write_files(make_hostile(seed), Path(folder)), seed)
    if ignored:
        answer["finding"] = f"unraisable: {ignored[0]}"
    growth = _peak_bytes() - before
    if growth > SLOWNESS * MAX_GROWTH_BYTES:
        answer["finding"] = f"memory: {growth:,} bytes more"
    return answer


def _read(path, seed):
    try:
        kept = check_reading(path, seed)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        frames = traceback.extract_tb(error.__traceback__)
        where = next(
            f for f in reversed(frames) if "crawlgauge" in f.filename or "fuzzing" in f.filename
        )
        what = re.sub(r"/\S+|\d+", "…", str(error))[:60] if "fuzzing" in where.filename else ""
        cause = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno} {what}"
        return {"finding": cause, "trace": traceback.format_exc()}
    outcome = "whole" if not kept.error and not kept.damages else "damaged"
    return {"outcome": "refused" if kept.error else outcome}


def _peak_bytes():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@dataclass
class Worker:
    """The process that reads, started again whenever it has ended."""

    process: multiprocessing.Process | None = None
    connection: Connection | None = None

    def read(self, seed):
        """Return what came of a file: an outcome or a finding."""
        if self.process is None:
            self._start()
        self.connection.send(seed)
        return self._wait(SLOWNESS * READING_SECONDS)

    def stop(self):
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        answer = self._wait(SLOWNESS * STARTING_SECONDS)
        if answer is not None:
            raise RuntimeError(f"the valid files cannot be read: {answer}")

    def _wait(self, seconds):
        end, limit = time.monotonic() + seconds, None
        while not self.connection.poll(0.2):
            used = _resident_bytes(self.process.pid)
            limit = limit or used + SLOWNESS * MAX_GROWTH_BYTES
            if used > limit:
                self.stop()
                return {"finding": f"memory: more than {limit:,} bytes"}
            if time.monotonic() > end:
                self.stop()
                return {"finding": f"hang: more than {seconds:g} seconds"}
        try:
            answer = self.connection.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            self.process = None
            return {"finding": f"crash: exit code {code}"}
        if answer is not None and answer.get("finding", "").startswith("memory"):
            self.stop()
        return answer


def _resident_bytes(pid):
    """Return the memory that a process uses now, or 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


@dataclass
class Campaign:
    """What was read so far and what was found."""

    findings: Path | None
    outcomes: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)

    def take(self, seed, answer):
        """Count one answer, and keep the file if it is a finding."""
        cause = answer.get("finding")
        if cause is None:
            self.outcomes[answer["outcome"]] += 1
            return
        self.causes[cause] += 1
        _say(f"seed {seed}: {cause}")
        files = make_hostile(seed)
        if self.causes[cause] == 1:
            shown = {name: data[:SHOWN_BYTES] for name, data in files.contents.items()}
            _say(answer.get("trace", "").strip())
            _say(f"the input is {shown}; again: fuzz_readers.py --seed {seed} --inputs 1")
        if self.findings is not None and self.causes[cause] <= MAX_ALIKE:
            folder = self.findings / f"seed-{seed}"
            write_files(files, folder)
            (folder / "finding.json").write_text(json.dumps({"seed": seed, **answer}, indent=1))
            (folder / "trace.txt").write_text(answer.get("trace", ""), errors="backslashreplace")

    def summary(self, seconds):
        """Return the totals in one line."""
        n_found = sum(self.causes.values())
        read = ", ".join(f"{n:,} {name}" for name, n in sorted(self.outcomes.items()))
        return (
            f"{sum(self.outcomes.values()) + n_found:,} inputs in {seconds:,.0f} s: {read}; "
            f"{n_found:,} findings of {len(self.causes):,} causes"
        )


def _say(text):
    sys.stdout.buffer.write(f"{text}\n".encode(errors="backslashreplace"))
    sys.stdout.flush()


def run(*, seconds, n_inputs, first_seed, findings):
    """Read hostile files until the time is over or enough are read, and return the totals."""
    campaign, worker = Campaign(findings), Worker()
    start = said = time.monotonic()
    seed = first_seed
    try:
        while time.monotonic() - start < seconds and seed - first_seed < n_inputs:
            campaign.take(seed, worker.read(seed))
            seed += 1
            if time.monotonic() - said > 60:
                said = time.monotonic()
                _say(campaign.summary(said - start))
    finally:
        worker.stop()
    _say(campaign.summary(time.monotonic() - start))
    return campaign


def main() -> int:
    """Run from the command line; the exit code says whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--inputs", type=int, default=10**9, help="stop after so many files")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first file")
    parser.add_argument("--findings", type=Path, help="folder for the files that are found")
    options = parser.parse_args()
    campaign = run(
        seconds=options.seconds,
        n_inputs=options.inputs,
        first_seed=options.seed,
        findings=options.findings,
    )
    return 1 if campaign.causes else 0


if __name__ == "__main__":
    sys.exit(main())
