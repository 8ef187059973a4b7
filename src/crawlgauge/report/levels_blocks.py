"""URLs beside contents or texts in words: what has moved, what is held twice, what has changed."""

from typing import Any

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.report.blocks import Block, Grid, bullets, heading, tabulate, to_cell
from crawlgauge.report.words import Phrase, grouped

_MOVED = (
    "some of the URLs that seem to be lost have only moved, such as from http to https or to "
    "another host, or were copies of what another URL still holds."
)
_CHANGED = (
    "pages stay where they are and change. By their {} each version counts as one that comes and "
    "goes."
)
_LEAST_POINTS = 0.01
"""Smaller differences of shares are not worth a sentence."""
_LEAST_COPIES = 1.005
"""Fewer URLs for each content are a handful of empty pages."""


def to_blocks(by_url: Estimates, by_content: Estimates) -> list[Block]:
    """Return how the same crawls look by their URLs and by what was found there.

    Parameters
    ----------
    by_url
        Estimated from URLs.
    by_content
        Estimated from contents or texts of the same crawls.
    """
    noun = things(by_content.level)
    sentences = [
        _say_copies(by_url, by_content),
        _say_turnover(by_url, by_content),
        _say_coverage(by_url.headline.coverage, by_content.headline.coverage, noun),
    ]
    return [
        [heading(f"URLs and {noun} compared:")],
        [_tabulate(by_url, by_content)],
        bullets(text for text in sentences if text),
    ]


def _tabulate(by_url: Estimates, by_content: Estimates) -> Grid:
    newest = by_url.newest.label
    rows: list[tuple[str, Any, Phrase]] = [
        (f"in the newest crawl ({newest})", lambda item: item.crawls[-1].n_urls, grouped),
        ("found again from the crawl before", _found_again, percent),
        ("coverage of a typical crawl", lambda item: item.headline.coverage, percent),
        ("live on for a year", lambda item: item.persistence, percent),
        ("could have been reached", lambda item: item.population, count),
    ]
    return tabulate(
        rows,
        ("", lambda row: row[0]),
        (things(by_url.level), lambda row: to_cell(row[1](by_url), row[2]), count),
        (things(by_content.level), lambda row: to_cell(row[1](by_content), row[2]), count),
    )


def _found_again(estimates: Estimates) -> float | None:
    """Return the share of the last crawl but one that the last one holds."""
    if len(estimates.crawls) < 2:  # noqa: PLR2004 - a pair
        return None
    labels = estimates.crawls[-2].label, estimates.crawls[-1].label
    pairs = (row for row in estimates.residuals if (row.a, row.b) == labels)
    return next((row.containment for row in pairs), None)


def _say_copies(by_url: Estimates, by_content: Estimates) -> str | None:
    n_urls, n_contents = by_url.crawls[-1].n_urls, by_content.crawls[-1].n_urls
    noun = things(by_content.level)
    if n_urls >= n_contents * _LEAST_COPIES:
        return (
            f"The newest crawl holds {n_urls / n_contents:.3g} URLs for each of its {noun}: "
            "mirrors, several addresses of one page, pages that say only that there is nothing."
        )
    if n_contents >= n_urls * _LEAST_COPIES:
        return (
            f"The newest crawl holds {n_contents / n_urls:.3g} {noun} for each of its URLs: it has "
            "captured some of them more than once, and they had changed."
        )
    return None


def _say_turnover(by_url: Estimates, by_content: Estimates) -> str | None:
    """Say which of them lasts longer: over a year where that is sure, else in the last pair."""
    noun = things(by_content.level)
    urls, contents = by_url.persistence, by_content.persistence
    if urls.value is not None and contents.value is not None and not _overlap(urls, contents):
        gap = contents.value - urls.value
        numbers = f"({percent(contents.value)} against {percent(urls.value)} a year)"
        subject = f"{noun.capitalize()} live {'longer' if gap > 0 else 'shorter'} than URLs"
    else:
        before, now = _found_again(by_url), _found_again(by_content)
        if before is None or now is None:
            return None
        gap = now - before
        numbers = f"({percent(now)} against {percent(before)})"
        more = "More" if gap > 0 else "Fewer"
        subject = f"{more} {noun} than URLs are found again from one crawl to the next"
    if abs(gap) < _LEAST_POINTS:
        return None
    return f"{subject} {numbers}: {_MOVED if gap > 0 else _CHANGED.format(noun)}"


def _say_coverage(urls: Estimate, contents: Estimate, noun: str) -> str:
    if urls.value is None or contents.value is None:
        neither = urls.value is None and contents.value is None
        which = f"neither for URLs nor for {noun}" if neither else "for one of them only"
        return f"Coverage cannot be compared, as it is known {which}."
    gap, own, other = contents.value - urls.value, percent(contents.value), percent(urls.value)
    if abs(gap) < _LEAST_POINTS or _overlap(urls, contents):
        return (
            f"Their coverages do not differ by more than their ranges: {other} by URLs, {own} by "
            f"{noun}."
        )
    means = "they miss versions of pages whose addresses they hold."
    if gap > 0:
        means = (
            "what one address misses is held under another. For how much of what there is to read "
            f"the archive holds, take the {noun}; for how many addresses it answers, the URLs."
        )
    more = "more" if gap > 0 else "less"
    return (
        f"By their {noun} the crawls cover {more} than by their URLs ({own} against {other}): "
        f"{means}"
    )


def _overlap(one: Estimate, two: Estimate) -> bool:
    """Tell whether the ranges of two numbers have a part in common; without ranges, none have."""
    if one.low is None or one.high is None or two.low is None or two.high is None:
        return False
    return one.low <= two.high and two.low <= one.high
