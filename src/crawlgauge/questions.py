"""Every further question, as a function of an estimate, of overlaps or of stores.

Its answer prints itself (`summary`, `to_json`), and `write_report` shows it. What a single question
needs is loaded when it is asked.
"""

import datetime as dt
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from crawlgauge import api
from crawlgauge.api import Fit, Progress
from crawlgauge.crawl import DAYS_PER_YEAR, Crawl, parse_date
from crawlgauge.errors import CrawlgaugeError, FitError, OverlapError, SourceError, StoreError
from crawlgauge.keys.rules import BY_URL, RULES, SURT
from crawlgauge.keys.sampling import WHOLE, parse_rate, threshold_of
from crawlgauge.locations import DEFAULT_STORE, StrPath, find_store
from crawlgauge.model import newest
from crawlgauge.model import sensitivity as changes
from crawlgauge.model import strata as divided
from crawlgauge.model.comparison import Comparison, compare_archives
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import say
from crawlgauge.model.plan import Plan, plan_crawls, usual_wishes
from crawlgauge.model.recall import Recall, recall_reference
from crawlgauge.model.turnover import Turnover, follow_crawls
from crawlgauge.model.window import choose_window, find_crawls
from crawlgauge.overlaps.table import MIN_SHARED, OverlapTable
from crawlgauge.provenance import Input, Provenance, Setting
from crawlgauge.report import result_json, strata_blocks
from crawlgauge.report.answers import Answer
from crawlgauge.report.blocks import Block, render_blocks
from crawlgauge.sources.decompress import STDIN
from crawlgauge.sources.remote import AnyPath, conceal, to_path
from crawlgauge.sources.what_counts import DEFAULT_STATUS
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import partial_file, write_durably

if TYPE_CHECKING:
    from crawlgauge.ingest.options import ReadOptions
    from crawlgauge.report.charts.chart import Chart
    from crawlgauge.store.attributes import Attributes
    from crawlgauge.store.exchange import Exported

__all__ = [
    "ArchiveComparison",
    "CrawlCheck",
    "CrawlPlan",
    "History",
    "ReferenceRecall",
    "Sensitivity",
    "StratumEstimates",
    "check_newest",
    "compare",
    "estimate_strata",
    "export_sample",
    "history",
    "parse_gap",
    "plan",
    "recall",
    "sensitivity",
]

_MIN_SERIES = 3


def _check_persistence(persistence: float | None) -> None:
    if persistence is not None and not 0 < persistence <= 1:
        raise FitError(f"the persistence is {persistence}; it is a share above 0 and at most 1")


# ----------------------------- what a series says of its newest crawl, of the next, and of its URLs


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CrawlCheck(Answer):
    """A check of the newest crawl, ready to be read, printed or saved.

    Parameters
    ----------
    result
        The numbers and the verdict.
    """

    result: newest.NewestCheck

    @property
    def has_drop(self) -> bool:
        """Whether coverage, size or overlap is below what the earlier crawls predict."""
        return self.result.has_drop

    def to_json(self) -> str:
        """Return the check as one line of JSON."""
        return result_json.to_json(self.to_dict(), indent=None)


def check_newest(
    fit_or_table: Fit | OverlapTable,
    *,
    false_alarms: float = newest.FALSE_ALARMS,
    threshold: float = newest.THRESHOLD,
    store: StrPath | None = None,
) -> CrawlCheck:
    """Say whether the newest crawl is in line with the ones before it.

    Parameters
    ----------
    fit_or_table
        What `estimate` returned, or the overlaps, which are then estimated from.
    false_alarms
        How often a crawl that is in line may be taken for a drop.
    threshold
        Least drop that is worth an alarm: 0.2 for a fifth less than expected.
    store
        As for `estimate`, where overlaps are given.

    Returns
    -------
    CrawlCheck
        With fewer than five crawls its status is ``unknown``.

    Raises
    ------
    FitError
        If `false_alarms` or `threshold` is out of bounds.

    Examples
    --------
    >>> import crawlgauge as cg
    >>> table = cg.simulate_table(n_crawls=5, seed=1, with_histories=False)
    >>> cg.check_newest(table).result.status
    'in-line'
    """
    if isinstance(fit_or_table, Fit):
        table, estimates = fit_or_table.table, fit_or_table.estimates
    else:
        table, estimates = fit_or_table, None
        # One crawl cannot be estimated from, and a few are not compared.
        if table.n_crawls >= newest.MIN_CRAWLS:
            estimates = api.estimate(table, store=store).estimates
    result = newest.check_newest_crawl(
        table, estimates, false_alarms=false_alarms, threshold=threshold
    )
    return CrawlCheck(result=result)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CrawlPlan(Answer):
    """A plan, ready to be read, printed or saved.

    Parameters
    ----------
    fit
        What it was made from.
    result
        The plan.
    """

    fit: Fit
    result: Plan


def plan(
    fit: Fit,
    *,
    target: float | None = None,
    union_target: float | None = None,
    budget: float | None = None,
    crawls_per_year: float | None = None,
    size: float | None = None,
    floor: float | None = None,
    cost_per_million: float | None = None,
) -> CrawlPlan:
    """Plan the next crawls from the estimates of a series.

    Parameters
    ----------
    fit
        What `estimate` returned.
    target
        Coverage that a single crawl should have: how large must it be?
    union_target
        Share of what lives that all crawls together should hold: how large must the next crawl be,
        and how large all of them in the long run?
    budget
        URLs a year; else the newest crawl's size as often as crawls are made.
    crawls_per_year
        How often to crawl; else as often as so far.
    size
        URLs of the next crawl: what would it add? Else as the budget has it.
    floor
        Share of what lives: when is less held if crawling stops?
    cost_per_million
        What a million captured URLs cost, in any currency.

    Returns
    -------
    CrawlPlan
        If neither `target`, `union_target` nor `floor` is given, the next round numbers above what
        is held are planned for. What cannot be known is an estimate without a value, with the
        reason. At grade C all estimates are ranges without a value.

    Raises
    ------
    FitError
        If a wish is out of bounds, if coverage or turnover is not known or the model was rejected,
        or if nothing says how often crawls are made.

    Examples
    --------
    >>> import crawlgauge as cg
    >>> fit = cg.estimate(cg.simulate_table(n_crawls=4, seed=1, with_histories=False))
    >>> plan = cg.plan(fit, target=0.8)
    >>> 150_000 < plan.result.coverage_target.n_urls.value < 170_000
    True
    """
    wishes = {"target": target, "union_target": union_target, "floor": floor}
    if all(wish is None for wish in wishes.values()):
        wishes = usual_wishes(fit.estimates)
    result = plan_crawls(
        fit.estimates,
        budget=budget,
        crawls_per_year=crawls_per_year,
        size=size,
        cost_per_million=cost_per_million,
        **wishes,
    )
    return CrawlPlan(fit=fit, result=result)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class History(Answer):
    """What became of URLs from crawl to crawl, ready to be read, printed or drawn.

    Parameters
    ----------
    turnover
        The numbers.
    """

    turnover: Turnover

    def figure(self) -> "Chart":
        """Draw what each crawl kept, recovered, found anew and missed; a notebook shows it."""
        from crawlgauge.report.charts.questions import draw_turnover

        return draw_turnover(self.turnover)


def history(table: OverlapTable) -> History:
    """Follow URLs from crawl to crawl, by counting alone.

    Parameters
    ----------
    table
        Overlaps with capture histories, from `count_overlaps`, `read_overlaps` or
        `read_histories`. Without histories, what the overlaps of pairs tell.

    Returns
    -------
    History
        What is not known is None with a reason.

    Examples
    --------
    >>> import crawlgauge as cg
    >>> table = cg.simulate_table(n_crawls=4, population=1000, seed=1)
    >>> second = cg.history(table).turnover.per_crawl[1]
    >>> second.kept.value + second.new.value == table.crawls[1].n_urls
    True
    """
    return History(turnover=follow_crawls(table))


# ---------------------------------------------------------- each host, domain, media type or status


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StratumEstimates(Answer):
    """Strata with their numbers, ready to be read, printed or saved.

    Parameters
    ----------
    strata
        The numbers.
    """

    strata: divided.Strata

    def to_blocks(self, top: int | None = strata_blocks.DEFAULT_TOP) -> list[Block]:
        """Return the strata in blocks of text, so many at most; None for all."""
        return strata_blocks.to_blocks(self.strata, top=top)

    def summary(self, top: int | None = strata_blocks.DEFAULT_TOP) -> str:
        """Return the strata as text for a terminal.

        Parameters
        ----------
        top
            How many strata the table has at most; None for all.
        """
        return render_blocks(self.to_blocks(top))

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
        from crawlgauge.report.charts.questions import draw_strata

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
    from crawlgauge.overlaps.strata import count_strata, suffix_list_date

    opened = api.open_store(store)
    every = opened.crawl_sets()
    crawls = [item.crawl for item in every]
    sets = [every[k] for k in find_crawls(crawls, since=since, until=until, exclude=exclude)]
    if crawls and not sets:
        raise FitError(say("refused.no-crawl-left", first=crawls[0], last=crawls[-1]))
    if min_shared < 1:
        raise OverlapError(f"strata must share at least 1 URL, not {min_shared}")
    suffix_list = suffix_list_date() if by in ("host", "domain") else None
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
    estimates = None
    if len(sets) > 1:
        # Of all URLs of the same crawls.
        taken, path = {item.crawl.label for item in sets}, str(opened.path)
        others = [crawl.label for crawl in crawls if crawl.label not in taken]
        table = choose_window(api.count_overlaps(path), exclude=others)
        estimates = api.estimate(table, store=path).estimates
    strata = divided.estimate_strata(counts, estimates, suffix_list=suffix_list)
    return StratumEstimates(strata=strata)


def _read(store: Store, sets: list[CrawlSet], progress: Progress | None) -> Iterator["Attributes"]:
    for number, item in enumerate(sets):
        yield store.attributes(item)
        if progress is not None:
            progress(number + 1, len(sets))


# ----------------------------------------------------------------------- archives beside each other


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
        raise CrawlgaugeError(say("refused.gap", text=text))
    return round(float(match[1]) * _DAYS[(match[2] or "d")[0]])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ArchiveComparison(Answer):
    """Archives side by side, ready to be read, printed or saved.

    Parameters
    ----------
    comparison
        The numbers.
    """

    comparison: Comparison


def compare(
    store: StrPath | None,
    others: StrPath | Sequence[StrPath],
    *,
    max_gap: str | int = DEFAULT_MAX_GAP,
    persistence: float | None = None,
    sample: str | float | None = None,
    level: str = "url",
    n_hosts: int = 10,
    progress: Progress | None = None,
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
    _check_persistence(persistence)
    others = [others] if isinstance(others, str | os.PathLike) else others
    paths = [find_store(path) for path in (store, *others)]
    labels = _name_all(paths)
    stores = [api.open_store(str(path)) for path in paths]
    archives = {
        name: (opened, opened.crawl_sets(level))
        for name, opened in zip(labels, stores, strict=True)
    }
    _check_comparable(archives)

    from crawlgauge.overlaps.counting import count_archives, count_by_host

    threshold = WHOLE if sample is None else threshold_of(parse_rate(str(sample)))
    # First, as the messages of it would come in between the signs of progress.
    series = [_own_series(str(path), sample, level) for path in paths]
    all_sets = [sets for _, sets in archives.values()]
    counts, hosts = count_archives(all_sets, threshold=threshold, progress=progress), None
    if level == "url":
        hosts = count_by_host(list(archives.values()), threshold=threshold)
    comparison = compare_archives(
        counts,
        names=labels,
        series=series,
        hosts=hosts,
        max_gap_days=max_gap_days,
        persistence=persistence,
        n_hosts=n_hosts,
        warnings=tuple(_find_differences(archives)),
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
    progress: Progress | None = None,
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
            raise OverlapError(f"the store {store.path} holds no crawls; add some first")
    if len(archives) < 2:  # noqa: PLR2004 - two to be compared
        raise OverlapError("one archive cannot be compared; name the store of another")
    (first, own), *others = ((name, sets[0].key_rule) for name, (_, sets) in archives.items())
    for name, rule in others:
        if rule != own:
            raise OverlapError(
                say("refused.other-rule", first=first, name=name, first_rule=own, rule=rule)
            )


def _find_differences(archives: _Archives) -> Iterator[str]:
    """Say in which ways the archives count other things, or the same thing twice."""
    for setting in ("status", "mime"):
        first, *others = (
            {item.provenance.settings.get(setting) for item in sets}
            for _, sets in archives.values()
        )
        if any(other != first for other in others):
            yield say("question.made-differently", setting=setting)
    owner_of: dict[str, tuple[str, str]] = {}
    for name, (_, sets) in archives.items():
        for item in sets:
            other = item.crawl.label
            owner, label = owner_of.setdefault(item.checksum, (name, other))
            if owner != name:
                yield say("question.same-set", owner=owner, label=label, name=name, other=other)


def _own_series(path: str, sample: str | float | None, level: str) -> tuple[Estimate, Estimate]:
    """Return typical coverage and persistence by an archive's own crawls, if they are enough."""
    table = api.count_overlaps(path, sample=sample, level=level)
    reason = f"a series of {table.n_crawls} says too little; 3 are needed"
    if table.n_crawls >= _MIN_SERIES:
        try:
            found = api.estimate(table, store=path).estimates
        except FitError as error:
            reason = f"its own series gives no estimate: {error}"
        else:
            return found.headline.coverage, found.persistence
    return (Estimate.unknown(reason),) * 2


# ------------------------------------------------------------------ crawls against a reference list


_QUEUED = re.compile(r"(?:(?P<label>.+)=)?(?P<n>\d[\d_,]*)")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReferenceRecall(Answer):
    """How much of a reference the crawls hold, ready to be read, printed or saved.

    Parameters
    ----------
    recall
        The numbers.
    """

    recall: Recall


def recall(
    store: StrPath | None,
    reference: StrPath | None,
    *,
    kind: Literal["url", "host", "domain"] | None = None,
    uniform: bool = False,
    date: dt.date | str | None = None,
    persistence: float | None = None,
    queued: str | int | None = None,
    missing: StrPath | None = None,
    format: str | None = None,  # noqa: A002 - as everywhere where files are read
    column: str | None = None,
    scope: StrPath | None = None,
) -> ReferenceRecall:
    """Tell which share of a reference list each crawl holds, and all of them together.

    Parameters
    ----------
    store
        As for `open_store`.
    reference
        A file of URLs in any format that can be read, or of hosts or domains, one a line or in a
        column; ``-`` for standard input. None if only `queued` is asked about.
    kind
        ``url``, ``host`` or ``domain``; found out from the content by default.
    uniform
        Whether the reference is a uniform sample of the URLs that could be crawled at its date.
    date
        When the reference was drawn; needed for `uniform`.
    persistence
        Share of URLs that lives on for a year; by default what the series of crawls says.
    queued
        URLs that the newest crawl knew of and did not fetch; or ``LABEL=N`` for another crawl.
    missing
        A file for what no crawl holds, one entry a line, as the reference has it.
    format, column
        As for `add_crawl`.
    scope
        A file of scope rules, as for `add_crawl`: only URLs in it count.

    Raises
    ------
    SourceError
        If the reference cannot be read, or lists nothing.
    StoreError
        If the store cannot be read.
    FitError
        If the questions contradict each other.
    """
    path = find_store(store)
    opened = api.open_store(str(path))
    sets = opened.crawl_sets()
    if not sets:
        raise StoreError(f"the store {path} holds no crawls; add some first")
    day = parse_date(date) if isinstance(date, str) else date
    if reference is None and queued is None:
        raise SourceError("no reference was named; give a file of URLs, hosts or domains, or -")
    if uniform and day is None:
        raise FitError(say("refused.no-date"))
    _check_persistence(persistence)
    crawls = [item.crawl for item in sets]
    of_queue = None if queued is None else _parse_queued(queued, crawls)
    series = _estimate_series(str(path), len(sets))
    answer = partial(recall_reference, crawls, series, key_rule=opened.key_rule, queued=of_queue)
    if reference is None:
        return ReferenceRecall(recall=answer(reference=None))
    from crawlgauge.ingest.options import read_scope
    from crawlgauge.overlaps.reference import ReferenceList, look_up, open_reference
    from crawlgauge.sources.decompress import fingerprint

    name = conceal(os.fspath(reference))
    with open_reference(reference) as file:
        listed = ReferenceList(
            path=file,
            key_rule=opened.rule,
            format=format,
            column=column,
            scope=None if scope is None else read_scope(to_path(os.fspath(scope))),
        )
        found, held, held_by_any, lacking = look_up(opened, sets, listed, kind, name=name, date=day)
        if uniform and found.kind != "url":
            raise FitError("a uniform sample is one of URLs: one of hosts says nothing of coverage")
        if missing is not None:
            _write_lines(Path(missing), lacking)
        source = fingerprint(file)
    own = Input(name=name, checksum=source.checksum, n_bytes=source.n_bytes)
    of_sets = (Input(name=item.crawl.label, checksum=item.checksum) for item in sets)
    return ReferenceRecall(
        recall=answer(
            reference=found,
            held=held,
            held_by_any=held_by_any,
            is_uniform=uniform,
            persistence=persistence,
            warnings=[say("question.least")] if held_by_any.is_least else [],
            provenance=Provenance(inputs=(own, *of_sets)),
        )
    )


def _parse_queued(queued: str | int, crawls: Sequence[Crawl]) -> tuple[str, int]:
    match = _QUEUED.fullmatch(str(queued).strip())
    if match is None:
        raise FitError(say("refused.queue", queued=queued))
    label = match["label"] or crawls[-1].label
    known = [crawl.label for crawl in crawls]
    if label not in known:
        raise FitError(f"the queue names the crawl {label!r}; the store holds {', '.join(known)}")
    return label, int(re.sub(r"\D", "", match["n"]))


def _estimate_series(path: str, n_crawls: int) -> Estimates | str:
    if n_crawls < _MIN_SERIES:
        return f"a series of {n_crawls} says too little of coverage; 3 are needed"
    try:
        return api.estimate(api.count_overlaps(path), store=path).estimates
    except FitError as error:
        return f"the series gives no estimate: {error}"


def _write_lines(path: Path, lines: Iterator[bytes]) -> None:
    # A link stays a link: the file that it leads to is replaced.
    place = path.resolve()
    try:
        with partial_file(place.parent, place.name) as partial:
            with write_durably(partial) as file:
                file.writelines(line + b"\n" for line in lines)
            partial.replace(place)
    except OSError as error:
        raise CrawlgaugeError(f"{path} cannot be written: {error.strerror}") from error


# ---------------------------------------------------------------------------- what moves the number


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sensitivity(Answer):
    """How far the estimates move with each change, ready to be read, printed or saved.

    Parameters
    ----------
    movements
        The numbers.
    """

    movements: changes.Movements


def sensitivity(
    fit: Fit,
    *,
    store: StrPath | None = None,
    crawl_list: StrPath | None = None,
    sample: str = "auto",
    scope: StrPath | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """See what moves the estimates: leave out crawls, regimes, short lags and most URLs in turn.

    Every change takes as long as an estimate; reading files again takes as long as adding them.

    Parameters
    ----------
    fit
        What `estimate` returned.
    store
        The store that it was counted from, if any: parts of the URLs are then counted in it, by
        ranges of their keys. Without it, capture histories are divided at random.
    crawl_list
        The CSV list of the crawls' files (``label,date,path``), as for `add_crawls`. If given,
        they are read again with other rules for which URLs are the same, other statuses and other
        media types, into a folder that is removed afterwards.
    sample
        Which part of the URLs is read again; as for `add_crawls`.
    scope
        The file of URLs that count, if the crawls were added with one.
    progress
        Called with how many of how many changes have been tried.

    Raises
    ------
    CrawlgaugeError
        If the store or a file cannot be read, or the list lacks a crawl.
    """
    table, estimates = fit.table, fit.estimates
    place = None if store is None else find_store(store)
    sets: tuple[CrawlSet, ...] = ()
    if place is not None:
        opened = api.open_store(str(place))
        sets = tuple(opened.crawl_set(crawl.label, table.level) for crawl in table.crawls)
    with ExitStack() as stack:
        as_added: OverlapTable | None = None
        choices: list[tuple[changes.Kind, str, str, ReadOptions]] = []
        if crawl_list is not None:
            listed = to_path(os.fspath(crawl_list))
            options = _options_of(table, sets, sample=sample, scope=scope)
            _check_list(listed, table)
            read = partial(_read_again, listed, table, stack.enter_context(_make_room(place)))
            # First of all: what cannot be read is better known before an hour of estimates.
            as_added, choices = read(options), _list_choices(options)
        parts, no_parts = _divide(table, sets)
        left_out = [*changes.leave_out(table), *changes.as_parts(parts)]
        movements: list[changes.Movement] = []

        def add(movement: changes.Movement) -> None:
            movements.append(movement)
            if progress is not None:
                progress(len(movements), len(left_out) + len(choices))

        for movement in _leave_out(fit, left_out):
            add(movement)
        if as_added is not None:
            before = changes.estimate_like(as_added, estimates)
            for kind, change, subject, changed in choices:
                try:
                    found: OverlapTable | str = read({**options, **changed})
                except CrawlgaugeError as error:
                    found = str(error)
                add(changes.measure(changes.Variation(kind, change, subject, found), before))
    return Sensitivity(
        movements=changes.rank_movements(
            estimates,
            movements,
            part_rate=parts[0].sample_rate if parts else None,
            reading_rate=None if as_added is None else as_added.sample_rate,
            not_tried=tuple(
                say(f"question.{kind}", no_parts=no_parts)
                for kind in ("crawl", "regime", "short-lags", "part", "identity")
                if all(movement.kind != kind for movement in movements)
            ),
        )
    )


def _leave_out(fit: Fit, variations: Sequence[changes.Variation]) -> Iterator[changes.Movement]:
    table, estimates = fit.table, fit.estimates
    weights = dict(
        zip((crawl.label for crawl in table.crawls), changes.weigh_crawls(table), strict=True)
    )
    by_pairs = estimates
    if table.histories is not None and any(item.kind == "short-lags" for item in variations):
        # Short lags are left out of pairs alone, so that pairs alone are what to compare with.
        by_pairs = changes.estimate_like(replace(table, histories=None), estimates)
    for variation in variations:
        weight = weights[variation.subject] if variation.kind == "crawl" else None
        before = by_pairs if variation.kind == "short-lags" else estimates
        yield changes.measure(variation, before, weight)


def _divide(
    table: OverlapTable, sets: tuple[CrawlSet, ...]
) -> tuple[tuple[OverlapTable, ...], str | None]:
    """Return parts of the URLs, by their keys or at random, or why there are none."""
    try:
        if sets:
            from crawlgauge.overlaps.counting import count_parts

            counted = count_parts(sets, table, changes.N_PARTS)
            return tuple(changes.fit_to(table, part) for part in counted), None
        parts = changes.divide_histories(table)
    except (FitError, OverlapError) as error:
        return (), str(error)
    no_parts = "overlaps of pairs cannot be divided; capture histories could be"
    return parts, None if parts else no_parts


# ---------- read the files of crawls again with other choices, into stores that are gone afterwards


_FOLDER = ".crawlgauge-sensitivity-"


def _check_list(crawl_list: AnyPath, table: OverlapTable) -> None:
    if str(crawl_list) == STDIN:
        raise SourceError(say("refused.list-from-stdin"))
    from crawlgauge.ingest.crawl_list import read_crawl_list

    listed = {crawl.label for crawl in read_crawl_list(crawl_list)}
    lacking = [crawl.label for crawl in table.crawls if crawl.label not in listed]
    if lacking:
        raise SourceError(say("refused.not-listed", crawl_list=crawl_list, lacking=lacking))


def _options_of(
    table: OverlapTable, sets: Sequence[CrawlSet], *, sample: str, scope: StrPath | None
) -> "ReadOptions":
    """Return the options by which crawls of a store were read, where they agree."""
    if table.level != BY_URL:
        raise SourceError(say("refused.level", level=table.level))
    from crawlgauge.ingest.options import read_scope

    rule = (table.key_rule or str(SURT)).partition("/")[0]
    options: dict[str, Any] = {"identity": rule, "sample": sample, "scope": scope}
    settings = [item.provenance.settings for item in sets]
    for name in ("status", "mime", "format", "column", "on_damage"):
        value = _common(settings, name)
        if value is not None:
            options[name] = value
    checksum = _common(settings, "scope")
    if scope is None and checksum is not None:
        raise SourceError("the crawls were added with a scope; name the same file again")
    if scope is not None and checksum is not None and read_scope(scope).checksum != checksum:
        raise SourceError(
            f"{conceal(os.fspath(scope))} is not the scope that the crawls were added with"
        )
    return cast("ReadOptions", options)


def _common(settings: Sequence[Mapping[str, Setting]], name: str) -> Setting:
    """Return what all crawls were added with; None if they do not say."""
    found = {of_crawl.get(name) for of_crawl in settings}
    if len(found) > 1:
        raise SourceError(say("refused.added-differently", setting=name.replace("_", "-")))
    return found.pop() if found else None


def _list_choices(options: "ReadOptions") -> list[tuple[changes.Kind, str, str, "ReadOptions"]]:
    """Return all other rules of identity, statuses and media types to try, one at a time."""
    choices: list[tuple[changes.Kind, str, str, ReadOptions]] = [
        ("identity", f"URLs the same by {name}", name, {"identity": name}) for name in RULES
    ]
    for text in (DEFAULT_STATUS, "200", "any"):
        change = "captures of any status" if text == "any" else f"captures of status {text}"
        choices.append(("status", change, text, {"status": text}))
    choices.append(("mime", "all media types", "all", {"mime": None}))
    choices.append(("mime", "captures of text/html only", "text/html", {"mime": "text/html"}))
    own = {"status": DEFAULT_STATUS, "mime": None, **options}
    return [choice for choice in choices if not choice[-1].items() <= own.items()]


def _read_again(
    crawl_list: AnyPath, table: OverlapTable, folder: str, options: "ReadOptions"
) -> OverlapTable:
    """Read all files again and count the crawls and pairs of a table."""
    from crawlgauge.ingest.adding import add_crawls

    store = Path(folder) / "store"
    try:
        add_crawls(store, str(crawl_list), **options)
        return changes.fit_to(table, api.count_overlaps(store))
    finally:
        shutil.rmtree(store, ignore_errors=True)


def _make_room(store: AnyPath | None) -> "tempfile.TemporaryDirectory[str]":
    """Make a folder beside a store, where there is room for crawls, if that is possible."""
    if isinstance(store, Path):
        # A store may lie where nothing can be written.
        with suppress(OSError):
            return tempfile.TemporaryDirectory(prefix=_FOLDER, dir=store.resolve().parent)
    return tempfile.TemporaryDirectory(prefix=_FOLDER)
