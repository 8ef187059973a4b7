"""Sets of URLs drawn from a living population: the model finds the truth it was not told."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import optimize

from crawlgauge.errors import FitError
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.intervals import find_margins
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.statement import state_headline
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.provenance import Provenance

# ------------------------------------------------------------------------------------ all estimates


BIG = 10**15
DAYS = [0, 183, 366, 549, 732, 915]
YEARS = np.array(DAYS) / 365.25
COVERAGE = [0.5, 0.46, 0.4, 0.3, 0.35, 0.4]


@pytest.fixture
def growing(make_urn):
    """A population that grows by 10 % a year, under crawls of varying coverage."""
    sizes = [round(BIG * 1.1**t * c) for t, c in zip(YEARS, COVERAGE, strict=True)]
    return make_urn(DAYS, sizes, COVERAGE, 0.73, provenance=Provenance(settings={"level": "url"}))


def test_an_exact_urn_gives_back_all_its_parameters(growing):
    result = estimate_coverage(growing)
    values = [crawl.coverage.value for crawl in result.per_crawl]
    assert values[0] is None
    assert values[1:] == pytest.approx(COVERAGE[1:], rel=1e-9)
    typical = math.prod(COVERAGE[1:]) ** (1 / 5)
    assert result.headline.coverage.value == pytest.approx(typical, rel=1e-9)
    assert result.headline.estimator == "two-way"
    assert result.persistence.value == pytest.approx(0.73, rel=1e-9)
    assert result.half_life_years.value == pytest.approx(math.log(0.5) / math.log(0.73), rel=1e-9)
    assert result.growth_per_year.value == pytest.approx(0.1, rel=1e-9)
    assert result.population.value == pytest.approx(BIG * 1.1 ** YEARS[-1], rel=1e-9)


def test_the_newest_crawl_is_the_last_one(growing):
    result = estimate_coverage(growing)
    assert result.newest.label == "c6"
    assert result.newest.coverage == result.per_crawl[-1].coverage
    assert result.population == result.newest.population == result.per_crawl[-1].population


def test_the_first_crawl_is_not_identifiable_but_extrapolated_in_words(growing):
    first = estimate_coverage(growing).per_crawl[0]
    assert first.coverage.value is None
    assert first.coverage.reason == "not identifiable: first crawl"
    assert first.population.reason == "not identifiable: first crawl"
    assert first.note == "extrapolated by the growth model: 50 %"


def test_all_estimates_have_intervals_around_them(growing):
    result = estimate_coverage(growing)
    for estimate in (
        result.headline.coverage,
        result.persistence,
        result.half_life_years,
        result.population,
        result.growth_per_year,
        *(crawl.coverage for crawl in result.per_crawl[1:]),
        *(crawl.population for crawl in result.per_crawl[1:]),
    ):
        assert estimate.low <= estimate.value <= estimate.high
        assert (estimate.level, estimate.basis, estimate.reason) == (0.95, "interval", None)


def test_intervals_are_those_of_the_margins(growing):
    result = estimate_coverage(growing)
    pairs = pair_data(growing)
    margins = find_margins(pairs, fit_two_way(pairs))
    for estimate, margin in (
        (result.headline.coverage, margins.typical),
        (result.persistence, margins.persistence),
        (result.newest.coverage, margins.coverage[-1]),
        (result.newest.population, margins.population[-1]),
    ):
        assert estimate.low == pytest.approx(estimate.value * math.exp(-margin.half_width))
        assert estimate.high == pytest.approx(estimate.value * math.exp(margin.half_width))


def test_only_the_typical_coverage_is_uncertain_where_crawls_differ_but_pairs_fit(growing):
    result = estimate_coverage(growing)
    typical, newest = result.headline.coverage, result.newest.coverage
    assert typical.high / typical.low > 1.5
    assert newest.high / newest.low < 1.001
    assert newest.low <= COVERAGE[-1] <= newest.high


def test_populations_are_sizes_over_coverages_at_both_ends(growing):
    for crawl, row in zip(
        growing.crawls[1:], estimate_coverage(growing).per_crawl[1:], strict=True
    ):
        assert row.population.low == pytest.approx(crawl.n_urls / row.coverage.high)
        assert row.population.high == pytest.approx(crawl.n_urls / row.coverage.low)


def test_of_four_crawls_the_second_says_why_it_has_no_interval(make_urn):
    result = estimate_coverage(make_urn(DAYS[:4], [10**6] * 4, [0.4] * 4, 0.73))
    assert result.per_crawl[1].coverage.value is not None
    assert result.per_crawl[1].coverage.low is None
    assert "fewer than 3 crawls" in result.per_crawl[1].coverage.reason
    assert result.per_crawl[2].coverage.low is not None


def test_three_crawls_say_that_no_interval_is_possible(make_urn):
    result = estimate_coverage(make_urn(DAYS[:3], [BIG] * 3, [0.4] * 3, 0.73))
    for estimate in (
        result.headline.coverage,
        result.newest.coverage,
        result.population,
        result.persistence,
        result.half_life_years,
        result.growth_per_year,
    ):
        assert estimate.value is not None
        assert estimate.reason == "0 degrees of freedom: no interval is possible"


def test_estimators_stand_side_by_side_with_what_they_assume(growing):
    rows = {row.name: row for row in estimate_coverage(growing).estimators}
    assert list(rows) == ["paper-forward", "paper-backward", "two-way", "growth"]
    assert all(len(row.per_crawl) == 6 and row.assumes for row in rows.values())
    assert rows["growth"].per_crawl == pytest.approx(COVERAGE, rel=1e-9)
    assert rows["growth"].coverage == pytest.approx(rows["two-way"].coverage, rel=1e-9)
    assert rows["two-way"].per_crawl[0] is None
    assert rows["paper-forward"].per_crawl == (None,) * 6
    newest = growing.crawls[-1].n_urls
    for name in ("paper-forward", "paper-backward"):
        assert rows[name].population == pytest.approx(newest / rows[name].coverage)
    assert "e^(−growth rate)" in rows["paper-backward"].assumes


def test_backward_persistence_is_lower_by_the_growth_of_the_population(make_urn):
    sizes = [round(BIG * 1.1**t) for t in YEARS]
    result = estimate_coverage(make_urn(DAYS, sizes, [0.4] * 6, 0.73))
    rows = {row.name: row for row in result.estimators}
    assert rows["paper-forward"].persistence == pytest.approx(0.73, rel=1e-9)
    assert rows["paper-backward"].persistence == pytest.approx(0.73 / 1.1, rel=1e-9)


def test_agreement_of_pair_estimators_is_no_evidence(growing):
    result = estimate_coverage(growing)
    assert (result.agreement.spread, result.agreement.grade) == (None, "none")
    assert "no evidence" in result.agreement.reason
    assert result.union is None


def test_residuals_list_each_known_pair_with_its_distance_from_both_fits(make_urn):
    table = make_urn(DAYS, [BIG] * 6, [0.4] * 6, 0.73, factors={(1, 4): 1.2, (0, 5): None})
    result = estimate_coverage(table)
    assert len(result.residuals) == 14
    for pair, residual in zip(table.pairs(), result.residuals, strict=True):
        assert (residual.a, residual.b) == (pair.a.label, pair.b.label)
        assert residual.lag_years == pytest.approx((pair.b.date - pair.a.date).days / 365.25)
        line = result.paper.coverage * result.paper.persistence**residual.lag_years
        assert residual.log_r == pytest.approx(math.log(residual.containment / line), abs=1e-12)
        coverage = next(c for c in result.per_crawl if c.label == residual.b).coverage.value
        curve = coverage * result.persistence.value**residual.lag_years
        assert residual.log_r_two_way == pytest.approx(
            math.log(residual.containment / curve), abs=1e-12
        )
        assert residual.jaccard == pair.jaccard
        assert residual.dice == pair.dice
        assert residual.containment_backward == pair.containment_b_in_a
    largest = max(result.residuals, key=lambda residual: residual.log_r)
    assert (largest.a, largest.b) == ("c2", "c5")


def test_a_same_date_pair_is_listed_once_the_first_label_first(make_table):
    overlaps = {(0, 1): 40, (0, 2): 30, (1, 2): 50, (0, 3): 20, (1, 3): 30, (2, 3): 30}
    result = estimate_coverage(make_table([0, 0, 300, 600], [100, 120, 100, 90], overlaps))
    assert [(r.a, r.b) for r in result.residuals].count(("c1", "c2")) == 1
    assert result.residuals[0].containment == pytest.approx(0.4)
    assert result.per_crawl[0].coverage.value is not None


def test_crawls_that_cannot_be_compared_give_reasons_and_no_numbers(make_table):
    result = estimate_coverage(make_table([0, 100, 200], [10, 10, 10], {}))
    assert result.headline.coverage.value is None
    assert result.estimators == ()
    assert result.residuals == ()
    assert result.paper.coverage is None
    assert "no earlier crawl is compared" in result.headline.statement


def test_a_chain_of_pairs_leaves_coverage_open_but_can_show_growth(make_urn):
    days, chain = [0, 100, 400, 900], {(0, 2): None, (0, 3): None, (1, 3): None}
    result = estimate_coverage(make_urn(days, [BIG] * 4, [0.4] * 4, 0.73, factors=chain))
    assert result.headline.coverage.value is None
    assert "cannot be told from turnover" in result.headline.coverage.reason
    assert result.per_crawl[3].note == "extrapolated by the growth model: 40 %"


@given(data=st.data(), n=st.integers(3, 6))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_table_gives_ordered_intervals_or_reasons(make_table, data, n):
    """Counts without any order: nothing may fail, and every gap must say why."""
    days = sorted(data.draw(st.lists(st.integers(0, 3000), min_size=n, max_size=n)))
    sizes = data.draw(st.lists(st.sampled_from([1, 50, 10**4, 10**9]), min_size=n, max_size=n))
    overlaps = {
        (i, j): round(min(sizes[i], sizes[j]) * data.draw(st.sampled_from([0.001, 0.3, 0.9, 1])))
        for j in range(n)
        for i in range(j)
        if data.draw(st.integers(0, 9))
    }
    result = estimate_coverage(make_table(days, sizes, overlaps))
    estimates = [
        result.headline.coverage,
        result.persistence,
        result.half_life_years,
        result.growth_per_year,
        *(crawl.coverage for crawl in result.per_crawl),
        *(crawl.population for crawl in result.per_crawl),
    ]
    for estimate in estimates:
        if estimate.low is not None and estimate.high is not None:
            assert estimate.low <= estimate.value <= estimate.high < math.inf
        else:
            assert estimate.reason
    assert "nan" not in result.headline.statement + " ".join(result.warnings)


def test_one_crawl_is_refused_with_what_more_crawls_would_tell(make_table):
    with pytest.raises(FitError, match="two give a lower bound, three give point estimates"):
        estimate_coverage(make_table([0], [10], {}))


def test_provenance_is_the_tables(growing):
    assert estimate_coverage(growing).provenance == growing.provenance


def test_level_and_crawls_are_the_tables(make_urn):
    table = make_urn(DAYS, [BIG] * 6, COVERAGE, 0.73, level="content")
    result = estimate_coverage(table)
    assert result.level == "content"
    assert result.crawls == table.crawls
    assert "contents" in result.headline.statement


# --------------------------------------------------------------------------------------- two crawls


@pytest.fixture
def two(make_table):
    """Two years apart; the newer crawl holds 39 % of the older."""
    return make_table([0, 731], [1000, 2000], {(0, 1): 390})


def test_only_a_lower_bound_of_the_newer_coverage_is_known(two):
    result = estimate_coverage(two)
    reason = (
        "not identifiable: two crawls give only coverage × persistence^lag = 0.39, "
        "so coverage is at least 39 %"
    )
    assert result.headline.coverage.value is None
    assert result.headline.coverage.reason == reason
    assert result.headline.estimator is None
    assert result.newest.coverage.reason == reason
    assert result.population.reason == reason
    assert result.per_crawl[0].coverage.reason == "not identifiable: first crawl"
    assert result.headline.statement.startswith(
        "Two crawls cannot tell coverage from turnover: the newer one holds at least 39 %"
    )


def test_persistence_half_life_and_growth_say_why_they_are_unknown(two):
    result = estimate_coverage(two)
    assert result.persistence.value is None
    assert result.persistence.reason == "not identifiable: two crawls give only one pair"
    assert result.half_life_years.reason == result.persistence.reason
    assert "fewer than two dates" in result.growth_per_year.reason
    assert any("Add a third crawl" in warning for warning in result.warnings)
    assert result.estimators == ()


def test_a_given_persistence_gives_the_newer_coverage(two):
    result = estimate_coverage(two, persistence=0.73)
    coverage = 0.39 / 0.73 ** (731 / 365.25)
    assert result.newest.coverage.value == pytest.approx(coverage, rel=1e-12)
    assert result.newest.population.value == pytest.approx(2000 / coverage, rel=1e-12)
    assert "rests on the given persistence of 73 % a year" in result.newest.coverage.reason
    assert result.headline.coverage == result.newest.coverage
    assert result.headline.estimator == "two-way"
    assert result.persistence.value == pytest.approx(0.73)
    assert result.persistence.reason == "given, not estimated"
    assert result.half_life_years.value == pytest.approx(math.log(0.5) / math.log(0.73))
    assert result.per_crawl[0].coverage.value is None
    assert result.headline.statement.startswith("If 73 % of the URLs live on for a year, as given")
    assert result.provenance.settings["persistence"] == 0.73
    assert any("rests wholly on the given persistence" in text for text in result.warnings)


def test_a_given_persistence_of_one_gives_the_lower_bound_and_no_half_life(two):
    result = estimate_coverage(two, persistence=1.0)
    assert result.newest.coverage.value == pytest.approx(0.39)
    assert result.half_life_years.reason == "longer than this series can tell"
    assert not any("do not shrink with time" in warning for warning in result.warnings)


def test_a_given_persistence_that_makes_coverage_impossible_is_answered_with_the_least(two):
    result = estimate_coverage(two, persistence=0.5)
    assert result.newest.coverage.value > 1
    least = 0.39 ** (365.25 / 731)
    assert any(f"at least {100 * least:.0f} % a year" in text for text in result.warnings)
    assert "impossible" in result.headline.statement


def test_two_crawls_of_one_date_give_both_coverages_directly(make_table):
    result = estimate_coverage(make_table([0, 0], [1000, 2000], {(0, 1): 390}))
    assert [crawl.coverage.value for crawl in result.per_crawl] == pytest.approx([0.195, 0.39])
    populations = [crawl.population.value for crawl in result.per_crawl]
    assert populations == pytest.approx([1000 * 2000 / 390] * 2)
    assert result.headline.coverage.value == pytest.approx(math.sqrt(0.195 * 0.39))
    assert result.headline.coverage.reason == "0 degrees of freedom: no interval is possible"
    assert result.persistence.value is None
    assert "gone" not in result.headline.statement


def test_two_crawls_that_share_nothing_leave_everything_open(make_table):
    result = estimate_coverage(make_table([0, 100], [1000, 2000], {(0, 1): 0}))
    assert result.headline.coverage.reason == "not identifiable: the two crawls share nothing"
    assert result.headline.statement == (
        "Coverage cannot be estimated from these overlaps: the two crawls share nothing."
    )
    assert result.residuals[0].log_r is None
    assert result.residuals[0].log_r_two_way is None


def test_two_crawls_that_are_not_compared_leave_everything_open(make_table):
    result = estimate_coverage(make_table([0, 100], [1000, 2000], {}))
    assert "the overlap of the two crawls is not known" in result.headline.coverage.reason
    assert result.residuals == ()


@pytest.mark.parametrize("persistence", [0.0, -0.1, 1.01, math.nan])
def test_a_persistence_that_is_no_share_is_refused(two, persistence):
    with pytest.raises(FitError, match="above 0 and at most 1"):
        estimate_coverage(two, persistence=persistence)


def test_a_persistence_is_refused_where_it_can_be_estimated(make_urn, make_table):
    with pytest.raises(FitError, match="with 3 crawls it is estimated"):
        estimate_coverage(make_urn([0, 100, 200], [1000] * 3, [0.4] * 3, 0.7), persistence=0.7)
    with pytest.raises(FitError, match="same date"):
        estimate_coverage(make_table([0, 0], [10, 10], {(0, 1): 4}), persistence=0.7)


# ----------------------------------------------------------------------------------- simulated urns


STEP_DAYS = 183
ALPHA = 0.73
SURVIVAL = ALPHA ** (STEP_DAYS / 365.25)


def draw_crawls(rng, n_alive, sizes, weight=None):
    """Draw crawls from a population of constant size that is renewed between them."""
    alive, n_born = np.arange(n_alive), n_alive
    crawls = []
    for size in sizes:
        share = None if weight is None else weight(alive)
        crawls.append(rng.choice(alive, size=size, replace=False, p=share))
        kept = alive[rng.random(alive.size) < SURVIVAL]
        newborn = np.arange(n_born, n_born + n_alive - kept.size)
        alive, n_born = np.concatenate([kept, newborn]), n_born + newborn.size
    return crawls


def count_overlaps(crawls):
    return {
        (i, j): np.intersect1d(crawls[i], crawls[j]).size
        for j in range(len(crawls))
        for i in range(j)
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_even_capture_gives_coverage_persistence_and_population(make_table, seed):
    rng = np.random.default_rng(seed)
    sizes = [30_000, 46_000, 20_000, 50_000, 40_000, 60_000, 46_000]
    crawls = draw_crawls(rng, 100_000, sizes)
    days = [STEP_DAYS * k for k in range(len(sizes))]
    result = estimate_coverage(make_table(days, sizes, count_overlaps(crawls)))
    found = [crawl.coverage.value for crawl in result.per_crawl[1:]]
    assert found == pytest.approx([size / 100_000 for size in sizes[1:]], rel=0.03)
    assert result.persistence.value == pytest.approx(ALPHA, rel=0.02)
    assert result.population.value == pytest.approx(100_000, rel=0.03)
    assert abs(result.growth_per_year.value) < 0.02


def test_uneven_capture_inflates_coverage_by_its_squared_variation_and_residuals_are_blind(
    make_table,
):
    """URLs of even number are three times as likely: mean weight 2, squared variation 1/4."""
    rng = np.random.default_rng(4)
    n_alive, sizes = 400_000, [40_000] * 6

    def weight(alive):
        share = np.where(alive % 2 == 0, 3.0, 1.0)
        return share / share.sum()

    crawls = draw_crawls(rng, n_alive, sizes, weight)
    days = [STEP_DAYS * k for k in range(6)]
    result = estimate_coverage(make_table(days, sizes, count_overlaps(crawls)))

    def capture(rate):
        return np.array([-np.expm1(-3 * rate), -np.expm1(-rate)])

    # Drawing without replacement wears out the likely URLs: find the rate that yields a tenth.
    shares = capture(optimize.brentq(lambda rate: capture(rate).mean() - 0.1, 0.01, 1))
    assert result.headline.coverage.value == pytest.approx(np.mean(shares**2) / 0.1, rel=0.03)
    assert result.headline.coverage.value > 1.15 * 0.1
    assert max(abs(residual.log_r_two_way) for residual in result.residuals) < 0.1


# ------------------------------------------------------------------------------------- the sentence


GOOD = {
    "coverage": Estimate(value=0.462),
    "persistence": Estimate(value=0.73),
    "half_life_years": Estimate(value=2.2),
    "newest": Newest(
        label="c9", coverage=Estimate(value=0.45), population=Estimate(value=217_300_000)
    ),
    "level": "url",
}
UNKNOWN = Estimate.unknown("not identifiable: nothing is compared")


def test_the_usual_sentence_says_number_assumption_turnover_and_population():
    assert state_headline(**GOOD) == (
        "A typical crawl holds about 46 % of the URLs that it could have reached, if all of them "
        "were equally likely to be captured, which overlaps of pairs cannot test; half of the "
        "URLs are gone after 2.2 years, and the newest crawl could have reached about 217 million."
    )


def with_interval(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def test_the_interval_stands_behind_the_number():
    text = state_headline(**{**GOOD, "coverage": with_interval(0.462, 0.448, 0.476)})
    assert text.startswith("A typical crawl holds about 46 % (45–48 %) of the URLs that it could")


def test_an_interval_that_reaches_above_one_is_told_by_its_lower_end():
    text = state_headline(**{**GOOD, "coverage": with_interval(0.92, 0.8, 1.06)})
    assert text.startswith("A typical crawl holds about 92 % (at least 80 %) of the URLs")


def test_a_value_above_one_whose_interval_reaches_below_is_a_lower_bound():
    text = state_headline(**{**GOOD, "coverage": with_interval(1.05, 0.91, 1.2)})
    assert text.startswith("A typical crawl holds at least 91 % of the URLs that it could have")
    assert "is more than there can be" in text


def test_an_interval_wholly_above_one_is_impossible():
    text = state_headline(**{**GOOD, "coverage": with_interval(1.24, 1.1, 1.4)})
    assert "above 100 %, which is impossible" in text


def test_other_levels_speak_of_contents():
    assert "of the contents that it could have reached" in state_headline(
        **{**GOOD, "level": "content"}
    )


def test_an_unknown_half_life_is_left_out():
    text = state_headline(**{**GOOD, "persistence": UNKNOWN, "half_life_years": UNKNOWN})
    assert "gone" not in text
    assert text.endswith("cannot test; the newest crawl could have reached about 217 million.")


def test_persistence_above_one_puts_the_number_in_doubt():
    text = state_headline(
        **{
            **GOOD,
            "coverage": with_interval(0.462, 0.448, 0.476),
            "persistence": Estimate(value=1.09),
            "half_life_years": Estimate.unknown("not finite"),
        }
    )
    assert text.startswith("A typical crawl seems to hold about 46 % of the URLs")
    assert "do not shrink with time" in text
    assert "speaks against the model" in text


def test_an_impossible_coverage_is_called_so():
    text = state_headline(**{**GOOD, "coverage": Estimate(value=1.24)})
    assert "above 100 %, which is impossible" in text
    assert "A typical crawl holds" not in text


def test_an_impossible_population_is_left_out():
    newest = replace(GOOD["newest"], coverage=Estimate(value=1.1))
    assert state_headline(**{**GOOD, "newest": newest}).endswith("gone after 2.2 years.")


def test_two_crawls_state_the_least():
    text = state_headline(**{**GOOD, "coverage": UNKNOWN}, least=0.39)
    assert text.startswith("Two crawls cannot tell coverage from turnover")
    assert "at least 39 %" in text
    assert "if all of them were equally likely" in text


def test_without_any_number_the_reason_is_stated():
    assert state_headline(**{**GOOD, "coverage": UNKNOWN}) == (
        "Coverage cannot be estimated from these overlaps: nothing is compared."
    )


@pytest.mark.parametrize("value", [0.0004, 0.3, 0.999, 1.0, 1.5])
def test_it_is_always_one_sentence(value):
    text = state_headline(**{**GOOD, "coverage": Estimate(value=value)})
    assert text.endswith(".")
    assert ". " not in text
