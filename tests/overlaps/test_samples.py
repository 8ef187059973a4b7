"""Overlaps counted in a sample: the keys below a threshold that all crawls have in common."""

import json
import logging

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.cli import main
from crawlgauge.errors import OverlapError, StoreError
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps import range_keys
from crawlgauge.overlaps.counting import count_sets


@pytest.mark.parametrize("threshold", [WHOLE // 4, WHOLE // 10, WHOLE // 3 + 12345, 1 << 60])
@pytest.mark.parametrize("keys_per_range", [1 << 20, 200])
def test_a_sample_of_whole_crawls_counts_the_keys_below_it(
    write_sets, draw_sets, check_table, monkeypatch, threshold, keys_per_range
):
    monkeypatch.setattr(range_keys, "_KEYS_PER_RANGE", keys_per_range)
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
def store(tmp_path, monkeypatch):
    """Make a store of a whole crawl, a sampled one and another whole one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRAWLGAUGE_STORE", raising=False)
    for number, (label, sample) in enumerate(
        [("2020-06", None), ("2020-12", "1/4"), ("2021-06", None)]
    ):
        numbers = range(1000 * number, 4000 + 1000 * number)
        (tmp_path / "urls.txt").write_text("".join(f"http://a.org/{k}\n" for k in numbers))
        cg.add_crawl("crawlgauge.store", label, "urls.txt", sample=sample)
    return tmp_path / "crawlgauge.store"


def test_sampled_and_whole_crawls_of_one_store_are_counted_together(store):
    table = cg.count_overlaps(store)
    assert table.sample_rate == 1 / 4
    assert [table.crawls[k].n_urls for k in (0, 2)] == [4000, 4000]
    assert table.crawls[1].n_urls == 4 * table.crawls[1].n_sampled
    assert table.n_shared[0, 1] / table.crawls[0].n_sampled == pytest.approx(0.75, abs=0.04)
    with pytest.raises(StoreError, match="'half' is no sample; write a share"):
        cg.count_overlaps(store, sample="half")


def test_a_number_and_a_text_are_the_same_sample(store):
    one, other = (cg.count_overlaps(store, sample=share) for share in (0.125, "1/8"))
    assert np.array_equal(one.n_shared, other.n_shared)
    assert one.sample_rate == other.sample_rate == 1 / 8


@pytest.mark.usefixtures("store")
def test_every_output_of_the_command_says_what_is_compared(capsys, tmp_path):
    def run(*words):
        capsys.readouterr()
        assert main._run(["overlaps", *words]) == 0
        return capsys.readouterr()

    said = "counted among 1 in 4 of the URLs: 2020-12 was added with --sample 1/4"
    text = run()
    assert "in a sample of 1 in 4" in text.out
    assert said in text.err
    document = json.loads(run("--json").out)
    assert document["sample_rate"] == 0.25
    assert document["provenance"]["settings"]["counted_among"] in said
    assert said in run("-o", "table.csv").err
    assert "# sample_rate=0.25" in (tmp_path / "table.csv").read_text()
    assert json.loads(run("--sample", "1/16", "--json").out)["sample_rate"] == 1 / 16


def test_a_store_that_cannot_be_written_to_is_counted_each_time(store, monkeypatch, caplog):
    def refuse(_store):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("crawlgauge.store.catalogue.Store.cache_folder", refuse)
    with caplog.at_level(logging.INFO):
        one, other = cg.count_overlaps(store), cg.count_overlaps(store)
    assert np.array_equal(one.n_shared, other.n_shared)
    assert "counts are not kept for the next time" in caplog.text


def test_an_empty_store_says_what_to_do(store):
    for label in ("2020-06", "2020-12", "2021-06"):
        cg.remove_crawl(store, label)
    with pytest.raises(OverlapError, match="holds no crawls; add some with crawlgauge add"):
        cg.count_overlaps(store)


def test_counts_of_a_store_lie_in_its_cache_and_go_with_its_crawls(store):
    cg.count_overlaps(store)
    cg.count_overlaps(store, sample="1/8")
    assert len(list((store / "cache").iterdir())) == 2
    cg.remove_crawl(store, "2020-12")
    assert cg.count_overlaps(store).sample_rate == 1
    assert len(list((store / "cache").iterdir())) == 1
