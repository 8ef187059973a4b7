"""Digests are the same however they are written, and never by accident."""

import base64
import hashlib

import pytest
import xxhash

from crawlgauge.keys.digest import digest_keys

PAYLOAD = b"<html>one and the same page</html>"
SHA1 = hashlib.sha1(PAYLOAD, usedforsecurity=False).digest()
LABELS = (b"", b"sha1:", b"SHA1:", b"sha-1:", b"SHA-1:", b" sha1: ")
ENCODINGS = (
    SHA1.hex().encode(),
    SHA1.hex().upper().encode(),
    base64.b32encode(SHA1),
    base64.b32encode(SHA1).lower(),
    base64.b64encode(SHA1),
    base64.urlsafe_b64encode(SHA1),
)


def keys_of(texts):
    keys, are_known = digest_keys(texts)
    found = iter(keys.tolist())
    return [next(found) if is_known else None for is_known in are_known]


def test_a_sha1_is_the_same_with_and_without_its_name_in_each_encoding_and_case():
    texts = [label + digits for label in LABELS for digits in ENCODINGS]
    expected = xxhash.xxh64_intdigest(b"sha1:" + SHA1, seed=42)
    assert keys_of(texts) == [expected] * len(texts)


@pytest.mark.parametrize("name", ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"])
def test_each_algorithm_is_told_by_its_length_where_it_is_not_named(name):
    digest = hashlib.new(name, PAYLOAD).digest()
    expected = xxhash.xxh64_intdigest(name.encode() + b":" + digest, seed=42)
    forms = [digest.hex().encode(), base64.b32encode(digest), base64.b32encode(digest).rstrip(b"=")]
    texts = [label + form for label in (b"", name.encode() + b":") for form in forms]
    assert keys_of(texts) == [expected] * len(texts)


def test_algorithms_of_the_same_length_are_kept_apart():
    digits = hashlib.sha256(PAYLOAD).hexdigest().encode()
    labels = (b"sha256:", b"blake3:", b"sha512/256:", b"sha3-256:")
    assert len(set(keys_of([label + digits for label in labels]))) == len(labels)


def test_a_digest_that_is_cut_is_another_one():
    whole = base64.b32encode(SHA1)
    assert len(set(keys_of([whole, whole[:31], whole[:16], b"sha1:" + whole[:16]]))) == 4


@pytest.mark.parametrize(
    "text",
    [None, b"", b"-", b" - ", b"sha1:", b"sha1:-", b"A" * 32, b"sha1:" + b"0" * 40, b"=="],
)
def test_what_stands_for_no_digest_is_none(text):
    assert keys_of([text, b"sha1:" + base64.b32encode(SHA1)])[0] is None
