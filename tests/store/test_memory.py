"""Amounts of memory, as people write them."""

import os

import pytest

from crawlgauge.errors import StoreError
from crawlgauge.store import memory
from crawlgauge.store.memory import MIN_MEMORY, default_memory, parse_memory


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("2G", 2 << 30), ("1.5 GiB", 3 << 29), ("512m", 512 << 20), ("536870912", 512 << 20)],
)
def test_amounts_are_read_as_written(text, n_bytes):
    assert parse_memory(text) == n_bytes


@pytest.mark.parametrize("text", ["", "much", "-2G", "2 apples", "1e9", "G"])
def test_other_text_is_refused(text):
    with pytest.raises(StoreError, match="no amount of memory"):
        parse_memory(text)


def test_too_little_is_refused_with_the_least_amount():
    with pytest.raises(StoreError, match="at least 256M"):
        parse_memory("100M")


def test_the_default_is_a_quarter_of_the_machine_or_of_its_container(tmp_path, monkeypatch):
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(memory, "_CONTAINER_LIMIT", tmp_path / "memory.max")
    assert default_memory() == max(MIN_MEMORY, total // 4)
    (tmp_path / "memory.max").write_text("max\n")
    assert default_memory() == max(MIN_MEMORY, total // 4)
    (tmp_path / "memory.max").write_text(f"{2 << 30}\n")
    assert default_memory() == min(total, 2 << 30) // 4
