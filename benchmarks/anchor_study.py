"""Compare anchored estimates with the truth, in worlds where histories hold and where they fail.

For each world and seed an archive is made and estimated as ``crawlgauge estimate`` does it, without
an anchor and with one: an even sample of the URLs that exist at the newest crawl, or half a year
before it, or the complete lists of hosts that are drawn evenly. What is said of the typical
coverage, of the crawl that was sampled and of all others is compared with what is true. Where URLs
go absent for a while, "what could have been captured" has two meanings; the nearer one counts.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import worlds
from crawlgauge.model.anchors import anchor_estimates
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimates
from crawlgauge.overlaps.table import AnchorCounts, OverlapTable
from headline_study import ON_LISTS, THIRD, Score, make_table, score

TENTH = 0.1
N_DRAWS = 3
ANCHORS = {
    "200 URLs": ("uniform", 200, 0),
    "400 URLs": ("uniform", 400, 0),
    "1,000 URLs": ("uniform", 1000, 0),
    "400 URLs, half a year before": ("uniform", 400, 1),
    "10 hosts": ("complete", 10, 0),
    "20 hosts": ("complete", 20, 0),
    "50 hosts": ("complete", 50, 0),
}
"""Kind, how many are drawn, and how many crawls before the newest."""
CRAWLERS = {
    **{name: ON_LISTS[name] for name in ("even", "gamma", "avoids 1")},
    "own database": lambda rng, web: worlds.from_own_database(rng, web, 0.15, 0.7),
}
"""That are let loose on lists of real URLs."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one anchor of one archive."""

    world: str
    is_failing_world: bool
    anchor: str
    grades: tuple[str, str]
    before: Score
    after: Score
    own_range_held: bool
    sampled: Score
    crawls: tuple[Score, ...]
    is_against: bool

    @property
    def fails(self) -> bool:
        """Whether the histories alone are off by more than a third."""
        return abs(self.before.error) > THIRD

    @property
    def is_silent(self) -> bool:
        """Whether they are, and do not say so."""
        return self.fails and self.grades[0] in ("A", "B")

    @property
    def is_sound(self) -> bool:
        """Whether they are right, and their ranges hold."""
        return abs(self.before.error) <= TENTH and self.before.holds and self.own_range_held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(7000, 7004), metavar=("A", "B"))
    parser.add_argument("--lists", type=Path, help="folder with a folder of snapshots of each list")
    parser.add_argument("--output", type=Path, help="file to put the tables into")
    options = parser.parse_args()
    text = to_markdown(list(run(range(*options.seeds))))
    title = f"seeds {options.seeds[0]} to {options.seeds[1] - 1}"
    text = f"### Simulated webs, {title}\n\n{text}"
    if options.lists is not None:
        text += f"\n### Lists of real URLs\n\n{to_markdown(list(run_on_lists(options.lists)))}"
    print(text)
    if options.output is not None:
        begin, end = "<!-- anchors -->", "<!-- end of anchors -->"
        before, _, rest = options.output.read_text(encoding="utf-8").partition(begin)
        after = rest.partition(end)[2]
        options.output.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def run(seeds: range, makers: Sequence[str] = (), anchors: Sequence[str] = ()) -> Iterator[Result]:
    """Anchor archives of the worlds to test on and of those in which histories fail."""
    every = {**worlds.VALIDATION, **worlds.FAILING}
    for name in makers or every:
        for seed in seeds:
            rng = np.random.default_rng([seed, *name.encode()])
            web, held = every[name](rng)
            yield from judge(rng, name, web, held, anchors, is_failing=name in worlds.FAILING)


def run_on_lists(folder: Path) -> Iterator[Result]:
    """Let three crawlers loose on lists of real URLs, and draw complete hosts and URLs of these."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        n_files = len(list(place.glob("*.txt.gz")))
        for first in range(0, max(n_files - 9, 1), 5):
            web = worlds.read_list(place, first, 10)
            for name in CRAWLERS:
                yield from judge_list(web, name, first)


def judge_list(web: worlds.Web, name: str, seed: int) -> Iterator[Result]:
    """Let a crawler loose on a list, and estimate with and without each anchor."""
    rng = np.random.default_rng([seed, list(CRAWLERS).index(name)])
    held = CRAWLERS[name](rng, web)
    yield from judge(rng, name, web, held, is_failing=name == "own database")


def judge(
    rng: worlds.Random,
    name: str,
    web: worlds.Web,
    held: worlds.Table,
    anchors: Sequence[str] = (),
    *,
    is_failing: bool = False,
) -> Iterator[Result]:
    """Estimate an archive with and without each anchor."""
    table = make_table(web, held)
    alone = estimate_coverage(table)
    if alone.agreement.grade == "none" or alone.newest.coverage.low is None:
        return
    lives = np.logical_or.accumulate(web.exists, axis=1)
    lives &= np.logical_or.accumulate(web.exists[:, ::-1], axis=1)[:, ::-1]
    captured = held.sum(axis=0)
    truths = [captured / web.exists.sum(axis=0), captured / lives.sum(axis=0)]
    inside = [
        place
        for place, row in enumerate(alone.per_crawl[1:-1], start=1)
        if row.coverage.value is not None and "too small" not in row.note
    ]
    if not inside:
        return
    # Where the scope changed, the typical coverage is that of the crawls since.
    read = [p for p in inside if alone.per_crawl[p].coverage.basis == "empirical-band"] or inside
    typical = [math.exp(np.log(truth[read]).mean()) for truth in truths]
    before = score(alone.headline.coverage, typical)
    own = score(alone.newest.coverage, [truth[-1] for truth in truths])
    for anchor in anchors or ANCHORS:
        for _ in range(N_DRAWS):
            counts = draw(rng, anchor, web, held, table)
            if counts is None or before is None or own is None:
                continue
            found = anchor_estimates(alone, table, [counts])
            after = score(found.headline.coverage, typical)
            sampled = score(found.newest.coverage, [truth[-1] for truth in truths])
            if after is None or sampled is None:
                continue
            rows = [
                score(found.per_crawl[k].coverage, [truth[k] for truth in truths]) for k in inside
            ]
            yield Result(
                world=name,
                is_failing_world=is_failing,
                anchor=anchor,
                grades=(alone.agreement.grade, found.agreement.grade),
                before=before,
                after=after,
                own_range_held=own.holds,
                sampled=sampled,
                crawls=tuple(row for row in rows if row is not None),
                is_against=_is_against(found),
            )


def _is_against(estimates: Estimates) -> bool:
    return any(item.verdict == "contradicts" for item in estimates.anchors)


def draw(
    rng: worlds.Random, anchor: str, web: worlds.Web, held: worlds.Table, table: OverlapTable
) -> AnchorCounts | None:
    """Draw an anchor; None if there is too little to draw from."""
    kind, size, before = ANCHORS[anchor]
    exists, newest = np.flatnonzero(web.exists[:, -1 - before]), held[:, -1]
    date, label = table.crawls[-1 - before].date, table.crawls[-1].label
    if kind == "uniform":
        urls = rng.choice(exists, min(size, exists.size), replace=False)
        n_held = int(newest[urls].sum())
        return AnchorCounts(
            name=anchor,
            kind="uniform",
            date=date,
            label=label,
            n_looked_for=urls.size,
            n_held=n_held,
        )
    hosts = np.unique(web.host[exists])
    if hosts.size < 1.5 * size:
        return None
    chosen = rng.choice(hosts, size, replace=False)
    n_hosts = int(web.host.max()) + 1
    alive = np.bincount(web.host[exists], minlength=n_hosts)[chosen]
    captured = np.bincount(web.host[exists[newest[exists]]], minlength=n_hosts)[chosen]
    return AnchorCounts(
        name=anchor,
        kind="complete",
        date=date,
        label=label,
        n_looked_for=int(alive.sum()),
        n_held=int(captured.sum()),
        per_host=tuple(zip(alive.tolist(), captured.tolist(), strict=True)),
    )


# ---------------------------------------------------------------------------------------- tables


def to_markdown(results: Sequence[Result]) -> str:
    """Write what came of each anchor: of all archives, and of those in which histories fail."""
    lines = []
    for title, chosen in (
        ("All archives", results),
        ("Archives whose histories are off by more than a third", [r for r in results if r.fails]),
        ("All others", [r for r in results if not r.fails]),
    ):
        lines += [
            f"**{title}**",
            "",
            (
                "| anchor | draws | median error | 90 % below | range holds | width | "
                "sampled crawl | other crawls |"
            ),
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(_row(name, chosen) for name in ANCHORS if any(r.anchor == name for r in chosen)),
            "",
        ]
    lines += [
        (
            "| anchor | silent failures contradicted | sound answers contradicted | "
            "A or B and off by more than a third, before → after |"
        ),
        "| --- | ---: | ---: | ---: |",
        *(_verdicts(name, results) for name in ANCHORS),
    ]
    return "\n".join([*lines, ""])


def _row(anchor: str, results: Sequence[Result]) -> str:
    own = [result for result in results if result.anchor == anchor]
    before = np.abs([result.before.error for result in own])
    after = np.abs([result.after.error for result in own])
    crawls = [crawl for result in own for crawl in result.crawls]
    return (
        f"| {anchor} | {len(own)} | {np.median(before):.3f} → {np.median(after):.3f} | "
        f"{np.quantile(before, 0.9):.2f} → {np.quantile(after, 0.9):.2f} | "
        f"{_share([r.before.holds for r in own])} → {_share([r.after.holds for r in own])} | "
        f"{np.median([r.before.width for r in own]):.2f} → "
        f"{np.median([r.after.width for r in own]):.2f} | "
        f"{np.median(np.abs([r.sampled.error for r in own])):.3f}, "
        f"{_share([r.sampled.holds for r in own])} | "
        f"{np.median(np.abs([c.error for c in crawls])):.3f}, {_share([c.holds for c in crawls])} |"
    )


def _verdicts(anchor: str, results: Sequence[Result]) -> str:
    own = [result for result in results if result.anchor == anchor]
    silent = [result.is_against for result in own if result.is_silent]
    sound = [result.is_against for result in own if result.is_sound]
    still = [r.grades[1] in ("A", "B") and abs(r.after.error) > THIRD for r in own]
    return (
        f"| {anchor} | {_share(silent)} of {len(silent)} | {_share(sound)} of {len(sound)} | "
        f"{_share([r.is_silent for r in own])} → {_share(still)} |"
    )


def _share(which: Sequence[bool]) -> str:
    return f"{100 * float(np.mean(which)):.1f} %" if which else "–"


if __name__ == "__main__":
    main()
