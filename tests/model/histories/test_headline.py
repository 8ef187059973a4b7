"""Views that agree are trusted, and their distance is the error bar."""

import datetime as dt
import functools
import math

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.headline import (
    Views,
    find_views,
    judge_persistence,
    judge_views,
    spread_over_crawls,
    too_small,
    with_first_captures,
)
from crawlgauge.model.histories.known_alive import KnownAliveFit
from crawlgauge.model.histories.latent_class import LatentClassFit
from crawlgauge.model.pairs import pair_data
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable

# The rule's numbers: how far a range reaches beyond the views, and a single crawl's beyond that.
FLOOR, BELOW, BELOW_UNEVEN, ABOVE, OWN = 0.05, 0.9, 1.4, 0.4, 0.07

W, LC, R, TW, CJS, MP = (
    *("known-alive", "latent-class", "rested-manly-parr", "two-way"),
    *("cjs", "manly-parr"),
)
AGREED = {W: -1.0, LC: -1.02, R: -0.98, TW: -1.01, CJS: -1.02, MP: -0.99}


def make_views(levels=(), *, ratios=(), misfit=0.0, n_thrice=5000.0, sd=0.0, **others):
    """Make views that agree but for what is said; `ratios` are those of the revisits."""
    levels = AGREED | dict(levels)
    levels = {name: level for name, level in levels.items() if level is not None}
    windows = KnownAliveFit(
        log_coverage=np.array([np.nan, -1.0, -1.0, -1.0, -1.0, np.nan]),
        revisits=tuple(ratios),
        is_uneven=others.get("is_uneven", False),
        misfit=misfit,
        sampling_sd=sd,
    )
    classes = LatentClassFit(
        log_coverage=np.array(others.get("pattern", [np.nan, -1.1, -0.9, -1.1, -0.9, -0.7])),
        trap_lags=len(ratios),
        n_classes=others.get("n_classes", 1),
        rmsea=others.get("rmsea", 0.02),
    )
    nothing = np.full(6, np.nan)
    cjs = np.array([np.nan, 0.2, 0.3, 0.4, 0.3, 0.35])
    return Views(
        levels=levels,
        windows=windows if W in levels else KnownAliveFit(log_coverage=nothing),
        classes=classes if LC in levels else LatentClassFit(log_coverage=nothing, trap_lags=0),
        cjs=(cjs, 0.8),
        n_thrice=n_thrice,
        sampling_sd=sd,
        persistence=others.get("persistence", {"two-way": -0.3}),
        memory_factor=np.ones(cjs.size),
    )


# ------------------------------------------------------------------------------------- the value


def test_the_value_is_the_mean_of_windows_and_classes():
    assert judge_views(make_views({W: -1.0, LC: -1.1})).value == pytest.approx(-1.05)


def test_classes_a_little_below_all_others_keep_their_half():
    found = judge_views(make_views({W: -1.0, LC: -1.09, R: -1.0, TW: -1.0}))
    assert found.value == pytest.approx(-1.045)


def test_classes_alone_below_all_others_lose_it_to_the_median():
    found = judge_views(make_views({W: -1.0, LC: -1.2, R: -0.95, TW: -0.9}))
    assert found.value == pytest.approx(-1.0)


def test_classes_that_reproduce_the_histories_weigh_more_though_alone():
    found = judge_views(make_views({W: -1.0, LC: -1.2, R: -0.95, TW: -0.9}, rmsea=0.004))
    assert found.value == pytest.approx(-1.15)


def test_attraction_that_classes_reproduce_is_memory_whatever_the_windows_say():
    views = make_views({CJS: -0.9}, ratios=[1.4], misfit=0.01, rmsea=0.004)
    assert not judge_views(views).has_no_memory


def test_a_view_far_above_all_has_refuted_itself():
    found = judge_views(make_views({TW: 0.6}))
    assert found.n_views == 3
    assert found.highest[1] < 0


def test_classes_are_not_alone_where_the_two_way_model_is_as_low():
    found = judge_views(make_views({W: -1.0, LC: -1.2, R: -0.95, TW: -1.15}))
    assert found.value == pytest.approx(-1.1)


@pytest.mark.parametrize(
    ("missing", "value"), [({LC: None, W: -1.2}, -1.1), ({W: None, LC: -1.4}, -1.2)]
)
def test_where_one_is_missing_the_median_of_the_others_is_taken_and_only_the_range_trusted(
    missing, value
):
    found = judge_views(make_views({R: -1.0, TW: -1.0} | missing))
    assert found.value == pytest.approx(value)
    assert found.grade == "C"


def test_without_windows_and_classes_there_is_no_number():
    assert judge_views(make_views({W: None, LC: None})) is None


def test_more_than_all_is_no_coverage():
    found = judge_views(make_views({W: 0.02, LC: 0.04, R: 0.0, TW: 0.01}))
    assert found.value == 0
    assert found.high == 0


# ------------------------------------------------------------------------------------- the range


def test_the_range_reaches_as_far_again_below_as_the_views_lie_apart():
    found = judge_views(make_views({W: -1.0, LC: -1.1, R: -1.0, TW: -0.9}, sd=0.03))
    margin = math.hypot(FLOOR, 0.06)
    assert found.spread == pytest.approx(0.2)
    assert found.low == pytest.approx(-1.1 - margin - BELOW * 0.2)
    assert found.high == pytest.approx(-0.9 + margin)
    assert (found.lowest, found.highest) == ((LC, -1.1), (TW, -0.9))


def test_it_reaches_farther_down_where_capture_is_uneven():
    levels = {W: -1.0, LC: -1.1, R: -1.0, TW: -0.9}
    for uneven in ({"is_uneven": True}, {"n_classes": 2}):
        found = judge_views(make_views(levels, **uneven))
        assert found.low == pytest.approx(-1.1 - FLOOR - BELOW_UNEVEN * 0.2)
        assert found.high == pytest.approx(-0.9 + FLOOR)


def test_it_reaches_farther_up_where_captures_attract_captures():
    found = judge_views(make_views({W: -1.0, LC: -1.1, R: -1.0, TW: -0.9}, ratios=[1.5]))
    assert found.low == pytest.approx(-1.1 - FLOOR - BELOW * 0.2)
    assert found.high == pytest.approx(-0.9 + FLOOR + ABOVE * 0.2)


def test_it_never_reaches_beyond_all():
    found = judge_views(make_views({W: -0.1, LC: -0.1, R: -0.1, TW: -0.01}))
    assert found.high == 0


def test_the_readings_that_set_no_value_do_not_widen_it():
    plain = judge_views(make_views())
    assert judge_views(make_views({CJS: -3.0, MP: -4.0})) == plain


def test_a_range_of_more_than_a_factor_of_ten_is_no_number():
    wide = {W: -2.3, LC: -2.2, R: -1.5, TW: -1.2}
    assert judge_views(make_views(wide)).grade == "C"
    assert judge_views(make_views(wide | {TW: -0.8})) is None


# ------------------------------------------------------------------------------------- the grade


@pytest.mark.parametrize(
    ("distance", "even", "uneven"),
    [(0.09, "A", "A"), (0.12, "A", "B"), (0.14, "A", "B"), (0.2, "B", "C"), (0.3, "C", "C")],
)
def test_views_must_agree_and_more_closely_where_capture_is_uneven(distance, even, uneven):
    levels = {W: -1.0, LC: -1.0, R: -1.0, TW: -1.0 + distance}
    assert judge_views(make_views(levels)).grade == even
    assert judge_views(make_views(levels, is_uneven=True)).grade == uneven
    assert judge_views(make_views(levels, n_classes=2)).grade == uneven


@pytest.mark.parametrize(("misfit", "grade"), [(0.004, "A"), (0.01, "B"), (0.03, "C")])
def test_windows_that_are_not_reproduced_cost_the_grade(misfit, grade):
    assert judge_views(make_views(misfit=misfit)).grade == grade


@pytest.mark.parametrize(("n_thrice", "grade"), [(300, "A"), (299, "C"), (30, "C")])
def test_a_grade_needs_300_urls_seen_thrice(n_thrice, grade):
    assert judge_views(make_views(n_thrice=n_thrice)).grade == grade


def test_a_number_needs_30_urls_seen_thrice():
    assert judge_views(make_views(n_thrice=29)) is None


def test_two_views_are_too_few():
    found = judge_views(make_views({R: None, TW: None}))
    assert (found.grade, found.n_views) == ("C", 2)


def test_avoidance_does_not_exclude_the_best_grade_and_has_no_second_reading():
    found = judge_views(make_views(ratios=[0.1, 0.4]))
    assert found.grade == "A"
    assert found.readings is None


@pytest.mark.parametrize("ratios", [[1.4], [0.5, 1.2]])
def test_attraction_excludes_it_and_has_two_readings(ratios):
    found = judge_views(make_views({CJS: -0.8}, ratios=ratios))
    assert found.grade == "B"
    logs = np.log([found.readings.returning, found.readings.absent])
    assert logs == pytest.approx([-1.0, -0.8])


def test_neither_reading_exceeds_all():
    assert judge_views(make_views({CJS: 0.1}, ratios=[1.4])).readings.absent == 1


# ----------------------------------------------------------- attraction that is not a memory


def test_nearly_complete_crawls_are_read_without_classes():
    levels = {W: -0.2, LC: -0.9, R: -0.1, TW: 0.02, CJS: -0.01, MP: -0.02}
    found = judge_views(make_views(levels, ratios=[1.3]))
    assert found.has_no_memory
    assert found.value == pytest.approx(-0.01)
    assert (found.lowest[0], found.spread) == (W, pytest.approx(0.2))
    assert found.low == pytest.approx(-0.2 - FLOOR - BELOW * 0.2)
    assert found.high == 0
    assert (found.grade, found.n_views) == ("B", 4)


def test_they_need_no_classes_for_a_grade():
    levels = {W: -0.1, LC: None, R: -0.1, TW: 0.02, CJS: -0.01, MP: -0.02}
    assert judge_views(make_views(levels, ratios=[1.3])).grade == "B"


@pytest.mark.parametrize("changes", [{"ratios": []}, {"ratios": [0.7]}])
def test_nearly_complete_crawls_without_attraction_are_read_as_any(changes):
    found = judge_views(make_views({W: -0.03, LC: -0.03, R: -0.03, TW: 0, MP: -0.02}, **changes))
    assert not found.has_no_memory
    assert found.value == pytest.approx(-0.03)


def test_a_memory_that_does_not_reproduce_the_windows_is_none():
    found = judge_views(make_views({W: -1.3, CJS: -0.9}, ratios=[1.4], misfit=0.01))
    assert found.has_no_memory
    assert found.value == -0.9
    assert not judge_views(make_views({CJS: -0.9}, ratios=[1.4], misfit=0.004)).has_no_memory
    assert not judge_views(make_views({CJS: -0.9}, ratios=[0.4], misfit=0.01)).has_no_memory


# -------------------------------------------------------------------------------- single crawls


def test_crawls_differ_from_the_typical_one_as_classes_say():
    views = make_views()
    judgement = judge_views(views)
    found = spread_over_crawls(judgement, views)
    offset = np.array([-0.1, 0.1, -0.1, 0.1, 0.3])
    value, low, high = found
    assert np.isnan(value[0])
    assert value[1:] == pytest.approx(judgement.value + offset)
    assert low[1:] == pytest.approx(judgement.low + offset - OWN)
    assert high[1:] == pytest.approx(judgement.high + offset + OWN)
    # The newest is no typical crawl: without it they have the typical coverage.
    assert value[1:-1].mean() == pytest.approx(judgement.value)


def test_without_classes_or_memory_they_differ_as_cormack_jolly_and_seber_say():
    logs = np.log([0.2, 0.3, 0.4, 0.3, 0.35])
    offset = logs - logs[:-1].mean()
    for views in (make_views({LC: None}), make_views(ratios=[1.4], misfit=0.01)):
        judgement = judge_views(views)
        found = spread_over_crawls(judgement, views)
        assert found[0, 1:] == pytest.approx(judgement.value + offset)


def test_no_crawl_holds_more_than_all_and_ranges_hold_their_values():
    levels = {W: -0.1, LC: -0.1, R: -0.1, TW: -0.1}
    views = make_views(levels, pattern=[np.nan, -1.0, -0.4, -0.2, -0.4, 0.1])
    value, low, high = spread_over_crawls(judge_views(views), views)
    assert np.nanmax(value) == np.nanmax(high) == 0
    assert np.all((low[1:] <= value[1:]) & (value[1:] <= high[1:]))


def test_a_crawl_that_classes_leave_open_stays_open():
    views = make_views(pattern=[np.nan, np.nan, -0.9, -1.1, -0.9, -0.7])
    found = spread_over_crawls(judge_views(views), views)
    assert list(np.isnan(found[0])) == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("sizes", "small"),
    [
        ([500, 9, 700], [False, True, False]),
        ([29, 30, 31], [True, False, False]),
        ([29, 29, 4], [False, False, False]),
        ([10_000, 199, 200, 10_000, 10_000], [False, True, False, False, False]),
    ],
)
def test_crawls_of_few_urls_or_of_a_fiftieth_of_the_median_are_too_small(sizes, small):
    assert too_small(np.array(sizes, dtype=float)).tolist() == small


# ------------------------------------------------------------- turnover, and first captures


def test_persistence_is_that_of_the_classes_with_the_distance_of_all_around_it():
    views = make_views(persistence={"two-way": -0.4, "cjs": -0.2, "latent-class": -0.3})
    assert judge_persistence(views) == pytest.approx((-0.3, -0.4 - 0.13, -0.2 + 0.13))


def test_without_classes_it_is_the_median_and_at_most_all_live_on():
    views = make_views(persistence={"two-way": -0.1, "cjs": 0.0})
    assert judge_persistence(views) == pytest.approx((-0.05, -0.18, 0.0))


def test_where_no_view_has_one_there_is_none():
    assert judge_persistence(make_views(persistence={})) is None


def test_half_as_likely_first_captures_mean_more_that_is_never_captured():
    coverage, known = np.log([0.3, 0.4]), np.array([0.5, 0.8])
    half = [0.3 / 1.5, 0.4 / 1.2]
    assert with_first_captures(coverage, known, 0.5) == pytest.approx(math.sqrt(half[0] * half[1]))
    twice = [0.3 / 0.75, 0.4 / 0.9]
    assert with_first_captures(coverage, known, 2) == pytest.approx(math.sqrt(twice[0] * twice[1]))
    assert with_first_captures(coverage, known, 1) == pytest.approx(math.sqrt(0.12))


def test_certain_first_captures_leave_the_share_of_the_known():
    assert with_first_captures(np.log([0.3]), np.array([0.6]), 1e9) == pytest.approx(0.5)


def test_first_captures_make_no_crawl_hold_more_than_all():
    assert with_first_captures(np.log([0.9]), np.array([0.1]), 4) == 1


def test_crawls_of_unknown_coverage_are_left_out_of_it():
    found = with_first_captures(np.array([np.nan, math.log(0.3)]), np.array([0.5, 0.5]), 0.5)
    assert found == pytest.approx(0.2)


# --------------------------------------------------------------------------- simulated archives


def simulate(seed, kind):
    """Crawl 6,000 URLs of a life eight times; return the table and the true typical coverage."""
    rng = np.random.default_rng(seed)
    n_crawls, n_first, kept = 8, 6000, 0.85**0.5
    n_born = int(n_first * (1 - kept))
    born = np.r_[np.zeros(n_first, int), np.repeat(np.arange(1, n_crawls + 1), n_born)]
    crawl = np.arange(n_crawls)
    alive = crawl < (born + rng.geometric(1 - kept, born.size))[:, None]
    alive &= crawl >= born[:, None]
    chance = np.full(born.size, 0.97 if kind == "absent" else 0.4)
    if kind == "log-normal":
        chance = 1 - np.exp(-0.5 * np.exp(0.8 * rng.standard_normal(born.size)))
    seen = np.zeros(alive.shape, bool)
    for j in range(n_crawls):
        now = chance.copy()
        if kind == "avoids 1" and j:
            now = np.where(seen[:, j - 1], 0.1 * chance, chance)
        if kind == "avoids 3" and j:
            now = np.where(seen[:, max(0, j - 3) : j].any(axis=1), 0.05 * chance, chance)
        if kind == "returns" and j:
            now = np.where(seen[:, j - 1], chance + 0.3 * (1 - chance), chance)
        seen[:, j] = alive[:, j] & (rng.random(born.size) < now)
    if kind == "absent":
        for row, start in enumerate(rng.integers(1, 5, 120)):
            seen[row, start : start + 2] = False
    truth = seen.sum(axis=0) / alive.sum(axis=0)
    return make_table(seen), np.log(truth)


def make_table(seen):
    n_crawls = seen.shape[1]
    words = (seen.astype(np.uint64) << np.arange(n_crawls, dtype=np.uint64)).sum(axis=1)
    masks, counts = np.unique(words[words > 0], return_counts=True)
    histories = Histories(n_crawls=n_crawls, masks=masks, counts=counts)
    shared = histories.count_pairs()
    first = dt.date(2010, 1, 1)
    crawls = tuple(
        Crawl(label=f"c{j}", date=first + dt.timedelta(days=round(182.625 * j)), n_urls=int(size))
        for j, size in enumerate(np.diag(shared))
    )
    return OverlapTable(crawls=crawls, n_shared=shared, histories=histories)


@functools.cache
def look(seed, kind):
    table, truth = simulate(seed, kind)
    return find_views(history_data(table), pair_data(table)), truth


# Levels of windows, classes, the rested share, the two-way model, Cormack–Jolly–Seber and
# Manly–Parr as another program of the same rule gives them; then its value, and the ends of its
# range.
# Ends are left out where that one takes another sampling error or another share of the distance.
BY_ANOTHER = {
    (7, "even"): (
        (-0.89899, -0.89716, -0.89147, -0.90509, -0.89716, -0.89395),
        (-0.89808, -0.97201, -0.83681),
    ),
    (8, "even"): (
        (-0.91986, -0.91222, -0.92687, -0.91241, -0.91222, -0.91326),
        (-0.91604, -0.99566, -0.85661),
    ),
    (7, "log-normal"): (
        (-0.69622, -0.73745, -0.63287, -0.61743, -0.6229, -0.60066),
        (-0.71684, None, -0.55213),
    ),
    (7, "avoids 1"): (
        (-1.21384, -1.20503, -1.05606, -0.97194, -1.87068, -2.11997),
        (-1.20944, None, None),
    ),
    (7, "returns"): (
        (-0.73167, -0.72053, -0.70162, -0.55396, -0.57782, -0.57262),
        (-0.7261, -0.95094, -0.42354),
    ),
    (7, "absent"): (
        (-0.03719, -0.03809, -0.04843, -0.03462, -0.03665, -0.03669),
        (-0.03665, -0.111, 0.0),
    ),
}


@pytest.mark.parametrize(("seed", "kind"), BY_ANOTHER)
def test_another_program_finds_the_same_levels_and_range(seed, kind):
    levels, ends = BY_ANOTHER[seed, kind]
    views, _ = look(seed, kind)
    assert tuple(views.levels) == (W, LC, R, TW, CJS, MP)
    assert tuple(views.levels.values()) == pytest.approx(levels, abs=2e-4)
    found = judge_views(views)
    for end, expected in zip((found.value, found.low, found.high), ends, strict=True):
        assert expected is None or end == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("kind", ["even", "log-normal", "avoids 1", "returns", "absent"])
def test_the_range_holds_the_truth_of_the_typical_and_of_every_crawl(seed, kind):
    views, truth = look(seed, kind)
    judgement = judge_views(views)
    assert judgement.low < truth[1:-1].mean() < judgement.high
    _, low, high = spread_over_crawls(judgement, views)
    assert np.all((low[1:] < truth[1:]) & (truth[1:] < high[1:]))
    assert judgement.grade != "A" or abs(judgement.value - truth[1:-1].mean()) < 0.1


@pytest.mark.parametrize(
    ("kind", "lags", "avoids", "attracts"),
    [
        ("even", 0, False, False),
        ("log-normal", 0, False, False),
        ("avoids 1", 1, True, False),
        ("avoids 3", 3, True, False),
        ("returns", 1, False, True),
        ("absent", 2, False, True),
    ],
)
def test_the_crawlers_memory_is_found(kind, lags, avoids, attracts):
    views, _ = look(7, kind)
    found = views.windows
    assert (found.trap_lags, found.avoids, found.attracts) == (lags, avoids, attracts)
    assert views.is_uneven == (kind == "log-normal")
    assert views.classes.trap_lags == lags


def test_under_avoidance_windows_and_classes_stay_right_where_the_others_are_far_off():
    views, truth = look(7, "avoids 3")
    for name in (W, LC):
        assert views.levels[name] == pytest.approx(truth[1:-1].mean(), abs=0.05)
    for name in (CJS, MP):
        assert views.levels[name] < truth[1:-1].mean() - 1
    assert R not in views.levels


def test_persistence_is_found_in_spite_of_avoidance():
    for kind in ("even", "avoids 1", "returns"):
        value, low, high = judge_persistence(look(7, kind)[0])
        assert math.exp(value) == pytest.approx(0.85, abs=0.03)
        assert low < math.log(0.85) < high


def test_urls_seen_thrice_are_counted():
    captured = np.array([[1, 1, 1, 0, 0]] * 4 + [[1, 1, 1, 1, 1]] * 3 + [[1, 1, 0, 0, 0]] * 50)
    table = make_table(captured == 1)
    assert find_views(history_data(table), pair_data(table)).n_thrice == 7
