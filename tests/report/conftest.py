"""Estimates and overlap tables made by hand: the numbers are invented, the shapes are real."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import (
    Agreement,
    Check,
    CrawlEstimate,
    DecayCurve,
    Estimate,
    Estimates,
    EstimatorRow,
    FirstCaptures,
    Headline,
    Newest,
    PairResidual,
    PaperFit,
    Readings,
    StartFit,
    Union,
)
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Input, Provenance

FIRST = "not identifiable: first crawl"
TOO_FEW = "0 degrees of freedom"


@pytest.fixture
def golden():
    """Give a function that reads an expected output, without its final newline."""
    folder = Path(__file__).parent.parent / "golden"
    return lambda name: (folder / name).read_text("utf-8").removesuffix("\n")


def between(value, low, high, basis="interval"):
    return Estimate(value=value, low=low, high=high, basis=basis)


def point(value):
    return Estimate(value=value, reason=TOO_FEW)


def halves(n, n_urls):
    """Make `n` crawls, two a year from June 2019 on."""
    return tuple(
        Crawl(
            label=f"{2019 + k // 2}-{6 + 6 * (k % 2):02d}",
            date=dt.date(2019 + k // 2, 6 + 6 * (k % 2), 15),
            n_urls=n_urls + 1_250_000 * k,
        )
        for k in range(n)
    )


def residuals(crawls, coverage, persistence):
    """Give every pair the overlap that an urn would give."""
    made = []
    for i, a in enumerate(crawls):
        for b in crawls[i + 1 :]:
            lag = (b.date - a.date).days / 365.25
            shared = round(a.n_urls * coverage * persistence**lag)
            made.append(
                PairResidual(
                    a=a.label,
                    b=b.label,
                    lag_years=lag,
                    n_shared=shared,
                    containment=shared / a.n_urls,
                    containment_backward=shared / b.n_urls,
                    jaccard=shared / (a.n_urls + b.n_urls - shared),
                    dice=2 * shared / (a.n_urls + b.n_urls),
                    log_r=0.004,
                    log_r_two_way=None,
                )
            )
    return tuple(made)


@pytest.fixture
def full():
    """Six crawls with histories: nearly everything is known."""
    crawls = list(halves(6, 98_000_000))
    crawls[3] = Crawl(
        label="2020-12",
        date=dt.date(2020, 12, 15),
        n_urls=61_480_112,
        n_sampled=960_626,
        damaged=True,
    )
    coverages = (0.447, 0.452, 0.291, 0.463, 0.459)
    per_crawl = [
        CrawlEstimate(
            label=crawls[0].label,
            coverage=Estimate.unknown(FIRST),
            population=Estimate.unknown(FIRST),
        )
    ]
    for crawl, c in zip(crawls[1:], coverages, strict=True):
        n = crawl.n_urls / c
        per_crawl.append(
            CrawlEstimate(
                label=crawl.label,
                coverage=between(c, c * 0.95, c * 1.03, "empirical-band"),
                population=between(n, n / 1.03, n / 0.95, "empirical-band"),
                note="part of the input was damaged and left out" if crawl.damaged else "",
            )
        )
    newest = per_crawl[-1]
    return Estimates(
        level="url",
        crawls=tuple(crawls),
        headline=Headline(
            coverage=between(0.462, 0.431, 0.478, "empirical-band"),
            estimator="histories",
            statement=(
                "A typical crawl holds about 46 % (43–48 %) of the URLs that it could have "
                "reached; half of the URLs are gone after 2.2 years."
            ),
        ),
        newest=Newest(label=newest.label, coverage=newest.coverage, population=newest.population),
        persistence=between(0.731, 0.712, 0.750),
        half_life_years=between(2.21, 2.04, 2.41),
        population=newest.population,
        growth_per_year=between(0.012, -0.021, 0.043),
        per_crawl=tuple(per_crawl),
        paper=PaperFit(
            coverage=0.461,
            persistence=0.732,
            half_life_years=2.2217,
            r_squared=0.953,
            n_pairs=15,
            direction="forward",
            per_start=(
                *(
                    StartFit(label=crawl.label, coverage=0.45, persistence=0.73, n_pairs=5 - k)
                    for k, crawl in enumerate(crawls[:4])
                ),
                StartFit(label="2021-06", coverage=None, persistence=None, n_pairs=1),
            ),
            self_intersections=(0.45, 0.45, 0.45, 0.45, 0.461, 0.461),
        ),
        estimators=(
            EstimatorRow(
                name="two-way",
                coverage=0.47,
                persistence=0.73,
                population=2.2e8,
                per_crawl=(None, *coverages),
                assumes="equal catchability; one persistence for all URLs",
            ),
            EstimatorRow(
                name="chao",
                coverage=None,
                persistence=None,
                population=None,
                per_crawl=(None,) * 6,
                assumes="a closed population",
            ),
        ),
        agreement=Agreement(spread=0.012, grade="A", reason="all estimators agree within 5 %"),
        checks=(
            Check(
                id="short-lag",
                status="ok",
                effect=0.004,
                threshold=0.03,
                message="Adjacent crawls overlap as the decay predicts.",
            ),
            Check(
                id="curvature",
                status="na",
                effect=None,
                threshold=0.1,
                message="Not testable with six crawls.",
            ),
        ),
        residuals=residuals(crawls, 0.461, 0.732),
        union=Union(
            coverage=between(0.79, 0.76, 0.81, "empirical-band"),
            n_distinct=262_000_000,
            n_alive=point(1.73e8),
            dead_share=point(0.34),
            n_unseen=between(1.1e8, 0.9e8, 1.4e8, "empirical-band"),
            per_crawl=(
                Estimate.unknown(FIRST),
                *(between(value, value - 0.03, value + 0.02) for value in (0.66, 0.72, 0.7, 0.77)),
                between(0.79, 0.76, 0.81, "empirical-band"),
            ),
            caution="URLs that are hardly ever captured do not show.",
            held_ratio=1.06,
        ),
        warnings=(
            (
                "Part of the input of 2020-12 was damaged and left out: coverage is that of what "
                "could be read, not of the crawl as it was made. Add it again from whole files."
            ),
            "Coverage is of URLs, not of content.",
        ),
        provenance=Provenance(
            created="2026-01-02T03:04:05Z",
            settings={"level": "url", "sample": 0.015625},
            inputs=(Input(name="overlaps.csv", checksum="sha256:00ff", n_bytes=512),),
        ),
        readings=Readings(returning=0.41, absent=0.52),
        first_captures=FirstCaptures(half=0.33, twice=0.57),
        decay_curves=(
            DecayCurve(
                name="exponential",
                coverage=0.461,
                lags_years=(0.0, 1.25, 2.5),
                containment=(0.461, 0.312, 0.2113),
                meaning="All URLs are equally likely to disappear at any time.",
            ),
            DecayCurve(
                name="weibull",
                coverage=0.52,
                lags_years=(0.0, 1.25, 2.5),
                containment=(0.52, 0.31, 0.214),
                meaning="The rate at which URLs disappear falls with time.",
            ),
        ),
        capture_frequencies=(96_000_000, 71_000_000, 48_000_000, 29_000_000, 14_000_000, 4_000_000),
    )


@pytest.fixture
def two_crawls():
    """Two crawls: no number can be had."""
    crawls = halves(2, 1_000)
    reason = "not identifiable: two crawls have one time difference only"
    unknown = Estimate.unknown(reason)
    return Estimates(
        level="url",
        crawls=crawls,
        headline=Headline(
            coverage=unknown,
            estimator=None,
            statement="Two crawls do not tell coverage from turnover: at least three are needed.",
        ),
        newest=Newest(label="2019-12", coverage=unknown, population=unknown),
        persistence=unknown,
        half_life_years=unknown,
        population=unknown,
        growth_per_year=unknown,
        per_crawl=tuple(
            CrawlEstimate(label=crawl.label, coverage=unknown, population=unknown)
            for crawl in crawls
        ),
        paper=PaperFit(
            coverage=None,
            persistence=None,
            half_life_years=None,
            r_squared=None,
            n_pairs=1,
            direction="forward",
            per_start=(StartFit(label="2019-06", coverage=None, persistence=None, n_pairs=1),),
            self_intersections=(None, None),
        ),
        estimators=(),
        agreement=Agreement(spread=None, grade="none", reason="fewer than three crawls"),
        checks=(),
        residuals=residuals(crawls, 0.5, 0.7),
        union=None,
        warnings=(),
        provenance=Provenance(),
    )


@pytest.fixture
def three_crawls():
    """Three crawls: values without ranges, one coverage, a population that grows."""
    crawls = halves(3, 4_750_000)
    first = Estimate.unknown(FIRST)
    last = Estimate.unknown("not identifiable: last crawl")
    return Estimates(
        level="content",
        crawls=crawls,
        headline=Headline(
            coverage=point(0.287),
            estimator="two-way",
            statement=(
                "A typical crawl holds about 29 % of the contents that it could have reached, if "
                "all of them were equally likely to be captured; three crawls say nothing about "
                "how far this can be trusted."
            ),
        ),
        newest=Newest(label="2020-06", coverage=last, population=last),
        persistence=Estimate.unknown("the overlaps do not shrink with time"),
        half_life_years=Estimate.unknown("not finite: persistence is not below 1"),
        population=last,
        growth_per_year=point(0.17),
        per_crawl=(
            CrawlEstimate(
                label="2019-06", coverage=first, population=first, note="extrapolated: 27 %"
            ),
            CrawlEstimate(label="2019-12", coverage=point(0.287), population=point(20_905_923.3)),
            CrawlEstimate(label="2020-06", coverage=last, population=last),
        ),
        paper=PaperFit(
            coverage=0.281,
            persistence=1.02,
            half_life_years=None,
            r_squared=0.12,
            n_pairs=3,
            direction="backward",
            per_start=(
                StartFit(label="2019-06", coverage=0.28, persistence=1.01, n_pairs=2),
                StartFit(label="2019-12", coverage=None, persistence=None, n_pairs=1),
            ),
            self_intersections=(0.28, 0.281, 0.281),
        ),
        estimators=(),
        agreement=Agreement(spread=None, grade="none", reason="one estimator only"),
        checks=(),
        residuals=residuals(crawls, 0.28, 1.0),
        union=None,
        warnings=("No lack-of-fit information: three crawls leave no degrees of freedom.",),
        provenance=Provenance(),
    )


@pytest.fixture
def make_table():
    """Give a function that makes an overlap table of `n` crawls, with some pairs missing."""

    def make(n, *, missing=(), **others):
        crawls = halves(n, 1_000_000)
        n_shared = np.empty((n, n), dtype=np.int64)
        for i in range(n):
            for j in range(n):
                earlier, later = min(i, j), max(i, j)
                size = crawls[earlier].n_counted
                n_shared[i, j] = size if i == j else round(size * 0.46 * 0.86 ** (later - earlier))
        for i, j in missing:
            n_shared[i, j] = n_shared[j, i] = MISSING
        return OverlapTable(crawls=crawls, n_shared=n_shared, **others)

    return make
