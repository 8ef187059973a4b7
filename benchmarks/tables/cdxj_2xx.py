"""The same as crawlgauge does it by default: only captures with status 2xx count."""

from contenders import crawlgauge, peer
from racing import HEADER
from results import Result
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]


def run(settings: Settings) -> Result:
    """Compare crawlgauge with the peers that filter in their query."""
    archive = settings.archive("cdxj").first(N_CRAWLS)
    result = settings.race(
        [
            crawlgauge("--identity", "given"),
            peer("with_polars", "cdxj-2xx", name="Polars", needs=["polars"]),
            peer("with_duckdb", "cdxj-2xx", name="DuckDB", needs=["duckdb"]),
        ],
        archive,
        archive.n_shared_2xx,
    )
    return Result(
        title=f"{N_CRAWLS} CDXJ files of {settings.size:,} lines to the matrix, by the keys in the "
        "files; captures with status 2xx count",
        header=HEADER,
        rows=result.rows(),
        notes=[
            *result.notes(),
            (
                "crawlgauge reads the JSON of each line; the peers look for the text of a status "
                "anywhere in it, which is less work and right for these files."
            ),
        ],
    )


TABLE = Table(
    name="cdxj-2xx",
    summary="the same, only captures with status 2xx",
    moderate=100_000,
    full=1_000_000,
    run=run,
)
