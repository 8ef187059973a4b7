"""Another model has a say as far as it fits and as far as survival is inconsistent."""

import numpy as np
import pytest

from crawlgauge.model.known_alive.blending import blend_level
from crawlgauge.model.known_alive.candidates import Candidate, fit_informed
from crawlgauge.model.known_alive.families import Even, LogNormal
from crawlgauge.model.known_alive.parameters import WindowModel
from crawlgauge.model.known_alive.results import LatentClassLevel
from crawlgauge.model.known_alive.shapes import Average
from crawlgauge.model.known_alive.survival_consistency import Consistency
from crawlgauge.model.known_alive.windows import count_windows

LOG_COVERAGE = np.array([np.nan, -1.0, -1.1, -0.9, -1.0, -1.0])


@pytest.fixture(scope="module")
def make_average(make_archive):
    counts = count_windows(make_archive(51, n_alive=500, n_crawls=6).data)

    def make(ratio, family=None):
        model = WindowModel(family=family or Even(), trap_lags=0)
        heaviest = Candidate(
            information=fit_informed(model, counts),
            log_coverage=LOG_COVERAGE,
            newest_variance=0.01,
            consistency=Consistency(excess=0.02 * ratio, error=0.02),
        )
        return Average(log_coverage=LOG_COVERAGE, log_typical=-1.0, shape_sd=0.0, heaviest=heaviest)

    return make


def level(rmsea, shift=-0.2):
    return lambda: LatentClassLevel(log_coverage=LOG_COVERAGE + shift, rmsea=rmsea)


@pytest.mark.parametrize(
    ("ratio", "weight"), [(-0.9, 0.125), (0.0, 0.35), (1.0, 0.6), (2.6, 1.0), (9.0, 1.0)]
)
def test_the_weight_grows_with_the_inconsistency_of_survival(make_average, ratio, weight):
    blend = blend_level(make_average(ratio), level(rmsea=0.0))
    assert blend.weight == pytest.approx(weight)
    assert blend.difference == pytest.approx(-0.2)
    assert blend.shift == pytest.approx(-0.2 * weight)


@pytest.mark.parametrize(("rmsea", "part"), [(0.003, 1.0), (0.0045, 0.5), (0.006, 0.0)])
def test_the_weight_falls_with_the_lack_of_fit(make_average, rmsea, part):
    assert blend_level(make_average(0.0), level(rmsea)).weight == pytest.approx(0.35 * part)


def test_proven_uneven_capture_asks_for_less_fit(make_average):
    uneven = make_average(2.6, LogNormal(low_tail=0.35))
    assert blend_level(uneven, level(rmsea=0.006)).weight == pytest.approx(1.0)
    assert blend_level(make_average(2.6), level(rmsea=0.006)).weight == 0


def test_it_is_not_even_fitted_where_coverage_was_corrected_too_far(make_average):
    def never():
        raise AssertionError

    blend = blend_level(make_average(-1.0), never)
    assert (blend.weight, blend.shift) == (0.0, 0.0)


@pytest.mark.parametrize(
    "found", [None, LatentClassLevel(log_coverage=np.full(6, np.nan), rmsea=0.0)]
)
def test_without_another_level_nothing_is_shifted(make_average, found):
    blend = blend_level(make_average(1.0), lambda: found)
    assert np.isnan(blend.difference)
    assert blend.shift == 0
