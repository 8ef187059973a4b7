"""Start Spark for one command, quietly, and say what is missing where it cannot be started."""

import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from crawlgauge.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["DEFAULT_MASTER", "check_installed", "start"]

DEFAULT_MASTER = "local[*]"
_EXTRA = "pip install 'crawlgauge[spark]'"
_NEEDED = ("pyspark", "pandas")
"""Spark's functions on Arrow batches ask for pandas, though nothing here uses it."""

_LOG_LEVEL = "spark.log.level"
_DEFAULTS = {
    "spark.app.name": "crawlgauge",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    _LOG_LEVEL: "ERROR",
}
_LOOPBACK = "127.0.0.1"
_STDERR = 2


def check_installed() -> None:
    """See that Spark can be started at all.

    Raises
    ------
    SparkError
        If PySpark or Java is missing; it says what to install.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise SparkError(
            f"the engine spark needs {' and '.join(missing)}, not installed here; run {_EXTRA}, "
            "and install Java 17 or newer"
        )
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
    master = master or chosen.get("spark.master") or DEFAULT_MASTER
    settings = {**_DEFAULTS, **_reach_this_code(master), **chosen}
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        # What runs on this machine alone needs no address that others can reach.
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    # It tells each step of its protocol.
    logging.getLogger("py4j").setLevel(logging.ERROR)
    is_first = SparkContext._gateway is None  # noqa: SLF001 - nothing else tells
    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    with _java_messages(shown=_LOG_LEVEL in chosen) as messages:
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
def _java_messages(*, shown: bool) -> Iterator[BinaryIO | None]:
    """Let Java, which is started within the block, write its messages to a file for good.

    What matters of them comes back as exceptions; the others would stand between ours.
    """
    if shown:
        yield None
        return
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
    told = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = told[0] if told else type(error).__name__
    if messages is None:
        return text
    messages.seek(0)
    lines = messages.read().decode("utf-8", errors="replace").splitlines()
    causes = [line.strip() for line in lines if "Exception" in line or "Error" in line]
    return f"{text} ({causes[0]})" if causes else text
