import math

import pytest

from crawlgauge.model.checks import ChangePoint, check_change_point, find_changes
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.short_lag import ShortLag
from crawlgauge.model.two_way import fit_two_way, refused_fit

N = 9
DAYS = [183 * k for k in range(N)]
SIZES = [2_000_000] * N


@pytest.fixture
def changing(make_urn):
    """Make a table whose pairs across a change share less by a factor."""

    def make(factor, first=4, n=N, coverage=0.4, near=1.0):
        factors = {
            (i, j): (factor if i < first <= j else 1) * (near if j - i == 1 else 1)
            for j in range(n)
            for i in range(j)
        }
        return make_urn(DAYS[:n], SIZES[:n], [coverage] * n, 0.73, factors)

    return make


def find(table, short_lag=None):
    pairs = pair_data(table)
    return find_changes(pairs, fit_two_way(pairs), short_lag)


def check(table):
    return check_change_point(table, find(table))


def test_one_series_is_in_order(changing):
    result = check(changing(1.0))
    assert (result.id, result.status) == ("change-point", "ok")
    assert result.effect == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("first", [3, 5, 6])
def test_a_change_is_found_where_it_is(changing, first):
    (found,) = find(changing(0.75, first))
    assert found.first == first
    assert found.is_certain
    assert found.coefficient == pytest.approx(math.log(0.75), abs=1e-4)


def test_a_change_warns_and_names_the_crawls_and_what_is_done(changing):
    result = check(changing(0.75))
    assert result.status == "warn"
    assert result.effect == pytest.approx(math.log(0.75), abs=1e-4)
    assert "Crawls up to c4 and from c5 on share 25 % fewer URLs" in result.message
    assert "the crawls from c5 on; --regime 1 shows the first ones" in result.message


def test_of_two_changes_neither_hides_the_other(make_urn):
    factors = {
        (i, j): (0.7 if i < 3 <= j else 1) * (0.8 if i < 6 <= j else 1)
        for j in range(N)
        for i in range(j)
    }
    found = find(make_urn(DAYS, SIZES, [0.4] * N, 0.73, factors))
    assert [(change.first, change.is_certain) for change in found] == [(3, True), (6, True)]
    assert [math.exp(change.coefficient) for change in found] == pytest.approx([0.7, 0.8], abs=1e-4)


def test_of_several_changes_the_largest_is_described_and_the_latest_regime_named(changing):
    changes = (
        ChangePoint(first=3, coefficient=math.log(0.6), is_certain=True),
        ChangePoint(first=6, coefficient=math.log(0.9), is_certain=True),
    )
    result = check_change_point(changing(1.0), changes)
    assert result.effect == math.log(0.6)
    assert "Crawls up to c3 and from c4 on share 40 % fewer URLs" in result.message
    assert "There are 2 such changes in all." in result.message
    assert "the crawls from c7 on" in result.message


def test_a_likely_change_that_is_not_certain_is_named_and_not_believed(changing):
    uncertain = ChangePoint(first=4, coefficient=math.log(0.8), is_certain=False)
    result = check_change_point(changing(1.0), (uncertain,))
    assert result.status == "ok"
    assert "No change is certain: the likeliest one, from c5 on" in result.message
    assert "20 % fewer URLs" in result.message


def test_more_overlap_across_a_date_is_no_change(changing):
    assert check(changing(1.2)).status == "ok"


def test_a_jump_of_coverage_is_no_change(make_urn):
    coverage = [0.3] * 5 + [0.6] * 4
    assert check(make_urn(DAYS, SIZES, coverage, 0.73)).status == "ok"


def test_an_immaterial_change_does_not_speak_however_certain(changing):
    assert check(changing(0.98)).status == "ok"


def test_a_change_is_found_beside_an_effect_of_short_lags(changing):
    short_lag = ShortLag(
        first_lag=1,
        n_lags=1,
        coefficient=math.log(0.4),
        shares_nothing=False,
        cut=None,
        cut_low=None,
        cut_high=None,
    )
    table = changing(0.75, near=0.4)
    assert not any(change.is_certain for change in find(table))
    (found,) = find(table, short_lag)
    assert (found.first, found.is_certain) == (4, True)
    assert found.coefficient == pytest.approx(math.log(0.75), abs=1e-4)


def test_three_crawls_are_needed_on_each_side(changing):
    result = check(changing(0.75, first=3, n=5))
    assert (result.status, result.effect) == ("na", None)
    assert "3 or more crawls on each side" in result.message
    assert check(changing(0.75, first=3, n=6)).status == "warn"


def test_nothing_is_looked_for_without_a_fit(changing):
    pairs = pair_data(changing(0.75))
    assert find_changes(pairs, refused_fit(N, "no fit")) == ()
