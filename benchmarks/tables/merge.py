"""From the sets of a store to the matrix: crawlgauge, and peers on the same Parquet files."""

from contenders import counting, peer
from racing import HEADER
from results import Result, Verdict
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]

KEYS_PER_SECOND = 50e6


def run(settings: Settings) -> Result:
    """Compare crawlgauge, without anything it knew before, with the peers."""
    archive = settings.archive("sets").first(N_CRAWLS)
    result = settings.race(
        [
            counting(),
            peer("with_polars", "sets", name="Polars", needs=["polars"]),
            peer("with_duckdb", "sets", name="DuckDB", needs=["duckdb"]),
        ],
        archive,
        archive.n_shared,
    )
    n_keys = sum(archive.n_captures)
    speed = n_keys / result.best_cpu(result.ours)
    return Result(
        title=f"{N_CRAWLS} sets of {settings.size:,} keys to the matrix",
        header=HEADER,
        rows=result.rows(),
        notes=result.notes(),
        verdicts=[
            Verdict(
                target="at least 50 M keys per CPU second",
                found=f"{speed / 1e6:.1f} M",
                is_met=speed >= KEYS_PER_SECOND,
            ),
            *result.at_least("DuckDB", 10),
        ],
    )


TABLE = Table(
    name="merge",
    summary="sets of a store to the matrix, beside DuckDB and Polars on the same files",
    moderate=1_000_000,
    full=20_000_000,
    run=run,
)
