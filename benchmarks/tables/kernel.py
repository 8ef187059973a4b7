"""Canonical URLs and their keys in memory: the kernel beside libraries of that kind."""

import canonicalise
from archives.captures import join_captures, list_captures
from archives.names import Namer
from archives.urn import choose_population
from results import Result, Verdict
from settings import Settings, Table

__all__ = ["TABLE"]

CRAWL = 9
URLS_PER_SECOND = 2e6
OURS = "crawlgauge surt"


def run(settings: Settings) -> Result:
    """Compare speeds on the URLs of the lists given, or on those of the archives here."""
    if settings.url_lists:
        urls = canonicalise.read_lists(list(settings.url_lists))
        of = f"real URLs of {', '.join(path.name for path in settings.url_lists)}"
    else:
        urls = generate(settings.size)
        of = "generated URLs; real ones are given by --urls"
    speeds = canonicalise.measure(urls, settings.n_rounds)
    return Result(
        title=f"canonicalise and hash {len(urls):,} {of}",
        header=("", "M URLs per CPU s", "slower by"),
        rows=[
            (name, f"{speed / 1e6:.3f}", f"{speeds[OURS] / speed:.1f}")
            for name, speed in speeds.items()
        ],
        notes=[
            f"{100 * canonicalise.deferred_share(urls):.3f} % of them are left to the reference.",
            "The peers make other forms (but for surt, nearly the same) and do not hash them.",
        ],
        verdicts=[
            Verdict(
                target=f"at least 2 M {'real' if settings.url_lists else 'generated'} URLs per CPU "
                "second",
                found=f"{speeds[OURS] / 1e6:.2f} M",
                is_met=speeds[OURS] >= URLS_PER_SECOND,
            )
        ],
    )


def generate(size: int) -> list[bytes]:
    population = choose_population(size)
    captures = join_captures(list_captures(population, CRAWL))
    urls = Namer.for_population(population).urls(captures.numbers, CRAWL)
    return sorted(set(urls.to_pylist()))


TABLE = Table(
    name="kernel",
    summary="canonicalise and hash in memory, beside surt, w3lib and can_ada where installed",
    moderate=50_000,
    full=200_000,
    run=run,
)
