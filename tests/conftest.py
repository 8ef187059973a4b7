"""Fixtures for all tests: the command line, and what lies beside the project, if it does."""

import importlib.util
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import hypothesis
import pytest

from crawlgauge.cli import main

sys.path.insert(0, str(Path(__file__).parent))

from hostile_urls import make_hostile_urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
# The same examples each time, however slow the machine: what fails must fail for everybody.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")

MUST_RUN = bool(os.environ.get("CRAWLGAUGE_REQUIRE_ALL"))


def skip_or_fail(reason: str) -> NoReturn:
    """Skip on a user's machine; fail in the full check, where everything must run."""
    if MUST_RUN:
        pytest.fail(f"{reason}; the full check needs it")
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "real" in item.path.relative_to(ROOT).parts:
            item.add_marker(pytest.mark.real)
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.java)
            # One process has one session, and starting it takes longer than most tests.
            item.add_marker(pytest.mark.xdist_group("spark"))


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> "Iterator[Callable[..., Result]]":
    """Run a command in this process."""
    root, own = logging.getLogger(), logging.getLogger("crawlgauge")
    before = root.handlers[:], root.level, own.level

    def run(*words: object) -> Result:
        capsys.readouterr()
        code = main._run([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    yield run
    root.handlers[:], root.level = before[0], before[1]
    own.setLevel(before[2])


@pytest.fixture(scope="session")
def hostile_urls() -> "Callable[[int, int], list[bytes]]":
    """Return a function that makes so many URLs from a seed."""
    return make_hostile_urls


@pytest.fixture
def make_list(tmp_path: Path) -> "Callable[..., Path]":
    """Write a URL list of the given numbers."""

    def make(numbers: "Iterable[int]", name: str = "list.txt") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"http://example.org/{number}\n" for number in numbers))
        return path

    return make


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real archive data that may lie beside the project."""
    return _find_beside("data")


@pytest.fixture(scope="session")
def shared_contract() -> Path:
    """Return the folder of agreed examples that may lie beside the project."""
    return _find_beside("contract")


@pytest.fixture(scope="session")
def java() -> str:
    """Return the path of Java."""
    found = shutil.which("java")
    return found if found is not None else skip_or_fail("Java is not installed")


@pytest.fixture(scope="session")
def needs_spark(java: str) -> None:  # noqa: ARG001 - Spark runs on it
    """See that Spark can run here."""
    for name in ("pyspark", "pandas"):
        if importlib.util.find_spec(name) is None:
            skip_or_fail(f"{name} is not installed")


@pytest.fixture(scope="session")
def spark(needs_spark: None) -> "Iterator[SparkSession]":  # noqa: ARG001 - skips without it
    """Return one session of Spark for all tests of the process."""
    from crawlgauge.spark.session import start

    settings = {
        "spark.sql.shuffle.partitions": "4",
        # Java shall not spend long on compiling what runs for seconds.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with start("local[2]", settings) as session:
        yield session


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of Chromium, where Playwright is there to drive it."""
    if importlib.util.find_spec("playwright") is None:
        skip_or_fail("Playwright is not installed")
    found = shutil.which("chromium")
    return found if found is not None else skip_or_fail("Chromium is not installed")


def _find_beside(name: str) -> Path:
    folder = ROOT.parent / "shared" / name
    return folder if folder.is_dir() else skip_or_fail(f"there is no folder {folder}")
