"""From CDXJ files to the matrix with canonical URLs made anew, which no peer does."""

from contenders import crawlgauge, peer
from racing import HEADER
from results import Result
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]


def run(settings: Settings) -> Result:
    """Compare crawlgauge, which makes keys from URLs, with peers that take those of the files."""
    archive = settings.archive("cdxj").first(N_CRAWLS)
    result = settings.race(
        [
            crawlgauge("--identity", "surt", "--status", "any"),
            crawlgauge("--identity", "given", "--status", "any", name="crawlgauge, given keys"),
            peer("with_polars", "cdxj", name="Polars", needs=["polars"]),
            peer("with_duckdb", "cdxj", name="DuckDB", needs=["duckdb"]),
        ],
        archive,
        archive.n_shared,
    )
    return Result(
        title=f"{N_CRAWLS} CDXJ files of {settings.size:,} lines to the matrix, by canonical URLs; "
        "the peers take the keys in the files",
        header=HEADER,
        rows=result.rows(),
        notes=result.notes(),
        verdicts=result.at_least("DuckDB", 2),
    )


TABLE = Table(
    name="canonical",
    summary="CDXJ to the matrix with canonical URLs made anew, beside peers that do not make them",
    moderate=100_000,
    full=1_000_000,
    run=run,
)
