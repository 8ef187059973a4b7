"""How much more readily a crawl captures what the archive holds than what lives as a whole.

If a crawl drew evenly from the living URLs, the share of its URLs that earlier crawls hold would be
the share of the living ones that they hold. A crawler that prefers some URLs, or returns to its
last crawl, meets held URLs too often, one that avoids its last crawl too seldom. The classes and
the trap response of the latent-class model say by which factor.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.latent_class.fitting import LatentClassFit
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["HeldUrls", "follow_classes"]

Numbers = NDArray[np.float64]

# A crawl of everything leaves no room for classes that are captured less.
_MAX_COVERAGE = 0.98
_MIN_CHANCE = 1e-4
_WIDEST_LOGIT = 15.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldUrls:
    """Living URLs that the archive holds beside all living ones.

    Parameters
    ----------
    log_ratio
        For each crawl, the logarithm of the chance that it captures a living URL which earlier
        crawls hold, over that of all living URLs; 0 at the first crawl.
    unseen_survival
        For each crawl but the last, the share of the living URLs that no crawl holds yet which
        live on to the next crawl.
    """

    log_ratio: Numbers
    unseen_survival: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_ratio", "unseen_survival")


def follow_classes(
    classes: LatentClassFit, years: Numbers, sizes: Numbers, coverage: Numbers
) -> HeldUrls:
    """Follow the living URLs of each class through the crawls: held since when, or not at all.

    The classes give the differences between URLs; how much each crawl captures is given, since
    another estimator may know it better.

    Parameters
    ----------
    classes
        The latent-class model.
    years
        Time of each crawl.
    sizes, coverage
        URLs of each crawl, and the share that they are of those that lived.
    """
    coverage = np.minimum(coverage, _MAX_COVERAGE)
    chances = _Chances(classes)
    persistence = np.exp(classes.class_log_persistence)
    # A row for each class; the columns: not captured lately, captured 1, 2, … crawls ago.
    held = np.zeros((classes.n_classes, classes.trap_lags + 1))
    log_ratio, unseen_survival = np.zeros(years.size), np.zeros(years.size - 1)
    for crawl in range(years.size):
        living = classes.class_shares * sizes[crawl] / coverage[crawl]
        unseen = np.maximum(living - held.sum(axis=1), 0.0)
        chance = chances.at(coverage[crawl], held, unseen)
        if held.sum() > 0:
            log_ratio[crawl] = np.log(np.sum(chance * held) / held.sum() / coverage[crawl])
        held = _capture(held, unseen, chance)
        if crawl < years.size - 1:
            survival = persistence ** (years[crawl + 1] - years[crawl])
            unseen = np.maximum(unseen * (1 - chance[:, 0]), np.finfo(float).tiny)
            unseen_survival[crawl] = unseen @ survival / unseen.sum()
            held = held * survival[:, None]
    return HeldUrls(log_ratio=log_ratio, unseen_survival=unseen_survival)


class _Chances:
    """Chances of capture of all classes and states, which one level for each crawl shifts."""

    def __init__(self, classes: LatentClassFit) -> None:
        captures = np.clip(classes.class_captures, _MIN_CHANCE, 1 - _MIN_CHANCE)
        logits = np.log(captures / (1 - captures))
        traps = np.concatenate([[0.0], classes.trap_effects])
        self._differences = (logits - logits[0])[:, None] + traps

    def at(self, coverage: float, held: Numbers, unseen: Numbers) -> Numbers:
        """Return the chances with which the whole population is captured to `coverage`."""
        from scipy.optimize import brentq
        from scipy.special import expit

        stock = held.copy()
        stock[:, 0] += unseen
        share = stock / stock.sum()

        def excess(level: float) -> float:
            return float(np.sum(share * expit(level + self._differences))) - coverage

        level = brentq(excess, -2 * _WIDEST_LOGIT, 2 * _WIDEST_LOGIT)
        chances: Numbers = expit(level + self._differences)
        return chances


def _capture(held: Numbers, unseen: Numbers, chance: Numbers) -> Numbers:
    """Return what is held after a crawl, by how long ago it was captured."""
    captured = unseen * chance[:, 0] + np.sum(held * chance, axis=1)
    missed = held * (1 - chance)
    after = np.zeros_like(held)
    after[:, 0] = missed[:, 0] + missed[:, -1] if held.shape[1] > 1 else missed[:, 0]
    after[:, 2:] = missed[:, 1:-1]
    after[:, min(1, held.shape[1] - 1)] += captured
    return after
