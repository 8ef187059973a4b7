"""CPU time per URL when the crawls are ten times as large."""

from contenders import crawlgauge
from racing import HEADER
from results import Result, Verdict
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]

TIMES = 10
LIMIT = 1.2


def run(settings: Settings) -> Result:
    """Measure crawlgauge from URL lists to the matrix at two sizes."""
    per_url = {}
    rows = []
    for size in (settings.size // TIMES, settings.size):
        archive = settings.archive("urls", size=size, n_crawls=N_CRAWLS)
        name = f"{N_CRAWLS} × {size:,}"
        result = settings.race([crawlgauge(name=name)], archive, archive.n_shared)
        per_url[size] = result.best_cpu(name) / sum(archive.n_captures) * 1e6
        rows.append((*result.rows()[0], f"{per_url[size]:.3f}"))
    small, large = per_url.values()
    return Result(
        title="URL lists to the matrix, by canonical URLs, at two sizes",
        header=("", HEADER[1], HEADER[4], *HEADER[6:], "CPU µs per URL"),
        rows=[(row[0], row[1], *row[4:5], *row[6:]) for row in rows],
        verdicts=[
            Verdict(
                target="CPU time per URL of the larger at most 1.2 × that of the smaller",
                found=f"{large / small:.2f} ×",
                is_met=large <= LIMIT * small,
            )
        ],
    )


TABLE = Table(
    name="growth",
    summary="CPU time per URL at 15 × 10 M beside that at 15 × 1 M",
    moderate=500_000,
    full=10_000_000,
    run=run,
)
