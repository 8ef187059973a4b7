"""All tables, in the order in which they are run and shown."""

from settings import Table
from tables import (
    add_memory,
    canonical,
    cdxj,
    cdxj_2xx,
    estimate,
    formats,
    growth,
    kernel,
    merge,
    merge_memory,
    parquet,
    sixteenth,
    sketches,
    urls,
)

__all__ = ["TABLES"]

TABLES: dict[str, Table] = {
    module.TABLE.name: module.TABLE
    for module in (
        cdxj,
        cdxj_2xx,
        canonical,
        parquet,
        urls,
        merge,
        merge_memory,
        add_memory,
        growth,
        sixteenth,
        estimate,
        sketches,
        kernel,
        formats,
    )
}
