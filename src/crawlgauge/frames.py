"""Results as data frames, and data frames of any library as rows, by way of Arrow's interface."""

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from crawlgauge.errors import CrawlgaugeError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl

Rows = Sequence[Mapping[str, object]]


class ArrowStream(Protocol):
    """A data frame of any library: polars, pandas, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows out."""


class Tabular(ABC):
    """What has rows: polars, pandas, pyarrow and DuckDB take them."""

    __slots__ = ()

    @abstractmethod
    def _rows(self) -> Rows:
        """Return the rows, all with the same columns."""

    def _repr_html_(self) -> str:
        import polars as pl

        with pl.Config(tbl_rows=10, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True):
            return f"<p>{html.escape(repr(self))}</p>{self.to_polars()._repr_html_()}"

    def to_polars(self) -> "pl.DataFrame":
        """Return the rows as a data frame of polars; a number has its range in columns beside."""
        import polars as pl

        frame = pl.DataFrame(self._rows(), infer_schema_length=None)
        # What is known nowhere is a number that is missing.
        return frame.cast({pl.Null: pl.Float64})

    def to_pandas(self) -> "pd.DataFrame":
        """Return the rows as a data frame of pandas.

        Raises
        ------
        CrawlgaugeError
            If pandas or pyarrow is not installed.
        """
        try:
            return self.to_polars().to_pandas()
        except ImportError as error:
            raise CrawlgaugeError(
                "to_pandas needs the packages pandas and pyarrow; install them with: pip install "
                "pandas pyarrow, or take to_polars"
            ) from error

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to any library that reads Arrow."""
        return self.to_polars().__arrow_c_stream__(requested_schema)


def is_frame(given: object) -> bool:
    """Whether this is a data frame of some library."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "iloc")


def read_frame(frame: Any) -> tuple[tuple[str, ...], list[dict[str, Any]]]:  # noqa: ANN401 - of any library
    """Return the names of a data frame's columns and its rows; what is missing is None.

    Raises
    ------
    ValueError
        If it cannot be read, or two of its columns have one name.
    """
    import polars as pl

    if hasattr(frame, "iloc"):
        # Of pandas, which needs pyarrow for Arrow's interface, and keeps what is missing as NaN.
        columns = tuple(map(str, frame.columns))
        if len(set(columns)) == len(columns):
            records = frame.set_axis(columns, axis=1).to_dict("list")
            return columns, [
                dict(zip(columns, map(_plain, row), strict=True))
                for row in zip(*records.values(), strict=True)
            ]
        raise ValueError("two columns have the same name")
    try:
        found = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise ValueError(error) from error
    return tuple(found.columns), found.to_dicts()


def _plain(value: Any) -> Any:  # noqa: ANN401 - a cell of pandas
    """Return a cell of pandas, or None for each of its ways to say that there is nothing."""
    is_missing = value is None or str(value) in ("<NA>", "NaT")
    return None if is_missing or (isinstance(value, float) and math.isnan(value)) else value
