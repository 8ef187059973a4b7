"""Compare archives: relative sizes, what each alone holds, and what they cover together."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlgauge import api
from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.errors import CrawlgaugeError, FitError, OverlapError
from crawlgauge.keys.sampling import WHOLE, parse_rate, threshold_of
from crawlgauge.locations import DEFAULT_STORE, StrPath, find_store
from crawlgauge.model.comparison import Comparison, OwnSeries, compare_archives
from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Input, Provenance
from crawlgauge.report import comparison_blocks, result_json
from crawlgauge.report.section import Answer, Section
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet

if TYPE_CHECKING:
    from crawlgauge.report.blocks import Block
    from crawlgauge.store.exchange import Exported

__all__ = ["ArchiveComparison", "compare", "export_sample", "parse_gap"]


# ---------------------------- how far apart two crawls may lie and still be held against each other


DEFAULT_MAX_GAP = "3 months"
"""With a half-life of two years, nine URLs of ten live on as long; farther apart, more of the
answer comes from the persistence than from the overlap."""

_DAYS = {"d": 1.0, "w": 7.0, "m": DAYS_PER_YEAR / 12, "y": DAYS_PER_YEAR}
_GAP = re.compile(r"(\d+(?:\.\d+)?) *(d|w|m|y|days?|weeks?|months?|years?)?")


def parse_gap(text: str | int) -> int:
    """Return the days of a time such as ``3 months``.

    Raises
    ------
    CrawlgaugeError
        If it is none.

    Examples
    --------
    >>> parse_gap("90"), parse_gap("6w"), parse_gap("3 months")
    (90, 42, 91)
    """
    match = _GAP.fullmatch(str(text).strip().lower())
    if match is None:
        raise CrawlgaugeError(
            f"{text!r} is no time between crawls; write 90 days, 12 weeks, 3 months or 1 year"
        )
    return round(float(match[1]) * _DAYS[(match[2] or "d")[0]])


# --------------------------------------------------------------------------------- compare archives


_MIN_SERIES = 3
_COUNTED_BY = ("status", "mime")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveComparison(Answer):
    """Archives side by side, ready to be read, printed or saved.

    Parameters
    ----------
    comparison
        The numbers.
    """

    comparison: Comparison

    def _blocks(self) -> "list[Block]":
        return comparison_blocks.to_blocks(self.comparison)

    def _document(self) -> dict[str, Any]:
        return result_json.comparison_document(self.comparison)

    def _section(self) -> Section:
        return Section(
            name="comparison", title="Beside other archives", blocks=tuple(self._blocks())
        )


def compare(
    store: StrPath | None,
    others: StrPath | Sequence[StrPath],
    *,
    max_gap: str | int = DEFAULT_MAX_GAP,
    persistence: float | None = None,
    sample: str | float | None = None,
    level: str = "url",
    n_hosts: int = 10,
    progress: api.Progress | None = None,
) -> ArchiveComparison:
    """Compare archives that crawl the same scope.

    Parameters
    ----------
    store
        The first archive's store, as for `open_store`.
    others
        The stores of the others, or samples that `export_sample` wrote of them.
    max_gap
        Crawls farther apart are not matched: ``3 months``, ``90 days``, ``12w``, or days.
    persistence
        Share of URLs that lives on for a year, to carry overlaps over the time between matched
        crawls. By default what the archives' own series of crawls say.
    sample
        Count only this share of the URLs, such as ``"1/64"``; less if a store holds less.
    level
        What is compared: ``url``, ``content`` or ``text``.
    n_hosts
        How many hosts to list.
    progress
        Called with how many of how many hash ranges are done.

    Raises
    ------
    StoreError
        If a store cannot be read.
    OverlapError
        If stores cannot be compared.
    """
    max_gap_days = parse_gap(max_gap)
    if persistence is not None and not 0 < persistence <= 1:
        raise FitError(f"the persistence is {persistence}; it is a share above 0 and at most 1")
    paths = [
        find_store(store),
        *map(find_store, [others] if isinstance(others, str | os.PathLike) else others),
    ]
    names = _name_all(paths)
    stores = [api.open_store(str(path)) for path in paths]
    archives = {
        name: (opened, opened.crawl_sets(level)) for name, opened in zip(names, stores, strict=True)
    }
    _check_comparable(archives)

    from crawlgauge.overlaps.archives import count_archives, count_by_host

    threshold = WHOLE if sample is None else threshold_of(parse_rate(str(sample)))
    # First, as the messages of it would come in between the signs of progress.
    series = [_estimate_series(str(path), sample, level) for path in paths]
    all_sets = [sets for _, sets in archives.values()]
    counts, hosts = count_archives(all_sets, threshold=threshold, progress=progress), None
    if level == "url":
        hosts = count_by_host(list(archives.values()), threshold=threshold)
    comparison = compare_archives(
        counts,
        names=names,
        series=series,
        hosts=hosts,
        max_gap_days=max_gap_days,
        persistence=persistence,
        n_hosts=n_hosts,
        warnings=_find_differences(archives),
        provenance=Provenance(
            inputs=tuple(
                Input(name=f"{name}: {item.crawl.label}", checksum=item.checksum)
                for name, (_, sets) in archives.items()
                for item in sets
            )
        ),
    )
    return ArchiveComparison(comparison=comparison)


def export_sample(
    store: StrPath | None,
    path: StrPath,
    *,
    sample: str | float = "1/64",
    progress: api.Progress | None = None,
) -> "Exported":
    """Write a sample of a store that can be given away: hashed URLs, and nothing that names them.

    Another institution compares it with its own store by `compare`. Who holds it can test
    whether a URL that they can guess is in the sample.

    Parameters
    ----------
    store
        What to export, as for `open_store`.
    path
        The folder to write; it must not exist.
    sample
        Which share of the URLs, the same of every crawl and every archive.
    progress
        Called with how many of how many crawls are done.

    Raises
    ------
    StoreError
        If the store cannot be read, or the folder cannot be written.
    """
    from crawlgauge.store import exchange

    threshold = threshold_of(parse_rate(str(sample)))
    opened = api.open_store(store)
    return exchange.export_sample(opened, find_store(path), threshold=threshold, progress=progress)


def _name_all(paths: Sequence[AnyPath]) -> list[str]:
    """Name archives by the ends of their paths, as short as tells them apart."""
    parts = []
    for path in paths:
        whole = path.resolve() if isinstance(path, Path) else path
        parts.append((whole.parent if whole.name == DEFAULT_STORE else whole).parts)
    if len(set(parts)) < len(parts):
        raise OverlapError("the same store is named twice; name the stores of different archives")
    for n_parts in range(1, max(map(len, parts)) + 1):
        names = ["/".join(item[-n_parts:]) for item in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


# The store of each archive and the sets of its crawls, by name.
_Archives = dict[str, tuple[Store, list[CrawlSet]]]


def _check_comparable(archives: _Archives) -> None:
    for store, sets in archives.values():
        if not sets:
            raise OverlapError(
                f"the store {store.path} holds no crawls; add some with crawlgauge add --store "
                f"{store.path}"
            )
    if len(archives) < 2:  # noqa: PLR2004 - two to be compared
        raise OverlapError("one archive cannot be compared; name the store of another")
    rules = {name: sets[0].key_rule for name, (_, sets) in archives.items()}
    first = next(iter(rules))
    for name, rule in rules.items():
        if rule != rules[first]:
            raise OverlapError(
                f"{first} and {name} cannot be compared: the one tells URLs apart by "
                f"{rules[first]}, the other by {rule}. Make a store of one of them again with the "
                "--identity of the other"
            )


def _find_differences(archives: _Archives) -> list[str]:
    """Say in which ways the archives count other things, or the same thing twice."""
    found = []
    for setting in _COUNTED_BY:
        values = [
            {item.provenance.settings.get(setting) for item in sets}
            for _, sets in archives.values()
        ]
        if any(value != values[0] for value in values):
            found.append(
                f"The archives were made with different --{setting}: what one leaves out looks as "
                "if it missed it. Make all of them alike."
            )
    owner_of: dict[str, tuple[str, str]] = {}
    for name, (_, sets) in archives.items():
        for item in sets:
            owner, label = owner_of.setdefault(item.checksum, (name, item.crawl.label))
            if owner != name:
                found.append(
                    f"{label} of {owner} and {item.crawl.label} of {name} are the same set of "
                    "URLs: one crawl in two archives is no independent evidence."
                )
    return found


def _estimate_series(path: str, sample: str | float | None, level: str) -> OwnSeries:
    """Estimate from an archive's own crawls, if they are enough."""
    table = api.count_overlaps(path, sample=sample, level=level)
    reason = f"a series of {table.n_crawls} says too little; 3 are needed"
    if table.n_crawls >= _MIN_SERIES:
        try:
            found = api.estimate(table, store=path).estimates
        except FitError as error:
            reason = f"its own series gives no estimate: {error}"
        else:
            return OwnSeries(coverage=found.headline.coverage, persistence=found.persistence)
    unknown = Estimate.unknown(reason)
    return OwnSeries(coverage=unknown, persistence=unknown)
