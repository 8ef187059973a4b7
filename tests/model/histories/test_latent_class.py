"""Latent classes with trap response: the likelihood, and populations of known classes."""

import itertools
import math

import numpy as np
import pytest

from crawlgauge.model.histories import latent_class
from crawlgauge.model.histories.latent_class import (
    ClassLikelihood,
    Optimum,
    fit_latent_class,
    history_paths,
    is_believable,
    is_identifiable,
    thin_histories,
)

HALF_YEARS = np.arange(8) * 0.5
EVEN = ((1.0, 0.73, 0.4),)
TWO_CLASSES = ((0.4, 0.85, 0.6), (0.6, 0.6, 0.15))


@pytest.fixture(scope="module")
def capture(count_histories):
    """Capture a population of constant size; return the histories and the true coverage.

    Each class has a share of the living, a persistence per year and a chance of capture. What was
    captured in one of the last crawls has its chance multiplied by `trap`.
    """

    def make(seed, classes, *, years=HALF_YEARS, n_alive=60_000, levels=None, trap=1.0, lags=0):
        rng = np.random.default_rng(seed)
        share, persistence, chance = np.array(classes).T
        levels = np.ones(len(years)) if levels is None else levels
        kind = rng.choice(len(share), n_alive, p=share)
        seen = np.zeros((n_alive, len(years)), dtype=bool)
        alive = np.arange(n_alive)
        for j in range(len(years)):
            if j and years[j] > years[j - 1]:
                survival = persistence ** (years[j] - years[j - 1])
                alive = alive[rng.random(n_alive) < survival[kind[alive]]]
                n_born = n_alive - alive.size
                # Deaths are made up for in each class: its share of the living stays the same.
                born = share * (1 - survival) + 1e-12
                alive = np.concatenate([alive, np.arange(kind.size, kind.size + n_born)])
                kind = np.concatenate([kind, rng.choice(len(share), n_born, p=born / born.sum())])
                seen = np.concatenate([seen, np.zeros((n_born, len(years)), dtype=bool)])
            p = chance[kind[alive]] * levels[j]
            lately = seen[alive, max(0, j - lags) : j].any(axis=1)
            seen[alive, j] = rng.random(n_alive) < np.where(lately, p * trap, p)
        return count_histories(seen, years), seen.sum(axis=0) / n_alive

    return make


def ratios(fit, truth):
    return np.exp(fit.log_coverage) / truth


def typical(fit):
    return math.exp(np.nanmean(fit.log_coverage[1:-1]))


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_two_classes_are_found_with_their_coverage(capture, seed):
    data, truth = capture(seed, TWO_CLASSES)
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.n_classes == 2
    assert np.isnan(fit.log_coverage[0])
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.07)
    assert math.exp(fit.log_persistence) == pytest.approx(0.4 * 0.85 + 0.6 * 0.6, abs=0.03)
    assert fit.rmsea < 0.004


def test_one_class_overstates_the_coverage_of_two(capture, monkeypatch):
    data, truth = capture(1, TWO_CLASSES)
    monkeypatch.setattr(latent_class, "is_believable", lambda _: False)
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.n_classes == 1
    assert typical(fit) > 1.4 * truth.mean()
    # Far beyond what a model that reproduces the histories leaves.
    assert fit.rmsea > 0.012


@pytest.mark.parametrize("trap_lags", [0, 1, 2])
@pytest.mark.parametrize("seed", [6, 7])
def test_an_even_urn_gives_its_coverage_however_many_classes_are_taken(capture, seed, trap_lags):
    data, truth = capture(seed, EVEN)
    fit = fit_latent_class(data, trap_lags=trap_lags)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.04)
    assert math.exp(fit.log_persistence) == pytest.approx(0.73, abs=0.01)
    assert fit.rmsea < 0.002


@pytest.mark.parametrize("seed", [8, 9])
def test_avoidance_of_the_last_crawl_is_allowed_for(capture, seed):
    data, truth = capture(seed, EVEN, trap=0.2, lags=1)
    fit = fit_latent_class(data, trap_lags=1)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.04)
    assert typical(fit_latent_class(data, trap_lags=0)) < 0.7 * truth.mean()


def test_classes_and_avoidance_are_told_apart(capture):
    data, truth = capture(10, TWO_CLASSES, trap=0.3, lags=1, n_alive=100_000)
    fit = fit_latent_class(data, trap_lags=1)
    assert fit.n_classes == 2
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.1)


@pytest.mark.parametrize("lags", [1, 2])
def test_perfect_avoidance_hides_the_first_crawls_only(capture, lags):
    data, truth = capture(11, EVEN, trap=0.0, lags=lags)
    fit = fit_latent_class(data, trap_lags=lags)
    assert np.isnan(fit.log_coverage[: 1 + lags]).all()
    assert ratios(fit, truth)[1 + lags :] == pytest.approx(np.ones(7 - lags), abs=0.04)


def test_intervals_may_differ_and_dates_repeat(capture):
    years = np.array([0, 0.1, 0.9, 1.0, 1.0, 2.5, 2.6, 3.2])
    levels = np.array([1, 0.5, 1.2, 0.8, 1, 1.5, 0.7, 1])
    data, truth = capture(12, EVEN, years=years, levels=levels)
    fit = fit_latent_class(data, trap_lags=0)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.03)
    assert math.exp(fit.log_persistence) == pytest.approx(0.73, abs=0.01)


def test_crawls_of_a_day_after_the_other_know_their_turnover(capture):
    years = np.arange(8) / 365.25
    data, truth = capture(13, ((1.0, 1e-40, 0.4),), years=years)
    fit = fit_latent_class(data, trap_lags=0)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.03)
    assert fit.log_persistence == pytest.approx(-40 * math.log(10), rel=0.03)


def test_a_class_that_is_hardly_ever_captured_is_rejected(capture):
    data, _ = capture(9, ((0.2, 0.73, 0.7), (0.8, 0.73, 0.008)), n_alive=100_000)
    fit = fit_latent_class(data, trap_lags=0)
    assert fit.n_classes == 1
    # What is left is the coverage of the URLs that can be captured at all.
    assert typical(fit) == pytest.approx(0.7, abs=0.03)
    assert fit.rmsea > 0.01


def test_a_crawl_that_shares_nothing_is_left_out_of_account(capture, make_data):
    data, truth = capture(14, EVEN)
    foreign = np.arange(8) == 4
    captured = np.concatenate([data.captured & ~foreign, [foreign]])
    counts = np.concatenate([data.counts, [20_000]])
    some = captured.any(axis=1)
    distinct, where = np.unique(captured[some], axis=0, return_inverse=True)
    merged = make_data(distinct, np.bincount(where.ravel(), counts[some]), data.years)
    fit = fit_latent_class(merged, trap_lags=0)
    assert list(np.isnan(fit.log_coverage)) == [j in (0, 4) for j in range(8)]
    known = [1, 2, 3, 5, 6, 7]
    assert ratios(fit, truth)[known] == pytest.approx(np.ones(6), abs=0.04)


@pytest.mark.parametrize("classes", [((1.0, 0.73, 1.0),), ((1.0, 1.0, 0.4),), ((1.0, 1.0, 1.0),)])
def test_full_coverage_and_eternal_life_are_found(capture, classes):
    data, truth = capture(15, classes)
    fit = fit_latent_class(data, trap_lags=0)
    assert ratios(fit, truth)[1:] == pytest.approx(np.ones(7), abs=0.02)
    assert math.exp(fit.log_persistence) == pytest.approx(classes[0][1], abs=0.01)


def test_with_full_coverage_a_trap_response_cannot_be_known(capture):
    data, _ = capture(15, ((1.0, 0.73, 1.0),))
    assert np.isnan(fit_latent_class(data, trap_lags=1).log_coverage).all()


@pytest.mark.parametrize(("n_crawls", "trap_lags"), [(2, 0), (3, 0), (4, 0), (5, 2)])
def test_too_few_crawls_give_no_fit(capture, n_crawls, trap_lags):
    data, _ = capture(16, EVEN, years=HALF_YEARS[:n_crawls], n_alive=5000)
    assert np.isnan(fit_latent_class(data, trap_lags=trap_lags).log_coverage).all()


def test_without_time_or_recaptures_there_is_no_fit(capture, make_data):
    same_date, _ = capture(17, EVEN, years=np.zeros(8), n_alive=5000)
    assert np.isnan(fit_latent_class(same_date, trap_lags=0).log_coverage).all()
    for captured in (np.eye(8), np.eye(8)[:1], np.eye(8)[-1:]):
        alone = make_data(captured, np.full(len(captured), 1000), HALF_YEARS)
        assert np.isnan(fit_latent_class(alone, trap_lags=0).log_coverage).all()


def test_few_urls_give_a_fit_without_alarm(capture):
    for seed in range(5):
        data, _ = capture(seed, TWO_CLASSES, n_alive=150)
        fit = fit_latent_class(data, trap_lags=2)
        assert not np.any(fit.log_coverage >= 0.5)


def test_avoidance_of_four_crawls_is_allowed_for(capture):
    data, truth = capture(21, EVEN, years=np.arange(10) * 0.5, trap=0.1, lags=4, n_alive=30_000)
    fit = fit_latent_class(data, trap_lags=4)
    assert ratios(fit, truth)[5:] == pytest.approx(np.ones(5), abs=0.1)


def test_too_many_histories_are_sampled_and_the_answer_stays(capture, monkeypatch):
    data, truth = capture(19, TWO_CLASSES, years=np.arange(12) * 0.5)
    whole = fit_latent_class(data, trap_lags=0)
    monkeypatch.setattr(latent_class, "_MAX_HISTORIES", 2500)
    sampled = fit_latent_class(data, trap_lags=0)
    assert sampled.n_classes == 2
    assert math.log(typical(sampled) / typical(whole)) == pytest.approx(0, abs=0.07)
    assert ratios(sampled, truth)[1:] == pytest.approx(np.ones(11), abs=0.12)


# ----------------------------------------------------------------------------------- the likelihood

CASES = list(itertools.product([1, 2], [0, 1, 2]))


@pytest.fixture(scope="module")
def all_histories(make_data):
    """Make every history of some crawls, with random counts."""

    def make(n_crawls, rng):
        captured = np.array(list(itertools.product([False, True], repeat=n_crawls)))[1:]
        counts = rng.integers(1, 50, len(captured))
        return make_data(captured, counts, np.cumsum(rng.uniform(0.1, 1, n_crawls)))

    return make


def intervals_of(data):
    intervals = np.diff(data.years)
    return intervals / intervals.mean()


def likelihood_of(data, n_classes, trap_lags):
    return ClassLikelihood(
        history_paths(data), intervals_of(data), n_classes=n_classes, trap_lags=trap_lags
    )


def chance_by_deaths(history, first, crawls_alive, capture, survival):
    """Return the chance of a history of a URL that dies after a given number of further crawls."""
    chance, last = 1.0, first
    for crawl in range(first + 1, first + crawls_alive + 1):
        p = capture(crawl, crawl - last)
        chance *= survival(crawl) * (p if history[crawl] else 1 - p)
        last = crawl if history[crawl] else last
    end = first + crawls_alive + 1
    if any(history[end:]):
        return 0.0
    return chance * (1 - survival(end)) if end < len(history) else chance


def brute_force(model, intervals, theta, history):
    """Sum over classes and over all times of death."""
    n_shares = model.n_cohorts * (model.n_classes - 1)
    shares, rest = theta[:n_shares], theta[n_shares:]
    hazards, rest = np.exp(rest[: model.n_classes]), rest[model.n_classes :]
    gaps, rest = [0.0, *rest[: model.n_classes - 1]], rest[model.n_classes - 1 :]
    traps, levels = rest[: model.trap_lags], rest[model.trap_lags :]
    first = history.index(True)
    total = 0.0
    for g in range(model.n_classes):
        share = 1.0
        if model.n_classes == 2:
            second = 1 / (1 + math.exp(-shares[min(first, model.n_cohorts - 1)]))
            share = second if g == 1 else 1 - second

        def capture(crawl, since, g=g):
            trap = traps[since - 1] if since <= model.trap_lags else 0.0
            return 1 / (1 + math.exp(-(levels[crawl - 1] - gaps[g] + trap)))

        def survival(crawl, g=g):
            return math.exp(-hazards[g] * intervals[crawl - 1])

        total += share * sum(
            chance_by_deaths(history, first, alive, capture, survival)
            for alive in range(len(history) - first)
        )
    return total


@pytest.mark.parametrize("n_crawls", [4, 5])
@pytest.mark.parametrize(("n_classes", "trap_lags"), CASES)
def test_each_history_has_the_chance_that_enumeration_gives(
    all_histories, n_crawls, n_classes, trap_lags
):
    rng = np.random.default_rng([n_crawls, n_classes, trap_lags])
    data = all_histories(n_crawls, rng)
    likelihood = likelihood_of(data, n_classes, trap_lags)
    theta = rng.normal(0, 0.8, len(likelihood.bounds))
    tells = data.captured[:, :-1].any(axis=1)
    expected = [
        brute_force(likelihood, intervals_of(data), theta, history.tolist())
        for history in data.captured[tells]
    ]
    assert np.exp(likelihood.log_likelihoods(theta)) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("n_classes", "trap_lags"), CASES)
def test_the_gradient_agrees_with_differences(all_histories, n_classes, trap_lags):
    rng = np.random.default_rng([2, n_classes, trap_lags])
    likelihood = likelihood_of(all_histories(7, rng), n_classes, trap_lags)
    step = 1e-5
    for _ in range(3):
        theta = rng.normal(0, 0.8, len(likelihood.bounds))
        value, gradient = likelihood.objective(theta)
        differences = [
            (likelihood.objective(theta + move)[0] - likelihood.objective(theta - move)[0])
            / (2 * step)
            for move in step * np.eye(theta.size)
        ]
        assert gradient == pytest.approx(differences, abs=1e-6)
        mean = np.average(likelihood.log_likelihoods(theta), weights=likelihood.paths.counts)
        assert value == pytest.approx(-mean, rel=1e-12)


def test_chances_at_the_bounds_stay_finite(make_data):
    data = make_data({"1" * 9: 5})
    for n_classes, trap_lags in CASES:
        likelihood = likelihood_of(data, n_classes, trap_lags)
        for corner in np.array(likelihood.bounds).T:
            value, gradient = likelihood.objective(corner)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()


def test_histories_without_a_later_crawl_tell_nothing_nor_do_crawls_that_share_nothing(make_data):
    paths = history_paths(make_data({"10010": 5, "01011": 6, "00100": 700, "00001": 800}))
    assert sorted(paths.counts) == [5, 6]
    steps, firsts, lasts = paths.split(paths.totals)
    found = {(int(i), int(k)): steps[i, k] for i, k in zip(*np.nonzero(steps), strict=True)}
    assert found == {(0, 3): 5, (1, 3): 6, (3, 4): 6}
    assert list(firsts) == [5, 6, 0, 0, 0]
    assert list(lasts) == [0, 0, 0, 5, 6]


def test_a_thinned_sample_is_small_even_and_always_the_same(make_data):
    rng = np.random.default_rng(4)
    captured = np.array(list(itertools.product([False, True], repeat=12)))[1:]
    data = make_data(captured, rng.geometric(0.05, len(captured)))
    sample = thin_histories(data, 1000)
    assert sample.counts.size == pytest.approx(1000, rel=0.1)
    assert sample.n_urls / data.n_urls == pytest.approx(sample.sample_rate, rel=0.1)
    assert sample.sizes / data.sizes == pytest.approx(np.full(12, sample.sample_rate), rel=0.15)
    assert (sample.counts > 0).all()
    assert np.array_equal(sample.counts, thin_histories(data, 1000).counts)
    assert thin_histories(data, 5000) is data


# ------------------------------------------------------------------------- which fits are believed


@pytest.fixture
def two_classes(all_histories):
    """Make a fit with given shares of the second class, gap and levels of the log-odds."""

    def make(shares=(0.0, 0.0, 0.0), gap=1.0, levels=(0.0,) * 5):
        likelihood = likelihood_of(all_histories(6, np.random.default_rng(1)), 2, 0)
        theta = np.array([*shares, -1.5, -1.0, gap, *levels])
        return Optimum(likelihood=likelihood, theta=theta, log_likelihood=0.0)

    return make


def test_two_ordinary_classes_are_believed(two_classes):
    assert is_believable(two_classes())


@pytest.mark.parametrize("gap", [4.7, -4.7])
def test_a_class_captured_with_less_than_a_hundredth_is_not(two_classes, gap):
    level = -max(-gap, 0.0)
    assert not is_believable(two_classes(gap=gap, levels=[level] * 5))
    assert is_believable(two_classes(gap=gap * 0.9, levels=[level * 0.9] * 5))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_class_of_less_than_a_hundredth_of_the_captured_is_not(two_classes, sign):
    assert not is_believable(two_classes(shares=[sign * 4.82] * 3))
    # Many in one cohort of first capture are enough.
    assert is_believable(two_classes(shares=[sign * 5.0, sign * 5.0, 0.0]))


def test_a_class_that_vanishes_beside_the_other_in_a_single_crawl_is_not(two_classes):
    assert not is_believable(two_classes(gap=6.0, levels=[6.0, 6.0, 0.0, 6.0, 6.0]))
    assert is_believable(two_classes(gap=6.0, levels=[6.0] * 5))


def test_trap_response_needs_recaptures_after_its_lags(all_histories, make_data):
    assert is_identifiable(history_paths(all_histories(6, np.random.default_rng(1))), 2)
    gapless = history_paths(make_data(np.tri(6), np.full(6, 100)))
    assert is_identifiable(gapless, 0)
    assert not is_identifiable(gapless, 1)
