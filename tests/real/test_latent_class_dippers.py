"""The European dippers of Lebreton et al. (1992): with one class, a much published model."""

import csv

import numpy as np
import pytest

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.latent_class import fit_latent_class


@pytest.fixture
def dippers(shared_data):
    with (shared_data / "capture-recapture" / "dipper.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    captured = np.array([[letter == "1" for letter in row["ch"]] for row in rows])
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=(captured * bits).sum(axis=1, dtype=np.uint64),
        counts=np.array([float(row["freq"]) for row in rows]),
        years=np.arange(captured.shape[1], dtype=float),
    )


def test_one_class_gives_what_program_mark_gives(dippers):
    """Model φ(.)p(t): one survival, a chance of capture for each year."""
    fit = fit_latent_class(dippers, trap_lags=0)
    assert fit.n_classes == 1
    assert fit.n_parameters == 7
    assert -2 * fit.log_likelihood == pytest.approx(664.4802, abs=1e-4)
    assert np.exp(fit.log_persistence) == pytest.approx(0.5530901, abs=2e-5)
    captures = [0.7850809, 0.8905191, 0.8750974, 0.9083167, 0.9405547, 0.9639315]
    assert np.exp(fit.log_coverage[1:]) == pytest.approx(captures, abs=1e-4)


def test_a_class_that_would_vanish_in_some_years_is_rejected(dippers):
    fit = fit_latent_class(dippers, trap_lags=0)
    assert "times as rarely as the other" in fit.rejected[0]
