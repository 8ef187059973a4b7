"""Our XXH64 against the reference implementation."""

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.keys.xxh64 import SEED, xxh64


def ours(data, start=0, end=None):
    buffer = np.frombuffer(data or b"\0", dtype=np.uint8)
    return int(xxh64(buffer, start, len(data) if end is None else end))


def theirs(data):
    return xxhash.xxh64_intdigest(data, seed=42)


def test_the_seed_is_that_of_spark():
    assert int(SEED) == 42


@pytest.mark.parametrize("n_bytes", range(201))
def test_every_length_has_the_hash_of_the_reference(n_bytes):
    rng = np.random.default_rng(n_bytes)
    for _ in range(5):
        data = rng.bytes(n_bytes)
        assert ours(data) == theirs(data)


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_bytes_have_the_hash_of_the_reference(data):
    assert ours(data) == theirs(data)


@given(data=st.binary(max_size=100), bounds=st.tuples(st.integers(0, 100), st.integers(0, 100)))
@settings(deadline=None, derandomize=True)
def test_a_part_of_a_buffer_has_the_hash_of_its_bytes_alone(data, bounds):
    start, end = sorted(min(bound, len(data)) for bound in bounds)
    assert ours(data, start, end) == theirs(data[start:end])
