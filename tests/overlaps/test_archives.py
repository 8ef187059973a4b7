"""Counting over several archives at once, against Python's own sets."""

import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps.counting import count_archives, count_by_host
from crawlgauge.store.catalogue import create_store, open_store
from crawlgauge.store.exchange import export_sample


@pytest.mark.parametrize("n_last", [2, 70])
def test_counts_are_those_of_plain_sets(draw_sets, write_sets, n_last):
    drawn = draw_sets(5 + n_last, seed=5)
    sets = write_sets(drawn)
    archives, parts = [sets[:3], sets[3:5], sets[5:]], [drawn[:3], drawn[3:5], drawn[5:]]
    seen = []
    found = count_archives(archives, progress=lambda n, of: seen.append((n, of)))
    for i, one in enumerate(drawn):
        for j, other in enumerate(drawn):
            assert found.n_shared[i, j] == len(one & other)
    unions = [set().union(*part) for part in parts]
    assert [found.held(k) for k in range(3)] == [len(union) for union in unions]
    assert found.held(0, 2) == len(unions[0] & unions[2])
    assert found.held_only(1) == len(unions[1] - unions[0] - unions[2])
    assert found.n_distinct == len(set().union(*drawn))
    assert found.shared(1, 1, 2, 0) == len(drawn[4] & drawn[5])
    assert seen[-1][0] == seen[-1][1]


def test_archives_combine_at_the_smallest_sample(draw_sets, write_set_file):
    drawn = draw_sets(2, seed=8)
    threshold = WHOLE // 4
    archives = [[write_set_file(0, drawn[0])], [write_set_file(1, drawn[1], threshold)]]
    found = count_archives(archives)
    below = [{key for key in keys if key < threshold} for keys in drawn]
    assert found.sample_rate == 1 / 4
    assert found.n_shared[0, 1] == len(below[0] & below[1])
    whole, sampled = found.crawls[0][0], found.crawls[1][0]
    # The size of a crawl that is known in full stays; another is estimated from its sample.
    assert (whole.n_urls, whole.n_sampled) == (len(drawn[0]), len(below[0]))
    assert sampled.n_urls == 4 * len(below[1])


def test_a_sample_without_any_url_of_a_crawl_is_an_error(write_set_file):
    archives = [[write_set_file(0, {5})], [write_set_file(1, {2**63})]]
    with pytest.raises(OverlapError, match="none of the 1 URLs"):
        count_archives(archives, threshold=1 << 40)


def test_more_archives_than_a_mask_has_bits_are_refused(write_set_file):
    one = [write_set_file(0, {5})]
    with pytest.raises(OverlapError, match="at most 64"):
        count_archives([one] * 65)


def test_urls_are_counted_by_host_and_by_which_archives_hold_them(
    store, add_crawl, draw_sets, tmp_path
):
    """An archive that discloses no hosts counts with the hosts that another knows."""
    first, second, third = draw_sets(3, seed=6)
    hosts = ("a.de", "b.org", None)

    def named(keys):
        return {key: (hosts[key % 3], None, 200) for key in keys}

    add_crawl(0, named(first))
    add_crawl(1, named(second), kept_below=WHOLE // 2)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "store"
    create_store(other, "raw/1")
    add_crawl(2, named(third))
    exported = export_sample(store, tmp_path / "sample", threshold=WHOLE)
    anonymous = open_store(exported.path)
    mine = [item for item in store.crawl_sets() if item.crawl.label != "c02"]
    theirs = [item for item in anonymous.crawl_sets() if item.crawl.label == "c02"]
    found = count_by_host([(store, mine), (anonymous, theirs)], threshold=WHOLE)
    assert found.sample_rate == 1 / 2
    own, foreign = ({key for key in keys if key < WHOLE // 2} for keys in (first | second, third))
    for number, host in enumerate(hosts[:2]):
        place = found.hosts.index(host)
        of_host = {key for key in own | foreign if key % 3 == number and key in own}
        assert found.n_only[place].tolist() == [len(of_host - foreign), 0]
        assert found.n_several[place] == len(of_host & foreign)
    undisclosed = [len({key for key in own - foreign if key % 3 == 2}), len(foreign - own)]
    assert found.n_undisclosed.tolist() == undisclosed


def test_hosts_that_nobody_discloses_are_not_counted(store, add_crawl):
    add_crawl(0, {5: (None, None, 200)})
    assert count_by_host([(store, store.crawl_sets())], threshold=WHOLE) is None
