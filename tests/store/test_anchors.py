"""Anchors beside crawls, in a folder and on object storage: kept whole, checked and removed."""

import errno
import os
from pathlib import Path

import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreError


def test_an_anchor_is_kept_replaced_checked_and_removed(full_place, make_list):
    store = full_place.store
    sample = make_list(range(40), "sample.txt")
    cg.add_anchor(store, "sample", sample, kind="uniform", date="2021-12")
    cg.add_anchor(store, "queue", 20, kind="frontier")
    assert [anchor.name for anchor in cg.list_anchors(store)] == ["queue", "sample"]
    cg.add_anchor(store, "queue", 30, kind="frontier")
    queue, kept = cg.list_anchors(store)
    assert (queue.n_queued, kept.keys.size, str(kept.date)) == (30, 40, "2021-12-15")
    assert all(finding.problem is None for finding in cg.verify_store(store))
    (name,) = [name for name in full_place.names() if name.endswith("sample.json")]
    whole = full_place.read(name)
    full_place.write(name, whole[: len(whole) // 2])
    findings = {finding.label: finding.problem for finding in cg.verify_store(store)}
    assert "add it again" in findings["anchor sample"]
    with pytest.raises(StoreError, match="add it again"):
        cg.list_anchors(store)
    cg.remove_anchor(store, "sample")
    assert [anchor.name for anchor in cg.list_anchors(store)] == ["queue"]
    with pytest.raises(StoreError, match="it holds: queue"):
        cg.remove_anchor(store, "sample")


def test_anchors_that_may_not_be_read_are_not_passed_over(full_store, monkeypatch):
    cg.add_anchor(full_store, "queue", 20, kind="frontier")
    original = os.listdir

    def refuse(path="."):
        if Path(path).name == "anchors":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return original(path)

    monkeypatch.setattr(os, "listdir", refuse)
    for ask in (cg.list_anchors, cg.verify_store):
        with pytest.raises(StoreError, match=r"cannot read .*anchors.*check who may use it"):
            ask(full_store)
