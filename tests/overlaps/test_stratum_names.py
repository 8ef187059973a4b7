"""Strata of hosts, media types and statuses, and what small ones are pooled with."""

import re

import pytest
from publicsuffixlist import PublicSuffixList

from crawlgauge.overlaps.stratum_names import BY, OTHER, domain_of_host, suffix_list_date


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("a.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("somebody.github.io", "github.io"),
        ("university-3.example", "university-3.example"),
        ("a.b.nonsense-suffix", "b.nonsense-suffix"),
        ("localhost", "localhost"),
        ("192.168.0.1", "192.168.0.1"),
        ("[2001:db8:0:0:0:0:0:1]", "[2001:db8:0:0:0:0:0:1]"),
        ("x.xn--bcher-kva.ch", "xn--bcher-kva.ch"),
        ("host-4", "host-4"),
        ("..", ".."),
    ],
)
def test_a_domain_is_one_label_more_than_the_public_suffix(host, domain):
    assert domain_of_host(host, PublicSuffixList(only_icann=True)) == domain
    assert BY["domain"].name(host) == domain


@pytest.mark.parametrize(
    ("host", "tld"),
    [
        ("a.example.co.uk", "uk"),
        ("192.168.0.1", "(IP address)"),
        ("[0:0:0:0:0:0:0:1]", "(IP address)"),
        ("localhost", "(name without a dot)"),
        (None, "(no host)"),
    ],
)
def test_a_tld_is_the_last_label(host, tld):
    assert BY["tld"].name(host) == tld


@pytest.mark.parametrize(
    ("by", "name", "parent", "pooled"),
    [
        ("host", "a.example.org", "example.org", "other hosts of example.org"),
        ("host", "192.168.0.1", OTHER, "other hosts"),
        ("host", "(no host)", OTHER, "other hosts"),
        ("domain", "example.org", ".org", "other domains of .org"),
        ("domain", "192.168.0.1", OTHER, "other domains"),
        ("domain", "localhost", OTHER, "other domains"),
        ("tld", "org", OTHER, "other top-level domains"),
        ("mime", "text/css", "text/*", "other text/*"),
        ("mime", "nonsense", OTHER, "other media types"),
        ("status", "404", "4xx", "other 4xx"),
        ("status", "(no status)", OTHER, "other statuses"),
    ],
)
def test_small_strata_are_pooled_with_their_like(by, name, parent, pooled):
    rule = BY[by]
    assert rule.parent(name) == parent
    assert rule.pooled(parent) == pooled


def test_the_date_of_the_public_suffix_list_is_known():
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", suffix_list_date())
