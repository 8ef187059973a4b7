"""Provenance: what a result was made from, and that it survives being written and read."""

import datetime as dt
import json

import pytest

import crawlgauge
from crawlgauge.provenance import Input, Provenance

FULL = Provenance(
    created="2026-03-16T00:00:00Z",
    settings={"on_damage": "stop", "level": 0.95, "n": 3, "strict": True, "scope": None},
    inputs=(Input(name="a.gz", checksum="sha256:00", n_bytes=7), Input(name="b", checksum="x:1")),
)


def test_it_survives_json():
    assert Provenance.from_dict(json.loads(json.dumps(FULL.to_dict()))) == FULL


def test_members_of_newer_versions_are_passed_over_and_missing_ones_are_empty():
    assert Provenance.from_dict(FULL.to_dict() | {"machine": "m"}) == FULL
    assert Provenance.from_dict({}) == Provenance(crawlgauge="")


def test_it_names_the_program_version():
    assert Provenance().crawlgauge == crawlgauge.__version__
    assert Provenance().created is None


def test_now_is_the_present_in_utc():
    before = dt.datetime.now(tz=dt.UTC).replace(microsecond=0)
    made = Provenance.now(settings={}, inputs=())
    assert before <= dt.datetime.fromisoformat(made.created) <= dt.datetime.now(tz=dt.UTC)


def test_settings_cannot_be_changed_afterwards():
    settings = {"a": 1}
    made = Provenance(settings=settings)
    settings["a"] = 2
    assert made.settings["a"] == 1
    with pytest.raises(TypeError):
        made.settings["a"] = 3
