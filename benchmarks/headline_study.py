"""Compare estimates from capture histories with the truth, in worlds that the rule was not made on.

For each world and seed an archive is made and estimated as ``crawlgauge estimate`` does it; what it
says of the typical coverage, of single crawls, of the newest one, of all crawls together and of
persistence is compared with what is true. Where URLs go absent for a while, "what could have been
captured" has two meanings; the nearer one counts. With lists of real URLs, crawlers of several
kinds are let loose on these.
"""

import argparse
import datetime as dt
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import worlds
from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import OverlapTable

THIRD = math.log(4 / 3)
TENTH = 0.1
N_GROUPS = 20
ON_LISTS = {
    "complete": lambda rng, web: worlds.even(rng, web, 0.9999),
    "even": worlds.even,
    "gamma": lambda rng, web: worlds.uneven(rng, web, "gamma"),
    "hosts log-normal .8": lambda rng, web: worlds.uneven(rng, web, "log-normal .8", by_host=True),
    "avoids 1": lambda rng, web: worlds.avoiding(rng, web, 1, 0.1),
    "returns .4": lambda rng, web: worlds.returning(rng, web, 0.4),
    "changing budgets": worlds.changing,
    "whole hosts": lambda rng, web: worlds.whole_hosts(rng, web, 0.4),
}


@dataclass(frozen=True, slots=True)
class Score:
    """One number beside the truth: its error, whether the range holds it, and its width."""

    error: float
    holds: bool
    width: float


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one archive."""

    world: str
    grade: str
    typical: Score | None
    two_way: float | None
    newest: Score | None
    crawls: tuple[Score, ...]
    union: Score | None
    persistence: Score | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", choices=("design", "validation", "deep"), default="validation")
    parser.add_argument("--seeds", type=int, nargs=2, default=(7000, 7008), metavar=("A", "B"))
    parser.add_argument("--lists", type=Path, help="folder with a folder of snapshots of each list")
    parser.add_argument("--output", type=Path, help="page to put the table into")
    options = parser.parse_args()
    results = list(run(options.worlds, range(*options.seeds)))
    title = f"{options.worlds}, seeds {options.seeds[0]} to {options.seeds[1] - 1}"
    studied = {title: results}
    if options.lists is not None:
        studied["lists"] = list(run_on_lists(options.lists))
    text = "\n".join(summarise(title, results) for title, results in studied.items())
    print(text, *map(list_worlds, studied.values()), sep="\n")
    if options.output is not None:
        page = options.output.read_text(encoding="utf-8") if options.output.exists() else ""
        begin, end = f"<!-- {options.worlds} -->", f"<!-- end of {options.worlds} -->"
        before, _, rest = page.partition(begin)
        after = rest.partition(end)[2]
        options.output.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def run(kind: str, seeds: range) -> Iterator[Result]:
    """Estimate archives of all worlds of a kind."""
    makers = {"design": worlds.DESIGN, "validation": worlds.VALIDATION, "deep": worlds.DEEP}[kind]
    for name, make in makers.items():
        for seed in seeds:
            web, held = make(np.random.default_rng([seed, *name.encode()]))
            yield judge(name, web, held)


def run_on_lists(folder: Path) -> Iterator[Result]:
    """Let crawlers loose on lists of real URLs."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        n_files = len(list(place.glob("*.txt.gz")))
        for first in range(0, max(n_files - 9, 1), 5):
            web = worlds.read_list(place, first, 10)
            for number, (crawler, make) in enumerate(ON_LISTS.items()):
                rng = np.random.default_rng([first, number])
                yield judge(f"{place.name}, {crawler}", web, make(rng, web))


def judge(name: str, web: worlds.Web, held: worlds.Table) -> Result:
    """Estimate an archive and compare it with the truth."""
    estimates = estimate_coverage(make_table(web, held))
    exists, captured = web.exists, held.sum(axis=0)
    lives = np.logical_or.accumulate(exists, axis=1)
    lives &= np.logical_or.accumulate(exists[:, ::-1], axis=1)[:, ::-1]
    truths = [captured / exists.sum(axis=0), captured / lives.sum(axis=0)]
    ever = np.logical_or.accumulate(held, axis=1)[:, -1]
    unions = [(ever & there[:, -1]).sum() / there[:, -1].sum() for there in (exists, lives)]
    inside = [
        place
        for place, row in enumerate(estimates.per_crawl[1:-1], start=1)
        if row.coverage.value is not None and "too small" not in row.note
    ]
    typical = [math.exp(np.log(truth[inside]).mean()) for truth in truths] if inside else []
    two_way = next((row.coverage for row in estimates.estimators if row.name == "two-way"), None)
    return Result(
        world=name,
        grade=estimates.agreement.grade,
        typical=score(estimates.headline.coverage, typical),
        two_way=None
        if two_way is None or not typical
        else min((math.log(two_way / truth) for truth in typical), key=abs),
        newest=score(estimates.newest.coverage, [truth[-1] for truth in truths]),
        crawls=tuple(
            found
            for place in inside
            if (
                found := score(
                    estimates.per_crawl[place].coverage, [truth[place] for truth in truths]
                )
            )
        ),
        union=None if estimates.union is None else score(estimates.union.coverage, unions),
        persistence=None
        if math.isnan(web.persistence)
        else score(estimates.persistence, [web.persistence]),
    )


def score(estimate: Estimate, truths: list[float]) -> Score | None:
    """Compare an estimate with the truth, or with the nearer of two."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or not truths:
        return None
    error = min((math.log(value / truth) for truth in truths), key=abs)
    holds = any(low <= truth <= high for truth in truths)
    return Score(error, holds, math.log(high / max(low, 1e-9)))


def make_table(web: worlds.Web, held: worlds.Table) -> OverlapTable:
    """Count the overlaps, histories and groups of whole hosts of an archive."""
    n_crawls = held.shape[1]
    codes = (held.astype(np.uint64) << np.arange(n_crawls, dtype=np.uint64)).sum(
        axis=1, dtype=np.uint64
    )
    seen = codes > 0
    masks, place, counts = np.unique(codes[seen], return_inverse=True, return_counts=True)
    groups = np.zeros((masks.size, N_GROUPS), np.int64)
    np.add.at(groups, (place, web.host[seen] % N_GROUPS), 1)
    histories = Histories(n_crawls=n_crawls, masks=masks, counts=counts, sample_rate=1.0)
    shared = histories.count_pairs()
    start = dt.date(2010, 1, 1)
    return OverlapTable(
        crawls=tuple(
            Crawl(
                label=f"c{number:02d}",
                date=start + dt.timedelta(days=round(365.25 * year)),
                n_urls=int(shared[number, number]),
                n_sampled=None,
            )
            for number, year in enumerate(web.years.tolist())
        ),
        n_shared=shared,
        histories=histories,
        host_groups=HostGroups(
            n_crawls=n_crawls, n_groups=N_GROUPS, masks=masks, counts=groups, sample_rate=1.0
        ),
        sample_rate=1.0,
    )


# ---------------------------------------------------------------------------------------- tables


def summarise(title: str, results: list[Result]) -> str:
    """Write what came of all archives together, as Markdown."""
    known = [result for result in results if result.typical is not None]
    errors = np.array([abs(result.typical.error) for result in known if result.typical])
    grades = np.array([result.grade for result in known])
    trusted = np.isin(grades, ("A", "B"))
    lines = (
        f"### {title}: {len(results)} archives, {len(results) - len(known)} without a number",
        "",
        "| | median error | 90 % below | range holds | width |",
        "| --- | ---: | ---: | ---: | ---: |",
        _row("typical coverage", [result.typical for result in known]),
        _row("single crawls", [crawl for result in known for crawl in result.crawls]),
        _row("newest crawl", [result.newest for result in known]),
        _row("all crawls together", [result.union for result in known]),
        _row("persistence", [result.persistence for result in known]),
        "",
        (
            f"Grade A: {_share(grades == 'A')} of the archives, within 10 % in "
            f"{_share(errors[grades == 'A'] <= TENTH)} of them. Grade B: {_share(grades == 'B')}, "
            f"within a third in {_share(errors[grades == 'B'] <= THIRD)}. Off by more than a third "
            f"at grade A or B: {_share(trusted & (errors > THIRD), 1)}."
        ),
        "",
    )
    return "\n".join(lines)


def list_worlds(results: list[Result]) -> str:
    """Write what came of each world, as CSV: `docs/study/headline-worlds.csv` has all kinds."""
    by_world = defaultdict(list)
    for result in results:
        by_world[result.world].append(result)
    header = "world,archives,grades,error,worst,two_way,range_holds,width"
    return "\n".join([header, *(_world(name, own) for name, own in by_world.items()), ""])


def _row(name: str, scores: "list[Score | None]") -> str:
    found = [score for score in scores if score is not None]
    if not found:
        return f"| {name} | – | – | – | – |"
    errors = np.abs([score.error for score in found])
    return (
        f"| {name} | {np.median(errors):.3f} | {np.quantile(errors, 0.9):.2f} | "
        f"{_share(np.array([score.holds for score in found]), 1)} | "
        f"{np.median([score.width for score in found]):.2f} |"
    )


def _world(name: str, results: list[Result]) -> str:
    found = [result.typical for result in results if result.typical is not None]
    grades = [result.grade for result in results if result.typical is not None]
    if not found:
        return f'"{name}",{len(results)},no number,,,,,'
    errors = [score.error for score in found]
    pairs = [result.two_way for result in results if result.two_way is not None]
    counts = ", ".join(str(grades.count(grade)) for grade in "ABC")
    return (
        f'"{name}",{len(results)},"{counts}",{_signed(float(np.median(errors)))},'
        f"{_signed(max(errors, key=abs))},{_signed(float(np.median(pairs)))},"
        f"{sum(score.holds for score in found)} of {len(found)},"
        f"{np.median([score.width for score in found]):.2f}"
    )


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")


def _share(which: "np.ndarray[tuple[int], np.dtype[np.bool_]]", digits: int = 0) -> str:
    return f"{100 * float(np.mean(which)):.{digits}f} %" if which.size else "–"


if __name__ == "__main__":
    main()
