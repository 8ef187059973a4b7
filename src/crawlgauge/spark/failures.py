"""Carry errors from tasks to the driver: whole, in one line, whatever Spark puts around them."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from crawlgauge import errors
from crawlgauge.damage import Damage
from crawlgauge.errors import CrawlgaugeError, DamagedInput, SparkError

__all__ = ["explain_failure", "tell_driver"]

_MARK = "crawlgauge-failure:"
_FOUND = re.compile(re.escape(_MARK) + r"(\{.*?\})" + re.escape(_MARK))
_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w+(?:Error|Exception)?: .+$", re.MULTILINE)
_HINT = "; the whole message is shown with --spark-conf spark.log.level=WARN"


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
            "host": socket.gethostname(),
            "damage": error.damage.to_dict() if isinstance(error, DamagedInput) else None,
        }
        # Without line ends, and in ASCII: whatever cuts or encodes the trace leaves it whole.
        raise _FailedTask(f"{_MARK}{json.dumps(document)}{_MARK}") from None


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
    except CrawlgaugeError:
        raise
    except Exception as error:
        if not _is_of_spark(error):
            raise
        raise _read(str(error), doing) from error


def _is_of_spark(error: Exception) -> bool:
    return type(error).__module__.startswith(("pyspark", "py4j"))


def _read(text: str, doing: str) -> CrawlgaugeError:
    found = _FOUND.search(text)
    if found is None:
        return SparkError(f"Spark failed while {doing}: {_main_line(text)}{_HINT}")
    document = json.loads(found[1])
    if document["damage"] is not None:
        return DamagedInput(Damage.from_dict(document["damage"]))
    kind: type[CrawlgaugeError] = getattr(errors, document["kind"], CrawlgaugeError)
    return kind(document["message"])


def _main_line(text: str) -> str:
    """Return the line that says what went wrong in Python, or else Spark's first one."""
    lines = _PYTHON_ERROR.findall(text)
    wanted = [line for line in lines if not line.startswith(("org.", "java.", "py4j", "pyspark"))]
    first = text.strip().partition("\n")[0]
    return (wanted[-1] if wanted else first).strip().rstrip(".")
