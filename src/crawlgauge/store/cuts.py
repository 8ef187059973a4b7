"""How a collection is cut into crawls: by capture time, or by a field such as the file name."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.arrow_columns import to_values
from crawlgauge.crawl import check_label
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.provenance import Setting
from crawlgauge.sources.captures import Captures

__all__ = ["Assignment", "ByField", "ByTime", "Cut", "Period"]

Period = Literal["month", "quarter", "half-year", "year"]

_MONTHS: dict[Period, int] = {"month": 1, "quarter": 3, "half-year": 6, "year": 12}
_EPOCH_YEAR = 1970


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assignment:
    """Which crawl each capture of a batch belongs to.

    Parameters
    ----------
    numbers
        For each capture, the place of its label in `labels`; −1 if it belongs to none.
    labels
        The crawls' labels.
    reason
        Why captures belong to none, as a slug.
    """

    numbers: NDArray[np.int64]
    labels: list[str]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTime:
    """Cut by capture time into the months, quarters, half-years or years of the calendar."""

    period: Period

    @property
    def group(self) -> str | None:
        """The field that readers are asked for: none but the time."""
        return None

    def settings(self) -> dict[str, Setting]:
        """Return the choice by name."""
        return {"split": self.period}

    def assign(self, captures: Captures) -> Assignment:
        """Tell which crawl each capture belongs to.

        Raises
        ------
        SourceError
            If the input lacks what it takes.
        """
        if captures.time is None:
            raise SourceError(
                f"--split {self.period} needs capture times, which this input does not have; use "
                "--split-by, or add the crawls one by one"
            )
        months = captures.time.astype("datetime64[M]")
        is_known = ~np.isnat(months)
        periods = months.astype(np.int64) // _MONTHS[self.period]
        found, codes = np.unique(periods[is_known], return_inverse=True)
        numbers = np.full(len(captures), -1, dtype=np.int64)
        numbers[is_known] = codes
        labels = [self._label(int(period)) for period in found]
        return Assignment(numbers=numbers, labels=labels, reason="no-time")

    def _label(self, number: int) -> str:
        year, part = divmod(number, 12 // _MONTHS[self.period])
        names = {
            "month": f"-{part + 1:02d}",
            "quarter": f"-Q{part + 1}",
            "half-year": f"-H{part + 1}",
            "year": "",
        }
        return f"{_EPOCH_YEAR + year}{names[self.period]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByField:
    """Cut by what an expression finds in a field, such as the name of the WARC file.

    Parameters
    ----------
    pattern
        A regular expression; its first group, or all that it finds, is the crawl's label.
    field
        ``filename``, or another field or column of the input.

    Raises
    ------
    SourceError
        If the expression is none.
    """

    pattern: str
    field: str = "filename"

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise SourceError(
                f"--split-by {self.pattern!r} is no regular expression: {error}"
            ) from error

    @property
    def group(self) -> str | None:
        """The field that readers are asked for."""
        return self.field

    def settings(self) -> dict[str, Setting]:
        """Return the choice by name."""
        return {"split_by": self.pattern, "split_field": self.field}

    def assign(self, captures: Captures) -> Assignment:
        """Tell which crawl each capture belongs to.

        Raises
        ------
        SourceError
            If the input lacks what it takes.
        """
        if captures.group is None:
            raise SourceError(
                f"--split-by needs the field {self.field!r}, which this input does not have; name "
                "one that it has with --split-field"
            )
        # There are far fewer files than captures.
        encoded = captures.group.to_arrow().dictionary_encode()
        found = [self._label(value) for value in (*encoded.dictionary.to_pylist(), b"")]
        labels = sorted({label for label in found if label is not None})
        place = {label: number for number, label in enumerate(labels)}
        codes = np.array([-1 if one is None else place[one] for one in found], dtype=np.int64)
        numbers = codes[to_values(encoded.indices, np.int64, missing=len(found) - 1)]
        return Assignment(numbers=numbers, labels=labels, reason="no-match")

    def _label(self, value: bytes) -> str | None:
        match = re.search(self.pattern, value.decode(errors="replace"))
        if match is None:
            return None
        found = match.group(1) if match.re.groups else match.group()
        try:
            return check_label(found or "")
        except CrawlError as error:
            shown = value.decode(errors="replace")
            raise CrawlError(f"--split-by finds a label in {shown!r}, but {error}") from error


Cut = ByTime | ByField
