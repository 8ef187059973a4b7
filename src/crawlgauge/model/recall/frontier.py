"""The most that a crawl can cover, by what it knew of and did not fetch."""

from crawlgauge.crawl import Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import percent
from crawlgauge.model.recall.results import FrontierBound

__all__ = ["bound_by_frontier"]


def bound_by_frontier(crawl: Crawl, n_queued: int, by_series: Estimate) -> FrontierBound:
    """Bound a crawl's coverage from above by the URLs that were left in its queues.

    Parameters
    ----------
    crawl
        The crawl.
    n_queued
        URLs that it knew of and did not fetch.
    by_series
        Its coverage by the series of crawls.

    Raises
    ------
    FitError
        If the number is negative.

    Examples
    --------
    >>> import datetime as dt
    >>> crawl = Crawl(label="2021-12", date=dt.date(2021, 12, 15), n_urls=60)
    >>> bound_by_frontier(crawl, 40, Estimate(value=0.46)).most
    0.6
    """
    if n_queued < 0:
        raise FitError(f"{n_queued} URLs cannot be in the queues; give their number, or 0")
    most = crawl.n_urls / (crawl.n_urls + n_queued)
    return FrontierBound(
        label=crawl.label,
        n_urls=crawl.n_urls,
        n_queued=n_queued,
        most=most,
        by_series=by_series,
        verdict=_judge(most, by_series),
    )


def _judge(most: float, by_series: Estimate) -> str:
    bound = f"at most {percent(most)}"
    if by_series.value is None:
        return f"The crawl covers {bound}, if what was left in the queues is in scope and exists."
    if by_series.value <= most:
        return (
            f"The crawl covers {bound}, which the series' {percent(by_series.value)} does not "
            "contradict."
        )
    if by_series.low is not None and by_series.low <= most:
        return (
            f"The crawl covers {bound}, which is within the range of the series' "
            f"{percent(by_series.value)}."
        )
    return (
        f"The crawl covers {bound}, less than the {percent(by_series.value)} of the series. Either "
        "much of what was left in the queues is out of scope, repeated or gone, or the crawls "
        "favour the same URLs and the series' coverage is too high."
    )
