"""Memory of counting at the size of a national archive."""

from contenders import counting
from racing import HEADER
from results import Result, Verdict
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]

LIMIT = 10**9


def run(settings: Settings) -> Result:
    """Measure crawlgauge alone; the counts are compared with the truth."""
    archive = settings.archive("sets").first(N_CRAWLS)
    result = settings.race([counting()], archive, archive.n_shared)
    memory = result.memory(result.ours)
    speed = sum(archive.n_captures) / result.best_cpu(result.ours)
    return Result(
        title=f"{N_CRAWLS} sets of {settings.size:,} keys to the matrix",
        header=HEADER,
        rows=result.rows(),
        notes=[f"{speed / 1e6:.1f} M keys per CPU second."],
        verdicts=[
            Verdict(
                target="less than 1 GB of anonymous memory",
                found=f"{memory / 1e6:,.0f} MB",
                is_met=memory < LIMIT,
            )
        ],
    )


TABLE = Table(
    name="merge-memory",
    summary="memory of counting 15 sets of 100 M keys",
    moderate=4_000_000,
    full=100_000_000,
    run=run,
    full_rounds=1,
)
