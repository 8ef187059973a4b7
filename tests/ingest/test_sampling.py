"""Samples: the same part of every crawl, whichever way it is chosen."""

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.errors import SourceError, StoreError
from crawlgauge.keys import sampling
from crawlgauge.keys.sampling import WHOLE, parse_sampling
from crawlgauge.store.key_set import KeyReader


def keys_of(crawl_set):
    return KeyReader(crawl_set).between(0, WHOLE)


@pytest.fixture
def whole(tmp_path, make_list):
    return cg.add_crawl(tmp_path / "whole", "2021-06", make_list(range(5000))).crawl_set


def test_a_share_keeps_the_keys_below_it_and_estimates_the_size(store, make_list, whole):
    sample = cg.add_crawl(store, "2021-06", make_list(range(5000)), sample="1/8").crawl_set
    every = keys_of(whole)
    assert keys_of(sample).tolist() == every[every < np.uint64(WHOLE // 8)].tolist()
    assert sample.sample_rate == 1 / 8
    assert sample.crawl.n_sampled == keys_of(sample).size
    assert sample.crawl.n_urls == 8 * sample.crawl.n_sampled
    assert abs(sample.crawl.n_urls - 5000) < 3 * np.sqrt(5000 * 7)
    assert sample.n_captures == 5000
    assert all(finding.problem is None for finding in cg.verify_store(store))


def test_auto_keeps_as_many_keys_of_a_crawl_of_any_size(store, make_list, whole, monkeypatch):
    monkeypatch.setattr(sampling, "_AUTO_KEYS", 400)
    sample = cg.add_crawl(store, "2021-06", make_list(range(5000)), sample="auto").crawl_set
    assert keys_of(sample).tolist() == keys_of(whole)[:400].tolist()
    assert sample.threshold == int(keys_of(whole)[400])
    assert abs(sample.crawl.n_urls - 5000) < 3 * 5000 / 20
    small = cg.add_crawl(store, "2021-12", make_list(range(300)), sample="auto").crawl_set
    assert (small.sample_rate, small.crawl.n_urls, small.crawl.n_sampled) == (1.0, 300, None)


@pytest.mark.parametrize("sample", ["1/8", "auto"])
def test_appending_to_a_sample_gives_the_sample_of_all(store, make_list, monkeypatch, sample):
    monkeypatch.setattr(sampling, "_AUTO_KEYS", 400)
    first, second = make_list(range(2500), "a.txt"), make_list(range(2000, 5000), "b.txt")
    at_once = cg.add_crawl(store, "2021-06", [first, second], sample=sample).crawl_set
    cg.add_crawl(store, "2021-12", first, sample=sample)
    appended = cg.add_crawl(store, "2021-12", second, sample=sample, append=True).crawl_set
    assert appended.checksum == at_once.checksum
    assert appended.threshold == at_once.threshold
    for crawl_set in (appended, at_once):
        attributes = cg.open_store(store).attributes(crawl_set)
        assert attributes.keys.tolist() == keys_of(at_once).tolist()
    with pytest.raises(StoreError, match=f"made in another way .sample {sample}"):
        cg.add_crawl(store, "2021-12", make_list(range(9), "c.txt"), append=True)


def test_a_sample_without_any_url_is_an_error_that_says_so(store, make_list):
    with pytest.raises(SourceError, match=r"sample 1/1000000 of 3 captures holds no URL"):
        cg.add_crawl(store, "2021-06", make_list(range(3)), sample="1/1000000")
    assert not store.exists()


@pytest.mark.parametrize("text", ["0", "2", "-1/4", "1/0", "some", "", "1/"])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(StoreError, match="such as 1/64"):
        parse_sampling(text)


def test_the_same_share_in_other_words_is_the_same_choice():
    assert parse_sampling("0.5") == parse_sampling("1/2") == parse_sampling("2/4")
    assert parse_sampling("1") == parse_sampling(None)
