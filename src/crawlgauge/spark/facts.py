"""Put together what tasks have counted, in the order of the inputs."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from crawlgauge.crawl import parse_time
from crawlgauge.damage import Damage
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.provenance import Input
from crawlgauge.sources.captures import Rejection
from crawlgauge.store.building import MAX_EXAMPLES, SetBuilder

__all__ = ["Facts"]

_AT_THE_END = 1 << 62

_log = logging.getLogger(__name__)


class Facts:
    """What the tasks of a crawl have counted.

    Parameters
    ----------
    documents
        Of each task, in any order.
    """

    def __init__(self, documents: Sequence[dict[str, Any]]) -> None:
        self._documents = sorted(documents, key=_first_number)
        self._pieces = sorted(
            (piece for document in documents for piece in document["pieces"]),
            key=lambda piece: piece["number"],
        )

    @property
    def labels(self) -> list[str]:
        """Labels of the crawls that were found."""
        return sorted({label for document in self._documents for label in document["crawls"]})

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Name, size and checksum of what was read."""
        return tuple(Input(**item) for piece in self._pieces for item in piece.get("inputs", ()))

    @property
    def damages(self) -> list[Damage]:
        """What was damaged of it."""
        found = (item for piece in self._pieces for item in piece.get("damages", ()))
        return [Damage.from_dict(item) for item in found]

    @property
    def unassigned(self) -> Counter[str]:
        """Records of a collection that belong to none of its crawls, by reason."""
        return sum((Counter(item["unassigned"]) for item in self._documents), Counter())

    @property
    def unassigned_examples(self) -> list[Rejection]:
        """The first of those that were rejected."""
        return self._in_file(
            (document, example) for document in self._documents for example in document["examples"]
        )

    def threshold(self, label: str, level: str) -> int:
        """Return the least threshold of a task: below it, all keys of the crawl are known."""
        found = (
            int(document["crawls"][label]["thresholds"][level], 16)
            for document in self._documents
            if label in document["crawls"]
        )
        return min(found, default=WHOLE)

    def attributes_below(self, label: str) -> int:
        """Return below which keys all attributes of a crawl are known."""
        found = (
            int(document["crawls"][label]["attributes_below"], 16)
            for document in self._documents
            if label in document["crawls"]
        )
        return min(found, default=WHOLE)

    def add_to(self, builder: SetBuilder, label: str) -> None:
        """Add what was counted of a crawl to what is known of it."""
        examples = []
        for document in self._documents:
            if label not in document["crawls"]:
                continue
            counted = document["crawls"][label]
            builder.n_captures += counted["n_captures"]
            builder.n_no_status += counted["n_no_status"]
            builder.rejected.update(counted["rejected"])
            builder.excluded.update(counted["excluded"])
            for day, n_captures in counted["days"]:
                builder.days[day] += n_captures
            _add_times(builder, counted)
            examples += [(document, example) for example in counted["examples"]]
            for level in builder.levels:
                of_level = counted["levels"][level.level]
                level.n_captures += of_level["n_captures"]
                level.excluded.update(of_level["excluded"])
                level.n_by_digest += of_level["n_by_digest"]
        builder.examples += self._in_file(iter(examples))[: MAX_EXAMPLES - len(builder.examples)]

    def log(self, *, n_inputs: int) -> None:
        """Log what tasks have logged, each message once, and which inputs hold no captures."""
        for level, message in dict.fromkeys(
            tuple(item) for document in self._documents for item in document["log"]
        ):
            _log.log(level, "%s", message)
        for piece in self._pieces:
            if piece.get("is_empty") and n_inputs > 1:
                _log.warning("%s holds no captures", piece["name"])

    def _in_file(self, found: Iterator[tuple[dict[str, Any], dict[str, Any]]]) -> list[Rejection]:
        """Return examples with the lines that they have in their whole files."""
        examples = []
        for document, example in found:
            n_before = self._lines_before(document)
            line = example["line"]
            moved = None if line is None else line + n_before
            examples.append(Rejection(**{**example, "line": moved}))
        return examples[:MAX_EXAMPLES]

    def _lines_before(self, document: dict[str, Any]) -> int:
        pieces = document["pieces"]
        if not pieces or "n_lines" not in pieces[0]:
            return 0
        return sum(
            piece["n_lines"]
            for piece in self._pieces
            if piece["name"] == pieces[0]["name"]
            and "n_lines" in piece
            and piece["number"] < pieces[0]["number"]
        )


def _first_number(document: dict[str, Any]) -> int:
    pieces = document["pieces"]
    return pieces[0]["number"] if pieces else _AT_THE_END


def _add_times(builder: SetBuilder, counted: dict[str, Any]) -> None:
    first, last = parse_time(counted["first_capture"]), parse_time(counted["last_capture"])
    if first is not None:
        builder.first_capture = min(first, builder.first_capture or first)
    if last is not None:
        builder.last_capture = max(last, builder.last_capture or last)
