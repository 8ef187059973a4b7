"""From columnar indexes to the matrix by the keys that they hold."""

from contenders import crawlgauge, peer
from racing import HEADER
from results import Result
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]


def run(settings: Settings) -> Result:
    """Compare crawlgauge with the peers that read Parquet."""
    archive = settings.archive("parquet").first(N_CRAWLS)
    result = settings.race(
        [
            crawlgauge("--identity", "given", "--status", "any"),
            peer("with_polars", "parquet", name="Polars", needs=["polars"]),
            peer("with_duckdb", "parquet", name="DuckDB", needs=["duckdb"]),
            peer("with_spark", "parquet", name="Spark local", needs=["pyspark", "java"]),
        ],
        archive,
        archive.n_shared,
    )
    return Result(
        title=f"{N_CRAWLS} Parquet files of {settings.size:,} rows to the matrix, by the keys in "
        "the files",
        header=HEADER,
        rows=result.rows(),
        notes=result.notes(),
        verdicts=[*result.at_least("DuckDB", 1.8), *result.at_least("Polars", 1.2)],
    )


TABLE = Table(
    name="parquet",
    summary="Parquet to the matrix, beside DuckDB, Polars and Spark",
    moderate=100_000,
    full=1_000_000,
    run=run,
)
