"""From CDXJ files to the matrix by the keys that the files hold: crawlgauge and all peers."""

from contenders import crawlgauge, igzip_alone, peer
from racing import HEADER, Race
from results import Result, Verdict
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]


def run(settings: Settings) -> Result:
    """Compare them all."""
    archive = settings.archive("cdxj").first(N_CRAWLS)
    result = settings.race(
        [
            crawlgauge("--identity", "given", "--status", "any"),
            peer("with_polars", "cdxj", name="Polars", needs=["polars"]),
            peer("with_duckdb", "cdxj", name="DuckDB", needs=["duckdb"]),
            peer("with_sort", "cdxj", name="sort -u + comm", needs=["sort", "comm", "bash"]),
            peer("with_spark", "cdxj", name="Spark local", needs=["pyspark", "java"]),
            igzip_alone(),
        ],
        archive,
        archive.n_shared,
    )
    return Result(
        title=f"{N_CRAWLS} CDXJ files of {settings.size:,} lines to the matrix, by the keys in the "
        "files; every capture counts",
        header=HEADER,
        rows=result.rows(),
        notes=result.notes(),
        verdicts=[
            *result.at_least("DuckDB", 3),
            *result.at_least("Polars", 1.6),
            *result.at_least("sort -u + comm", 6),
            *result.at_least("Spark local", 8, by_wall=True),
            *compare_with_limit(result),
        ],
    )


def compare_with_limit(result: Race) -> list[Verdict]:
    if "igzip alone" not in result.runs:
        return []
    share = result.cpu_ratio("igzip alone")
    return [
        Verdict(
            target="at least 60 % of the speed of igzip alone",
            found=f"{100 * share:.0f} % of CPU time",
            is_met=share >= 0.6,
        )
    ]


TABLE = Table(
    name="cdxj",
    summary="CDXJ to the matrix by given keys, beside DuckDB, Polars, sort, Spark and igzip",
    moderate=100_000,
    full=1_000_000,
    run=run,
)
