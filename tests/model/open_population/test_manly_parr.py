"""Coverage among URLs known to be alive."""

import numpy as np
import pytest

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.manly_parr import fit_manly_parr, fit_rested_manly_parr


def make_data(urls, counts=None):
    urls = np.asarray(urls, dtype=bool)
    if counts is None:
        urls, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    bits = np.uint64(1) << np.arange(urls.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=urls,
        masks=np.where(urls, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
        counts=np.array(counts, dtype=np.float64),
        years=np.arange(urls.shape[1]) / 2,
    )


def draw_alive(rng, n_crawls, n=60_000):
    """Draw when URLs live: half of them for long, half for a short time."""
    birth = rng.uniform(-4, n_crawls, n)
    life = rng.exponential(np.where(rng.random(n) < 0.5, 8.0, 0.8))
    crawl = np.arange(n_crawls)
    return (birth[:, None] <= crawl) & ((birth + life)[:, None] > crawl)


def crawl_with_memory(rng, alive, cover, factor):
    """Capture what is alive; URLs of the crawl before `factor` times as likely."""
    urls = np.zeros_like(alive)
    for crawl in range(alive.shape[1]):
        chance = np.full(alive.shape[0], cover)
        if crawl:
            chance[urls[:, crawl - 1]] *= factor
        urls[:, crawl] = alive[:, crawl] & (rng.random(alive.shape[0]) < chance)
    return urls


def test_coverage_is_the_share_of_those_seen_before_and_after():
    data = make_data([[1, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]], [3, 9, 50, 70])
    fit = fit_manly_parr(data)
    assert fit.coverage[1] == pytest.approx(3 / 12)
    assert fit.coverage_se[1] == pytest.approx(np.sqrt(0.25 * 0.75 / 12))
    assert fit.n_known.tolist() == [0, 12, 0]
    assert fit.reasons == ("not identifiable: first crawl", None, "not identifiable: last crawl")


def test_mixed_lifetimes_do_not_matter():
    rng = np.random.default_rng(1)
    alive = draw_alive(rng, 8)
    urls = alive & (rng.random(alive.shape) < 0.46)
    fit = fit_manly_parr(make_data(urls))
    z = (fit.coverage[1:-1] - 0.46) / fit.coverage_se[1:-1]
    assert np.max(np.abs(z)) < 4
    rested = fit_rested_manly_parr(make_data(urls))
    z = (rested.coverage[2:-2] - 0.46) / rested.coverage_se[2:-2]
    assert np.max(np.abs(z)) < 4


def test_rested_counts_follow_their_definition():
    rng = np.random.default_rng(2)
    urls = rng.random((3000, 7)) < 0.4
    urls = urls[urls.any(axis=1)]
    fit = fit_rested_manly_parr(make_data(urls), rest=2)
    crawl = 3
    recent, now = urls[:, 1:3].any(axis=1), urls[:, crawl]
    after, old = urls[:, 6], urls[:, 0] & ~recent
    share_old = np.mean(now[old & after])
    share_recent = np.mean(now[recent & after])
    n_alive = np.sum(now & ~recent) / share_old + np.sum(now & recent) / share_recent
    assert fit.coverage[crawl] == pytest.approx(now.sum() / n_alive, rel=1e-12)
    assert [reason is None for reason in fit.reasons] == [crawl == 3 for crawl in range(7)]


@pytest.mark.parametrize("factor", [0.2, 1.8])
def test_avoidance_and_preference_mislead_the_plain_form_but_not_the_rested_one(factor):
    rng = np.random.default_rng(3)
    alive = draw_alive(rng, 9, n=200_000)
    urls = crawl_with_memory(rng, alive, 0.3, factor)
    truth = urls.sum(axis=0) / alive.sum(axis=0)
    data = make_data(urls)
    plain, rested = fit_manly_parr(data).coverage, fit_rested_manly_parr(data).coverage
    rested_error, plain_error = np.abs(np.log(rested / truth)), np.abs(np.log(plain / truth))
    assert np.max(rested_error[2:6]) < 0.1
    # At the last crawl that it can judge, whether a URL is seen later depends the most on what
    # happened there: a known fault of the method, of up to a fifth.
    assert rested_error[6] < 0.2
    assert np.all(rested_error[2:7] < plain_error[2:7])
    assert np.min(plain_error[2:7]) > 0.15


def test_a_crawl_that_avoids_the_last_one_completely_is_not_counted():
    rng = np.random.default_rng(4)
    urls = crawl_with_memory(rng, np.ones((20_000, 7), dtype=bool), 0.3, 0.0)
    fit = fit_rested_manly_parr(make_data(urls))
    assert np.isnan(fit.coverage).all()
    assert "holds no URL of the crawl before" in fit.reasons[3]


def test_without_any_overlap_nothing_is_known():
    data = make_data(np.eye(5), [1, 2, 3, 4, 5])
    for fit in (fit_manly_parr(data), fit_rested_manly_parr(data)):
        assert np.isnan(fit.coverage).all()
        assert all(reason is not None for reason in fit.reasons)
    assert fit_manly_parr(data).reasons[2] == (
        "not identifiable: no URL is seen both before and after it"
    )


def test_a_crawl_that_holds_none_of_the_known_is_named():
    data = make_data([[1, 0, 1], [0, 1, 0]], [10, 10])
    assert "holds no URL that is seen both before and after" in fit_manly_parr(data).reasons[1]


def test_complete_crawls_have_coverage_one():
    data = make_data(np.arange(6) < np.repeat(np.arange(1, 7), 50)[:, None])
    assert fit_manly_parr(data).coverage[1:-1].tolist() == [1] * 4
    assert fit_manly_parr(data).coverage_se[1:-1].tolist() == [0] * 4
