"""Where readers hand the records of an input: to the collector, with examples of rejected ones."""

from dataclasses import dataclass

from crawlgauge.core.captures import Collector
from crawlgauge.errors import printable

MAX_EXAMPLES = 5
_EXAMPLE_BYTES = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An example of a record that is no capture, and where it stands.

    Parameters
    ----------
    file
        The input.
    line
        Its number in the file, from 1; None where records have none.
    offset
        Where it begins in the decompressed input.
    reason
        Why it is no capture.
    text
        Its beginning, safe to print.
    """

    file: str
    line: int | None
    offset: int
    reason: str
    text: str


class Intake:
    """Takes the records of one input.

    Parameters
    ----------
    name
        Of the input.
    collector
        Takes the captures.
    """

    def __init__(self, name: str, collector: Collector) -> None:
        self.name = name
        self.collector = collector
        self.examples: list[Rejection] = []

    def reject(self, reason: str, text: bytes, *, offset: int, line: int | None = None) -> None:
        """Count a record that is no capture, and keep it as an example.

        Parameters
        ----------
        reason
            Why it is none.
        text
            The record, or its beginning.
        offset
            Where it begins in the decompressed input.
        line
            Its number, from 1.
        """
        self.collector.reject(reason)
        self.show(reason, text, offset=offset, line=line)

    def show(self, reason: str, text: bytes, *, offset: int, line: int | None = None) -> None:
        """Keep a record that has been counted as an example, if there are few; see `reject`."""
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(
                Rejection(
                    file=self.name, line=line, offset=offset, reason=reason, text=readable(text)
                )
            )


def readable(text: bytes) -> str:
    """Return the beginning of a text, safe to print on a terminal."""
    shown = printable(text[:_EXAMPLE_BYTES].decode("utf-8", errors="replace"))
    return shown + ("…" if len(text) > _EXAMPLE_BYTES else "")
