"""Coverage, population and persistence of each host, domain, media type or status."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlgauge import api
from crawlgauge.crawl import parse_date
from crawlgauge.errors import FitError, OverlapError
from crawlgauge.locations import StrPath
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import names
from crawlgauge.model.strata import Strata
from crawlgauge.overlaps.table import MIN_SHARED
from crawlgauge.provenance import Input, Provenance
from crawlgauge.report import result_json, strata_blocks
from crawlgauge.report.blocks import Block, render_blocks
from crawlgauge.report.section import Answer, Section
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet

if TYPE_CHECKING:
    from crawlgauge.report.charts.chart import Chart
    from crawlgauge.store.attributes import Attributes

__all__ = ["StratumEstimates", "estimate_strata"]

_USES_SUFFIXES = ("host", "domain")
_MIN_CRAWLS = 2

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumEstimates(Answer):
    """Strata with their numbers, ready to be read, printed or saved.

    Parameters
    ----------
    strata
        The numbers.
    """

    strata: Strata

    def _blocks(self, top: int | None = strata_blocks.DEFAULT_TOP) -> "list[Block]":
        return strata_blocks.to_blocks(self.strata, top=top)

    def _document(self) -> dict[str, Any]:
        return result_json.strata_document(self.strata)

    def _section(self) -> Section:
        from crawlgauge.report.charts.strata import draw_strata

        strata = self.strata
        return Section(
            name=f"strata-{strata.by}",
            title=f"Coverage by {strata.noun[0]}",
            blocks=tuple(self._blocks()),
            charts=(draw_strata(strata),),
        )

    def summary(self, top: int | None = strata_blocks.DEFAULT_TOP) -> str:
        """Return the strata as text for a terminal.

        Parameters
        ----------
        top
            How many strata the table has at most; None for all.
        """
        return render_blocks(self._blocks(top))

    def to_csv(self) -> str:
        """Return all strata as CSV, a row each."""
        return strata_blocks.to_csv(self.strata)

    def figure(self) -> "Chart":
        """Draw the coverages with their ranges.

        Raises
        ------
        FitError
            If no coverage is known.
        """
        from crawlgauge.report.charts.chart import NoChart
        from crawlgauge.report.charts.strata import draw_strata

        figure = draw_strata(self.strata)
        if isinstance(figure, NoChart):
            raise FitError(f"there is no figure {figure.name}: {figure.reason}")
        return figure


def estimate_strata(
    store: StrPath | None = None,
    *,
    by: str = "host",
    min_shared: int = MIN_SHARED,
    since: dt.date | str | None = None,
    until: dt.date | str | None = None,
    exclude: Iterable[str] = (),
    progress: Progress | None = None,
) -> StratumEstimates:
    """Estimate coverage, population and persistence by host, domain, media type or status.

    Parameters
    ----------
    store
        As for `open_store`.
    by
        ``host``, ``domain`` (as registered), ``tld`` (the last label of the host), ``mime`` or
        ``status``.
    min_shared
        Strata that share fewer URLs in the median pair of crawls are pooled with their like.
    since, until
        First and last date of the crawls to take.
    exclude
        Labels of crawls to leave out.
    progress
        Called with how many of how many crawls are read.

    Raises
    ------
    StoreError
        If there is no store, or a crawl cannot be read.
    OverlapError
        If there are no crawls, or no strata of that kind.
    FitError
        If no crawl is left, or one that is left out is not there.
    """
    from crawlgauge.model.strata import estimate_strata as estimate
    from crawlgauge.overlaps.strata import count_strata, suffix_list_date

    opened = api.open_store(store)
    sets = _choose(opened.crawl_sets(), since, until, tuple(exclude))
    if min_shared < 1:
        raise OverlapError(f"strata must share at least 1 URL, not {min_shared}")
    suffix_list = suffix_list_date() if by in _USES_SUFFIXES else None
    counts = count_strata(
        [item.crawl for item in sets],
        _read(opened, sets, progress),
        by,
        min_shared=min_shared,
        provenance=Provenance(
            settings={"by": by, "min_shared": min_shared, "public_suffix_list": suffix_list},
            inputs=tuple(Input(name=item.crawl.label, checksum=item.checksum) for item in sets),
        ),
    )
    estimates = _estimate_whole(opened, tuple(item.crawl.label for item in sets))
    return StratumEstimates(strata=estimate(counts, estimates, suffix_list=suffix_list))


def _estimate_whole(store: Store, labels: tuple[str, ...]) -> Estimates | None:
    """Estimate from the same crawls of all URLs; None if there is one only."""
    if len(labels) < _MIN_CRAWLS:
        return None
    path = str(store.path)
    table = api.count_overlaps(path)
    others = [crawl.label for crawl in table.crawls if crawl.label not in labels]
    chosen = api.choose_window(table, exclude=others) if others else table
    return api.estimate(chosen, store=path).estimates


def _read(store: Store, sets: list[CrawlSet], progress: Progress | None) -> Iterator["Attributes"]:
    for number, item in enumerate(sets):
        yield store.attributes(item)
        if progress is not None:
            progress(number + 1, len(sets))


def _choose(
    sets: list[CrawlSet],
    since: dt.date | str | None,
    until: dt.date | str | None,
    exclude: tuple[str, ...],
) -> list[CrawlSet]:
    first = parse_date(since) if isinstance(since, str) else since
    last = parse_date(until) if isinstance(until, str) else until
    labels = [item.crawl.label for item in sets]
    unknown = [label for label in exclude if label not in labels]
    if unknown:
        known = names(labels) if labels else "none"
        raise FitError(f"there is no crawl {names(unknown)} to exclude; the crawls are {known}")
    chosen = [
        item
        for item in sets
        if (first is None or item.crawl.date >= first)
        and (last is None or item.crawl.date <= last)
        and item.crawl.label not in exclude
    ]
    if sets and not chosen:
        raise FitError(
            f"no crawl is left; the crawls run from {sets[0].crawl.label} ({sets[0].crawl.date}) "
            f"to {sets[-1].crawl.label} ({sets[-1].crawl.date})"
        )
    return chosen
