"""Stores that released versions wrote are opened for ever after, and answer the same."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

import crawlgauge as cg

RELEASED = Path(__file__).with_name("released")
VERSIONS = sorted(
    folder.name for folder in RELEASED.iterdir() if (folder / "answers.json").exists()
)

_spec = importlib.util.spec_from_file_location("write_store", RELEASED / "write_store.py")
write_store = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(write_store)


@pytest.fixture(params=VERSIONS)
def released(request, tmp_path):
    folder = shutil.copytree(RELEASED / request.param, tmp_path / request.param)
    return folder / "store", json.loads((folder / "answers.json").read_text("utf-8"))


def test_a_released_store_answers_as_it_did(released):
    store, answers = released
    assert all(finding.problem is None for finding in cg.verify_store(store))
    assert json.loads(json.dumps(write_store.ask(store))) == answers


def test_a_released_store_takes_further_crawls(released, make_list):
    store, answers = released
    cg.add_crawl(store, "2021", make_list(range(9)), date="2021-06-15")
    table = cg.count_overlaps(store)
    assert [crawl.label for crawl in table.crawls][-1] == "2021"
    assert table.n_shared[:-1, :-1].tolist() == answers["url"]["n_shared"]
    cg.remove_crawl(store, "2016")
    assert cg.count_overlaps(store).n_crawls == len(answers["url"]["crawls"])
