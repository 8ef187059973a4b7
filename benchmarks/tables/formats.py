"""The same crawl in each format: from files to a set."""

from archives.making import Kind
from contenders import igzip_alone, ingesting
from results import Result
from settings import Settings, Table

__all__ = ["TABLE"]

KINDS: dict[Kind, str] = {
    "urls": "URL list, gzip",
    "cdxj": "CDXJ, gzip",
    "parquet": "Parquet, gzip",
    "warc": "WARC, gzip by record",
}
N_CRAWLS = 2


def run(settings: Settings) -> Result:
    """Measure ``crawlgauge add`` alone, and decompression alone where it is gzip."""
    rows = []
    for kind, name in KINDS.items():
        archive = settings.archive(kind, n_crawls=N_CRAWLS)
        ours = ingesting("--status", "any")
        contenders = [ours] if kind == "parquet" else [ours, igzip_alone()]
        result = settings.race(contenders, archive, None)
        seconds = result.best_cpu(result.ours)
        limit = "" if kind == "parquet" else f"{100 * result.cpu_ratio('igzip alone'):.0f}"
        rows.append(
            (
                name,
                f"{seconds:.2f}",
                f"{sum(archive.n_captures) / seconds / 1e6:.2f}",
                f"{sum(archive.n_text_bytes) / seconds / 1e6:,.0f}",
                limit,
                f"{result.memory(result.ours) / 1e6:,.0f}",
            )
        )
    return Result(
        title=f"{N_CRAWLS} crawls of {settings.size:,} captures in each format to sets, by "
        "canonical URLs",
        header=("", "CPU s", "M captures per CPU s", "MB per CPU s", "% of igzip", "memory MB"),
        rows=rows,
        notes=["MB are those of the uncompressed text; start-up is included."],
    )


TABLE = Table(
    name="formats",
    summary="the same crawl as URL list, CDXJ, Parquet and WARC to a set",
    moderate=50_000,
    full=500_000,
    run=run,
)
