import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.histories.checks import check_overdispersion
from crawlgauge.model.histories.data import history_data
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import HostNoise, change_settings
from crawlgauge.simulate.urn_table import draw_table


def draw(name="pure", seed=1, hosts=None, **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 6, "population": 60_000, **changes}
    )
    if hosts is not None:
        settings = replace(settings, host_noise=HostNoise(n_hosts=hosts, sd=0.5))
    return history_data(draw_table(settings, seed=seed, with_histories=True))


def check(data, found=(), level="url"):
    return check_overdispersion(data, found, level)


def pearson(data):
    """Maximise the likelihood of the recaptures numerically, and return chi-square and cells."""
    from scipy import optimize

    n = data.n_crawls
    seen = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            between = data.captured[:, i + 1 : j].any(axis=1)
            rows = data.captured[:, i] & data.captured[:, j] & ~between
            seen[i, j] = data.counts[rows].sum()

    def shares(logits):
        survival, coverage = np.split(1 / (1 + np.exp(-logits)), [n - 1])
        coverage = np.append(coverage, 1.0)
        table = np.zeros((n, n))
        for i in range(n - 1):
            left = 1.0
            for j in range(i + 1, n):
                table[i, j] = left * survival[j - 1] * coverage[j - 1]
                left *= survival[j - 1] * (1 - coverage[j - 1])
        return table

    def loss(logits):
        table = shares(logits)[:-1]
        never = np.append(data.sizes[:-1] - seen[:-1].sum(axis=1), [])
        inside = seen[:-1][table > 0] @ np.log(table[table > 0])
        return -(inside + never @ np.log(1 - table.sum(axis=1))) / data.n_urls

    best = optimize.minimize(loss, np.zeros(2 * n - 3), method="BFGS", options={"gtol": 1e-9})
    expected = shares(best.x) * data.sizes[:, None]
    cells = np.triu_indices(n, 1)
    return float(np.sum((seen - expected)[cells] ** 2 / expected[cells])), expected[cells].mean()


def test_independent_urls_scatter_as_they_should():
    result = check(draw())
    assert (result.id, result.status) == ("overdispersion", "ok")
    assert result.effect < 0.01
    assert "no more than those of independent URLs" in result.message


def test_the_effect_follows_from_the_chi_square_of_the_likeliest_model():
    data = draw("host-noise")
    chi_square, mean = pearson(data)
    assert chi_square / 6 > 2.8
    assert check(data).effect == pytest.approx(math.sqrt((chi_square / 6 - 1) / mean), rel=1e-3)
    ratio = f"{chi_square / 6:.2g}"
    assert check(data).message.startswith(f"The counts vary {ratio} times as much as those of ind")


def test_the_ratio_grows_with_the_number_of_urls_and_the_effect_does_not():
    data = draw("host-noise", population=200_000)
    larger = replace(data, counts=100 * data.counts)
    assert check(larger).effect == pytest.approx(check(data).effect, rel=0.05)
    assert "20 times as much" not in check(larger).message


def test_bunches_are_a_finding_and_large_ones_a_warning():
    result = check(draw("host-noise", population=200_000))
    assert result.status == "info"
    assert "Coverage is not biased by it" in result.message
    assert check(draw("host-noise", hosts=10, population=200_000)).status == "warn"


def test_immaterial_scatter_does_not_speak_however_certain():
    """Bunches of a hundred URLs each, among so many that counts vary by a thousandth."""
    data = draw(population=10_000_000)
    result = check(replace(data, counts=100 * data.counts))
    assert result.status == "ok"
    assert 0 < result.effect < 0.01


def test_survival_that_differs_by_interval_and_scope_are_allowed_for():
    assert check(draw("scope-change", n_crawls=8, population=1_000_000)).status == "ok"
    assert check(draw("population-growth", n_crawls=8)).status == "ok"


def test_what_others_found_is_not_taken_for_bunches():
    result = check(draw("avoid-most"), found=("past-future", "short-lag"))
    assert (result.status, result.effect) == ("na", None)
    assert "what past-future and short-lag found makes counts depart" in result.message
    assert "(2,4" in result.message


def test_where_nothing_is_left_over_it_is_not_tested():
    for data in (draw(n_crawls=4), draw("avoid-all"), draw(population=40)):
        result = check(data)
        assert (result.status, result.effect) == ("na", None)
        assert "five or more crawls" in result.message


@pytest.mark.parametrize("population", [300, 3_000])
def test_with_few_urls_chance_is_not_taken_for_bunches(population):
    spoken = [
        check(draw(seed=seed, n_crawls=12, population=population)).status for seed in range(100)
    ]
    assert sum(status != "ok" for status in spoken) <= 3


def test_the_words_name_what_is_compared():
    assert "independent contents" in check(draw(), level="content").message
