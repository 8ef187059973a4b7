"""Spark itself: started quietly for one command, watched, and its failures told in one line."""

import importlib.util
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from crawlgauge import errors
from crawlgauge.errors import CrawlgaugeError, Damage, DamagedInput, SparkError
from crawlgauge.store.documents import from_plain, to_plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
Watcher = Callable[[int, int], None]
"""Called with how many tasks are done, and how many are known."""

_NEEDED = ("pyspark", "pyarrow", "pandas")
"""Spark's functions on Arrow batches ask for pandas, though nothing here uses it."""

_LOG_LEVEL = "spark.log.level"
_DEFAULTS = {
    "spark.app.name": "crawlgauge",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    _LOG_LEVEL: "ERROR",
}
_STDERR = 2
_USUAL_CORES = 32
_SECONDS_BETWEEN = 0.3


def check_packages(*wanted: str) -> None:
    """See that packages which Spark needs are installed.

    Raises
    ------
    SparkError
        If one is missing; it says what to install.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if not set(missing).isdisjoint(wanted):
        raise SparkError(
            f"the engine spark needs {' and '.join(missing)}, not installed here; run "
            "pip install '.[spark]' in the checkout, and install Java 17 or newer"
        )


def check_installed() -> None:
    """See that Spark can be started at all.

    Raises
    ------
    SparkError
        If PySpark or Java is missing; it says what to install.
    """
    check_packages(*_NEEDED)
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").exists():
        raise SparkError(
            f"the engine spark needs Java, but JAVA_HOME is {home}, where there is no bin/java; "
            "set it to the folder of Java 17 or newer, or unset it"
        )
    if not home and shutil.which("java") is None:
        raise SparkError(
            "the engine spark needs Java, which is not found; install Java 17 or newer (such as "
            "the package openjdk-17-jre-headless), or set JAVA_HOME"
        )


@contextmanager
def start(
    master: str | None = None, conf: Mapping[str, str] | None = None
) -> "Iterator[SparkSession]":
    """Start a Spark session, and stop it in the end.

    Parameters
    ----------
    master
        Where Spark runs: ``local[*]`` (all cores of this machine, by default), ``local[4]``,
        ``spark://host:7077``, ``yarn``, ``k8s://…``.
    conf
        Further settings of Spark. What Spark itself logs is shown if ``spark.log.level`` is
        among them.

    Raises
    ------
    SparkError
        If PySpark or Java is missing, or Spark does not start.
    """
    check_installed()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    chosen = dict(conf or {})
    master = master or chosen.get("spark.master") or "local[*]"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        # What runs on this machine alone needs no address that others can reach.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # It tells each step of its protocol.
    logging.getLogger("py4j").setLevel(logging.ERROR)
    is_first = SparkContext._gateway is None  # noqa: SLF001 - nothing else tells
    builder = SparkSession.builder.master(master)
    for key, value in {**_DEFAULTS, **_reach_this_code(master), **chosen}.items():
        builder = builder.config(key, value)
    with nullcontext() if _LOG_LEVEL in chosen else _java_messages() as messages:
        try:
            session = builder.getOrCreate()
        except Exception as error:
            raise SparkError(
                f"Spark does not start with --master {master}: {_reason(error, messages)}"
            ) from error
    try:
        yield session
    finally:
        session.stop()
        if is_first:
            _end_java()


def _end_java() -> None:
    """End the Java process that was started, and wait for it: it shall outlive nobody."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001 - there is no other way to the process
    process = getattr(gateway, "proc", None)
    if gateway is None or process is None:
        return
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - the next session starts anew
    gateway.shutdown()
    process.stdin.close()
    process.wait()


def _reach_this_code(master: str) -> dict[str, str]:
    """Let Python on this machine's executors find the same crawlgauge as this process."""
    if not master.startswith("local"):
        return {}
    source = str(Path(__file__).parents[2])
    before = os.environ.get("PYTHONPATH")
    return {
        "spark.executorEnv.PYTHONPATH": f"{source}{os.pathsep}{before}" if before else source,
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
    }


@contextmanager
def _java_messages() -> Iterator[BinaryIO]:
    """Let Java, which is started within the block, write its messages to a file for good.

    What matters of them comes back as exceptions; the others would stand between ours.
    """
    with tempfile.TemporaryFile() as messages, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.stderr.flush()
        kept = os.dup(_STDERR)
        os.dup2(messages.fileno(), _STDERR)
        try:
            yield messages
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)


def _reason(error: Exception, messages: BinaryIO | None) -> str:
    text = next(filter(None, map(str.strip, str(error).splitlines())), type(error).__name__)
    if messages is None:
        return text
    messages.seek(0)
    lines = messages.read().decode("utf-8", errors="replace").splitlines()
    cause = next((line.strip() for line in lines if "Exception" in line or "Error" in line), "")
    return f"{text} ({cause})" if cause else text


# ----------------------------------------------------------------------------------------- tasks


def count_cores(spark: "SparkSession") -> int:
    """Return how many tasks run at once; a usual number for Spark Connect, which does not tell."""
    context = getattr(spark, "sparkContext", None)
    return _USUAL_CORES if context is None else max(1, int(context.defaultParallelism))


def map_items(
    spark: "SparkSession", items: Sequence[T], work: Callable[[T], Iterable[Any]], schema: str
) -> "DataFrame":
    """Let a task do some work for each item; what comes of it is in the order of the items.

    Parameters
    ----------
    spark
        The session.
    items
        What is to be worked on.
    work
        What a task does with one of them; it gives Arrow batches.
    schema
        Of these.
    """

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from work(items[number])

    return spark.range(0, len(items), 1, len(items)).mapInArrow(run, schema)


@contextmanager
def watch_tasks(spark: "SparkSession", watcher: Watcher | None) -> Iterator[None]:
    """Tell how many tasks are done, as long as the block lasts.

    Parameters
    ----------
    spark
        The session; one without a context of its own (Spark Connect) tells nothing.
    watcher
        Called now and then; None if nobody wants to know.
    """
    context = getattr(spark, "sparkContext", None)
    if watcher is None or context is None:
        yield
        return
    is_over = threading.Event()

    def watch() -> None:
        tracker, stages = context.statusTracker(), set[int]()
        while not is_over.wait(_SECONDS_BETWEEN):
            stages.update(tracker.getActiveStageIds())
            found = [info for one in stages if (info := tracker.getStageInfo(one)) is not None]
            if found:
                done = sum(info.numCompletedTasks for info in found)
                watcher(done, sum(info.numTasks for info in found))

    thread = threading.Thread(target=watch, name="watching-spark", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


# -------------------------------------------------------------------------------------- failures

_MARK = "crawlgauge-failure:"
_FOUND = re.compile(re.escape(_MARK) + r"(\{.*?\})" + re.escape(_MARK))
_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w+(?:Error|Exception)?: .+$", re.MULTILINE)
_OF_SPARK = ("pyspark", "py4j")


class _FailedTask(Exception):  # noqa: N818 - Spark prints the name
    """An error that the driver is to raise."""


@contextmanager
def tell_driver() -> Iterator[None]:
    """Turn errors that are raised on purpose within a task into ones that the driver can read."""
    try:
        yield
    except CrawlgaugeError as error:
        document = {
            "kind": type(error).__name__,
            "message": str(error),
            "damage": getattr(error, "damage", None),
        }
        # Without line ends, and in ASCII: whatever cuts or encodes the trace leaves it whole.
        raise _FailedTask(f"{_MARK}{json.dumps(document, default=to_plain)}{_MARK}") from None


@contextmanager
def explain_failure(doing: str) -> Iterator[None]:
    """Raise what has made a task fail as if it had been raised here.

    Parameters
    ----------
    doing
        What Spark does within the block, for errors that are Spark's own.

    Raises
    ------
    CrawlgaugeError
        As the task raised it, or a `SparkError` that says in a line why Spark failed.
    """
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(_OF_SPARK):
            raise
        raise _read_failure(str(error), doing) from error


def _read_failure(text: str, doing: str) -> CrawlgaugeError:
    found = _FOUND.search(text)
    if found is None:
        return SparkError(
            f"Spark failed while {doing}: {_main_line(text)}; the whole message is shown with "
            "--spark-conf spark.log.level=WARN"
        )
    document = json.loads(found[1])
    if document["damage"] is not None:
        return DamagedInput(from_plain(document["damage"], Damage))
    kind: type[CrawlgaugeError] = getattr(errors, document["kind"], CrawlgaugeError)
    return kind(document["message"])


def _main_line(text: str) -> str:
    """Return the line that says what went wrong in Python, or else Spark's first one."""
    lines = _PYTHON_ERROR.findall(text)
    wanted = [line for line in lines if not line.startswith(("org.", "java.", *_OF_SPARK))]
    first = text.strip().partition("\n")[0]
    return (wanted[-1] if wanted else first).strip().rstrip(".")
