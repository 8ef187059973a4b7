import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import FitError
from crawlgauge.model.window import choose_window
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

N = 8
DAYS = [183 * k for k in range(N)]


@pytest.fixture
def table(make_urn):
    return make_urn(DAYS, [1_000_000 + k for k in range(N)], [0.4] * N, 0.73)


@pytest.fixture
def with_histories(table):
    """Return a table of random capture histories, with errors of its overlaps."""
    rng = np.random.default_rng(5)
    masks = np.arange(1, 2**N, dtype=np.uint64)
    histories = Histories(n_crawls=N, masks=masks, counts=rng.integers(1, 50, masks.size))
    shared = histories.count_pairs()
    crawls = tuple(
        type(crawl)(label=crawl.label, date=crawl.date, n_urls=int(shared[k, k]))
        for k, crawl in enumerate(table.crawls)
    )
    return OverlapTable(
        crawls=crawls, n_shared=shared, se_shared=shared / 10, histories=histories, level="text"
    )


def labels(table):
    return [crawl.label for crawl in table.crawls]


def test_without_a_choice_the_table_is_as_it_was(table):
    assert choose_window(table) is table


def test_dates_are_inclusive(table):
    since, until = table.crawls[2].date, table.crawls[5].date
    assert labels(choose_window(table, since=since)) == ["c3", "c4", "c5", "c6", "c7", "c8"]
    assert labels(choose_window(table, until=until)) == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert labels(choose_window(table, since=since, until=until)) == ["c3", "c4", "c5", "c6"]
    day = dt.timedelta(days=1)
    assert labels(choose_window(table, since=since + day, until=until - day)) == ["c4", "c5"]


def test_excluded_crawls_are_left_out_and_the_overlaps_of_the_others_stay(table):
    chosen = choose_window(table, exclude=["c3", "c7", "c3"])
    assert labels(chosen) == ["c1", "c2", "c4", "c5", "c6", "c8"]
    kept = [0, 1, 3, 4, 5, 7]
    assert np.array_equal(chosen.n_shared, table.n_shared[np.ix_(kept, kept)])


def test_histories_are_marginalised_onto_the_crawls_that_are_kept(with_histories):
    kept = [1, 2, 5, 7]
    chosen = choose_window(with_histories, exclude=["c1", "c4", "c5", "c7"])
    expected = Counter()
    whole = with_histories.histories
    for mask, count in zip(whole.masks.tolist(), whole.counts.tolist(), strict=True):
        seen = sum(1 << place for place, crawl in enumerate(kept) if mask >> crawl & 1)
        expected[seen] += count
    del expected[0]
    found = chosen.histories
    assert dict(zip(found.masks.tolist(), found.counts.tolist(), strict=True)) == expected
    assert np.array_equal(found.count_pairs(), chosen.n_shared)
    assert np.array_equal(chosen.se_shared, with_histories.se_shared[np.ix_(kept, kept)])
    assert chosen.level == "text"


def test_groups_of_hosts_are_marginalised_with_their_histories(with_histories):
    whole = with_histories.histories
    rng = np.random.default_rng(6)
    counts = rng.multinomial(whole.counts, np.full(4, 0.25))
    groups = HostGroups(n_crawls=N, n_groups=4, masks=whole.masks, counts=counts, sample_rate=1.0)
    chosen = choose_window(replace(with_histories, host_groups=groups), exclude=["c1", "c4"])
    found = chosen.host_groups
    assert found.n_crawls == N - 2
    assert np.array_equal(found.masks, chosen.histories.masks)
    assert np.array_equal(found.counts.sum(axis=1), chosen.histories.counts)
    held = (whole.masks & np.uint64(0b11110110)) > 0
    assert np.array_equal(found.counts.sum(axis=0), counts[held].sum(axis=0))


def test_short_lags_are_left_out_by_the_number_of_crawls(table):
    chosen = choose_window(table, min_lag=3)
    for i in range(N):
        for j in range(N):
            near = 0 < abs(i - j) < 3
            assert chosen.n_shared[i, j] == (MISSING if near else table.n_shared[i, j])
    assert np.array_equal(choose_window(table, min_lag=1).n_shared, table.n_shared)


def test_lags_count_the_crawls_that_were_left_out(table):
    """c2 and c4 are two apart even without c3: the crawler knew c3 when it made c4."""
    chosen = choose_window(table, exclude=["c3"], min_lag=2)
    assert labels(chosen)[1:3] == ["c2", "c4"]
    assert chosen.n_shared[1, 2] == table.n_shared[1, 3]
    assert chosen.n_shared[0, 1] == MISSING


def test_pairs_of_the_same_date_stay_whatever_the_shortest_lag(make_urn):
    days = [0, 183, 183, 366]
    table = make_urn(days, [1_000_000] * 4, [0.4] * 4, 0.73)
    chosen = choose_window(table, min_lag=2)
    assert chosen.n_shared[1, 2] == table.n_shared[1, 2]
    assert chosen.n_shared[0, 3] == table.n_shared[0, 3]
    assert chosen.n_shared[0, 1] == chosen.n_shared[2, 3] == MISSING


@pytest.fixture
def changed(make_urn):
    factors = {(i, j): 0.7 for j in range(N) for i in range(j) if i < 5 <= j}
    return make_urn(DAYS, [1_000_000] * N, [0.4] * N, 0.73, factors)


@pytest.mark.parametrize(
    ("regime", "expected"),
    [
        (1, ["c1", "c2", "c3", "c4", "c5"]),
        ("1", ["c1", "c2", "c3", "c4", "c5"]),
        (2, ["c6", "c7", "c8"]),
        ("latest", ["c6", "c7", "c8"]),
    ],
)
def test_a_regime_is_chosen_by_number_or_as_the_latest(changed, regime, expected):
    assert labels(choose_window(changed, regime=regime)) == expected


def test_the_shortest_lag_holds_within_a_regime(changed):
    chosen = choose_window(changed, regime=2, min_lag=2)
    assert chosen.n_shared[0, 1] == chosen.n_shared[1, 2] == MISSING
    assert chosen.n_shared[0, 2] == changed.n_shared[5, 7]


@pytest.mark.parametrize("regime", [0, 3, "newest", "²"])
def test_an_unknown_regime_is_refused_with_those_that_there_are(changed, regime):
    with pytest.raises(FitError, match="1: c1 to c5; 2: c6 to c8") as caught:
        choose_window(changed, regime=regime)
    assert repr(regime) in str(caught.value)


def test_an_unknown_label_is_refused_with_those_that_there_are(table):
    with pytest.raises(FitError, match="no crawl c99 to exclude; the crawls are c1, c2"):
        choose_window(table, exclude=["c2", "c99"])


def test_a_window_without_two_crawls_is_refused_with_what_was_asked(table):
    with pytest.raises(FitError, match="no crawl is left since 2030-01-01") as caught:
        choose_window(table, since=dt.date(2030, 1, 1))
    assert "from c1 (2014-01-01) to c8 (2017-07-05)" in str(caught.value)
    with pytest.raises(FitError, match="only c1 is left until 2014-03-01, without c2"):
        choose_window(table, until=dt.date(2014, 3, 1), exclude=["c2"])


def test_a_shortest_lag_that_leaves_no_pair_is_refused(table):
    with pytest.raises(FitError, match="the most distant ones are 7 apart"):
        choose_window(table, min_lag=8)
    with pytest.raises(FitError, match="must be 1"):
        choose_window(table, min_lag=0)


def test_what_was_chosen_is_noted_in_the_provenance(table):
    before = OverlapTable(
        crawls=table.crawls,
        n_shared=table.n_shared,
        provenance=Provenance(settings={"identity": "surt"}),
    )
    chosen = choose_window(before, since=dt.date(2014, 2, 1), exclude=("c4", "c5"), min_lag=2)
    assert dict(chosen.provenance.settings) == {
        "identity": "surt",
        "since": "2014-02-01",
        "exclude": "c4,c5",
        "min_lag": 2,
    }
