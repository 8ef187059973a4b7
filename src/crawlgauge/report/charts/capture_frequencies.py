"""How many URLs just one crawl holds, just two, and so on."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.report.charts.axes import count_axis
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import Rows, base_chart, significant, to_specification
from crawlgauge.report.charts.sentences import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_capture_frequencies"]

_NAME = "capture-frequencies"
_COLUMNS = ("n_crawls", "n_urls", "share")
_HEIGHT = 160
_MAX_LABELLED = 12


def draw_capture_frequencies(estimates: Estimates) -> Chart | NoChart:
    """Draw in how many crawls the URLs of the archive are.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun = things(estimates.level)
    title = f"How many {noun} are in just one crawl, in just two, and so on"
    frequencies = estimates.capture_frequencies
    if frequencies is None:
        return NoChart(name=_NAME, title=title, reason="there are no capture histories")
    total = sum(frequencies)
    rows: Rows = tuple(
        (number, frequency, significant(frequency / total))
        for number, frequency in enumerate(frequencies, start=1)
    )
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates, frequencies),
        alternative=f"Bars. {_say_ends(frequencies, noun)}",
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(_layers(frequencies, noun), _COLUMNS, rows, height=_HEIGHT),
    )


def _layers(frequencies: tuple[int, ...], noun: str) -> "list[alt.Chart]":
    import altair as alt

    base = base_chart().encode(
        x=alt.X(
            "n_crawls:O",
            title="Number of crawls that hold it",
            axis=alt.Axis(labelAngle=0, labelOverlap="greedy"),
        ),
        y=count_axis("In just so many crawls", noun, frequencies, "n_urls"),
        tooltip=[
            alt.Tooltip("n_crawls:O", title="crawls"),
            alt.Tooltip("n_urls:Q", title=noun, format=","),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    bars = base.mark_bar()
    if len(frequencies) > _MAX_LABELLED:
        return [bars]
    shares = base.mark_text(style="note", dy=-6).encode(text=alt.Text("share:Q", format=".0%"))
    return [bars, shares]


def _describe(estimates: Estimates, frequencies: tuple[int, ...]) -> str:
    noun = things(estimates.level)
    is_sample = any(crawl.n_sampled is not None for crawl in estimates.crawls)
    where = " of the sample" if is_sample else ""
    return join(
        f"{count(sum(frequencies))} {noun}{where} by the number of crawls that hold them, out of "
        f"{number_of(len(frequencies), 'crawl')}.",
        _say_ends(frequencies, noun),
        "Turnover and uneven capture both leave many in one crawl only; this figure does not tell "
        "them apart.",
    )


def _say_ends(frequencies: tuple[int, ...], noun: str) -> str:
    total = sum(frequencies)
    once, every = frequencies[0] / total, frequencies[-1] / total
    return f"{percent(once)} of the {noun} are in just one crawl, {percent(every)} in every one."
