"""The Python API, and the flow of it all, to be read first.

::

    add_crawl(store, label, files)    ingest     files -> a set of keys, kept in the store
    count_overlaps(store)             overlaps   sets -> an OverlapTable
    estimate(table)                   model      the table -> a Fit, with its Estimates
    write_report(fit, path)           report     the fit -> a page

Every further question is a function of the same fit, table or store, in a module of `questions`:
`check_newest`, `plan`, `sensitivity`, `history`, `estimate_strata`, `compare`, `recall`. Its answer
prints itself (`summary`, `to_json`), and `write_report` shows it.

What takes long to load (compiled kernels, the models) is loaded by the functions that need it.
"""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlgauge.crawl import parse_date
from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.locations import StrPath, find_store
from crawlgauge.model.estimates import Estimates
from crawlgauge.overlaps import files
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import estimate_blocks, result_json
from crawlgauge.store import catalogue
from crawlgauge.store.catalogue import Finding, Store, verify_crawls
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import replace_file

if TYPE_CHECKING:
    from crawlgauge.report.charts.figures import Figures
    from crawlgauge.report.section import Answer, Section

__all__ = [
    "Fit",
    "choose_window",
    "count_overlaps",
    "estimate",
    "list_crawls",
    "open_store",
    "read_histories",
    "read_overlaps",
    "remove_crawl",
    "verify_store",
    "write_overlaps",
    "write_report",
]

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Estimates, ready to be read, printed or saved.

    Parameters
    ----------
    table
        What was estimated from.
    estimates
        The numbers.
    """

    table: OverlapTable
    estimates: Estimates

    def summary(self) -> str:
        """Return the estimates as text for a terminal."""
        return estimate_blocks.to_text(self.estimates)

    def explain(self, check: str) -> str:
        """Return what a check means, how it is computed and what it found, as text.

        Parameters
        ----------
        check
            Its id, such as ``short-lag``.
        """
        return estimate_blocks.explain(check, self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as plain data, in the form of the JSON schema."""
        return result_json.estimate_document(self.estimates)

    def to_json(self) -> str:
        """Return the estimates as JSON."""
        return result_json.to_json(self.to_dict())

    @property
    def figures(self) -> "Figures":
        """Every figure by name; a notebook shows what its methods return."""
        from crawlgauge.report.charts.figures import Figures

        return Figures(self.estimates)

    def to_html(self) -> str:
        """Return the report: one HTML page with everything in it, which needs no network."""
        return _render(self, ())[0]


def open_store(path: StrPath | None = None) -> Store:
    """Open a store.

    Parameters
    ----------
    path
        Its folder; else ``$CRAWLGAUGE_STORE``, else ``crawlgauge.store`` in the working folder.

    Raises
    ------
    StoreError
        If there is none, or it was written by a newer version.
    """
    return catalogue.open_store(find_store(path))


def list_crawls(store: StrPath | None = None) -> tuple[CrawlSet, ...]:
    """Return what is in a store, in order of date."""
    return tuple(open_store(store).crawl_sets())


def remove_crawl(store: StrPath | None, label: str) -> None:
    """Take a crawl out of a store."""
    open_store(store).remove(label)


def verify_store(store: StrPath | None = None) -> tuple[Finding, ...]:
    """Re-read every file of a store against its checksums and return what was found."""
    return tuple(verify_crawls(open_store(store)))


def count_overlaps(
    store: StrPath | None = None,
    *,
    sample: str | float | None = None,
    level: str = "url",
    progress: Progress | None = None,
) -> OverlapTable:
    """Count the overlaps of all crawls of a store, exactly or in a sample.

    Parameters
    ----------
    store
        As for `open_store`.
    sample
        Count only this share of the URLs, such as ``"1/64"`` or ``0.01``. If a crawl was added
        as a smaller sample, all are counted in that one.
    level
        What is compared: ``url``, ``content`` (by the digests of what was captured) or ``text``
        (by the words of HTML pages), where the crawls were added with it.
    progress
        Called with how many of how many hash ranges are done.

    Raises
    ------
    StoreError
        If a crawl cannot be read or lacks the level, or `sample` is no share.
    OverlapError
        If there are no crawls, or a sample without any URL of one of them.
    """
    from crawlgauge.overlaps.counting import count_store

    share = None if sample is None else str(sample)
    return count_store(open_store(store), sample=share, level=level, progress=progress)


def read_overlaps(path: StrPath) -> OverlapTable:
    """Read an overlap table from a CSV, JSON or Parquet file, told by content.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    """
    return files.read_overlaps(path)


def read_histories(histories: StrPath, crawls: StrPath) -> OverlapTable:
    """Read capture histories (``history,count``) and their crawls (``label,date[,n_urls]``).

    Parameters
    ----------
    histories, crawls
        The two CSV files.
    """
    return files.read_histories(histories, crawls)


def write_overlaps(table: OverlapTable, path: StrPath) -> None:
    """Write an overlap table as ``.csv``, ``.json`` or ``.parquet``, told by the name."""
    files.write_overlaps(table, path)


def choose_window(
    table: OverlapTable,
    *,
    since: dt.date | str | None = None,
    until: dt.date | str | None = None,
    exclude: Iterable[str] = (),
    min_lag: int | None = None,
    regime: int | str | None = None,
) -> OverlapTable:
    """Keep only some crawls and pairs of an overlap table, to estimate from those.

    Parameters
    ----------
    table
        All overlaps.
    since, until
        First and last date of the crawls to keep.
    exclude
        Labels of crawls to leave out.
    min_lag
        Keep only pairs that are at least so many crawls apart.
    regime
        Keep only the crawls of one regime, as the check change-point finds them: its number
        from 1, or ``latest``.

    Raises
    ------
    FitError
        If a choice fits no crawl, or leaves too little.
    """
    from crawlgauge.model import window

    return window.choose_window(
        table,
        since=parse_date(since) if isinstance(since, str) else since,
        until=parse_date(until) if isinstance(until, str) else until,
        exclude=exclude,
        min_lag=min_lag,
        regime=regime,
    )


def estimate(
    table: OverlapTable, *, persistence: float | None = None, store: StrPath | None = None
) -> Fit:
    """Estimate coverage, persistence and population from an overlap table.

    Parameters
    ----------
    table
        Overlaps of at least two crawls.
    persistence
        For two crawls only, which cannot tell coverage from turnover: the share of URLs that
        lives on for a year, known from elsewhere.
    store
        The store that the overlaps were counted in: it keeps the estimate, so that the same one
        takes no time again. If not given, it is made anew.

    Raises
    ------
    FitError
        If nothing can be estimated.
    StoreError
        If there is no such store.
    """
    from crawlgauge.kept_estimates import estimate_once

    place = None if store is None else open_store(store)
    return Fit(table=table, estimates=estimate_once(table, place, persistence=persistence))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """A page on the disk.

    Parameters
    ----------
    path
        Where it lies.
    n_bytes
        Its size.
    n_charts
        How many figures are drawn in it.
    """

    path: Path
    n_bytes: int
    n_charts: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"path": str(self.path), "n_bytes": self.n_bytes, "n_charts": self.n_charts}


def write_report(fit: Fit, path: StrPath, answers: "Iterable[Answer]" = ()) -> ReportFile:
    """Write the report: one HTML page with the answer, its checks and all figures.

    The file appears whole or not at all; one that stood there before stays until then.

    Parameters
    ----------
    fit
        What `estimate` returned.
    path
        Where to.
    answers
        Further questions that were asked, such as what `estimate_strata` returned: each becomes a
        section, in place of the one that every report has of that question.

    Raises
    ------
    CrawlgaugeError
        If the file cannot be written, or two answers are of the same question.
    """
    # A link stays a link: the file that it leads to is replaced.
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise CrawlgaugeError(f"{path} cannot be written: its folder does not exist")
    page, n_charts = _render(fit, answers)
    content = page.encode()
    try:
        replace_file(place, content)
    except OSError as error:
        raise CrawlgaugeError(f"{path} cannot be written: {error.strerror}") from error
    return ReportFile(path=Path(path), n_bytes=len(content), n_charts=n_charts)


def _render(fit: Fit, answers: "Iterable[Answer]") -> tuple[str, int]:
    """Return the page of the report, and how many charts it has."""
    from crawlgauge.report.charts.chart import Chart
    from crawlgauge.report.charts.figures import try_charts
    from crawlgauge.report.page.rendering import render_page
    from crawlgauge.report.section import combine_sections

    charts = try_charts(fit.estimates)
    sections = combine_sections(_answer_always(fit), [item.section() for item in answers])
    drawn = [*charts, *(chart for section in sections for chart in section.charts)]
    n_charts = sum(isinstance(chart, Chart) for chart in drawn)
    return render_page(fit.estimates, charts, sections), n_charts


def _answer_always(fit: Fit) -> "list[Section]":
    """Answer the further questions that every report asks, as they take the overlaps alone."""
    from crawlgauge.model.newest import check_newest_crawl
    from crawlgauge.model.plan import plan_crawls, usual_wishes
    from crawlgauge.model.turnover import follow_crawls
    from crawlgauge.report.section import show_check, show_plan, show_turnover

    sections = [show_check(check_newest_crawl(fit.table, fit.estimates))]
    sections.append(show_turnover(follow_crawls(fit.table)))
    try:
        sections.append(show_plan(plan_crawls(fit.estimates, **usual_wishes(fit.estimates))))
    except FitError as error:
        # Nothing was wished for here that could be wrong: the series is too short.
        sections.append(show_plan(str(error)))
    return sections
