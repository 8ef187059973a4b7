"""Overlap tables into files, whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path

from crawlgauge.errors import OverlapError
from crawlgauge.locations import StrPath
from crawlgauge.overlaps.csv_table import to_csv
from crawlgauge.overlaps.json_table import to_json
from crawlgauge.overlaps.parquet_table import to_parquet
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.store.files import replace_file

__all__ = ["write_overlaps"]

_RENDERERS: Mapping[str, Callable[[OverlapTable], bytes]] = {
    ".csv": lambda table: to_csv(table).encode(),
    ".json": lambda table: to_json(table).encode(),
    ".parquet": to_parquet,
}


def write_overlaps(table: OverlapTable, path: StrPath) -> None:
    """Write an overlap table into a file, in the format that its suffix names.

    The file appears whole or not at all; one that stood there before stays until then.

    Parameters
    ----------
    table
        What to write.
    path
        Ends in ``.csv``, ``.json`` or ``.parquet``.

    Raises
    ------
    OverlapError
        If the suffix is another one, or the file cannot be written.
    """
    render = _RENDERERS.get(Path(path).suffix.lower())
    if render is None:
        raise OverlapError(
            f"{path}: the suffix does not name a format of overlap tables; "
            f"possible are {', '.join(_RENDERERS)}"
        )
    content = render(table)
    try:
        # A link stays a link: the file that it leads to is replaced.
        replace_file(Path(path).resolve(), content)
    except FileNotFoundError as error:
        raise OverlapError(f"{path} cannot be written: its folder does not exist") from error
    except OSError as error:
        raise OverlapError(f"{path} cannot be written: {error.strerror}") from error
