"""The command ``report``: one HTML page with the answer, its checks and all figures."""

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import SPAN, EstimateInputs, estimate_inputs
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show_crate, show_written
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import OverlapError

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.report.answers import Answer

_NONE = "none"
_PAGE = "report.html"

_log = logging.getLogger(__name__)


@options.command()
@estimate_inputs
@option(
    "-o --output FILE",
    f"Where the page is written; one that stands there is replaced. [default: {_PAGE}]",
)
@options.crate
@option("--title TEXT", "What the archive is called: the top line.")
@option("--open", "Open the page in the browser.", name="is_opened")
@option(
    "--strata host|domain|tld|mime|status|none",
    "With a section on coverage by host, domain and so on; repeatable. From a store, by host if "
    "not given; none for no such section.",
    multiple=True,
)
@option(
    "--compare STORE",
    "With a section that compares with this store of another archive; repeatable.",
    multiple=True,
)
@option(
    "--recall FILE",
    "With a section on how much of this list of URLs, hosts or domains the crawls hold.",
)
@option(
    "--sensitivity",
    "With a section on what moves the number; takes as long as some dozen estimates.",
)
@options.as_json
def report(
    inputs: EstimateInputs,
    output: str | None,
    crate: str | None,
    title: str | None,
    is_opened: bool,
    **questions: Any,  # noqa: ANN401 - the parameters of `_answer`
) -> None:
    """Write a page: how much the crawls hold, how sure that is, why.

    From the store, or from TABLE, as for estimate. The page is one file that needs no network: it
    can be sent by mail, kept with the archive and opened in ten years.

    Examples
    --------
    crawlgauge report
    crawlgauge report --title "Our web archive" --open
    crawlgauge report overlaps.csv -o report.html
    crawlgauge report --since 2016-01-01 -o since-2016.html
    crawlgauge report --strata domain --strata mime --sensitivity
    crawlgauge report --title "Our web archive" --crate deposit
    crawlgauge report --compare ../other/crawlgauge.store --recall home-pages.txt
    crawlgauge report --json
    """
    from crawlgauge import api

    options.take_one({"-o FILE": output, "--crate DIR": crate})
    fit = inputs.estimate()
    answers = _answer(fit, inputs, **questions)
    if crate is not None:
        files = api.write_crate(fit, crate, answers, title=title)
        show_crate(files)
        page = next(file for file in files if file.suffix == ".html")
    else:
        written = api.write_report(fit, output or _PAGE, answers, title=title)
        text = f"wrote {written.path}: {written.n_charts} figures, {written.n_bytes // 1000} kB"
        show_written(written.to_dict(), text)
        page = written.path
    if is_opened:
        click.launch(page.resolve().as_uri())


def _answer(
    fit: "Fit",
    inputs: EstimateInputs,
    strata: Sequence[str],
    compare: Sequence[str],
    recall: str | None,
    *,
    sensitivity: bool,
) -> "Iterator[Answer]":
    """Yield the answers to further questions, in the order of the report."""
    import crawlgauge as cg

    wanted = [by for by in dict.fromkeys(strata) if by != _NONE]
    if inputs.counted_in is None:
        if wanted or compare or recall:
            raise click.UsageError("--strata, --compare and --recall take a store, not a table")
    elif strata:
        yield from (_divide(inputs, by) for by in wanted)
    else:
        try:
            yield _divide(inputs, "host")
        except OverlapError as error:
            _log.info("the report has no section on hosts: %s", error)
    if compare:
        level = inputs.level or "url"
        with show_progress("comparing archives") as progress:
            yield cg.compare(inputs.store, compare, level=level, progress=progress)
    if recall is not None:
        yield cg.recall(inputs.store, recall)
    if sensitivity:
        with show_progress("estimating with changes") as progress:
            yield cg.sensitivity(fit, store=inputs.counted_in, progress=progress)


def _divide(inputs: EstimateInputs, by: str) -> "Answer":
    from crawlgauge.questions import estimate_strata

    with show_progress(f"reading crawls by {by}") as progress:
        span = {name: inputs.window[name] for name in SPAN}
        return estimate_strata(inputs.store, by=by, progress=progress, **span)
