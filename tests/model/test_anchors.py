"""What an anchor makes of estimates: agreement, contradiction, time between, several at once."""

import datetime as dt
import itertools
import math
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.model.anchors import ENOUGH_HOSTS, recall_of_hosts
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.overlaps.table import AnchorCounts
from crawlgauge.report.anchor_blocks import conclude


@pytest.fixture(scope="module")
def table():
    return cg.simulate_table(n_crawls=7, population=20_000, seed=3)


@pytest.fixture(scope="module")
def alone(table):
    return estimate_coverage(table)


def sample(table, coverage, n=400, **changes):
    crawl = table.crawls[-1]
    counts = AnchorCounts(
        name="sample",
        kind="uniform",
        date=crawl.date,
        label=crawl.label,
        n_looked_for=n,
        n_held=round(n * coverage),
    )
    return replace(counts, **changes)


def test_a_sample_that_agrees_narrows_the_range_and_leaves_the_number(table, alone):
    own = alone.newest.coverage.value
    found = estimate_coverage(table, anchors=[sample(table, own, 2000)])
    (finding,) = found.anchors
    assert (finding.verdict, finding.counts) == ("agrees", True)
    assert found.newest.coverage.value == pytest.approx(own, rel=0.01)
    before, after = alone.newest.coverage, found.newest.coverage
    assert after.high / after.low < before.high / before.low
    assert "which agree" in found.headline.statement
    assert found.by_crawls == alone.headline.coverage


def test_a_sample_that_contradicts_takes_the_number_over(table, alone):
    own = alone.newest.coverage.value
    found = estimate_coverage(table, anchors=[sample(table, own / 2, 1000)])
    assert found.anchors[0].verdict == "contradicts"
    assert found.newest.coverage.value == pytest.approx(own / 2, rel=0.05)
    assert found.newest.coverage.high < 0.6 * own
    assert found.agreement.grade in ("B", "C")
    assert "contradicts" in found.headline.statement
    assert found.readings is found.first_captures is None
    for row, crawl in zip(found.per_crawl[1:], table.crawls[1:], strict=True):
        assert row.population.value == pytest.approx(crawl.n_urls / row.coverage.value)
        assert row.population.low < row.population.value < row.population.high


def test_there_is_no_jump_between_agreement_and_contradiction(table, alone):
    own, values = alone.newest.coverage.value, []
    for n_held in range(round(400 * own), 60, -1):
        counts = replace(sample(table, own), n_held=n_held)
        values.append(estimate_anchored(alone, table, counts))
    steps = [math.log(a / b) for a, b in itertools.pairwise(values)]
    assert min(steps) > -0.01
    assert max(steps) < 0.06


def estimate_anchored(alone, table, counts):
    from crawlgauge.model.anchors import anchor_estimates

    return anchor_estimates(alone, table, [counts]).newest.coverage.value


def test_a_sample_of_another_date_is_carried_by_persistence(table, alone):
    own, lives_on = alone.newest.coverage.value, alone.persistence.value
    earlier = table.crawls[-1].date - dt.timedelta(days=365)
    recall = own * lives_on
    (finding,) = estimate_coverage(table, anchors=[sample(table, recall, date=earlier)]).anchors
    assert finding.gap_days == 365
    assert finding.verdict == "agrees"
    assert finding.by_anchor.value == pytest.approx(own, rel=0.02)


def test_two_samples_tell_more_than_one(table, alone):
    own = alone.newest.coverage.value / 2
    one = estimate_coverage(table, anchors=[sample(table, own)])
    both = estimate_coverage(table, anchors=[sample(table, own), sample(table, own, name="b")])
    width = [e.newest.coverage.high / e.newest.coverage.low for e in (one, both)]
    assert width[1] < width[0]


def test_few_hosts_only_test(table, alone):
    own = alone.newest.coverage.value
    hosts = tuple((100, round(100 * own / 2)) for _ in range(ENOUGH_HOSTS - 1))
    few = sample(table, own / 2, kind="complete", per_host=hosts)
    found = estimate_coverage(table, anchors=[few])
    assert (found.anchors[0].verdict, found.anchors[0].counts) == ("contradicts", False)
    assert found.headline.coverage == alone.headline.coverage
    assert found.agreement.grade == "C"
    more = estimate_coverage(table, anchors=[replace(few, per_host=(*hosts, hosts[0]))])
    assert more.newest.coverage.value == pytest.approx(own / 2, rel=0.05)


def test_hosts_of_one_size_tell_more_than_one_that_has_most_urls():
    even = recall_of_hosts([(100, 30), (100, 50)] * 10)
    heavy = recall_of_hosts([(10, 3), (10, 5)] * 9 + [(10, 3), (2000, 900)])
    assert heavy.high / heavy.low > even.high / even.low
    assert recall_of_hosts([(100, 40)]).value is None
    assert recall_of_hosts([(0, 0), (0, 0)]).value is None


def test_a_frontier_is_a_bound_and_beside_a_sample_a_test(table, alone):
    own, crawl = alone.newest.coverage.value, table.crawls[-1]
    queue = sample(table, 0, kind="frontier", n_looked_for=0)
    loose = estimate_coverage(table, anchors=[replace(queue, n_queued=10)])
    assert loose.anchors[0].verdict == "agrees"
    assert loose.headline == alone.headline
    tight = replace(queue, n_queued=round(crawl.n_urls * (2 / own - 1)))
    found = estimate_coverage(table, anchors=[tight])
    assert found.anchors[0].verdict == "contradicts"
    assert found.newest.coverage.value <= own / 2 * 1.01
    assert found.agreement.grade == "C"
    beside = estimate_coverage(table, anchors=[tight, sample(table, own)])
    assert [item.counts for item in beside.anchors] == [False, True]
    assert beside.newest.coverage.value == pytest.approx(own, rel=0.02)


@pytest.mark.parametrize("n_held", [0, 400])
def test_nothing_and_everything_are_no_numbers_without_doubt(table, n_held):
    found = estimate_coverage(table, anchors=[replace(sample(table, 0.5), n_held=n_held)])
    coverage = found.newest.coverage
    assert 0 < coverage.low < coverage.value <= coverage.high <= 1


def test_an_anchor_gives_the_number_where_crawls_have_none():
    two = cg.simulate_table(n_crawls=2, population=5_000, seed=3)
    found = estimate_coverage(two, anchors=[sample(two, 0.3)])
    assert found.newest.coverage.value == pytest.approx(0.3, rel=0.1)
    assert found.headline.coverage.value == pytest.approx(0.3, rel=0.1)
    assert two.crawls[-1].label in found.headline.statement


def test_an_anchor_of_the_first_crawl_says_nothing_of_the_others(table, alone):
    first = sample(table, 0.2, label=table.crawls[0].label, date=table.crawls[0].date)
    found = estimate_coverage(table, anchors=[first])
    assert (found.anchors[0].verdict, found.anchors[0].counts) == ("untold", False)
    assert found.anchors[0].by_anchor.value == pytest.approx(0.2)
    assert found.headline == alone.headline
    assert found.per_crawl == alone.per_crawl


def test_a_frontier_that_contradicts_leaves_open_what_lies_below(table, alone):
    crawl, own = table.crawls[-1], alone.newest.coverage.value
    queue = sample(table, 0, kind="frontier", n_looked_for=0)
    tight = replace(queue, n_queued=round(crawl.n_urls * (2 / own - 1)))
    found = estimate_coverage(table, anchors=[tight])
    coverage = found.headline.coverage
    assert coverage.low < coverage.value / 3
    assert "at most" in found.headline.statement
    assert "between" not in found.headline.statement


def test_anchors_that_contradict_each_other_are_told_of_and_widen_the_range(table, alone):
    own = alone.newest.coverage.value
    high, low = sample(table, 1.5 * own), sample(table, 0.5 * own, name="b")
    both = estimate_coverage(table, anchors=[high, low])
    one = estimate_coverage(table, anchors=[low])
    width = [e.newest.coverage.high / e.newest.coverage.low for e in (both, one)]
    assert width[0] > 1.5 * width[1]
    assert "contradict each other: see how each was drawn" in conclude(both)
    assert "contradict each other" not in conclude(one)
