"""The Python API, and the flow of it all, to be read first.

::

    add_crawl(store, label, files)    ingest     files -> a set of keys, kept in the store
    count_overlaps(store)             overlaps   sets -> an OverlapTable
    estimate(table)                   model      the table -> a Fit, with its Estimates
    write_report(fit, path)           report     the fit -> a page

Every further question is a function of the same fit, table or store, in `questions.py`:
`check_newest`, `plan`, `sensitivity`, `history`, `estimate_strata`, `compare`, `recall`.

What takes long to load (compiled kernels, the models) is loaded by the functions that need it.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.frames import Rows, Tabular
from crawlgauge.locations import StrPath, find_store
from crawlgauge.model.estimates import Estimates
from crawlgauge.overlaps.files import Source, read_histories, read_overlaps, write_overlaps
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import estimate_blocks, result_json
from crawlgauge.store import catalogue
from crawlgauge.store.anchors import verify_anchors
from crawlgauge.store.catalogue import Finding, Store, verify_crawls
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import replace_file

if TYPE_CHECKING:
    from crawlgauge.report.answers import Answer
    from crawlgauge.report.blocks import Section
    from crawlgauge.report.charts.figures import Figures

__all__ = [
    "Fit",
    "ReportFile",
    "count_overlaps",
    "estimate",
    "list_crawls",
    "open_store",
    "read_histories",
    "read_overlaps",
    "remove_crawl",
    "verify_store",
    "write_crate",
    "write_overlaps",
    "write_report",
]

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fit(Tabular):
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

    def __repr__(self) -> str:
        from crawlgauge.report import answers

        crawls = self.table.crawls
        name = f"Fit of {len(crawls)} crawls, {crawls[0].label} to {crawls[-1].label}"
        return answers.tell(name, estimate_blocks.to_brief(self.estimates))

    def _repr_html_(self) -> str:
        from crawlgauge.report import answers

        return answers.tell_in_html(estimate_blocks.to_brief(self.estimates))

    def _rows(self) -> Rows:
        from crawlgauge.report import answers

        crawls = zip(self.estimates.crawls, answers.to_rows(self.estimates.per_crawl), strict=True)
        return [
            {"label": crawl.label, "date": crawl.date, "n_urls": crawl.n_urls} | row
            for crawl, row in crawls
        ]

    def summary(self, *, full: bool = False) -> str:
        """Return the estimates as text for a terminal.

        Parameters
        ----------
        full
            Whether all crawls, estimators and checks are told of, and not only what fits on a
            screen.
        """
        return estimate_blocks.to_text(self.estimates, is_full=full)

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
        from crawlgauge.simulate.fitted_urn import find_panels

        return Figures(self.estimates, find_panels(self.estimates))

    def to_html(self, *, title: str | None = None) -> str:
        """Return the report: one HTML page with everything in it, which needs no network.

        Parameters
        ----------
        title
            What the archive is called.
        """
        return _render(self, (), title)[0]


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
    opened = open_store(store)
    return (*verify_crawls(opened), *verify_anchors(opened))


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


def estimate(
    table: OverlapTable | Source, *, persistence: float | None = None, store: StrPath | None = None
) -> Fit:
    """Estimate coverage, persistence and population from an overlap table.

    Parameters
    ----------
    table
        Overlaps of at least two crawls: a table, or whatever `read_overlaps` reads one from, such
        as a data frame with a row for each pair.
    persistence
        For two crawls only, which cannot tell coverage from turnover: the share of URLs that
        lives on for a year, known from elsewhere.
    store
        The store that the overlaps were counted in: its anchors have a say in the number, and it
        keeps the estimate, so that the same one takes no time again. If not given, it is made
        anew, from the table alone.

    Raises
    ------
    FitError
        If nothing can be estimated.
    OverlapError
        If what was given is no table of overlaps.
    StoreError
        If there is no such store.
    """
    from crawlgauge.kept_estimates import estimate_once

    place = None if store is None else open_store(store)
    table = read_overlaps(table)
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


def write_report(
    fit: Fit, path: StrPath, answers: "Iterable[Answer]" = (), *, title: str | None = None
) -> ReportFile:
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
    title
        What the archive is called, such as ``"Our web archive"``.

    Raises
    ------
    CrawlgaugeError
        If the file cannot be written, or two answers are of the same question.
    """
    # A link stays a link: the file that it leads to is replaced.
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise CrawlgaugeError(f"{path} cannot be written: its folder does not exist")
    page, n_charts = _render(fit, answers, title)
    content = page.encode()
    _replace(place, content, path)
    return ReportFile(path=Path(path), n_bytes=len(content), n_charts=n_charts)


def write_crate(
    result: Fit | OverlapTable,
    folder: StrPath,
    answers: "Iterable[Answer]" = (),
    *,
    title: str | None = None,
) -> tuple[Path, ...]:
    """Write results into a folder that a repository of data can take in, as an RO-Crate.

    The overlaps as CSV and Parquet, of a fit also the estimates as JSON and the report, and a
    description of all of them, ``ro-crate-metadata.json``, which is written last.

    Parameters
    ----------
    result
        What `estimate` or `count_overlaps` returned.
    folder
        Where to; made if it is not there. Files of these names in it are replaced.
    answers
        Further sections of the report, as for `write_report`.
    title
        What the archive is called.

    Returns
    -------
    tuple
        The files that were written.

    Raises
    ------
    CrawlgaugeError
        If a file cannot be written.
    """
    from crawlgauge.overlaps.csv_table import to_csv
    from crawlgauge.overlaps.files import to_parquet
    from crawlgauge.report.charts.chart import make_folder
    from crawlgauge.report.crate import DESCRIPTION, describe_crate

    fit = result if isinstance(result, Fit) else None
    table = result if isinstance(result, OverlapTable) else result.table
    contents = {"overlaps.csv": to_csv(table).encode(), "overlaps.parquet": to_parquet(table)}
    if fit is not None:
        contents["estimate.json"] = fit.to_json().encode()
        contents["report.html"] = _render(fit, answers, title)[0].encode()
    document = describe_crate(
        contents,
        table.crawls,
        table.provenance,
        estimates=None if fit is None else fit.estimates,
        title=title,
    )
    contents[DESCRIPTION] = json.dumps(document, indent=1, allow_nan=False).encode()
    place = Path(folder)
    make_folder(place)
    for name, content in contents.items():
        _replace(place / name, content, place / name)
    return tuple(place / name for name in contents)


def _replace(place: Path, content: bytes, named: StrPath) -> None:
    try:
        replace_file(place, content)
    except OSError as error:
        raise CrawlgaugeError(f"{named} cannot be written: {error.strerror}") from error


def _render(fit: Fit, asked: "Iterable[Answer]", title: str | None) -> tuple[str, int]:
    """Return the page of the report, and how many charts it has."""
    from crawlgauge.report.blocks import combine_sections
    from crawlgauge.report.charts.chart import Chart
    from crawlgauge.report.charts.figures import try_charts
    from crawlgauge.report.page.document import render_page
    from crawlgauge.simulate.fitted_urn import find_panels

    charts = try_charts(fit.estimates, find_panels(fit.estimates))
    sections = combine_sections(_answer_always(fit), [item.section() for item in asked])
    drawn = [*charts, *(chart for section in sections for chart in section.charts)]
    n_charts = sum(isinstance(chart, Chart) for chart in drawn)
    return render_page(fit.estimates, charts, sections, title=title), n_charts


def _answer_always(fit: Fit) -> "list[Section]":
    """Answer the further questions that every report asks, as they take the overlaps alone."""
    from crawlgauge.model.newest import check_newest_crawl
    from crawlgauge.model.plan import plan_crawls, usual_wishes
    from crawlgauge.model.turnover import follow_crawls
    from crawlgauge.report import answers
    from crawlgauge.report.anchor_blocks import to_section

    try:
        plan = answers.show(plan_crawls(fit.estimates, **usual_wishes(fit.estimates)))
    except FitError as error:
        # Nothing was wished for here that could be wrong: the series is too short.
        plan = answers.show_no_plan(str(error))
    check = check_newest_crawl(fit.table, fit.estimates)
    turnover = follow_crawls(fit.table)
    anchored = [to_section(fit.estimates)] if fit.estimates.anchors else []
    return [*anchored, answers.show(check), answers.show(turnover), plan]
