"""From URL lists to the matrix: the plainest input, URLs as they are."""

from contenders import crawlgauge, igzip_alone, peer
from racing import HEADER
from results import Result
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]


def run(settings: Settings) -> Result:
    """Compare crawlgauge with the peers, none of which changes the URLs."""
    archive = settings.archive("urls", n_crawls=N_CRAWLS)
    result = settings.race(
        [
            crawlgauge("--identity", "raw"),
            peer("with_polars", "urls", name="Polars", needs=["polars"]),
            peer("with_duckdb", "urls", name="DuckDB", needs=["duckdb"]),
            peer("with_sort", "urls", name="sort -u + comm", needs=["sort", "comm", "bash"]),
            igzip_alone(),
        ],
        archive,
        archive.n_shared,
    )
    return Result(
        title=f"{N_CRAWLS} URL lists of {settings.size:,} lines to the matrix, URLs as they are",
        header=HEADER,
        rows=result.rows(),
        notes=result.notes(),
    )


TABLE = Table(
    name="urls",
    summary="URL lists to the matrix, beside DuckDB, Polars, sort and igzip",
    moderate=200_000,
    full=1_000_000,
    run=run,
)
