"""The composite likelihood is the sum over windows that its formula says, and so are its slopes."""

import itertools
import math

import numpy as np
import pytest

from crawlgauge.model.known_alive.families import Even, LogNormal, TwoClasses
from crawlgauge.model.known_alive.likelihood import build_interiors, log_likelihood, score
from crawlgauge.model.known_alive.links import capture_table
from crawlgauge.model.known_alive.parameters import WindowModel, first_start, log_prior, unpack
from crawlgauge.model.known_alive.windows import N_GROUPS, count_windows

FAMILIES = {
    "even": (Even(), []),
    "log-normal": (LogNormal(low_tail=0.35), [0.7]),
    "two classes": (TwoClasses(), [1.2, 0.3]),
}
CASES = [
    (family, lags, link, hazard)
    for family, lags, link, hazard in itertools.product(
        FAMILIES, (0, 1, 2), ("cloglog", "logit"), (False, True)
    )
    if not (family == "even" and hazard)
]
STEP = 1e-5


def make_case(counts, family, lags, link, has_hazard):
    law, shape = FAMILIES[family]
    model = WindowModel(family=law, trap_lags=lags, link=link, has_hazard=has_hazard)
    rng = np.random.default_rng(8)
    vector = first_start(model, counts)
    vector += rng.normal(0, 0.2, vector.size)
    vector[model.places(counts.n_crawls)[2]] = shape
    n_kinds = unpack(model, counts, vector).nodes.share.size
    return model, vector, np.exp(rng.normal(0, 0.2, (counts.n_crawls, n_kinds)))


def likelihood_by_hand(data, counts, model, vector, tilt):
    """Sum over all windows of all URLs and over all interiors, crawl by crawl."""
    effects = unpack(model, counts, vector)
    chance = capture_table(effects.sums, model.link).hit
    nodes = effects.nodes

    def weight(first, inside):
        marks = [*inside, True]
        last = first + len(marks)
        lag = (counts.years[last] - counts.years[first]) / counts.spacing
        value = nodes.share * np.exp(-effects.hazard * nodes.position * lag)
        value = value * tilt[first] * chance[first, 0]
        latest = first
        for crawl, mark in enumerate(marks, start=first + 1):
            since = crawl - latest
            p = chance[crawl, since if since <= model.trap_lags else 0]
            value = value * (p if mark else 1 - p)
            latest = crawl if mark else latest
        return value.sum()

    total = 0.0
    for row, count in zip(data.captured, data.counts, strict=True):
        ends = np.flatnonzero(row)
        for first, last in itertools.combinations(ends.tolist(), 2):
            if 2 <= last - first <= counts.longest:
                inside = row[first + 1 : last].tolist()
                every = itertools.product([False, True], repeat=len(inside))
                norm = sum(weight(first, other) for other in every)
                total += count * math.log(weight(first, inside) / norm)
    return total


@pytest.mark.parametrize(("family", "lags"), list(itertools.product(FAMILIES, (0, 1, 2))))
def test_it_is_the_sum_over_the_windows_of_every_url(random_data, family, lags):
    data = random_data(11, n_crawls=6, n_histories=12)
    counts = count_windows(data)
    model, vector, tilt = make_case(counts, family, lags, "cloglog", family != "even")
    found = log_likelihood(counts, build_interiors(model, counts, vector, tilt))
    assert found == pytest.approx(likelihood_by_hand(data, counts, model, vector, tilt), rel=1e-10)


@pytest.mark.parametrize(("family", "lags", "link", "hazard"), CASES)
def test_slopes_agree_with_finite_differences(random_data, family, lags, link, hazard):
    counts = count_windows(random_data(12))
    model, vector, tilt = make_case(counts, family, lags, link, hazard)

    def value(at):
        return log_likelihood(counts, build_interiors(model, counts, at, tilt))

    found = score(counts, build_interiors(model, counts, vector, tilt))
    steps = STEP * np.eye(vector.size)
    differences = [(value(vector + step) - value(vector - step)) / (2 * STEP) for step in steps]
    assert found == pytest.approx(np.array(differences), rel=1e-6, abs=1e-6 * counts.n_windows)


def test_group_scores_add_up_to_the_score_of_all(random_data):
    counts = count_windows(random_data(13))
    model, vector, tilt = make_case(counts, "two classes", 1, "cloglog", True)
    interiors = build_interiors(model, counts, vector, tilt)
    groups = sum(score(counts, interiors, 1 + group) for group in range(N_GROUPS))
    assert groups == pytest.approx(score(counts, interiors), rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_slopes_of_the_guards_agree_with_finite_differences(random_data, family):
    counts = count_windows(random_data(14))
    model, vector, _ = make_case(counts, family, 2, "cloglog", family != "even")
    _, found = log_prior(model, counts, vector)
    steps = STEP * np.eye(vector.size)
    differences = [
        (log_prior(model, counts, vector + step)[0] - log_prior(model, counts, vector - step)[0])
        / (2 * STEP)
        for step in steps
    ]
    assert found == pytest.approx(np.array(differences), abs=1e-7)
