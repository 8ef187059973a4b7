"""Overlaps counted in a sample: the keys below a threshold that all crawls have in common."""

import logging

import pytest

from crawlgauge.errors import OverlapError, StoreError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps.counting import count_sets, count_store
from crawlgauge.store import ranges


@pytest.mark.parametrize("threshold", [WHOLE // 4, WHOLE // 10, WHOLE // 3 + 12345, 1 << 60])
@pytest.mark.parametrize("keys_per_range", [1 << 20, 200])
def test_a_sample_of_whole_crawls_counts_the_keys_below_it(
    write_sets, draw_sets, check_table, monkeypatch, threshold, keys_per_range
):
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", keys_per_range)
    sets = draw_sets(5, seed=1)
    table = count_sets(write_sets(sets), threshold=threshold)
    check_table(table, sets, threshold)
    assert table.sample_rate == table.histories.sample_rate == threshold / WHOLE
    for crawl, keys in zip(table.crawls, sets, strict=True):
        assert crawl.n_urls == len(keys), "what is known exactly stays exact"
        assert crawl.n_sampled == sum(key < threshold for key in keys)


def test_crawls_of_different_samples_combine_at_the_smallest(
    write_set_file, draw_sets, check_table, caplog
):
    sets = draw_sets(4, seed=2)
    written = [
        write_set_file(0, sets[0]),
        write_set_file(1, sets[1], WHOLE // 8, "1/8"),
        write_set_file(2, sets[2], WHOLE // 4, "1/4"),
        write_set_file(3, sets[3]),
    ]
    with caplog.at_level(logging.INFO):
        table = count_sets(written)
    check_table(table, sets, WHOLE // 8)
    assert table.sample_rate == 1 / 8
    assert [crawl.n_urls for crawl in table.crawls] == [
        len(sets[0]),
        8 * table.crawls[1].n_sampled,
        8 * table.crawls[2].n_sampled,
        len(sets[3]),
    ]
    said = "1 in 8 of the URLs: c01 was added with --sample 1/8"
    assert table.provenance.settings == {"counted_among": said}
    assert f"overlaps are counted among {said}" in caplog.text


def test_a_smaller_sample_can_be_taken_of_samples_and_a_larger_one_cannot(
    write_set_file, draw_sets, check_table
):
    sets = draw_sets(3, seed=3)
    written = [write_set_file(k, keys, WHOLE // 4, "1/4") for k, keys in enumerate(sets)]
    smaller = count_sets(written, threshold=WHOLE // 16)
    check_table(smaller, sets, WHOLE // 16)
    assert smaller.provenance.settings == {"counted_among": "1 in 16 of the URLs"}
    assert count_sets(written, threshold=WHOLE // 2).sample_rate == 1 / 4


def test_a_sample_without_any_url_of_a_crawl_is_refused(write_sets):
    written = write_sets([{1, 2, 2**63}, {2**63, 2**63 + 1}])
    with pytest.raises(OverlapError, match=r"none of the 2 URLs of crawl 'c01' is in the sample"):
        count_sets(written, threshold=WHOLE // 4)


def test_ratios_are_those_of_the_sample(write_set_file):
    """Half of the later crawl's sampled keys are in the earlier one, whatever the sizes are."""
    sample, rest = set(range(1000)), {WHOLE - 1 - k for k in range(5000)}
    written = [write_set_file(0, sample | rest), write_set_file(1, set(range(500, 1500)))]
    (pair,) = count_sets(written, threshold=WHOLE // 2).pairs()
    assert (pair.containment_a_in_b, pair.containment_b_in_a) == (0.5, 0.5)


@pytest.fixture
def mixed(store, add_crawl):
    """Fill the store with a whole crawl, a sampled one and another whole one."""
    for number, sample in enumerate([None, "1/4", None]):
        keys = (
            (k * 0x9E3779B97F4A7C15) % WHOLE for k in range(1000 * number, 1000 * number + 4000)
        )
        captured = dict.fromkeys(keys, ("a.org", None, 200))
        add_crawl(number, captured, threshold=WHOLE // 4 if sample else WHOLE, sample=sample)
    return store


def test_sampled_and_whole_crawls_of_one_store_are_counted_together(mixed):
    table = count_store(mixed)
    assert table.sample_rate == 1 / 4
    assert [table.crawls[k].n_urls for k in (0, 2)] == [4000, 4000]
    assert table.crawls[1].n_urls == 4 * table.crawls[1].n_sampled
    assert table.n_shared[0, 1] / table.crawls[0].n_sampled == pytest.approx(0.75, abs=0.04)
    with pytest.raises(StoreError, match="'half' is no sample; write a share"):
        count_store(mixed, sample="half")


def test_the_same_share_written_in_two_ways_is_the_same_sample(mixed):
    one, other = (count_store(mixed, sample=share) for share in ("0.125", "1/8"))
    assert one.n_shared.tolist() == other.n_shared.tolist()
    assert one.sample_rate == other.sample_rate == 1 / 8


def test_a_store_that_cannot_be_written_to_is_counted_each_time(mixed, monkeypatch, caplog):
    def refuse(_store):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("crawlgauge.store.catalogue.Store.cache_folder", refuse)
    with caplog.at_level(logging.INFO):
        one, other = count_store(mixed), count_store(mixed)
    assert one.n_shared.tolist() == other.n_shared.tolist()
    assert "counts are not kept for the next time" in caplog.text


def test_an_empty_store_says_what_to_do(store):
    with pytest.raises(OverlapError, match="holds no crawls; add some first"):
        count_store(store)


def test_counts_of_a_store_lie_in_its_cache_and_go_with_its_crawls(mixed):
    count_store(mixed)
    count_store(mixed, sample="1/8")
    assert len(list(mixed.cache_folder().iterdir())) == 2
    mixed.remove("c01")
    assert count_store(mixed).sample_rate == 1
    assert len(list(mixed.cache_folder().iterdir())) == 1
