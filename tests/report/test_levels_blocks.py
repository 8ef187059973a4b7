"""What sets contents apart from URLs is said in words, and no more than the numbers show."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.levels_blocks import to_blocks


@pytest.fixture(scope="module")
def by_url():
    """Estimates of four crawls of 92,000 URLs, from pairs alone."""
    n_shared = np.full((4, 4), 92_000)
    for earlier in range(4):
        for later in range(earlier + 1, 4):
            shared = round(92_000 * 0.5 * 0.85 ** (later - earlier))
            n_shared[earlier, later] = n_shared[later, earlier] = shared
    crawls = tuple(
        Crawl(label=f"{year}-06", date=dt.date(year, 6, 15), n_urls=92_000)
        for year in range(2018, 2022)
    )
    return cg.estimate(cg.OverlapTable(crawls=crawls, n_shared=n_shared)).estimates


def certain(value):
    return Estimate(value=value, low=value - 0.001, high=value + 0.001, basis="interval")


def by_content(estimates, *, n=None, persistence=None, coverage=None, level="content"):
    """Return the estimates with other numbers, as if made from contents."""
    crawls = [replace(crawl, n_urls=n or crawl.n_urls) for crawl in estimates.crawls]
    headline = estimates.headline
    if coverage is not None:
        headline = replace(headline, coverage=coverage)
    return replace(
        estimates,
        level=level,
        crawls=tuple(crawls),
        persistence=persistence or estimates.persistence,
        headline=headline,
    )


def say(by_url, other):
    return " ".join(render_blocks(to_blocks(by_url, other)).split())


def test_nothing_is_made_of_levels_that_do_not_differ(by_url):
    text = say(by_url, by_content(by_url))
    assert "do not differ by more than their ranges" in text
    for word in ("longer", "shorter", "found again from one crawl to the next", "for each"):
        assert word not in text


def test_contents_that_live_longer_mean_that_urls_moved(by_url):
    text = say(by_url, by_content(by_url, persistence=certain(0.97)))
    assert "Contents live longer than URLs (97 % against 85 % a year): some of the URLs" in text


def test_contents_that_live_shorter_mean_that_pages_change(by_url):
    text = say(by_url, by_content(by_url, persistence=certain(0.4), level="text"))
    assert "Texts live shorter than URLs (40 % against 85 % a year): pages stay where" in text
    assert "By their texts each version counts" in text


def test_copies_are_counted_in_the_newest_crawl(by_url):
    assert "1.15 URLs for each of its contents: mirrors" in say(
        by_url, by_content(by_url, n=80_000)
    )
    assert "1.09 contents for each of its URLs: it has captured some of them more than once" in say(
        by_url, by_content(by_url, n=100_000)
    )


def test_a_gap_of_coverage_is_told_in_its_direction(by_url):
    of_urls = replace(by_url, headline=replace(by_url.headline, coverage=certain(0.5)))
    more = say(of_urls, by_content(by_url, coverage=certain(0.6)))
    less = say(of_urls, by_content(by_url, coverage=certain(0.4)))
    assert "cover more than by their URLs (60 % against 50 %)" in more
    assert "cover less than by their URLs (40 % against 50 %)" in less


def test_what_is_not_known_is_not_compared(by_url):
    unknown = Estimate.unknown("not identifiable")
    text = say(by_url, by_content(by_url, coverage=unknown))
    assert "it is known for one of them only" in text
    neither = replace(by_url, headline=replace(by_url.headline, coverage=unknown))
    assert "known neither for URLs nor for contents" in say(
        neither, by_content(by_url, coverage=unknown)
    )
