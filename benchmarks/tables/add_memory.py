"""Memory of making the set of one large crawl."""

from contenders import ingesting
from racing import HEADER
from results import Result, Verdict
from settings import Settings, Table

__all__ = ["TABLE"]

LIMIT = 2 * 10**9


def run(settings: Settings) -> Result:
    """Measure ``crawlgauge add`` alone."""
    archive = settings.archive("urls", n_crawls=1)
    result = settings.race([ingesting()], archive, None)
    memory = result.memory(result.ours)
    speed = sum(archive.n_captures) / result.best_cpu(result.ours)
    return Result(
        title=f"one URL list of {sum(archive.n_captures):,} lines to a set, by canonical URLs",
        header=HEADER,
        rows=result.rows(),
        notes=[f"{speed / 1e6:.2f} M lines per CPU second."],
        verdicts=[
            Verdict(
                target="less than 2 GB of anonymous memory",
                found=f"{memory / 1e6:,.0f} MB",
                is_met=memory < LIMIT,
            )
        ],
    )


TABLE = Table(
    name="add-memory",
    summary="memory of making the set of a crawl of 100 M lines",
    moderate=4_000_000,
    full=100_000_000,
    run=run,
    full_rounds=1,
)
