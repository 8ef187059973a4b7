"""Estimates of simulated series, and labels that no table would let in."""

from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.model.coverage import estimate_coverage


def estimate(scenario=None, **settings):
    return estimate_coverage(cg.simulate_table(scenario, **settings))


@pytest.fixture(scope="session")
def nine():
    """Nine crawls of the paper's urn with capture histories."""
    return estimate(n_crawls=9)


@pytest.fixture(scope="session")
def three():
    return estimate(n_crawls=3)


@pytest.fixture(scope="session")
def two():
    return estimate(n_crawls=2, with_histories=False)


@pytest.fixture(scope="session")
def pairs_only():
    """Nine crawls of noisy coverage, without capture histories."""
    return estimate("regime-d", n_crawls=9, with_histories=False)


@pytest.fixture(scope="session")
def impossible(pairs_only):
    """A series whose published line begins above 100 %."""
    return replace(pairs_only, paper=replace(pairs_only.paper, coverage=1.24))


@pytest.fixture
def relabel(monkeypatch):
    """Give a function that puts labels into estimates which no table would let in."""
    monkeypatch.setattr("crawlgauge.crawl.check_label", lambda label: label)

    def change(estimates, labels):
        new = dict(zip((crawl.label for crawl in estimates.crawls), labels, strict=True))
        crawls = tuple(replace(crawl, label=new[crawl.label]) for crawl in estimates.crawls)
        starts = estimates.paper.per_start
        return replace(
            estimates,
            crawls=crawls,
            per_crawl=tuple(replace(row, label=new[row.label]) for row in estimates.per_crawl),
            residuals=tuple(
                replace(pair, a=new[pair.a], b=new[pair.b]) for pair in estimates.residuals
            ),
            paper=replace(
                estimates.paper,
                per_start=tuple(replace(fit, label=new[fit.label]) for fit in starts),
            ),
        )

    return change
